"""Units: the operators that kernels are made of, each with its own nest and what it reads.

A unit reads *roots*: a view (Reshape, Squeeze, ...) in front of it is looked through where its axes can be cut so that
the unit reads the viewed tensor directly; the tensor behind the view then lies on axes of the unit's nest.
"""

from collections.abc import Iterator
from typing import TypeAlias

from attrs import evolve, frozen
from autofuse_ir.dims import Dim
from autofuse_ir.graph import Node
from autofuse_ir.operators import input_names, operator
from autofuse_ir.tensor_data import TensorData

from autofuse_fusion.axes import Layout, Move, Nest, join, nest_of
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.table import lowering_of
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


@frozen(eq=False)
class Unit:
    """One operator of a kernel.

    ``operands`` stand beside ``node.inputs`` (None: missing, or only its shape matters). ``order`` is its place in the
    graph; ``needs`` are values that must be there before, though they are not read: they bind symbols of its sizes.
    """

    order: int
    node: Node
    nest: Nest
    operands: tuple[Operand, ...]
    needs: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values it makes."""
        return tuple(name for name in self.node.outputs if name)

    @property
    def reads(self) -> Iterator[Read]:
        """The tensors it reads."""
        return (operand for operand in self.operands if isinstance(operand, Read))


def unit_of(order: int, node: Node, values: Values, views: dict[str, Node], needs: tuple[str, ...] = ()) -> Unit:
    """Return the unit of ``node``. ``views`` maps the result of each view to its operator."""
    shape = values.fact(next(name for name in node.outputs if name)).shape
    assert shape is not None
    lowering = lowering_of(node.op)
    assert lowering is not None
    sizes = values.sizes
    kept = [k for k, dim in enumerate(shape) if not sizes.is_one(dim)]
    nest = nest_of(shape, sizes)
    names = input_names(operator(node.op), len(node.inputs))
    operands: list[Operand] = []
    for param, value in zip(names, node.inputs, strict=True):
        if value is None or param in lowering.unread:
            operands.append(None)
            continue
        known = _known(value, values)
        if known is not None:
            operands.append(known)
            continue
        own = values.fact(value).shape
        assert own is not None, value
        places = positions(node, param, len(own), len(shape))
        at = {place: dim for place, dim in zip(places, own, strict=True)}
        layout = tuple(_entry(at.get(k), shape[k], values) for k in kept)
        operands.append(Read(value, layout))
    return _through_views(Unit(order, node, nest, tuple(operands), needs), values, views)


def _known(value: str, values: Values) -> Number | Size | None:
    data = values.constants.get(value)
    if data is not None:
        return Number(data) if data.element_count == 1 else None
    content = values.content(value)
    return Size(value, content[0]) if content is not None and len(content) == 1 else None


def _entry(dim: Dim | None, size: Dim, values: Values) -> Dim | None:
    if dim is None or values.sizes.is_one(dim):
        return None
    return size if values.sizes.equal(dim, size) else dim


def _through_views(unit: Unit, values: Values, views: dict[str, Node]) -> Unit:
    """Return ``unit`` reading what stands behind the views in front of it, as far as the axes map."""
    for position in range(len(unit.operands)):
        while True:
            operand = unit.operands[position]
            view = views.get(operand.value) if isinstance(operand, Read) else None
            if view is None or view.inputs[0] is None or not isinstance(operand, Read):
                break
            source = view.inputs[0]
            shape = values.fact(source).shape
            assert shape is not None
            behind = nest_of(shape, values.sizes)
            joined = join(behind, unit.nest, operand.layout, values.sizes)
            if joined is None:
                break
            layout = joined.first(behind)
            moved = _moved(unit, joined.second)
            if layout is None or moved is None:
                break
            known = _known(source, values)
            replaced: Operand = known if known is not None else Read(source, layout)
            unit = evolve(moved, operands=(*moved.operands[:position], replaced, *moved.operands[position + 1 :]))
    return unit


def _moved(unit: Unit, move: Move) -> Unit | None:
    """Return ``unit`` on another nest."""
    if move.keeps:
        return unit
    operands: list[Operand] = []
    for operand in unit.operands:
        if isinstance(operand, Read):
            layout = move(operand.layout)
            if layout is None:
                return None
            operands.append(Read(operand.value, layout))
        else:
            operands.append(operand)
    return evolve(unit, nest=move.new, operands=tuple(operands))
