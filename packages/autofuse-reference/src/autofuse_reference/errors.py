"""The errors of the reference: a computation that has no answer."""

from enum import IntEnum

from autofuse_ir.errors import AutofuseError


class EvaluationError(AutofuseError):
    """An evaluation cannot go on: integer division by zero, an index out of range, shapes that do not fit."""


class Status(IntEnum):
    """The bits of a compiled kernel's status word that say which values it has no result for."""

    DIVISION_BY_ZERO = 0
    INDEX_OUT_OF_RANGE = 1
    NEGATIVE_EXPONENT = 3


class StatusError(EvaluationError, ArithmeticError):
    """Values that have no result: what a compiled kernel reports by bit ``status`` of its status word."""

    def __init__(self, what: str, status: Status, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status

    def at(self, where: str) -> "StatusError":
        """Return the same error with ``where`` as its place."""
        return StatusError(self.what, self.status, where=where, fix=self.fix)
