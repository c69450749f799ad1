"""Builds the nodes that views become, and carries index maps up through what makes the viewed value.

A view of an element-wise result is that operator on views of its operands; a view of a view is one view. So an index
map ends at a tensor in memory, and the operators behind it are computed where they are read, as often as that pays::

    slice(relu(x + b))   ->   relu(slice(x) + slice(b))
    pad(transpose(x))    ->   one leaf of x
"""

from collections.abc import Sequence

from attrs import define, evolve, field
from autofuse_ir.dims import Dim, const, eq, product, select
from autofuse_ir.facts import ValueFact
from autofuse_ir.graph import Node
from autofuse_ir.operators import Flag, input_names, operator
from autofuse_ir.target import TargetSpec

from autofuse_fusion.benefit import CostModel, work_per_element
from autofuse_fusion.classify import Kind, classify
from autofuse_fusion.index_map import Number, Place, Viewed, at, composed, plain, still, summed
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import VIEWS, lowering_of
from autofuse_fusion.lower.views.marks import is_placed, origin_of
from autofuse_fusion.lower.views.nodes import NodeWriter, Shape
from autofuse_fusion.lower.views.reshapes import refined, unshaped
from autofuse_fusion.options import FusionOptions

_ONE = const(1)
_MOST_DEEP = 64
"""Most operators that one view is carried through: kernels are not larger by much."""

_FAILING = frozenset(("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Pow"))
"""Operators that report some integers: they must not compute on what is of no consequence."""

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
        return self.leaf(evolve(outer, fill=fill), shape, self.values.fact(whole).dtype)

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
        dtype = self.values.fact(source).dtype
        used = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        leaf = self._table(source, places)
        table = self.leaf(leaf, wide, dtype)
        return self.emit("Index", (table, None, None, *indices), shape, dtype, name, placed=True)

    def _table(self, source: str, places: tuple[Place, ...]) -> Viewed:
        """Return what a gather reads: behind a view where that keeps what is out of range."""
        whole = self.behind(source)
        leaf = self.values.leaves.get(whole)
        if isinstance(leaf, Viewed) and not leaf.partial and leaf.fill is None and not leaf.gathers:
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
        return Viewed(source, self.shape_of(source), places)

    def _viewed(self, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
        fact = self.values.fact(source)
        inner = self.values.leaves.get(source)
        if inner is not None:
            found = composed(inner, places, partial)
            assert found is not None, "maps of views have no operands"
            return self.leaf(found, shape, fact.dtype)
        maker = self.makers.get(source)
        if maker is not None and maker.op in VIEWS:
            behind = maker.inputs[0]
            assert behind is not None
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
            return is_placed(maker) and not partial
        lowering = lowering_of(maker.op)
        if lowering is None or not lowering.accepts(maker) or lowering.space is not broadcast_space:
            return False
        if not (op.has(Flag.ELEMENTWISE) or maker.op in _LIKE_ELEMENTWISE or is_placed(maker)):
            return False
        fails = maker.op in _FAILING and not self.values.fact(value).dtype.is_float
        return not (partial and fails) and self._is_kernel(maker)

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
        value = next(output for output in maker.outputs if output)
        own = self.shape_of(value)
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
        self._depth -= 1
        result = name or self.fresh(value)
        self.add(evolve(maker, inputs=tuple(inputs), outputs=(result,)))
        self.values.facts[result] = ValueFact(result, self.values.fact(value).dtype, shape)
        return result

    def _narrowed(self, size: Dim, own: Shape, dim: int, places: tuple[Place, ...]) -> Place:
        """Return the index into a dim of ``size`` that broadcasts to dim ``dim`` of ``own``."""
        sizes = self.values.sizes
        if dim < 0 or sizes.is_one(size):
            return still()
        if sizes.equal(size, own[dim]):
            return places[dim]
        factor = select(eq(size, 1), 0, 1)
        return summed([(places[dim], factor)])
