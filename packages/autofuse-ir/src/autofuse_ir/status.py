"""Values that have no result: the bits by which kernels report them, and the error that they are for users.

Compiled kernels, interpreters and operators one by one raise the same class with the same words, so that it does not
matter what was fused. What differs is how much each of them knows: an operator names itself and the value, a kernel
only says that some element of its result had none.
"""

from enum import IntEnum

from autofuse_ir.errors import AutofuseError


class Status(IntEnum):
    """The bits of a kernel's status word that say which values it has no result for."""

    DIVISION_BY_ZERO = 0
    INDEX_OUT_OF_RANGE = 1
    NEGATIVE_EXPONENT = 3


STATUS_BYTES = 64
"""Bytes that each block of a kernel for Ascend has for its status word, first in the workspace."""

NO_MEMORY = 31
"""The bit of a kernel that got no memory: no fault of its values."""

MESSAGES: dict[Status, str] = {
    Status.DIVISION_BY_ZERO: "an integer was divided by zero",
    Status.INDEX_OUT_OF_RANGE: "an index is out of range",
    Status.NEGATIVE_EXPONENT: "an integer was raised to a negative power",
}
"""What is wrong, in words."""

FIXES: dict[Status, str] = {
    Status.DIVISION_BY_ZERO: "keep divisors away from 0",
    Status.INDEX_OUT_OF_RANGE: "keep indices inside of the dim that they index",
    Status.NEGATIVE_EXPONENT: "cast the base to a float",
}
"""What to do about it."""


class StatusError(AutofuseError, ArithmeticError):
    """Values that have no result: ``status`` says of which kind, and gives the words where no others are given."""

    def __init__(self, status: Status, what: str = "", *, where: str = "", fix: str = "") -> None:
        super().__init__(what or MESSAGES[status], where=where, fix=fix or FIXES[status])
        self.status = status

    def at(self, where: str) -> "StatusError":
        """Return the same error with ``where`` as its place."""
        return StatusError(self.status, self.what, where=where, fix=self.fix)
