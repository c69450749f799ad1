"""Operators that repeat a value into a larger shape. Views are no code at all: see ``lower.views``."""

from autofuse_fusion.lower.call import Lowering

LOWERINGS: tuple[Lowering, ...] = (
    Lowering("BroadcastTo", lambda call: call.tensor("x"), moves=True, unread=("shape",)),
    Lowering("Expand", lambda call: call.tensor("x"), moves=True, unread=("shape",)),
    Lowering("Fill", lambda call: call.tensor("value"), moves=True, unread=("dims",)),
)
