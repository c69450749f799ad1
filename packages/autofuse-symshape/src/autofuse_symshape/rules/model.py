"""What a shape rule is."""

from collections.abc import Callable
from typing import TypeAlias

from autofuse_symshape.call import Call
from autofuse_symshape.known import Shape

Shapes: TypeAlias = tuple[Shape | None, ...]
"""Shapes of a node's outputs, in order; None (or left out): as the front end declares."""

Rule: TypeAlias = Callable[[Call], Shapes]
"""Shapes of the outputs from shapes, contents and attributes; raises `UnknownShape` where those are not known."""


def same_as(name: str) -> Rule:
    """Return the rule of an operator whose outputs all have the shape of input ``name``."""
    return lambda call: (call.shape(name),) * call.output_count


def like(*names: str) -> Rule:
    """Return the rule of an operator whose outputs have, in order, the shapes of inputs ``names``."""
    return lambda call: tuple([call.shape(name) if call.has(name) else None for name in names])


def fixed(*shapes: Shape) -> Rule:
    """Return the rule of an operator whose outputs always have ``shapes``."""
    return lambda call: shapes
