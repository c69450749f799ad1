"""The arguments of a call against what the program declares: the one place that words what is wrong with them.

The extension checks the same things without words; it asks this module for the error when they do not hold.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_ir.dims import INT64_MAX, Dim
from autofuse_ir.dims_eval import evaluate, free_symbols, holds
from autofuse_ir.errors import IrError
from autofuse_ir.facts import InputDim, InputElement, SymbolFact
from autofuse_ir.graph import Value
from autofuse_ir.program import Program

from autofuse_runtime.arrays import Array, as_array, numpy_dtype, records_gradient
from autofuse_runtime.buffers import buffer_table
from autofuse_runtime.errors import InputTypeError, InputValueError
from autofuse_runtime.plan import entry_guards

OVERLAP_WORK = 10_000
"""Candidate solutions tried before two strided arrays of out= are taken to share memory."""


@frozen
class BoundArguments:
    """Arguments that passed: values in input order (arrays, or objects as given), out= arrays, and the sizes.

    ``outs`` has one entry for each output, None where the caller gave none; ``out`` is the argument as it was given.
    """

    values: tuple[object, ...]
    outs: tuple[Array | None, ...]
    out: object
    symbols: dict[str, int]


class ArgumentBinder:
    """Checks and binds the arguments of one program's calls."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.where = f"calling {program.name}"
        table = buffer_table(program)
        self._buffers = tuple(buffer for buffer in table.buffers if not buffer.dtype.is_opaque)
        self._is_object = {value.name: table.is_object(table.numbers[value.name]) for value in program.inputs}
        self._output_buffers = tuple(table.buffers[table.numbers[output.value]] for output in program.outputs)
        self._output_is_object = tuple(table.is_object(table.numbers[output.value]) for output in program.outputs)
        self._guards = entry_guards(program)
        sources = (source for fact in program.symbols for source in fact.sources)
        self._size_givers = {source.input for source in sources if isinstance(source, InputDim)}

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> BoundArguments:
        """Return the bound arguments; raises `InputTypeError` or `InputValueError`."""
        given = self._placed(args, {name: value for name, value in kwargs.items() if name != "out"})
        values = tuple(self._value(value, given[value.name]) for value in self.program.inputs)
        symbols = self._symbols(values)
        self._check_dims(values, symbols)
        for guard in self._guards:
            if not _holds(guard.condition, symbols):
                raise InputValueError(guard.message, where=f"{self.where}, operator {guard.operator}")
        out = kwargs.get("out")
        return BoundArguments(values, self._outs(out, symbols), out, symbols)

    def explain(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Raise what is wrong with the arguments; returns when nothing is."""
        self.bind(args, kwargs)

    def _placed(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        names = [value.name for value in self.program.inputs]
        listed = ", ".join(names) or "none"
        if len(args) > len(names):
            raise InputTypeError(
                f"{len(args)} inputs were given, but the program has {len(names)}",
                where=self.where,
                fix=f"the inputs are: {listed}",
            )
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise InputTypeError(
                    f"there is no input {name!r}", where=self.where, fix=f"the inputs are: {listed}; results go to out="
                )
            if name in given:
                raise InputTypeError(f"input {name!r} is given twice", where=self.where, fix="give it once")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise InputTypeError(f"input {missing[0]!r} is missing", where=self.where, fix=f"the inputs are: {listed}")
        return given

    def _value(self, value: Value, given: object) -> object:
        if self._is_object[value.name]:
            self._check_object(value, given)
            return given
        array = self._array(given, f"input {value.name!r}")
        shape = value.shape or ()
        wanted = numpy_dtype(value.dtype)
        if array.dtype != wanted:
            raise InputTypeError(
                f"input {value.name!r} has dtype {array.dtype}, but {value.dtype.name} is expected",
                where=self.where,
                fix=f"convert it with .astype({str(wanted)!r})" if isinstance(given, np.ndarray) else "convert it",
            )
        if array.ndim != len(shape):
            raise InputValueError(
                f"input {value.name!r} has {array.ndim} dims {list(array.shape)}, "
                f"but {len(shape)} dims {_shape_text(shape)} are expected",
                where=self.where,
                fix="reshape it",
            )
        return array

    def _check_object(self, value: Value, given: object) -> None:
        # Hosts check the content; here it matters only where sizes come from the shape.
        rank, shape = len(value.shape or ()), getattr(given, "shape", None)
        if value.name in self._size_givers and not (isinstance(shape, tuple) and len(shape) == rank):
            found = f"shape {list(shape)}" if isinstance(shape, tuple) else f"no shape ({type(given).__name__})"
            raise InputValueError(
                f"input {value.name!r} has {found}, but {rank} dims {_shape_text(value.shape or ())} are expected",
                where=self.where,
                fix="give an array of that rank",
            )

    def _array(self, given: object, what: str) -> Array:
        device = getattr(given, "__dlpack_device__", None)
        kind = 1 if device is None or isinstance(given, np.ndarray) else _device_type(device)
        if kind not in (1, 3, 11):
            raise InputTypeError(
                f"{what} lives on a device (DLPack device type {kind}), but the program runs on the CPU",
                where=self.where,
                fix="copy it to the CPU first",
            )
        array = as_array(given)
        if array is None and records_gradient(given):
            raise InputTypeError(
                f"{what} requires a gradient, but results carry none",
                where=self.where,
                fix="give it as .detach(), or call under torch.no_grad()",
            )
        if array is None:
            raise InputTypeError(
                f"{what} is a {type(given).__name__}, not an array",
                where=self.where,
                fix="give a NumPy array or a dense tensor that speaks DLPack",
            )
        return array

    def _symbols(self, values: Sequence[object]) -> dict[str, int]:
        numbers = {value.name: number for number, value in enumerate(self.program.inputs)}
        symbols: dict[str, int] = {}
        for fact in self.program.symbols:
            if not fact.sources and fact.lo == fact.hi:
                symbols[fact.name] = fact.lo
            first = ""
            for source in fact.sources:
                if isinstance(source, InputDim | InputElement):
                    array: Any = values[numbers[source.input]]
                    found, place = self._source_value(source, array)
                    self._check_range(fact, found, place)
                    if symbols.setdefault(fact.name, found) != found:
                        raise InputValueError(
                            f"the inputs disagree on size {fact.name}: {first} is {symbols[fact.name]}, "
                            f"{place} is {found}",
                            where=self.where,
                            fix="give both the same size",
                        )
                    first = first or place
        return symbols

    def _source_value(self, source: InputDim | InputElement, array: Array) -> tuple[int, str]:
        if isinstance(source, InputDim):
            return int(array.shape[source.dim]), f"dim {source.dim} of input {source.input!r}"
        place = f"element {source.element} of input {source.input!r}"
        if source.element >= array.size:
            raise InputValueError(
                f"{place} is needed as a size, but the input has {array.size} elements",
                where=self.where,
                fix=f"give an input with at least {source.element + 1} elements",
            )
        return int(array.reshape(-1)[source.element]), place

    def _check_range(self, fact: SymbolFact, found: int, place: str) -> None:
        if not fact.lo <= found <= fact.hi:
            raise InputValueError(
                f"{place} is {found}, outside the range {fact.lo}..{fact.hi} of size {fact.name}",
                where=self.where,
                fix=f"give a size in the range, or compile with a wider one for {fact.name}",
            )

    def _check_dims(self, values: Sequence[object], symbols: Mapping[str, int]) -> None:
        for value, array in zip(self.program.inputs, values, strict=True):
            if self._is_object[value.name] or value.shape is None:
                continue
            assert isinstance(array, np.ndarray)
            for axis, dim in enumerate(value.shape):
                wanted = _evaluated(dim, symbols, f"dim {axis} of input {value.name!r}", self.where)
                if wanted is not None and wanted != array.shape[axis]:
                    told = "" if dim.is_constant else f" ({dim} with {_bindings_text(dim, symbols)})"
                    raise InputValueError(
                        f"dim {axis} of input {value.name!r} is {array.shape[axis]}, but {wanted}{told} is expected",
                        where=self.where,
                        fix=f"give an array of shape {_shape_text(value.shape)}",
                    )

    def check_buffers(self, symbols: Mapping[str, int]) -> None:
        """Raise where a value would have more bytes than a size can count."""
        for buffer in self._buffers:
            dims = [_evaluated(dim, symbols, f"value {buffer.name!r}", self.where) for dim in buffer.shape]
            known = [dim for dim in dims if dim is not None]
            if len(known) == len(dims) and prod(known) * buffer.dtype.itemsize > INT64_MAX:
                raise InputValueError(
                    f"value {buffer.name!r} would have shape {known}, more bytes than an address can count",
                    where=self.where,
                    fix="give smaller sizes, or sizes that fit together",
                )

    def _outs(self, out: object, symbols: Mapping[str, int]) -> tuple[Array | None, ...]:
        count = len(self.program.outputs)
        given = out if isinstance(out, tuple) else (out,) if out is not None else (None,) * count
        if len(given) != count:
            raise InputTypeError(
                f"out= holds {len(given)} arrays, but the program has {count} outputs",
                where=self.where,
                fix="give one array, or a tuple with one entry for each output",
            )
        outs = tuple(None if item is None else self.out_array(item, k, symbols) for k, item in enumerate(given))
        for k, array in enumerate(outs):
            for other in outs[:k]:
                if array is not None and other is not None and _overlap(array, other):
                    raise InputValueError(
                        "two arrays of out= share memory", where=self.where, fix="give each output its own"
                    )
        return outs

    def out_array(self, item: object, number: int, symbols: Mapping[str, int]) -> Array:
        """Return out= entry ``number`` as an array; raises where it cannot take that output at these sizes."""
        name = self.program.outputs[number].name
        buffer = self._output_buffers[number]
        if self._output_is_object[number]:
            raise InputTypeError(
                f"output {name!r} is no tensor, so out= cannot take it", where=self.where, fix="leave its entry None"
            )
        array = self._array(item, f"out= for output {name!r}")
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
            self.check_out_shape(array, number, shape)
        elif array.ndim != len(buffer.shape):
            raise InputValueError(
                f"out= for output {name!r} has {array.ndim} dims, but the output has {len(buffer.shape)}",
                where=self.where,
                fix="give an array of the output's shape",
            )
        return array

    def check_out_shape(self, array: Array, number: int, shape: tuple[int, ...]) -> None:
        """Raise where ``array`` does not have the output's ``shape``."""
        if array.shape != shape:
            raise InputValueError(
                f"out= for output {self.program.outputs[number].name!r} has shape {list(array.shape)}, "
                f"but the output has {list(shape)}",
                where=self.where,
                fix="give an array of the output's shape",
            )


def _device_type(device: Any) -> int:
    try:
        return int(device()[0])
    except Exception:  # what an object of the caller's does when asked is not ours to limit
        return 1  # reading it will fail, and says so


def _overlap(array: Array, other: Array) -> bool:
    if not np.may_share_memory(array, other):
        return False
    try:
        # NumPy takes any count of candidates; its stubs know two special ones.
        return np.shares_memory(array, other, max_work=OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _holds(condition: Any, symbols: Mapping[str, int]) -> bool:
    try:
        return holds(condition, symbols)
    except IrError:
        return False


def _evaluated(dim: Dim, symbols: Mapping[str, int], place: str, where: str) -> int | None:
    if any(name not in symbols for name in free_symbols(dim)):
        return None
    try:
        return evaluate(dim, symbols)
    except IrError as error:
        raise InputValueError(
            f"{place} has no valid size: {error.what}", where=where, fix="give smaller sizes"
        ) from error


def _shape_text(shape: Sequence[Dim]) -> str:
    return f"[{', '.join(str(dim) for dim in shape)}]"


def _bindings_text(dim: Dim, symbols: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {symbols[name]}" for name in free_symbols(dim))
