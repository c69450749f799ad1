"""Marks on the nodes that views are lowered to."""

from autofuse_ir.graph import Attr, Node

ORIGIN = "origin"
PLACED = "placed"

SOFTMAXES = frozenset(("SoftmaxV2", "LogSoftmaxV2"))
"""Operators whose steps stand on whole tensors: a gather may be one of what a step reads."""


def origin_of(node: Node) -> str:
    """Return the user's operator that ``node`` is part of."""
    origin = node.attr(ORIGIN)
    return origin if isinstance(origin, str) else node.op


def is_part(node: Node) -> bool:
    """True for the nodes that views were lowered to."""
    return node.attr(ORIGIN) is not None


def is_placed(node: Node) -> bool:
    """True for the nodes that copy or gather through an index map: their first input is already in place."""
    return node.attr(PLACED) is True


def marks(origin: str, placed: bool) -> tuple[Attr, ...]:
    """Return the marks of a node that is part of operator ``origin``."""
    return (Attr(ORIGIN, origin), Attr(PLACED, True)) if placed else (Attr(ORIGIN, origin),)
