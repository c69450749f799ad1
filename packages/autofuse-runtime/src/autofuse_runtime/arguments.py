"""The arguments of a call against what the program declares: the place that words what is wrong with them.

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

from autofuse_runtime.arrays import Array, numpy_dtype
from autofuse_runtime.buffers import buffer_table
from autofuse_runtime.errors import InputTypeError, InputValueError
from autofuse_runtime.given_arrays import given_array
from autofuse_runtime.outs import OutBinder
from autofuse_runtime.plan import entry_guards


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
        self.outs = OutBinder(program, self.where)
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
        return BoundArguments(values, self.outs.bind(out, symbols), out, symbols)

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
        array = given_array(given, f"input {value.name!r}", self.where)
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
