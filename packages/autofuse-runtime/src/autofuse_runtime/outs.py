"""The arrays of out= against the outputs that they are to take."""

from collections.abc import Mapping

import numpy as np
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.program import Program

from autofuse_runtime.arrays import Array, numpy_dtype
from autofuse_runtime.buffers import buffer_table
from autofuse_runtime.errors import InputTypeError, InputValueError
from autofuse_runtime.given_arrays import given_array

OVERLAP_WORK = 10_000
"""Candidate solutions tried before two strided arrays of out= are taken to share memory."""


class OutBinder:
    """Checks out= of one program's calls; ``where`` stands in what it raises: `InputTypeError`, `InputValueError`."""

    def __init__(self, program: Program, where: str) -> None:
        self.program = program
        self.where = where
        table = buffer_table(program)
        numbers = [table.numbers[output.value] for output in program.outputs]
        self._buffers = tuple(table.buffers[number] for number in numbers)
        self._is_object = tuple(table.is_object(number) for number in numbers)

    def bind(self, out: object, symbols: Mapping[str, int]) -> tuple[Array | None, ...]:
        """Return one entry for each output, None where the caller gave none."""
        count = len(self.program.outputs)
        given = out if isinstance(out, tuple) else (out,) if out is not None else (None,) * count
        if len(given) != count:
            raise InputTypeError(
                f"out= holds {len(given)} arrays, but the program has {count} outputs",
                where=self.where,
                fix="give one array, or a tuple with one entry for each output",
            )
        outs = tuple(None if item is None else self.array(item, k, symbols) for k, item in enumerate(given))
        for k, array in enumerate(outs):
            for other in outs[:k]:
                if array is not None and other is not None and _overlap(array, other):
                    raise InputValueError(
                        "two arrays of out= share memory", where=self.where, fix="give each output its own"
                    )
        return outs

    def array(self, item: object, number: int, symbols: Mapping[str, int]) -> Array:
        """Return out= entry ``number`` as an array; raises where it cannot take that output at these sizes."""
        name = self.program.outputs[number].name
        buffer = self._buffers[number]
        if self._is_object[number]:
            raise InputTypeError(
                f"output {name!r} is no tensor, so out= cannot take it", where=self.where, fix="leave its entry None"
            )
        array = given_array(item, f"out= for output {name!r}", self.where)
        if array.dtype != numpy_dtype(buffer.dtype):
            raise InputTypeError(
                f"out= for output {name!r} has dtype {array.dtype}, but the output is {buffer.dtype.name}",
                where=self.where,
                fix="give an array of that dtype",
            )
        if not array.flags.writeable or isinstance(item, np.generic):
            raise InputValueError(
                f"out= for output {name!r} is read-only", where=self.where, fix="give a writable array"
            )
        repeats = (size > 1 and stride == 0 for size, stride in zip(array.shape, array.strides, strict=True))
        if array.size and any(repeats):
            raise InputValueError(
                f"elements of out= for output {name!r} share memory", where=self.where, fix="give an array of its own"
            )
        known = all(name in symbols for dim in buffer.shape for name in free_symbols(dim))
        if known:
            shape = tuple(evaluate(dim, symbols) for dim in buffer.shape)
            self.check_shape(array, number, shape)
        elif array.ndim != len(buffer.shape):
            raise InputValueError(
                f"out= for output {name!r} has {array.ndim} dims, but the output has {len(buffer.shape)}",
                where=self.where,
                fix="give an array of the output's shape",
            )
        return array

    def check_shape(self, array: Array, number: int, shape: tuple[int, ...]) -> None:
        """Raise where ``array`` does not have the output's ``shape``."""
        if array.shape != shape:
            raise InputValueError(
                f"out= for output {self.program.outputs[number].name!r} has shape {list(array.shape)}, "
                f"but the output has {list(shape)}",
                where=self.where,
                fix="give an array of the output's shape",
            )


def _overlap(array: Array, other: Array) -> bool:
    if not np.may_share_memory(array, other):
        return False
    try:
        # NumPy takes any count of candidates; its stubs know two special ones.
        return np.shares_memory(array, other, max_work=OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
