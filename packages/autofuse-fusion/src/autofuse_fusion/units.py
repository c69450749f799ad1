"""Units: the operators that kernels are made of, each with its own nest and what it reads.

A unit looks through what stands in front of it where its axes can be cut to fit: behind a view (Reshape, Squeeze, ...)
it reads the viewed tensor, behind a widening (Expand, Fill, ...) the narrow one. What is read so by everybody is never
made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from attrs import evolve, frozen
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dtypes import DType, int64
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, input_names, operator
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.walk import made_by
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.operators.precision import cast

from autofuse_fusion.axes import Layout, Nest, nest_of
from autofuse_fusion.joins import join
from autofuse_fusion.lower.space import Lies, Space
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.moves import Path
from autofuse_fusion.values import Values


@frozen(eq=False)
class Number:
    """A constant of one element, written into the kernel."""

    data: TensorData


@frozen
class Size:
    """A size that the program knows, written into the kernel as an expression."""

    value: str
    expression: Dim


@frozen
class Read:
    """The tensor ``value`` as it lies on the unit's nest."""

    value: str
    layout: Layout


Operand: TypeAlias = Number | Size | Read | None


_ONE = const(1)


@frozen(eq=False)
class Unit:
    """One operator of a kernel.

    ``operands`` stand beside ``node.inputs`` (None: missing, or only its shape matters), ``results`` say how
    ``node.outputs`` lie on the nest. ``space`` is the layout of its own loops, of ``shape``. Along the axes ``reduced``
    it joins ``count`` elements; ``is_inner``: the innermost of its own loops is among them. ``indexed`` are (dim, the
    axes it became) for the dims whose positions it asks for, as ``index_dtype``; ``scanned`` is the axis it walks in
    order, if any. ``order`` is its place in the graph; ``needs`` are values that must be there before, though they are
    not read: they bind symbols of its sizes.
    """

    order: int
    node: Node
    nest: Nest
    operands: tuple[Operand, ...]
    results: tuple[Layout, ...]
    space: Layout
    needs: tuple[str, ...] = ()
    reduced: tuple[int, ...] = ()
    count: Dim = _ONE
    shape: tuple[Dim, ...] = ()
    is_inner: bool = False
    indexed: tuple[tuple[int, tuple[int, ...]], ...] = ()
    scanned: tuple[int, ...] = ()
    index_dtype: DType = int64

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values it makes."""
        return made_by(self.node)

    @property
    def reads(self) -> Iterator[Read]:
        """The tensors it reads."""
        return (operand for operand in self.operands if isinstance(operand, Read))


@frozen(eq=False)
class SeenThrough:
    """Operators that readers look through, by result: views, and ``widenings``, which only repeat their input."""

    views: Mapping[str, Node]
    widenings: Mapping[str, Node]


def unit_of(order: int, node: Node, values: Values, seen: SeenThrough, needs: tuple[str, ...] = ()) -> Unit:
    """Return the unit of ``node``, reading what stands behind views and widenings where its axes allow that."""
    lowering = lowering_of(node.op)
    assert lowering is not None
    space = lowering.space(node, values)
    assert space is not None, node.op
    sizes = values.sizes
    axis_of = {dim: k for k, dim in enumerate(k for k, size in enumerate(space.shape) if not sizes.is_one(size))}
    nest = tuple(space.shape[dim] for dim in axis_of)
    names = input_names(operator(node.op), len(node.inputs))
    operands: list[Operand] = []
    for param, value, lies in zip(names, node.inputs, space.operands, strict=True):
        if value is None or lies is None or param in lowering.unread:
            operands.append(None)
        else:
            operands.append(_known(value, values) or Read(value, _layout(value, lies, space, axis_of, values)))
    results = [
        _layout(value, lies, space, axis_of, values) if value else (None,) * len(nest)
        for value, lies in zip(node.outputs, space.results, strict=False)
    ]
    reduced = tuple(axis_of[dim] for dim in space.reduced if dim in axis_of)
    unit = Unit(
        order,
        node,
        nest,
        tuple(operands),
        tuple(results),
        nest,
        needs,
        reduced=reduced,
        count=product(space.shape[dim] for dim in space.reduced),
        shape=space.shape,
        is_inner=bool(nest) and len(nest) - 1 in reduced,
        indexed=tuple((dim, (axis_of[dim],) if dim in axis_of else ()) for dim in space.indexed),
        scanned=tuple(axis_of[dim] for dim in space.scanned if dim in axis_of),
        index_dtype=space.index_dtype(values),
    )
    for position in range(len(unit.operands)):
        unit = _looked_through(unit, position, values, seen)
    return unit


def _known(value: str, values: Values) -> Number | Size | None:
    data = values.constants.get(value)
    if data is not None:
        return Number(data) if data.element_count == 1 else None
    content = values.content(value)
    return Size(value, content[0]) if content is not None and len(content) == 1 else None


def _layout(value: str, lies: Lies, space: Space, axis_of: Mapping[int, int], values: Values) -> Layout:
    """Return how ``value``, whose dims lie on the dims of ``space``, lies on the axes that these became."""
    entries: list[Dim | None] = [None] * len(axis_of)
    for own, dims in zip(values.shape(value), lies, strict=True):
        if values.sizes.is_one(own):
            continue
        for dim in dims:
            if dim in axis_of:
                size = space.shape[dim]
                entries[axis_of[dim]] = size if len(dims) > 1 or values.sizes.equal(own, size) else own
    return tuple(entries)


def _looked_through(unit: Unit, position: int, values: Values, seen: SeenThrough) -> Unit:
    """Return ``unit`` reading operand ``position`` behind the views and widenings in front of it."""
    while True:
        operand = unit.operands[position]
        if not isinstance(operand, Read):
            return unit
        if operand.value in seen.views:
            moved = _behind_views(unit, position, _views_behind(operand.value, seen), values)
        elif operand.value in seen.widenings:
            behind = _behind_widening(seen.widenings[operand.value], values, seen)
            moved = _moved(unit, position, behind, values)
        else:
            return unit
        if moved is None:
            return unit
        unit = moved


def _behind_views(unit: Unit, position: int, views: Sequence[Node], values: Values) -> Unit | None:
    """Return ``unit`` reading operand ``position`` behind as many of ``views`` as its axes allow; None for none."""
    found, last = unit, None
    for view in views:
        further = _moved(found, position, _behind_view(view, values), values)
        if further is None:
            break
        found, last = further, view
    if last is None or last is views[0]:
        return None if last is None else found
    # All at once, where that is no finer: what is in between may cut the axes for nothing.
    direct = _moved(unit, position, _behind_view(last, values), values)
    return found if direct is None or len(direct.nest) > len(found.nest) else direct


def _views_behind(value: str, seen: SeenThrough) -> list[Node]:
    """Return the views between ``value`` and what lies in memory, the one that makes ``value`` first."""
    views: list[Node] = []
    view = seen.views.get(value)
    while view is not None:
        views.append(view)
        view = seen.views.get(view.inputs[0] or "")
    return views


def _moved(unit: Unit, position: int, behind: tuple[Nest, Operand] | None, values: Values) -> Unit | None:
    """Return ``unit`` reading what stands behind operand ``position``; None where its axes do not allow that."""
    operand = unit.operands[position]
    if behind is None or not isinstance(operand, Read):
        return None
    nest, source = behind
    joined = join(nest, unit.nest, ((nest, operand.layout),), (), values.sizes)
    moved = None if joined is None else moved_unit(unit, joined.second)
    if joined is None or moved is None:
        return None
    if isinstance(source, Read):
        layout = joined.first(source.layout)
        if layout is None:
            return None
        source = Read(source.value, layout)
    return evolve(moved, operands=(*moved.operands[:position], source, *moved.operands[position + 1 :]))


def _behind_view(view: Node, values: Values) -> tuple[Nest, Operand] | None:
    source = view.inputs[0]
    shape = None if source is None else values.fact(source).shape
    if source is None or shape is None:
        return None
    nest = nest_of(shape, values.sizes)
    return nest, _known(source, values) or Read(source, nest)


def _behind_widening(node: Node, values: Values, seen: SeenThrough) -> tuple[Nest, Operand] | None:
    """Return what a widening reads on its own nest: the narrow input, or the constant it is full of."""
    unit = unit_of(-1, node, values, seen)
    source = next((operand for operand in unit.operands if operand is not None), None)
    if source is not None:
        return unit.nest, source
    dtype = values.fact(node.outputs[0]).dtype
    filled = np.asarray(CONSTANT_OF[node.op](node)).astype(np.float64)
    return unit.nest, Number(to_tensor_data(cast(filled, dtype)))


CONSTANT_OF: dict[str, Callable[[Node], float]] = {
    "ZerosLike": lambda _: 0.0,
    "OnesLike": lambda _: 1.0,
    "Fills": lambda node: _float_attr(node, "value"),
}
"""Operators that are one constant in the shape of their input."""

WIDENINGS = frozenset(("Expand", "BroadcastTo", "Fill", *CONSTANT_OF))
"""Operators that only repeat what they read."""


def _float_attr(node: Node, name: str) -> float:
    value = attr_of(node, name)
    assert isinstance(value, int | float)
    return float(value)


def moved_unit(unit: Unit, path: Path) -> Unit | None:
    """Return ``unit`` on the nest that ``path`` leads to; None where its values or its own loops do not lie there."""
    if path.keeps:
        return unit
    operands: list[Operand] = []
    for operand in unit.operands:
        if isinstance(operand, Read):
            layout = path(operand.layout)
            if layout is None:
                return None
            operands.append(Read(operand.value, layout))
        else:
            operands.append(operand)
    results = [layout for layout in map(path, unit.results) if layout is not None]
    space, reduced, scanned = path(unit.space), path.follow(unit.reduced), path.follow(unit.scanned)
    indexed = [(dim, axes) for dim, old in unit.indexed if (axes := path.follow(old)) is not None]
    if space is None or reduced is None or scanned is None or len(scanned) != len(unit.scanned):
        return None
    if len(results) != len(unit.results) or len(indexed) != len(unit.indexed):
        return None
    if any(space[axis] != path.new[axis] for axis in (*reduced, *scanned)):
        return None  # how many elements there are must not depend on what else is in the kernel
    return evolve(
        unit,
        nest=path.new,
        operands=tuple(operands),
        results=tuple(results),
        space=space,
        reduced=reduced,
        scanned=scanned,
        indexed=tuple(indexed),
    )
