"""The errors of the reference: a computation that has no answer."""

from autofuse_ir.errors import AutofuseError
from autofuse_ir.status import Status, StatusError

__all__ = ["EvaluationError", "Status", "StatusError"]


class EvaluationError(AutofuseError):
    """An evaluation cannot go on: shapes, dtypes or attributes that do not fit, or a plan that contradicts itself.

    Values without a result (an integer divided by zero, an index out of range) are a ``StatusError``.
    """
