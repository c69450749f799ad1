"""Builds the nodes that views become, and carries index maps up through what makes the viewed value.

A view of an element-wise result is that operator on views of its operands; a view of a view is one view. So an index
map ends at a tensor in memory, and the operators behind it are computed where they are read, as often as that pays::

    slice(relu(x + b))   ->   relu(slice(x) + slice(b))
    pad(transpose(x))    ->   one leaf of x
"""

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
from autofuse_fusion.index_map import Number, Place, Position, Viewed, at, composed, plain, still, summed
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import VIEWS, lowering_of
from autofuse_fusion.lower.views.marks import is_part, is_placed, origin_of
from autofuse_fusion.lower.views.nodes import NodeWriter, Shape
from autofuse_fusion.lower.views.reshapes import refined, unshaped
from autofuse_fusion.options import FusionOptions

_ONE = const(1)
_MOST_DEEP = 64
"""Most operators that one view is carried through: kernels are not larger by much."""

_FAILING = frozenset(("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Pow"))
"""Operators that report some integers, as their second operand: it must not be what is of no consequence."""

_LIKE_ELEMENTWISE = frozenset(("BiasAdd", "Select", "Expand", "BroadcastTo", "Fill", "ZerosLike", "OnesLike", "Fills"))


@define(eq=False)
class ViewBuilder(NodeWriter):
    """Makes views of values: leaves, or what makes the value at other indices, as ``options`` and ``model`` say."""

    target: TargetSpec
    options: FusionOptions
    model: CostModel
    _depth: int = field(default=0, init=False)
    _budget: float = field(default=0.0, init=False)

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
        if self.is_scalar(source):
            return source
        source = self.behind(source)
        if self.is_scalar(source):
            return source
        own = self.shape_of(source)
        used = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        if not partial and places == plain(len(own)) and wide == own:
            return source
        key = (source, wide, places, partial)
        if key not in self._seen:
            self._seen[key] = self._viewed(source, wide, places, partial, name)
        return self._seen[key]

    def filled(self, source: str, shape: Shape, places: tuple[Place, ...], fill: Number) -> str | None:
        """Return ``source`` at ``places``, and ``fill`` outside of it; None where that is no leaf."""
        whole = self.behind(source)
        if self.is_scalar(whole) or self._is_carried(whole, partial=True):
            return None
        leaf = self.values.leaves.get(whole)
        memory = self.shape_of(whole)
        if leaf is None:
            return self.leaf(Viewed(whole, memory, places, fill=fill), shape, self.values.fact(whole).dtype)
        if not isinstance(leaf, Viewed) or leaf.partial or leaf.fill is not None or leaf.gathers:
            return None
        if any(place.offset != 0 or any(step != 1 for _, step in place.terms) for place in leaf.places):
            return None
        walked = [dim for place in leaf.places for dim in place.dims]
        ends = [memory[place.dims[0]] if len(place.dims) == 1 else None for place in leaf.places]
        if len(walked) != len(memory) or len(set(walked)) != len(walked):
            return None
        if any(end is None or not self.values.sizes.equal(end, m) for end, m in zip(ends, leaf.memory, strict=True)):
            return None
        outer = composed(leaf, places, partial=False)
        assert isinstance(outer, Viewed)
        return self.leaf(evolve(outer, fill=fill), shape, self.values.fact(whole).dtype, whole)

    def flat(self, source: str, shape: Shape, place: Place) -> str:
        """Return ``source``, taken for a vector, at ``place``."""
        own = self.shape_of(source)
        used = set(place.dims)
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        return self.leaf(Viewed(source, (product(own),), (place,)), wide, self.values.fact(source).dtype)

    def gather(
        self, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None = None
    ) -> str:
        """Return ``source`` at ``places``, of which some are ``indices`` (values that broadcast to ``shape``)."""
        moved = self._gathered_before(source, shape, places, indices, name)
        if moved is not None:
            return moved
        used = sorted({place.operand for place in places if place.operand is not None})
        places = tuple([p if p.operand is None else evolve(p, operand=used.index(p.operand)) for p in places])
        dims = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in dims else _ONE for dim, size in enumerate(shape)])
        dtype = self.values.fact(source).dtype
        table = self.leaf(self._table(source, places), wide, dtype, self.behind(source))
        listed = [indices[number] for number in used]
        return self.emit("Index", (table, None, None, *listed), shape, dtype, name, placed=True)

    def _gathered_before(
        self, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None
    ) -> str | None:
        """Return the gather of an element-wise result as that operator on gathers, where it is less work so."""
        whole = self.behind(source)
        maker = self.makers.get(whole)
        own, sizes = self.shape_of(whole), self.values.sizes
        if maker is None or is_part(maker) or not self._is_carried(whole, partial=False):
            return None
        if self.readers.get(whole, 1) > 1 or sizes.hint(product(shape)) > sizes.hint(product(own)):
            return None
        lowering = lowering_of(maker.op)
        assert lowering is not None
        listed: list[tuple[str, tuple[Place, ...]] | None] = []
        for param, given in zip(input_names(operator(maker.op), len(maker.inputs)), maker.inputs, strict=True):
            if given is None or param in lowering.unread:
                listed.append(None)
                continue
            behind = self.shape_of(given)
            lies = positions(maker, param, len(behind), len(own))
            dims = [(size, dim) for size, dim in zip(behind, lies, strict=True)]
            if not all(dim < 0 or sizes.is_one(size) or sizes.equal(size, own[dim]) for size, dim in dims):
                return None
            listed.append((given, tuple([still() if d < 0 or sizes.is_one(n) else places[d] for n, d in dims])))
        if any(not self._is_table(each[0]) for each in listed if each and any(p.operand is not None for p in each[1])):
            return None
        gathered = {place.operand for place in places}
        if not any(each is not None and gathered <= {*(p.operand for p in each[1]), None} for each in listed):
            return None  # nothing would notice an index out of range
        self._depth += 1
        inputs: list[str | None] = []
        for each in listed:
            if each is None:
                inputs.append(None)
            elif any(place.operand is not None for place in each[1]):
                inputs.append(self.gather(each[0], shape, each[1], indices))
            else:
                inputs.append(self.view(each[0], shape, each[1]))
        self._depth -= 1
        return self._again(maker, inputs, shape, name)

    def _is_table(self, value: str) -> bool:
        """True for what lies in memory, or is read from there element by element."""
        leaf = self.values.leaves.get(self.behind(value))
        if leaf is None:
            return True
        return isinstance(leaf, Viewed) and not leaf.partial and leaf.fill is None and not leaf.gathers

    def _table(self, source: str, places: tuple[Place, ...]) -> Viewed:
        """Return what a gather reads: behind a view where that keeps what is out of range."""
        whole = self.behind(source)
        leaf = self.values.leaves.get(whole)
        if isinstance(leaf, Viewed) and self._is_table(whole):
            shape = self.shape_of(whole)
            kept = True
            for place, size in zip(leaf.places, leaf.memory, strict=True):
                if any(places[dim].operand is not None for dim in place.dims):
                    is_whole = place == at(place.dims[0]) and self.values.sizes.equal(shape[place.dims[0]], size)
                    kept = kept and is_whole
            found = composed(leaf, places, partial=False) if kept else None
            if isinstance(found, Viewed):
                return found
        elif leaf is None and not self.is_scalar(whole):
            return Viewed(whole, self.shape_of(whole), places)
        real = self.in_memory_form(source, self.shape_of(source)) if source in self.values.leaves else source
        return Viewed(real, self.shape_of(source), places)

    def _viewed(self, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
        fact = self.values.fact(source)
        inner = self.values.leaves.get(source)
        if inner is not None:
            found = composed(inner, places, partial)
            assert found is not None, "maps of views have no operands"
            if isinstance(found, Viewed) and found.is_whole(shape) and self.shape_of(found.source) == shape:
                return found.source
            return self.leaf(found, shape, fact.dtype, source)
        maker = self.makers.get(source)
        if maker is not None and maker.op in VIEWS:
            behind = maker.inputs[0]
            assert behind is not None
            direct = unshaped(self.shape_of(behind), self.shape_of(source), places, self.values.sizes)
            if direct is not None and all(len(place.terms) <= 1 for place in direct):
                return self.view(behind, shape, direct, partial, name)
            if self.behind(behind) in self.values.leaves or self._is_carried(behind, partial):
                reshaped = self._reshaped(behind, source, shape, places, partial, name)
                if reshaped is not None:
                    return reshaped
        if maker is not None and self._is_carried(source, partial) and self._pays(source, maker, shape):
            return self._carried(maker, shape, places, partial, name)
        return self.leaf(Viewed(source, self.shape_of(source), places, partial), shape, fact.dtype)

    def _reshaped(
        self, behind: str, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None
    ) -> str | None:
        """Return the view of ``source``, which is ``behind`` under another shape, as one of ``behind``."""
        inner, outer, sizes = self.shape_of(behind), self.shape_of(source), self.values.sizes
        direct = unshaped(inner, outer, places, sizes)
        if direct is not None:
            return self.view(behind, shape, direct, partial, name)
        finer = refined(inner, outer, places, shape, sizes)
        if finer is None:
            return None
        value = self.view(behind, finer.shape, finer.places, partial)
        dtype = self.values.fact(source).dtype
        result = self.declare(source, shape, dtype) if name is None else name
        self.values.facts[result] = ValueFact(result, dtype, shape)
        self.reshape(self.in_memory_form(value, finer.shape), result)
        return result

    # -- carrying views through what makes the value

    def _is_carried(self, value: str, partial: bool) -> bool:
        """True where ``value`` may be computed at other indices than its own."""
        maker = self.makers.get(value)
        if maker is None or value in self.stored or self._depth >= _MOST_DEEP or not self.options.enable:
            return False
        if not self.options.allows(maker.name, origin_of(maker)) or sum(bool(name) for name in maker.outputs) != 1:
            return False
        op = operator(maker.op)
        if maker.op == "Index":
            return is_placed(maker) and (not partial or self._has_rows(maker))
        lowering = lowering_of(maker.op)
        if lowering is None or not lowering.accepts(maker) or lowering.space is not broadcast_space:
            return False
        if not (op.has(Flag.ELEMENTWISE) or maker.op in _LIKE_ELEMENTWISE or is_placed(maker)):
            return False
        return self._is_kernel(maker)

    def _has_rows(self, gather: Node) -> bool:
        """True where there is something at index 0 of the table that ``gather`` reads, at every size."""
        leaf = self.values.leaves.get(gather.inputs[0] or "")
        holds = self.values.sizes.oracle.holds
        return isinstance(leaf, Viewed) and all(holds(ge(size, 1)) for size in leaf.memory)

    def _is_kernel(self, node: Node) -> bool:
        return classify(node, self.values, self.target).kind is Kind.KERNEL

    def _pays(self, value: str, maker: Node, shape: Shape) -> bool:
        """True where computing ``value`` again at ``shape`` costs less than reading it back."""
        sizes, fact = self.values.sizes, self.values.fact(value)
        assert fact.shape is not None
        count, alone = sizes.hint(product(shape)), self.readers.get(value, 1) <= 1
        more = count - (sizes.hint(product(fact.shape)) if alone else 0)
        cost = max(0, more) * work_per_element(maker.op) * self.model.element
        if self._depth == 0:
            item = fact.dtype.itemsize
            stored = self.values.bytes_at_hints(value) / self.model.write if alone else 0.0
            self._budget = stored + count * item / self.model.read + self.model.launch
        if cost > self._budget:
            return False
        self._budget -= cost
        return True

    def _carried(self, maker: Node, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
        """Return what ``maker`` makes, computed at ``places``."""
        own = self.shape_of(next(output for output in maker.outputs if output))
        lowering = lowering_of(maker.op)
        assert lowering is not None
        self._depth += 1
        inputs: list[str | None] = []
        for param, given in zip(input_names(operator(maker.op), len(maker.inputs)), maker.inputs, strict=True):
            if given is None or param in lowering.unread:
                inputs.append(None)
                continue
            behind = self.shape_of(given)
            lies = positions(maker, param, len(behind), len(own))
            operand = tuple([self._narrowed(behind[k], own, dim, places) for k, dim in enumerate(lies)])
            inputs.append(self.view(given, shape, operand, partial))
            if len(inputs) == 1 and maker.op == "SelectV2" and self.truth(inputs[0] or "") is not None:
                break
        known = self._decided(maker, inputs, own, shape, places, partial)
        self._depth -= 1
        if known is not None:
            return known
        if maker.op in ("Less", "GreaterEqual"):
            inputs = self._counted(inputs)
        if partial:
            inputs = self._guarded(maker, inputs, own, shape, places)
        return self._again(maker, inputs, shape, name)

    def _again(self, maker: Node, inputs: Sequence[str | None], shape: Shape, name: str | None) -> str:
        """Add ``maker`` once more, on other inputs."""
        value = next(output for output in maker.outputs if output)
        result = name or self.fresh(value)
        self.add(evolve(maker, inputs=tuple(inputs), outputs=(result,)))
        self.values.facts[result] = ValueFact(result, self.values.fact(value).dtype, shape)
        return result

    def _decided(
        self,
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
            case "Less" | "GreaterEqual" if isinstance(self.values.leaves.get(given[0]), Position):
                bound = self._known_size(given[1])
                known = None if bound is None else self.known_comparison(maker.op, given[0], bound)
                return None if known is None else self.number(known, bool_)
            case "LogicalAnd" if any(self.truth(value) is not None for value in given):
                return self.both(given[0], given[1])
            case "SelectV2" if self.truth(given[0]) is not None:
                branch = maker.inputs[1 if self.truth(given[0]) else 2]
                assert branch is not None
                behind = self.shape_of(branch)
                lies = range(len(own) - len(behind), len(own))
                operand = tuple([self._narrowed(behind[k], own, dim, places) for k, dim in enumerate(lies)])
                return self.view(branch, shape, operand, partial)
            case _:
                return None

    def _counted(self, inputs: list[str | None]) -> list[str | None]:
        """Return the operands of a comparison with a position counted from 0, where it is one with a known size."""
        index, value = (each or "" for each in inputs)
        bound = self._known_size(value) if isinstance(self.values.leaves.get(index), Position) else None
        if bound is None:
            return inputs
        start, far = self.from_zero(index, bound)
        return inputs if start == index else [start, self.size(far, self.values.fact(start).dtype)]

    def _known_size(self, value: str) -> Dim | None:
        """Return the one integer that ``value`` holds, where it is known."""
        data = self.values.constants.get(value)
        if data is not None and data.element_count == 1 and data.dtype.is_integer:
            return const(int(to_array(data).reshape(())))
        content = self.values.content(value)
        return content[0] if content is not None and len(content) == 1 else None

    def _guarded(
        self, maker: Node, inputs: list[str | None], own: Shape, shape: Shape, places: tuple[Place, ...]
    ) -> list[str | None]:
        """Return ``inputs`` with harmless numbers where the view reaches outside: nothing is reported from there."""
        fails = maker.op in _FAILING and not self.values.fact(maker.outputs[0]).dtype.is_float
        if not fails and maker.op != "Index":
            return inputs
        inside = self.inside(own, shape, places)
        if inside is None:
            return inputs
        guarded = list(inputs)
        for number in (1,) if fails else range(3, len(inputs)):
            value = inputs[number] or ""
            dtype = self.values.fact(value).dtype
            guarded[number] = self.chosen(inside, value, self.number(1 if fails else 0, dtype), shape)
        if maker.op == "Index":
            self._keep_inside(guarded, shape, inside)
        return guarded

    def _keep_inside(self, inputs: list[str | None], shape: Shape, inside: str) -> None:
        """Read a table, the first of ``inputs``, at 0 where the view reaches outside, along every dim it walks."""
        table = inputs[0] or ""
        leaf = self.values.leaves[table]
        assert isinstance(leaf, Viewed)
        places: list[Place] = []
        for size, place in zip(leaf.memory, leaf.places, strict=True):
            wide = tuple([each if dim in place.dims else _ONE for dim, each in enumerate(shape)])
            if place.operand is None and self.inside((size,), shape, (place,)) is not None:
                counting = self.counting(size)
                index = self.leaf(Position(place), wide, counting)
                places.append(index_map.given(len(inputs) - 3))
                inputs.append(self.chosen(inside, index, self.number(0, counting), shape))
            else:
                places.append(place)
        dims = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in dims else _ONE for dim, size in enumerate(shape)])
        whole = evolve(leaf, places=tuple(places), partial=False)
        inputs[0] = self.leaf(whole, wide, self.values.fact(table).dtype, table)

    def _narrowed(self, size: Dim, own: Shape, dim: int, places: tuple[Place, ...]) -> Place:
        """Return the index into a dim of ``size`` that broadcasts to dim ``dim`` of ``own``."""
        sizes = self.values.sizes
        if dim < 0 or sizes.is_one(size):
            return still()
        if sizes.equal(size, own[dim]):
            return places[dim]
        factor = select(eq(size, 1), 0, 1)
        return summed([(places[dim], factor)])
