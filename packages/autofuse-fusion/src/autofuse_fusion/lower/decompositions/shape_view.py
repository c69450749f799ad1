"""Operators that repeat a value into a larger shape, and those that read it where an index map says.

What such a map looks like, `lower.views` knows: nodes that are marked as placed copy (SliceD) or gather (Index) by one.
"""

from autofuse_fusion.lower.call import Lowering
from autofuse_fusion.lower.views.marks import is_placed

LOWERINGS: tuple[Lowering, ...] = (
    Lowering("BroadcastTo", lambda call: call.tensor("x"), moves=True, unread=("shape",)),
    Lowering("Expand", lambda call: call.tensor("x"), moves=True, unread=("shape",)),
    Lowering("Fill", lambda call: call.tensor("value"), moves=True, unread=("dims",)),
)

PLACED: tuple[Lowering, ...] = (
    Lowering("SliceD", lambda call: call.tensor("x"), moves=True, accepts=is_placed),
    Lowering("Index", lambda call: call.tensor("x"), moves=True, accepts=is_placed),
)
