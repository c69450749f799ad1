"""The error of autofuse-symshape."""

from autofuse_ir.errors import AutofuseError


class ShapeError(AutofuseError):
    """Shapes that contradict each other, or an operator that cannot take the shapes it is given."""


class UnknownShape(Exception):
    """A rule needs what is not known: a rank, or the content of a structural operand."""
