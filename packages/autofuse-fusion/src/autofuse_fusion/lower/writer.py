"""Writes the nodes of an AscGraph: one primitive at a time, each distinct one once, with explicit broadcasts."""

from collections.abc import Sequence
from math import copysign, isnan

from attrs import define, field, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessMap, AscNode, Axis
from autofuse_ir.asc_ops import AscKind, AscResult, asc_op
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import Tree
from autofuse_ir.strides import dense_strides

from autofuse_fusion.axes import Layout
from autofuse_fusion.index_map import Number
from autofuse_fusion.lower.numbers import cast_number, folded, rounded
from autofuse_fusion.passes.casts import is_embedding


@frozen
class Tensor:
    """A value inside the kernel: its node, element type, and the axes it varies along."""

    name: str
    dtype: DType
    varies: tuple[bool, ...]
    is_scalar: bool = False


_KEEPS_EQUALS = ("Max", "Min", "Any", "All")


@define
class KernelWriter:
    """Collects nodes over ``axes``; ``source`` names the user's operators that the next nodes come from."""

    axes: tuple[Axis, ...]
    nodes: list[AscNode] = field(factory=list)
    source: tuple[str, ...] = ()
    _written: dict[tuple[object, ...], Tensor] = field(factory=dict)
    _narrow: dict[str, Tensor] = field(factory=dict)
    _numbers: dict[str, Number] = field(factory=dict)
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
            axis.name in walked or any(index.varies[place] for index in indices) for place, axis in enumerate(self.axes)
        )
        named = (data, *(index.name for index in indices))
        attrs = () if fill is None else (Attr("fill", fill),)
        key = ("Load", named, access, None if fill is None else _bits(fill))
        if key not in self._written:
            name = self._add("Load", named, dtype, varies, attrs, access=access)
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def store(self, tensor: Tensor, index: int, layout: Layout, access: AccessMap) -> None:
        """Write ``tensor``, along the axes of ``layout``, to kernel output ``index``."""
        along = tuple(entry is not None for entry in layout)
        tensor = self.widened(tensor, along)
        store = self._add("Store", (tensor.name,), tensor.dtype, along, access=access)
        self._add("Output", (store,), tensor.dtype, along, (Attr("index", index),), name=f"out{index}")

    def scalar(self, value: Number, dtype: DType) -> Tensor:
        """Return the constant ``value``, rounded to ``dtype``."""
        stored: Number = rounded(value, dtype)
        key = ("Scalar", _bits(stored), dtype)
        if key not in self._written:
            name = self._add("Scalar", (), dtype, self._nowhere, (Attr("value", stored),))
            self._written[key] = Tensor(name, dtype, self._nowhere, is_scalar=True)
            self._numbers[name] = stored
        return self._written[key]

    def size(self, expression: Dim, dtype: DType) -> Tensor:
        """Return the size ``expression`` as an integer."""
        key = ("IndexExpr", expression, dtype)
        if key not in self._written:
            name = self._add("IndexExpr", (), dtype, self._nowhere, (Attr("expression", expression),))
            self._written[key] = Tensor(name, dtype, self._nowhere, is_scalar=True)
        return self._written[key]

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        """Return ``tensor`` as ``dtype``; itself where it has that type.

        A type that it was only widened to on the way is skipped.
        """
        tensor = self._narrow.get(tensor.name, tensor)
        if tensor.dtype == dtype:
            return tensor
        number = self._numbers.get(tensor.name)
        if number is not None:
            return self.scalar(cast_number(number, tensor.dtype, dtype), dtype)
        found = self.apply("Cast", tensor, dtype=dtype)
        if is_embedding(tensor.dtype, dtype):
            self._narrow[found.name] = tensor
        return found

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
        if all(i.name in self._numbers for i in inputs):
            known = folded(op, dtype, [(self._numbers[i.name], i.dtype) for i in inputs])
            if known is not None:
                return self.scalar(known, dtype)
        varies = tuple(any(along) for along in zip(*(i.varies for i in inputs), strict=True))
        operands = tuple(i if i.is_scalar else self.widened(i, varies) for i in inputs)
        key = (op, tuple(o.name for o in operands), dtype, tuple(sorted(attrs.items())))
        if key not in self._written:
            listed = tuple(Attr(name, attrs[name]) for name in sorted(attrs))
            name = self._add(op, tuple(o.name for o in operands), dtype, varies, listed)
            self._written[key] = Tensor(name, dtype, varies)
        return self._written[key]

    def reduce(self, op: str, tensor: Tensor, axes: tuple[int, ...], tree: Tree) -> Tensor:
        """Return ``tensor`` joined along ``axes`` (their numbers) by reduction ``op``.

        Itself where there are none, or where all repeat one element that ``op`` keeps, however often it is joined.
        """
        if not axes or (op in _KEEPS_EQUALS and all(self._repeats(tensor, axis) for axis in axes)):
            return tensor
        wide = self.widened(tensor, tuple(along or k in axes for k, along in enumerate(tensor.varies)))
        key = (op, wide.name, axes, tree)
        if key not in self._written:
            varies = tuple(along and k not in axes for k, along in enumerate(wide.varies))
            attrs = (Attr("axes", tuple(self.axes[k].name for k in axes)), *tree.attrs())
            self._written[key] = Tensor(self._add(op, (wide.name,), wide.dtype, varies, attrs), wide.dtype, varies)
        return self._written[key]

    def _repeats(self, tensor: Tensor, axis: int) -> bool:
        """True where there is one element or more along ``axis``, always the same."""
        return not tensor.varies[axis] and (self.axes[axis].size.constant_value or 0) > 0

    def scan(self, op: str, tensor: Tensor, axes: tuple[int, ...], exclusive: bool, reverse: bool) -> Tensor:
        """Return ``tensor`` with each element joined to those before it along the one axis of ``axes``.

        Where there is none, the only element has none before it.
        """
        if not axes:
            identity: Number = 0 if op == "CumSum" else 1
            return self.scalar(identity, tensor.dtype) if exclusive else tensor
        (axis,) = axes
        wide = self.widened(tensor, tuple(along or k == axis for k, along in enumerate(tensor.varies)))
        key = (op, wide.name, axis, exclusive, reverse)
        if key not in self._written:
            attrs = (Attr("axis", self.axes[axis].name), Attr("exclusive", exclusive), Attr("reverse", reverse))
            self._written[key] = Tensor(
                self._add(op, (wide.name,), wide.dtype, wide.varies, attrs), wide.dtype, wide.varies
            )
        return self._written[key]

    def position(self, axes: tuple[int, ...], dtype: DType) -> Tensor:
        """Return the row-major position along ``axes`` together, 0 where there are none."""
        found: Tensor | None = None
        for axis in axes:
            key = ("AxisIndex", axis, dtype)
            if key not in self._written:
                varies = tuple(k == axis for k in range(len(self.axes)))
                name = self._add("AxisIndex", (), dtype, varies, (Attr("axis", self.axes[axis].name),))
                self._written[key] = Tensor(name, dtype, varies)
            step = self._written[key]
            if found is not None:
                found = self.apply("Mul", found, self.cast(self.size(self.axes[axis].size, dt.int64), dtype))
            found = step if found is None else self.apply("Add", found, step)
        return self.scalar(0, dtype) if found is None else found

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
