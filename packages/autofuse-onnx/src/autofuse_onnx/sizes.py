"""The sizes of a model's inputs: symbols, their ranges, and the values the user fixed."""

import difflib
from collections.abc import Mapping
from typing import TypeAlias

import onnx
from attrs import evolve, field, frozen
from autofuse_ir.dims import Dim, const
from autofuse_ir.dims import symbol as size_symbol
from autofuse_ir.dtypes import dtype_of_onnx_code, opaque
from autofuse_ir.graph import LARGEST_SIZE, Symbol, Value

from autofuse_onnx.errors import OnnxError
from autofuse_onnx.node import OnnxDim, ValueType

Range: TypeAlias = int | tuple[int, int]
"""A size, or an inclusive range of sizes."""


@frozen
class Sizes:
    """What the user said about sizes: a fixed size or a range by name, and hints."""

    dims: Mapping[str, Range] = field(factory=dict)
    hints: Mapping[str, int] = field(factory=dict)

    def fixed(self, dim: OnnxDim) -> OnnxDim:
        """Return ``dim``, or its size where the user fixed it."""
        given = self.dims.get(dim) if isinstance(dim, str) else None
        return given if isinstance(given, int) else dim


def check_sizes(sizes: Sizes, where: str) -> None:
    """Raise ``OnnxError`` for sizes, ranges and hints that no tensor can have."""
    for name, given in sizes.dims.items():
        ends = given if isinstance(given, tuple) else (given, given)
        whole = len(ends) == 2 and all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
        if not whole or not 0 <= ends[0] <= ends[1]:
            raise OnnxError(
                f"dim {name!r} cannot be {given!r}",
                where=where,
                fix="give a size of at least 0, or a range (low, high) with low <= high",
            )
    for name, hint in sizes.hints.items():
        given = sizes.dims.get(name, (0, LARGEST_SIZE))
        low, high = (given, given) if isinstance(given, int) else given
        if isinstance(hint, bool) or not isinstance(hint, int) or not low <= hint <= high:
            raise OnnxError(
                f"the hint {hint!r} of dim {name!r} lies outside its range {low}..{high}",
                where=where,
                fix="give a hint inside the range",
            )


def is_stated(value: onnx.TypeProto) -> bool:
    """True when the type says what the value is: at least the element type of a tensor."""
    return value.WhichOneof("value") is not None and not (
        value.HasField("tensor_type") and value.tensor_type.elem_type == onnx.TensorProto.UNDEFINED
    )


def type_of(value: onnx.TypeProto) -> ValueType:
    """Return the type of a value: opaque for strings, sequences, optional and sparse values, rare element types."""
    if value.WhichOneof("value") != "tensor_type":
        return ValueType(opaque, None, value)
    tensor = value.tensor_type
    dtype = dtype_of_onnx_code(tensor.elem_type) or opaque
    if not tensor.HasField("shape"):
        return ValueType(dtype, None, value)
    return ValueType(dtype, tuple(_dim(dim) for dim in tensor.shape.dim), value)


_NAMELESS = ("", "?", "-1", "*", "None")
"""What exporters write as the name of a dim without a name."""


def _dim(dim: onnx.TensorShapeProto.Dimension) -> OnnxDim:
    if dim.HasField("dim_value"):
        # Some exporters write -1 where the size is open.
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) if dim.dim_param not in _NAMELESS else None


def named_inputs(inputs: Mapping[str, ValueType], sizes: Sizes, where: str) -> dict[str, ValueType]:
    """Return the input types with every dim an int or a name: nameless ones are called after input and position.

    Raises ``OnnxError`` when the user speaks of a name that no dim has.
    """
    taken = {dim for type_ in inputs.values() for dim in type_.shape or () if isinstance(dim, str)}
    named: dict[str, ValueType] = {}
    for name, type_ in inputs.items():
        if type_.shape is None:
            named[name] = type_
            continue
        dims: list[OnnxDim] = []
        for i, dim in enumerate(type_.shape):
            dims.append(_fresh(f"{name}_{i}", taken) if dim is None else dim)
        named[name] = evolve(type_, shape=tuple(dims))
    for given in (*sizes.dims, *sizes.hints):
        if given not in taken:
            near = difflib.get_close_matches(given, taken, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"its dims are {', '.join(sorted(taken)) or 'all fixed'}"
            raise OnnxError(f"no input has a dim called {given!r}", where=where, fix=known)
    return {
        name: evolve(type_, shape=None if type_.shape is None else tuple(sizes.fixed(dim) for dim in type_.shape))
        for name, type_ in named.items()
    }


def _fresh(name: str, taken: set[str]) -> str:
    fresh, number = name, 0
    while fresh in taken:
        number += 1
        fresh = f"{name}_{number}"
    taken.add(fresh)
    return fresh


def symbols_of(inputs: Mapping[str, ValueType], sizes: Sizes) -> tuple[Symbol, ...]:
    """Return the symbols of the input dims with their ranges and hints, by name."""
    names = sorted({dim for type_ in inputs.values() for dim in type_.shape or () if isinstance(dim, str)})
    symbols = []
    for name in names:
        given = sizes.dims.get(name)
        low, high = given if isinstance(given, tuple) else (0, LARGEST_SIZE)
        symbols.append(Symbol(name, low, high, sizes.hints.get(name)))
    return tuple(symbols)


def as_value(name: str, type_: ValueType) -> Value:
    """Return the type of value ``name`` as the graph states it; unknown dims are symbols called after the value."""
    if type_.shape is None:
        return Value(name, type_.dtype, None)
    return Value(name, type_.dtype, tuple(_size(name, i, dim) for i, dim in enumerate(type_.shape)))


def _size(name: str, i: int, dim: OnnxDim) -> Dim:
    if isinstance(dim, int):
        return const(dim)
    return size_symbol(dim if dim is not None else f"{name}.dim{i}")
