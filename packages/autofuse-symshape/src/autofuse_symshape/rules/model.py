"""What a shape rule is."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from autofuse_symshape.call import Call
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import Shape

Shapes: TypeAlias = tuple[Shape | None, ...]
"""Shapes of a node's outputs, in order; None (or left out): as the front end declares."""

Rule: TypeAlias = Callable[[Call], Shapes]
"""Shapes of the outputs from shapes, contents and attributes; raises `UnknownShape` where those are not known."""


def same_as(name: str) -> Rule:
    """Return the rule of an operator whose outputs all have the shape of input ``name``."""
    return lambda call: (call.shape(name),) * call.output_count


def along(name: str, *axes: str) -> Rule:
    """Return the rule of an operator that keeps the shape of input ``name`` and works along ``axes``.

    Those are inputs or attributes, whose content is checked where it is known when compiling. An input of rank 0 is
    taken for a vector of one element.
    """

    def rule(call: Call) -> Shapes:
        shape = call.shape(name)
        for each in axes:
            with suppress(UnknownShape):
                call.axes(call.ints_of(each), max(1, len(shape)), each)
        return (shape,) * call.output_count

    return rule


def like(*names: str) -> Rule:
    """Return the rule of an operator whose outputs have, in order, the shapes of inputs ``names``."""
    return lambda call: tuple([call.shape(name) if call.has(name) else None for name in names])


def fixed(*shapes: Shape) -> Rule:
    """Return the rule of an operator whose outputs always have ``shapes``."""
    return lambda call: shapes
