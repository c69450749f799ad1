"""Carries views up through what makes the viewed value: an operator on views of its operands, as often as that pays."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from attrs import define, evolve, field
from autofuse_ir.dims import Dim, const, eq, ge, product, select
from autofuse_ir.dtypes import bool_
from autofuse_ir.facts import ValueFact
from autofuse_ir.graph import Node
from autofuse_ir.operators import Flag, input_names, operator
from autofuse_ir.target import TargetSpec
from autofuse_reference.arrays import to_array

from autofuse_fusion import index_map
from autofuse_fusion.benefit import CostModel, work_per_element
from autofuse_fusion.classify import Kind, classify
from autofuse_fusion.index_map import Place, Position, Viewed, plain, still, summed
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.lower.views.conditions import ConditionWriter
from autofuse_fusion.lower.views.marks import is_placed, origin_of
from autofuse_fusion.lower.views.nodes import Shape
from autofuse_fusion.options import FusionOptions

_ONE = const(1)
_MOST_DEEP = 64
"""Most operators that one view is carried through: kernels are not larger by much."""

_FAILING = frozenset(("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Pow"))
"""Operators that report some integers, as their second operand: it must not be what is of no consequence."""

_LIKE_ELEMENTWISE = frozenset(("BiasAdd", "Select", "Expand", "BroadcastTo", "Fill", "ZerosLike", "OnesLike", "Fills"))


@define(eq=False)
class Views(ConditionWriter, ABC):
    """What views are made with: ``options`` and ``model`` say what is computed again, ``depth`` and ``budget`` how far.

    ``depth`` counts the operators that the view at work was carried through, ``budget`` is the time it may still take.
    """

    target: TargetSpec
    options: FusionOptions
    model: CostModel
    depth: int = field(default=0, init=False)
    budget: float = field(default=0.0, init=False)

    @abstractmethod
    def view(
        self,
        source: str,
        shape: Shape,
        places: tuple[Place, ...],
        partial: bool = False,
        name: str | None = None,
    ) -> str:
        """Return ``source`` at ``places``, as a value of ``shape`` that is 1 wide along dims no index depends on.

        ``partial``: indices may be outside; what is there is of no consequence. A node made for it is called ``name``.
        """


def may_carry(b: Views, value: str, partial: bool) -> bool:
    """True where ``value`` may be computed at other indices than its own."""
    maker = b.makers.get(value)
    if maker is None or value in b.stored or b.depth >= _MOST_DEEP or not b.options.enable:
        return False
    if not b.options.allows(maker.name, origin_of(maker)) or sum(bool(name) for name in maker.outputs) != 1:
        return False
    op = operator(maker.op)
    if maker.op == "Index":
        return is_placed(maker) and (not partial or _has_rows(b, maker))
    lowering = lowering_of(maker.op)
    if lowering is None or not lowering.accepts(maker) or lowering.space is not broadcast_space:
        return False
    if not (op.has(Flag.ELEMENTWISE) or maker.op in _LIKE_ELEMENTWISE or is_placed(maker)):
        return False
    return _is_kernel(b, maker)


def _has_rows(b: Views, gather: Node) -> bool:
    """True where there is something at index 0 of the table that ``gather`` reads, at every size."""
    leaf = b.values.leaves.get(gather.inputs[0] or "")
    holds = b.values.sizes.oracle.holds
    return isinstance(leaf, Viewed) and all(holds(ge(size, 1)) for size in leaf.memory)


def pays(b: Views, value: str, maker: Node, shape: Shape, places: tuple[Place, ...]) -> bool:
    """True where computing ``value`` again at ``places`` of ``shape`` costs less than reading it back."""
    sizes, fact = b.values.sizes, b.values.fact(value)
    assert fact.shape is not None
    count, alone = sizes.hint(product(shape)), b.readers.get(value, 1) <= 1
    more = count - (sizes.hint(product(fact.shape)) if alone else 0)
    cost = max(0, more) * work_per_element(maker.op) * b.model.element
    if maker.op == "Index":
        before = _gather_waits(b, maker, fact.shape, plain(len(fact.shape))) if alone else 0.0
        cost += max(0.0, _gather_waits(b, maker, shape, places) - before)
    if b.depth == 0:
        item = fact.dtype.itemsize
        stored = b.values.bytes_at_hints(value) / b.model.write if alone else 0.0
        b.budget = stored + count * item / b.model.read + b.model.launch
    if cost > b.budget:
        return False
    b.budget -= cost
    return True


def _gather_waits(b: Views, gather: Node, shape: Shape, places: tuple[Place, ...]) -> float:
    """Return how long the view of ``gather`` at ``places`` waits: for rows along dims that no index depends on.

    They begin behind the last dim of ``shape`` along which some index varies.
    """
    own, sizes = b.shape_of(gather.outputs[0]), b.values.sizes
    indices = [b.shape_of(index) for index in gather.inputs[3:] if index is not None]
    varying = {
        dim for index in indices for dim, size in enumerate(index, len(own) - len(index)) if not sizes.is_one(size)
    }
    begin = max((dim for own_dim in varying for dim in places[own_dim].dims), default=-1) + 1
    rows, elements = sizes.hint(product(shape[:begin])), sizes.hint(product(shape))
    last = len(shape) - 1
    is_row = any(
        step == 1 for dim, place in enumerate(places) if dim not in varying for k, step in place.terms if k == last
    )
    itemsize = b.values.fact(gather.outputs[0]).dtype.itemsize
    return b.model.gather_waits(rows if is_row else elements, elements, itemsize)


def carried(b: Views, maker: Node, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
    """Return what ``maker`` makes, computed at ``places``."""
    own = b.shape_of(next(output for output in maker.outputs if output))
    lowering = lowering_of(maker.op)
    assert lowering is not None
    b.depth += 1
    inputs: list[str | None] = []
    for param, given in zip(input_names(operator(maker.op), len(maker.inputs)), maker.inputs, strict=True):
        if given is None or param in lowering.unread:
            inputs.append(None)
            continue
        behind = b.shape_of(given)
        lies = positions(maker, param, len(behind), len(own))
        operand = tuple([_narrowed(b, behind[k], own, dim, places) for k, dim in enumerate(lies)])
        inputs.append(b.view(given, shape, operand, partial))
        if len(inputs) == 1 and maker.op == "SelectV2" and b.truth(inputs[0] or "") is not None:
            break
    known = _decided(b, maker, inputs, own, shape, places, partial)
    b.depth -= 1
    if known is not None:
        return known
    if maker.op in ("Less", "GreaterEqual"):
        inputs = _counted(b, inputs)
    if partial:
        inputs = _guarded(b, maker, inputs, own, shape, places)
    return again(b, maker, inputs, shape, name)


def again(b: Views, maker: Node, inputs: Sequence[str | None], shape: Shape, name: str | None) -> str:
    """Add ``maker`` once more, on other inputs."""
    value = next(output for output in maker.outputs if output)
    result = name or b.fresh(value)
    b.add(evolve(maker, inputs=tuple(inputs), outputs=(result,)))
    b.values.facts[result] = ValueFact(result, b.values.fact(value).dtype, shape)
    return result


def _decided(
    b: Views,
    maker: Node,
    inputs: Sequence[str | None],
    own: Shape,
    shape: Shape,
    places: tuple[Place, ...],
    partial: bool,
) -> str | None:
    """Return the result of a comparison or a choice that is the same at all points of the view."""
    given = [value or "" for value in inputs]
    match maker.op:
        case "Less" | "GreaterEqual" if isinstance(b.values.leaves.get(given[0]), Position):
            bound = _known_size(b, given[1])
            known = None if bound is None else b.known_comparison(maker.op, given[0], bound)
            return None if known is None else b.number(known, bool_)
        case "LogicalAnd" if any(b.truth(value) is not None for value in given):
            return b.both(given[0], given[1])
        case "SelectV2" if b.truth(given[0]) is not None:
            branch = maker.inputs[1 if b.truth(given[0]) else 2]
            assert branch is not None
            behind = b.shape_of(branch)
            lies = range(len(own) - len(behind), len(own))
            operand = tuple([_narrowed(b, behind[k], own, dim, places) for k, dim in enumerate(lies)])
            return b.view(branch, shape, operand, partial)
        case _:
            return None


def _counted(b: Views, inputs: list[str | None]) -> list[str | None]:
    """Return the operands of a comparison with a position counted from 0, where it is one with a known size."""
    index, value = (each or "" for each in inputs)
    bound = _known_size(b, value) if isinstance(b.values.leaves.get(index), Position) else None
    if bound is None:
        return inputs
    start, far = b.from_zero(index, bound)
    return inputs if start == index else [start, b.size(far, b.values.fact(start).dtype)]


def _known_size(b: Views, value: str) -> Dim | None:
    """Return the one integer that ``value`` holds, where it is known."""
    data = b.values.constants.get(value)
    if data is not None and data.element_count == 1 and data.dtype.is_integer:
        return const(int(to_array(data).reshape(())))
    content = b.values.content(value)
    return content[0] if content is not None and len(content) == 1 else None


def _guarded(
    b: Views, maker: Node, inputs: list[str | None], own: Shape, shape: Shape, places: tuple[Place, ...]
) -> list[str | None]:
    """Return ``inputs`` with harmless numbers where the view reaches outside: nothing is reported from there."""
    fails = maker.op in _FAILING and not b.values.fact(maker.outputs[0]).dtype.is_float
    if not fails and maker.op != "Index":
        return inputs
    inside = b.inside(own, shape, places)
    if inside is None:
        return inputs
    guarded = list(inputs)
    for number in (1,) if fails else range(3, len(inputs)):
        value = inputs[number] or ""
        dtype = b.values.fact(value).dtype
        guarded[number] = b.chosen(inside, value, b.number(1 if fails else 0, dtype), shape)
    if maker.op == "Index":
        _keep_inside(b, guarded, shape, inside)
    return guarded


def _keep_inside(b: Views, inputs: list[str | None], shape: Shape, inside: str) -> None:
    """Read a table, the first of ``inputs``, at 0 where the view reaches outside, along every dim it walks."""
    table = inputs[0] or ""
    leaf = b.values.leaves[table]
    assert isinstance(leaf, Viewed)
    places: list[Place] = []
    for size, place in zip(leaf.memory, leaf.places, strict=True):
        wide = tuple([each if dim in place.dims else _ONE for dim, each in enumerate(shape)])
        if place.operand is None and b.inside((size,), shape, (place,)) is not None:
            counting = b.counting(size)
            index = b.leaf(Position(place), wide, counting)
            places.append(index_map.given(len(inputs) - 3))
            inputs.append(b.chosen(inside, index, b.number(0, counting), shape))
        else:
            places.append(place)
    dims = {dim for place in places for dim in place.dims}
    wide = tuple([size if dim in dims else _ONE for dim, size in enumerate(shape)])
    whole = evolve(leaf, places=tuple(places), partial=False)
    inputs[0] = b.leaf(whole, wide, b.values.fact(table).dtype, table)


def _narrowed(b: Views, size: Dim, own: Shape, dim: int, places: tuple[Place, ...]) -> Place:
    """Return the index into a dim of ``size`` that broadcasts to dim ``dim`` of ``own``."""
    sizes = b.values.sizes
    if dim < 0 or sizes.is_one(size):
        return still()
    if sizes.equal(size, own[dim]):
        return places[dim]
    factor = select(eq(size, 1), 0, 1)
    return summed([(places[dim], factor)])


def _is_kernel(b: Views, node: Node) -> bool:
    return classify(node, b.values, b.target).kind is Kind.KERNEL
