"""Builds the nodes that views become, and carries index maps up through what makes the viewed value.

A view of an element-wise result is that operator on views of its operands; a view of a view is one view. So an index
map ends at a tensor in memory, and the operators behind it are computed where they are read, as often as that pays::

    slice(relu(x + b))   ->   relu(slice(x) + slice(b))
    pad(transpose(x))    ->   one leaf of x
"""

from collections.abc import Sequence

import numpy as np
from attrs import define, evolve, field
from autofuse_ir.dims import Dim, const, eq, product, select
from autofuse_ir.dtypes import DType, bool_, int32, int64
from autofuse_ir.facts import ValueFact
from autofuse_ir.graph import Attr, Node
from autofuse_ir.operators import Flag, input_names, operator
from autofuse_ir.target import TargetSpec
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.operators.precision import cast

from autofuse_fusion.benefit import CostModel, work_per_element
from autofuse_fusion.classify import Kind, classify
from autofuse_fusion.index_map import Leaf, Number, Place, Position, Viewed, at, composed, plain, still, summed
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import VIEWS, lowering_of
from autofuse_fusion.lower.views.marks import is_placed, marks, origin_of
from autofuse_fusion.lower.views.reshapes import refined, unshaped
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.values import Values

Shape = tuple[Dim, ...]
_ONE = const(1)
_MOST_DEEP = 64
"""Most operators that one view is carried through: kernels are not larger by much."""

_FAILING = frozenset(("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Pow"))
"""Operators that report some integers: they must not compute on what is of no consequence."""

_COPIES = frozenset(("Identity", "StopGradient", "TensorMove"))
_LIKE_ELEMENTWISE = frozenset(("BiasAdd", "Select", "Expand", "BroadcastTo", "Fill", "ZerosLike", "OnesLike", "Fills"))


@define(eq=False)
class ViewBuilder:
    """The graph as it is rewritten: ``nodes`` so far and who makes what; ``node`` is the operator at work.

    ``stored`` are values that are made in memory in any case, ``readers`` says how many nodes read each value.
    """

    values: Values
    target: TargetSpec
    options: FusionOptions
    model: CostModel
    stored: set[str]
    readers: dict[str, int]
    nodes: list[Node] = field(factory=list)
    makers: dict[str, Node] = field(factory=dict)
    node: Node = field(init=False)
    _seen: dict[tuple[object, ...], str] = field(factory=dict)
    _adopted: dict[str, str] = field(factory=dict)
    _count: int = 0
    _depth: int = 0
    _budget: float = 0.0

    # -- nodes and values

    def add(self, node: Node) -> None:
        """Append a node as it is."""
        self.nodes.append(node)
        self.makers |= {name: node for name in node.outputs if name}

    def emit(
        self,
        op: str,
        inputs: Sequence[str | None],
        shape: Shape,
        dtype: DType,
        name: str | None = None,
        attrs: tuple[Attr, ...] = (),
        placed: bool = False,
    ) -> str:
        """Add a node that is part of the operator at work and return its result."""
        output = name or self._fresh(self.node.outputs[0])
        listed = (*attrs, *marks(self.node.op, placed))
        current = tuple([None if each is None else self._adopted.get(each, each) for each in inputs])
        self.add(Node(self.node.name, op, current, (output,), listed, self.node.source))
        self.values.facts[output] = ValueFact(output, dtype, shape)
        return output

    def finish(self, name: str, value: str) -> None:
        """Make ``name``, which has its shape already, the same as ``value``."""
        if name == value:
            return
        fact = self.values.fact(name)
        assert fact.shape is not None
        own = self.values.fact(value)
        is_alias = value not in self.values.leaves and own.shape == fact.shape and not self.is_scalar(value)
        op = "Identity" if is_alias else "SliceD"
        if is_alias:
            self.readers[value] = self.readers.get(name, 1)
            self.stored.update({value} if name in self.stored else ())
        self.add(Node(self.node.name, op, (value,), (name,), marks(self.node.op, not is_alias), self.node.source))

    def adopt(self, name: str, value: str) -> None:
        """Make ``name`` what the operator at work calls ``value`` so far; a mere copy where ``value`` stays another's.

        ``name`` has its dtype and shape already.
        """
        value = self._adopted.get(value, value)
        maker = self.makers.get(value)
        own = maker is not None and maker.name == self.node.name and value not in self._seen.values()
        if not own or value in self.node.outputs or self._shape(value) != self._shape(name):
            self.finish(name, value)
            return
        for place in reversed(range(len(self.nodes))):
            node = self.nodes[place]
            if node.name != self.node.name:
                break
            renamed = tuple(name if each == value else each for each in node.inputs)
            made = tuple(name if each == value else each for each in node.outputs)
            self.nodes[place] = evolve(node, inputs=renamed, outputs=made)
            self.makers |= {each: self.nodes[place] for each in made if each}
        del self.makers[value]
        self._adopted[value] = name

    def declare(self, stem: str, shape: Shape, dtype: DType) -> str:
        """Return a new value that the caller will make."""
        name = self._fresh(stem)
        self.values.facts[name] = ValueFact(name, dtype, shape)
        return name

    def reshape(self, source: str, name: str) -> None:
        """Make ``name`` the elements of ``source`` under its own shape."""
        self.readers[source] = self.readers.get(name, 1)
        self.add(
            Node(self.node.name, "Reshape", (source,), (name,), marks(self.node.op, placed=False), self.node.source)
        )

    def number(self, value: Number, dtype: DType) -> str:
        """Return the constant ``value`` of ``dtype``, a value of rank 0."""
        name = self._fresh("number")
        wide = np.asarray(value) if dtype.is_integer else np.asarray(value, np.float64)
        data = to_tensor_data(cast(wide, dtype))
        self.values.constants[name] = data
        self.values.facts[name] = ValueFact(name, dtype, ())
        return name

    def size(self, expression: Dim, dtype: DType) -> str:
        """Return a size as a value of rank 0."""
        if expression.constant_value is not None:
            return self.number(expression.constant_value, dtype)
        name = self._fresh("size")
        self.values.facts[name] = ValueFact(name, dtype, (), (expression,))
        return name

    def index(self, shape: Shape, dim: int, step: Dim = _ONE, offset: Dim | None = None) -> str:
        """Return ``offset + step * index`` along ``dim`` of ``shape``, as an integer that holds it."""
        shift = const(0) if offset is None else offset
        ends = (shift, shift + step * shape[dim])
        dtype = int32 if all(self.values.sizes.fits_int32(end) for end in ends) else int64
        wide = tuple([size if k == dim else _ONE for k, size in enumerate(shape)])
        return self._leaf(Position(at(dim, step, shift)), wide, dtype)

    def of_one_dtype(self, first: str, second: str) -> tuple[str, str]:
        """Return two integers in a dtype that holds both."""
        a, b = self.values.fact(first).dtype, self.values.fact(second).dtype
        return (first, second) if a == b else (self.cast(first, int64), self.cast(second, int64))

    def in_memory_form(self, value: str, shape: Shape) -> str:
        """Return ``value`` as one of ``shape`` that can be stored: itself, or a copy of a leaf."""
        if value not in self.values.leaves and self._shape(value) == shape and not self.is_scalar(value):
            return value
        name = self.declare(value, shape, self.values.fact(value).dtype)
        self.finish(name, value)
        return name

    def cast(self, value: str, dtype: DType) -> str:
        """Return ``value`` as ``dtype``."""
        if self.values.fact(value).dtype == dtype:
            return value
        leaf = self.values.leaves.get(value)
        if isinstance(leaf, Position) and dtype == int64:
            return self._leaf(leaf, self._shape(value), dtype)
        return self.emit("Cast", (value,), self._shape(value), dtype, attrs=(Attr("dst_type", dtype.ascend_code),))

    def compare(self, op: str, index: str, bound: Dim) -> str:
        """Return where comparison ``op`` (Less, GreaterEqual, ...) holds between ``index`` and a size."""
        fact = self.values.fact(index)
        return self.emit(op, (index, self.size(bound, fact.dtype)), self._shape(index), bool_)

    def is_scalar(self, value: str) -> bool:
        """True where ``value`` is one element that is known when compiling or launching."""
        data = self.values.constants.get(value)
        if data is not None:
            return data.element_count == 1
        content = self.values.content(value)
        return content is not None and len(content) == 1

    def behind(self, value: str) -> str:
        """Return what ``value`` is a mere copy of."""
        while True:
            maker = self.makers.get(value)
            if maker is None or not (maker.op in _COPIES or (is_placed(maker) and maker.op != "Index")):
                return value
            source = maker.inputs[0]
            assert source is not None
            if self.values.fact(source).shape != self.values.fact(value).shape and not self.is_scalar(source):
                return value
            value = source

    def mark(self) -> tuple[int, int]:
        """Return where the graph stands, for ``undo``."""
        return len(self.nodes), len(self._seen)

    def undo(self, mark: tuple[int, int]) -> None:
        """Forget what was added since ``mark``."""
        for node in self.nodes[mark[0] :]:
            for name in node.outputs:
                self.makers.pop(name, None)
        del self.nodes[mark[0] :]
        for key in list(self._seen)[mark[1] :]:
            del self._seen[key]

    # -- views

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
        own = self._shape(source)
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
        memory = self._shape(whole)
        if leaf is None:
            return self._leaf(Viewed(whole, memory, places, fill=fill), shape, self.values.fact(whole).dtype)
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
        return self._leaf(evolve(outer, fill=fill), shape, self.values.fact(whole).dtype)

    def flat(self, source: str, shape: Shape, place: Place) -> str:
        """Return ``source``, taken for a vector, at ``place``."""
        own = self._shape(source)
        used = set(place.dims)
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        return self._leaf(Viewed(source, (product(own),), (place,)), wide, self.values.fact(source).dtype)

    def gather(
        self, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None = None
    ) -> str:
        """Return ``source`` at ``places``, of which some are ``indices`` (values that broadcast to ``shape``)."""
        dtype = self.values.fact(source).dtype
        used = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        leaf = self._table(source, places)
        table = self._leaf(leaf, wide, dtype)
        return self.emit("Index", (table, None, None, *indices), shape, dtype, name, placed=True)

    def _table(self, source: str, places: tuple[Place, ...]) -> Viewed:
        """Return what a gather reads: behind a view where that keeps what is out of range."""
        whole = self.behind(source)
        leaf = self.values.leaves.get(whole)
        if isinstance(leaf, Viewed) and not leaf.partial and leaf.fill is None and not leaf.gathers:
            shape = self._shape(whole)
            kept = True
            for place, size in zip(leaf.places, leaf.memory, strict=True):
                if any(places[dim].operand is not None for dim in place.dims):
                    is_whole = place == at(place.dims[0]) and self.values.sizes.equal(shape[place.dims[0]], size)
                    kept = kept and is_whole
            found = composed(leaf, places, partial=False) if kept else None
            if isinstance(found, Viewed):
                return found
        elif leaf is None and not self.is_scalar(whole):
            return Viewed(whole, self._shape(whole), places)
        return Viewed(source, self._shape(source), places)

    def _viewed(self, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
        fact = self.values.fact(source)
        inner = self.values.leaves.get(source)
        if inner is not None:
            found = composed(inner, places, partial)
            assert found is not None, "maps of views have no operands"
            return self._leaf(found, shape, fact.dtype)
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
        return self._leaf(Viewed(source, self._shape(source), places, partial), shape, fact.dtype)

    def _leaf(self, leaf: Leaf, shape: Shape, dtype: DType) -> str:
        key = (leaf, shape, dtype, repr(leaf.fill) if isinstance(leaf, Viewed) else self.node.name)
        if key not in self._seen:
            name = self._fresh(leaf.source if isinstance(leaf, Viewed) else "index")
            self.values.add_leaf(name, leaf, ValueFact(name, dtype, shape))
            self._seen[key] = name
        return self._seen[key]

    def _reshaped(
        self, behind: str, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None
    ) -> str | None:
        """Return the view of ``source``, which is ``behind`` under another shape, as one of ``behind``."""
        inner, outer, sizes = self._shape(behind), self._shape(source), self.values.sizes
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
        own = self._shape(value)
        lowering = lowering_of(maker.op)
        assert lowering is not None
        self._depth += 1
        inputs: list[str | None] = []
        for param, given in zip(input_names(operator(maker.op), len(maker.inputs)), maker.inputs, strict=True):
            if given is None or param in lowering.unread:
                inputs.append(None)
                continue
            behind = self._shape(given)
            lies = positions(maker, param, len(behind), len(own))
            operand = tuple([self._narrowed(behind[k], own, dim, places) for k, dim in enumerate(lies)])
            inputs.append(self.view(given, shape, operand, partial))
        self._depth -= 1
        result = name or self._fresh(value)
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

    def _shape(self, value: str) -> Shape:
        shape = self.values.fact(value).shape
        assert shape is not None, value
        return shape

    def _fresh(self, stem: str) -> str:
        base = stem.split("@", 1)[0]
        while True:
            self._count += 1
            name = f"{base}@{self._count}"
            if name not in self.values.facts:
                return name
