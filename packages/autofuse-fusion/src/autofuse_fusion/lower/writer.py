"""Writes the nodes of an AscGraph: one primitive at a time, each distinct one once, with explicit broadcasts."""

from collections.abc import Sequence
from math import copysign, isnan
from typing import TypeAlias

from attrs import define, field, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessMap, AscNode, Axis
from autofuse_ir.asc_ops import AscKind, AscResult, asc_op
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr
from autofuse_ir.strides import dense_strides

from autofuse_fusion.axes import Layout

Number: TypeAlias = bool | int | float


@frozen
class Tensor:
    """A value inside the kernel: its node, element type, and the axes it varies along."""

    name: str
    dtype: DType
    varies: tuple[bool, ...]
    is_scalar: bool = False


@define
class KernelWriter:
    """Collects nodes over ``axes``; ``source`` names the user's operators that the next nodes come from."""

    axes: tuple[Axis, ...]
    nodes: list[AscNode] = field(factory=list)
    source: tuple[str, ...] = ()
    _written: dict[tuple[object, ...], Tensor] = field(factory=dict)
    _counts: dict[str, int] = field(factory=dict)

    def data(self, index: int, dtype: DType, layout: Layout) -> str:
        """Add kernel input ``index`` and return its node."""
        varies = tuple(entry is not None for entry in layout)
        return self._add("Data", (), dtype, varies, (Attr("index", index),), name=f"in{index}")

    def load(self, data: str, dtype: DType, layout: Layout, access: AccessMap) -> Tensor:
        """Return the tensor ``data``, which lies on the axes as ``layout`` and ``access`` say."""
        varies = tuple(entry is not None for entry in layout)
        key = ("Load", data, layout)
        if key not in self._written:
            name = self._add("Load", (data,), dtype, varies, access=access)
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def indexed_load(
        self, data: str, dtype: DType, access: AccessMap, indices: Sequence[Tensor], fill: Number | None
    ) -> Tensor:
        """Return ``data`` at the index map ``access``; ``fill`` is what it gives outside."""
        walked = {dim.axis for dim in access.dims if dim.step != 0}
        varies = tuple(
            axis.name in walked or any(index.varies[place] for index in indices)
            for place, axis in enumerate(self.axes)
        )
        named = (data, *(index.name for index in indices))
        attrs = () if fill is None else (Attr("fill", fill),)
        key = ("Load", named, access, None if fill is None else _bits(fill))
        if key not in self._written:
            name = self._add("Load", named, dtype, varies, attrs, access=access)
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def axis_index(self, position: int, dtype: DType) -> Tensor:
        """Return the index along the axis at ``position``."""
        axis = self.axes[position].name
        key = ("AxisIndex", axis, dtype)
        if key not in self._written:
            varies = tuple(place == position for place in range(len(self.axes)))
            name = self._add("AxisIndex", (), dtype, varies, (Attr("axis", axis),))
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def store(self, tensor: Tensor, index: int, access: AccessMap) -> None:
        """Write ``tensor``, along all axes, to kernel output ``index``."""
        whole = (True,) * len(self.axes)
        tensor = self.widened(tensor, whole)
        store = self._add("Store", (tensor.name,), tensor.dtype, whole, access=access)
        self._add("Output", (store,), tensor.dtype, whole, (Attr("index", index),), name=f"out{index}")

    def scalar(self, value: Number, dtype: DType) -> Tensor:
        """Return the constant ``value``, rounded to ``dtype``."""
        stored: Number = float(value) if dtype.is_float else bool(value) if dtype == dt.bool_ else int(value)
        key = ("Scalar", _bits(stored), dtype)
        if key not in self._written:
            name = self._add("Scalar", (), dtype, self._nowhere, (Attr("value", stored),))
            self._written[key] = Tensor(name, dtype, self._nowhere, is_scalar=True)
        return self._written[key]

    def size(self, expression: Dim, dtype: DType) -> Tensor:
        """Return the size ``expression`` as an integer."""
        key = ("IndexExpr", expression, dtype)
        if key not in self._written:
            name = self._add("IndexExpr", (), dtype, self._nowhere, (Attr("expression", expression),))
            self._written[key] = Tensor(name, dtype, self._nowhere, is_scalar=True)
        return self._written[key]

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        """Return ``tensor`` as ``dtype``; itself where it has that type."""
        return tensor if tensor.dtype == dtype else self.apply("Cast", tensor, dtype=dtype)

    def apply(self, op: str, *inputs: Tensor, dtype: DType | None = None, **attrs: bool) -> Tensor:
        """Return AscIR operator ``op`` of ``inputs``, which are widened to one another."""
        rule = asc_op(op)
        assert rule is not None, op
        assert rule.kind is AscKind.ELEMENTWISE, op
        assert len(inputs) == rule.arity, op
        if dtype is None:
            match rule.result:
                case AscResult.BOOL:
                    dtype = dt.bool_
                case AscResult.SECOND:
                    dtype = inputs[1].dtype
                case _:
                    dtype = inputs[0].dtype
        varies = tuple(any(along) for along in zip(*(i.varies for i in inputs), strict=True))
        operands = tuple(i if i.is_scalar else self.widened(i, varies) for i in inputs)
        key = (op, tuple(o.name for o in operands), dtype, tuple(sorted(attrs.items())))
        if key not in self._written:
            listed = tuple(Attr(name, attrs[name]) for name in sorted(attrs))
            name = self._add(op, tuple(o.name for o in operands), dtype, varies, listed)
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def widened(self, tensor: Tensor, varies: tuple[bool, ...]) -> Tensor:
        """Return ``tensor`` repeated along the axes of ``varies`` that it does not vary along, innermost first."""
        for position in reversed(range(len(varies))):
            if not varies[position] or tensor.varies[position]:
                continue
            axis = self.axes[position].name
            wide = (*tensor.varies[:position], True, *tensor.varies[position + 1 :])
            key = ("Broadcast", tensor.name, axis)
            if key not in self._written:
                name = self._add("Broadcast", (tensor.name,), tensor.dtype, wide, (Attr("axis", axis),))
                self._written[key] = Tensor(name, tensor.dtype, wide)
            tensor = self._written[key]
        return tensor

    @property
    def _nowhere(self) -> tuple[bool, ...]:
        return (False,) * len(self.axes)

    def _add(
        self,
        op: str,
        inputs: tuple[str, ...],
        dtype: DType,
        varies: tuple[bool, ...],
        attrs: tuple[Attr, ...] = (),
        access: AccessMap | None = None,
        name: str | None = None,
    ) -> str:
        if name is None:
            stem = op.lower()
            self._counts[stem] = self._counts.get(stem, -1) + 1
            name = f"{stem}{self._counts[stem]}"
        repeats = tuple(axis.size if along else const(1) for axis, along in zip(self.axes, varies, strict=True))
        self.nodes.append(AscNode(name, op, inputs, dtype, repeats, dense_strides(repeats), attrs, access, self.source))
        return name


def _bits(value: Number) -> tuple[object, ...]:
    """Return what tells two constants apart: -0.0 is not 0.0, and NaN is one constant."""
    if isinstance(value, float):
        return ("nan",) if isnan(value) else (value, copysign(1.0, value))
    return (value,)
