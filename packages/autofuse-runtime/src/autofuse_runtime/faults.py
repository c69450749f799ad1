"""What went wrong in a step, as an error: the extension names the fault by numbers, this module by words."""

from enum import IntEnum
from typing import NoReturn

from autofuse_ir.program import Program
from autofuse_ir.status import NO_MEMORY, Status, StatusError

from autofuse_runtime.errors import (
    InputValueError,
    InternalError,
    MemoryExhaustedError,
)
from autofuse_runtime.plan import Plan


class Fault(IntEnum):
    """Numbers of the faults; those of ``native/af_native.h``."""

    GUARD = 3
    SIZE = 4
    MEMORY = 5
    STATUS = 6
    TILING = 7
    BIND_RANGE = 8
    BIND_MISMATCH = 9
    BIND_ELEMENT = 10
    HOST_SHAPE = 11
    OUT_SHAPE = 12


class FaultReporter:
    """Raises the error of a fault of one program."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program = program
        self.plan = plan
        self.where = f"running {program.name}"

    def report(self, fault: int, index: int, symbols: tuple[int, ...], values: tuple[int, int]) -> NoReturn:
        """Raise what fault number ``fault`` stands for; ``index`` and ``values`` are its particulars."""
        first, second = values
        at = ", ".join(f"{fact.name} = {value}" for fact, value in zip(self.plan.symbols, symbols, strict=True))
        match Fault(fault):
            case Fault.GUARD:
                guard = self.plan.guards[index]
                raise InputValueError(guard.message, where=f"{self.where}, operator {guard.operator}")
            case Fault.SIZE:
                buffer = self.plan.buffers.buffers[index]
                shape = ", ".join(str(dim) for dim in buffer.shape)
                raise InputValueError(
                    f"value {buffer.name!r} of shape [{shape}] has no valid size at {at} "
                    "(negative, past int64, or not that of the memory it is a view of)",
                    where=self.where,
                    fix="give smaller sizes, or sizes that fit together",
                )
            case Fault.MEMORY:
                name = "workspace" if index < 0 else f"value {self.plan.buffers.buffers[index].name!r}"
                raise MemoryExhaustedError(
                    f"no memory for {name} of {first:,} bytes", where=self.where, fix="give smaller inputs"
                )
            case Fault.STATUS:
                self._status(index, first)
            case Fault.TILING:
                raise InternalError(
                    f"kernel {self.program.kernels[index].name} has no tile sizes for {at}",
                    where=self.where,
                    fix="report this with the program and the sizes",
                )
            case Fault.BIND_RANGE:
                fact = self.plan.symbols[index]
                raise InputValueError(
                    f"size {fact.name} became {second} in {self._buffer(first)}, "
                    f"outside its range {fact.lo}..{fact.hi}",
                    where=self.where,
                    fix=f"compile with a wider range for {fact.name}",
                )
            case Fault.BIND_MISMATCH:
                fact = self.plan.symbols[index]
                raise InputValueError(
                    f"size {fact.name} is {symbols[index]}, but {second} in {self._buffer(first)}",
                    where=self.where,
                    fix="give inputs whose sizes fit together",
                )
            case Fault.BIND_ELEMENT:
                fact = self.plan.symbols[index]
                raise InputValueError(
                    f"size {fact.name} is element {second} of {self._buffer(first)}, which is no valid size",
                    where=self.where,
                    fix="give inputs for which the size exists",
                )
            case Fault.HOST_SHAPE:
                self._host_shape(index, first, second, at)
            case Fault.OUT_SHAPE:
                raise InputValueError(
                    f"out= for output {self.program.outputs[index].name!r} has another shape than the output at {at}",
                    where=self.where,
                    fix="give an array of the output's shape, or none",
                )

    def _buffer(self, number: int) -> str:
        return f"value {self.plan.buffers.buffers[number].name!r}"

    def _status(self, index: int, bits: int) -> NoReturn:
        kernel = self.program.kernels[index]
        told = {message.bit: message.message for message in kernel.status_messages if bits >> message.bit & 1}
        where = f"{self.where}, kernel {kernel.name}"
        for status in Status:
            if status in told:
                raise StatusError(status, told[status], where=where)
        if NO_MEMORY in told:
            raise MemoryExhaustedError(told[NO_MEMORY], where=where, fix="give smaller inputs")
        raise InternalError(
            f"kernel {kernel.name} returned the unknown status {bits:#x}",
            where=self.where,
            fix="report this with the program",
        )

    def _host_shape(self, index: int, axis: int, found: int, at: str) -> NoReturn:
        buffer = self.plan.buffers.buffers[index]
        if axis < 0:
            what = f"{found} dims, but {len(buffer.shape)}"
        else:
            what = f"{found} at dim {axis}, but {buffer.shape[axis]}"
        raise InputValueError(
            f"a host operator made value {buffer.name!r} with {what} is expected at {at}",
            where=self.where,
            fix="report this when the model is valid at these sizes",
        )
