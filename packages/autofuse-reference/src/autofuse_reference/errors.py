"""The error of the reference: a computation that has no answer."""

from autofuse_ir.errors import AutofuseError


class EvaluationError(AutofuseError):
    """An evaluation cannot go on: integer division by zero, an index out of range, shapes that do not fit."""
