"""Errors of the emulator: what is wrong, where in the kernel, and what to do."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen


class AscendSimError(Exception):
    """Root of every error raised by this package."""


class CompileError(AscendSimError):
    """A kernel did not compile; the message is the first error, the full compiler output is in `output`."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class ToolchainError(AscendSimError):
    """No compiler was found, or the run time could not be built with it."""


class SocError(AscendSimError):
    """An unknown SoC, or a SoC file that lacks a number."""


class LaunchError(AscendSimError):
    """Arguments, block dimension, tiling or workspace that no launch can take."""


class EntryError(LaunchError):
    """The library has no kernel of that name."""


@frozen
class Place:
    """A call in a kernel: file and line where known, and the API called there."""

    api: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else "unknown line"
        return f"{self.api} at {where}" if self.api else where


class BlockError(AscendSimError):
    """Something happened inside a block: `block` says which, `place` the kernel line."""

    def __init__(self, message: str, *, block: int, place: Place) -> None:
        super().__init__(message)
        self.block = block
        self.place = place


class CrashError(BlockError):
    """User code crashed the host (bad pointer, division by zero, stack overflow)."""


class HangError(BlockError):
    """The launch did not end within its time-out."""


class RuleError(BlockError):
    """The kernel broke a rule of the chip.

    `operand` names the parameter of the API; `bytes` and `limit` are the two numbers that the rule compares (None where
    it compares none); `other` is the second call where the rule is about two.
    """

    rule: ClassVar[str] = ""

    def __init__(  # one keyword per fact
        self,
        message: str,
        *,
        block: int,
        place: Place,
        operand: str = "",
        bytes: int | None = None,
        limit: int | None = None,
        other: Place | None = None,
    ) -> None:
        super().__init__(message, block=block, place=place)
        self.operand = operand
        self.bytes = bytes
        self.limit = limit
        self.other = other


class UbCapacityError(RuleError):
    """Buffers need more UB than the SoC has."""

    rule = "ub_capacity"


class QueueDepthError(RuleError):
    """More tensors allocated or enqueued than the queue holds."""

    rule = "queue_depth"


class QueueOrderError(RuleError):
    """AllocTensor, EnQue, DeQue and FreeTensor in the wrong order, or on the wrong queue."""

    rule = "queue_order"


class QueueLeakError(RuleError):
    """A tensor was not given back before the kernel ended."""

    rule = "queue_leak"


class AlignmentError(RuleError):
    """An address or a length is not a multiple of what the API needs."""

    rule = "alignment"


class LimitError(RuleError):
    """A repeat, mask, stride or field is outside of its range."""

    rule = "limit"


class DtypeError(RuleError):
    """Element types that do not go together (most are found when the kernel compiles)."""

    rule = "dtype"


class OverlapError(RuleError):
    """Operands overlap in a way the API forbids."""

    rule = "overlap"


class UbBoundsError(RuleError):
    """An access beyond the end of a LocalTensor."""

    rule = "ub_bounds"


class GmBoundsError(RuleError):
    """An access beyond the end of a GlobalTensor or of an argument."""

    rule = "gm_bounds"


class UninitialisedReadError(RuleError):
    """A read of UB that nothing has written."""

    rule = "uninitialised_read"


class MissingSyncError(RuleError):
    """Two accesses of asynchronous pipes that nothing orders."""

    rule = "missing_sync"


class UnpairedFlagError(RuleError):
    """SetFlag and WaitFlag that do not come in pairs."""

    rule = "unpaired_flag"


class BlockConflictError(RuleError):
    """Two blocks touch the same GM bytes without SyncAll or atomics between them."""

    rule = "block_conflict"


class BlockDimError(RuleError):
    """More blocks than the SoC has vector cores."""

    rule = "block_dim"


class SyncAllError(RuleError):
    """A SyncAll that cannot return."""

    rule = "sync_all"


class BufferCountError(RuleError):
    """More buffers than a kernel or a position may have."""

    rule = "buffer"


class KernelAssertionError(RuleError):
    """An assert in the kernel does not hold."""

    rule = "assertion"


class UsageError(RuleError):
    """An API was called in a state it does not work in."""

    rule = "usage"


RULE_ERRORS: dict[str, type[RuleError]] = {
    error.rule: error
    for error in (
        UbCapacityError,
        QueueDepthError,
        QueueOrderError,
        QueueLeakError,
        AlignmentError,
        LimitError,
        DtypeError,
        OverlapError,
        UbBoundsError,
        GmBoundsError,
        UninitialisedReadError,
        MissingSyncError,
        UnpairedFlagError,
        BlockConflictError,
        BlockDimError,
        SyncAllError,
        BufferCountError,
        KernelAssertionError,
        UsageError,
    )
}
"""Error class of every rule, by the name that the run time reports."""
