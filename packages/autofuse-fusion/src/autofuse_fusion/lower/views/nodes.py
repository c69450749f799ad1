"""Adds nodes and values to the graph that views are lowered in."""

from collections.abc import Sequence

import numpy as np
from attrs import define, evolve, field
from autofuse_ir.dims import Dim, const, ge, le, lt
from autofuse_ir.dtypes import DType, bool_, int32, int64
from autofuse_ir.facts import Guard, GuardKind, ValueFact
from autofuse_ir.graph import Attr, Node
from autofuse_reference.arrays import to_array, to_tensor_data
from autofuse_reference.operators.precision import cast

from autofuse_fusion.index_map import Leaf, Number, Place, Position, Viewed, at
from autofuse_fusion.lower.views.marks import is_placed, marks
from autofuse_fusion.values import Values

Shape = tuple[Dim, ...]
_ONE = const(1)
_COPIES = frozenset(("Identity", "StopGradient", "TensorMove"))


@define(eq=False)
class NodeWriter:
    """The graph as it is rewritten: ``nodes`` so far and who makes what; ``node`` is the operator at work.

    ``stored`` are values that are made in memory in any case, ``readers`` says how many nodes read each value.
    ``is_narrow``: the target counts along axes in 32 bits only.
    """

    values: Values
    stored: set[str]
    readers: dict[str, int]
    is_narrow: bool
    nodes: list[Node] = field(factory=list, init=False)
    makers: dict[str, Node] = field(factory=dict, init=False)
    node: Node = field(init=False)
    _seen: dict[tuple[object, ...], str] = field(factory=dict, init=False)
    _adopted: dict[str, str] = field(factory=dict, init=False)
    _count: int = field(default=0, init=False)

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
        output = name or self.fresh(self.node.outputs[0])
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
        if not own or value in self.node.outputs or self.shape_of(value) != self.shape_of(name):
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
        name = self.fresh(stem)
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
        name = self.fresh("number")
        wide = np.asarray(value) if dtype.is_integer else np.asarray(value, np.float64)
        data = to_tensor_data(cast(wide, dtype))
        self.values.constants[name] = data
        self.values.facts[name] = ValueFact(name, dtype, ())
        return name

    def size(self, expression: Dim, dtype: DType) -> str:
        """Return a size as a value of rank 0."""
        if expression.constant_value is not None:
            return self.number(expression.constant_value, dtype)
        name = self.fresh("size")
        self.values.facts[name] = ValueFact(name, dtype, (), (expression,))
        return name

    def index(self, shape: Shape, dim: int, step: Dim = _ONE, offset: Dim | None = None) -> str:
        """Return ``offset + step * index`` along ``dim`` of ``shape``, as an integer that holds it."""
        shift = const(0) if offset is None else offset
        ends = (shift, shift + step * shape[dim])
        dtype = self.counting(*ends)
        wide = tuple([size if k == dim else _ONE for k, size in enumerate(shape)])
        return self.leaf(Position(at(dim, step, shift)), wide, dtype)

    def counting(self, *ends: Dim) -> DType:
        """Return an integer type that holds ``ends``: 32 bits where that is proved, or where the target has no more.

        Then the run has to make sure.
        """
        far = [end for end in ends if not self.values.sizes.fits_int32(end)]
        if not far:
            return int32
        if not self.is_narrow:
            return int64
        for end in far:
            message = f"an index up to {end}: kernels of this target count in 32 bits"
            guard = Guard(GuardKind.ASSERT, le(end, 2**31 - 1), self.node.name, message)
            if guard not in self.values.guards:
                self.values.guards.append(guard)
        return int32

    def of_one_dtype(self, first: str, second: str) -> tuple[str, str]:
        """Return two integers in a dtype that holds both."""
        a, b = self.values.fact(first).dtype, self.values.fact(second).dtype
        return (first, second) if a == b else (self.cast(first, int64), self.cast(second, int64))

    def in_memory_form(self, value: str, shape: Shape) -> str:
        """Return ``value`` as one of ``shape`` that can be stored: itself, or a copy of a leaf."""
        if value not in self.values.leaves and self.shape_of(value) == shape and not self.is_scalar(value):
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
            return self.leaf(leaf, self.shape_of(value), dtype)
        return self.emit("Cast", (value,), self.shape_of(value), dtype, attrs=(Attr("dst_type", dtype.ascend_code),))

    def compare(self, op: str, index: str, bound: Dim) -> str:
        """Return where ``index`` is Less than a size, or GreaterEqual; a constant where that is known of all of it."""
        known = self.known_comparison(op, index, bound)
        if known is not None:
            return self.number(known, bool_)
        index, bound = self.from_zero(index, bound)
        return self.emit(op, (index, self.size(bound, self.values.fact(index).dtype)), self.shape_of(index), bool_)

    def known_comparison(self, op: str, index: str, bound: Dim) -> bool | None:
        """Return how ``index`` compares with ``bound`` at all points, where it is a position and that is one answer."""
        leaf = self.values.leaves.get(index)
        return self._compared(op, leaf.place, self.shape_of(index), bound) if isinstance(leaf, Position) else None

    def from_zero(self, index: str, bound: Dim) -> tuple[str, Dim]:
        """Return ``index`` and a size it is compared with; counted from 0 where it is a position along a dim.

        Comparisons with pieces of pieces ask for one index so.
        """
        fact, leaf, fits = self.values.fact(index), self.values.leaves.get(index), self.values.sizes.fits_int32
        if not isinstance(leaf, Position) or fact.dtype != int32 or len(leaf.place.dims) != 1:
            return index, bound
        (dim,), shape = leaf.place.dims, self.shape_of(index)
        far = bound - leaf.place.offset
        if leaf.place != at(dim, _ONE, leaf.place.offset) or not fits(far) or not fits(shape[dim]):
            return index, bound
        return self.leaf(Position(at(dim)), shape, int32), far

    def _compared(self, op: str, place: Place, shape: Shape, bound: Dim) -> bool | None:
        """Return how an index compares with ``bound`` at all points, where that is proved and one answer."""
        low = high = place.offset
        for dim, step in place.terms:
            known = step.constant_value
            if known is None:
                return None
            low, high = (low, high + step * (shape[dim] - 1)) if known > 0 else (low + step * (shape[dim] - 1), high)
        holds = self.values.sizes.oracle.holds
        if holds(lt(high, bound)):
            return op == "Less"
        return op != "Less" if holds(ge(low, bound)) else None

    def truth(self, value: str) -> bool | None:
        """Return what ``value`` is at all points, where it is a constant."""
        data = self.values.constants.get(value)
        return (
            bool(to_array(data).reshape(()))
            if data is not None and data.dtype == bool_ and self.is_scalar(value)
            else None
        )

    def both(self, first: str | None, second: str) -> str:
        """Return where both hold."""
        if first is None or self.truth(first) is True or self.truth(second) is False:
            return second
        if self.truth(second) is True or self.truth(first) is False:
            return first
        return self.emit("LogicalAnd", (first, second), self._wider(first, second), bool_)

    def chosen(self, condition: str, if_true: str, if_false: str, shape: Shape, name: str | None = None) -> str:
        """Return ``if_true`` where ``condition`` holds, else ``if_false``; one of them where that is known."""
        known = self.truth(condition)
        if known is not None:
            return if_true if known else if_false
        return self.emit("SelectV2", (condition, if_true, if_false), shape, self.values.fact(if_true).dtype, name)

    def inside(self, own: Shape, shape: Shape, places: tuple[Place, ...]) -> str | None:
        """Return where ``places``, over the dims ``shape``, lie in a tensor of shape ``own``; None where all do."""
        found: str | None = None
        for size, place in zip(own, places, strict=True):
            wide = tuple([each if dim in place.dims else _ONE for dim, each in enumerate(shape)])
            index = self.leaf(Position(place), wide, self.counting(size))
            for test in (self.compare("GreaterEqual", index, const(0)), self.compare("Less", index, size)):
                found = self.both(found, test)
        return None if found is None or self.truth(found) is True else found

    def _wider(self, first: str, second: str) -> Shape:
        a, b = self.shape_of(first), self.shape_of(second)
        return tuple([other if one == 1 else one for one, other in zip(a, b, strict=True)])

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

    def mark(self) -> tuple[int, int, int]:
        """Return where the graph stands, for ``undo``."""
        return len(self.nodes), len(self._seen), len(self.values.guards)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forget what was added since ``mark``."""
        for node in self.nodes[mark[0] :]:
            for name in node.outputs:
                self.makers.pop(name, None)
        del self.nodes[mark[0] :]
        del self.values.guards[mark[2] :]
        for key in list(self._seen)[mark[1] :]:
            del self._seen[key]

    def leaf(self, leaf: Leaf, shape: Shape, dtype: DType, inner: str | None = None) -> str:
        """Return a value that is read as ``leaf`` says, through the operator at work and what ``inner`` was made by."""
        key = (leaf, shape, dtype, repr(leaf.fill) if isinstance(leaf, Viewed) else self.node.name)
        if key not in self._seen:
            name = self.fresh(leaf.source if isinstance(leaf, Viewed) else "index")
            self.values.add_leaf(name, leaf, ValueFact(name, dtype, shape))
            self._seen[key] = name
        found = self._seen[key]
        through = self.values.through
        names = (*through.get(found, ()), *through.get(inner or "", ()), self.node.name)
        through[found] = tuple(dict.fromkeys(names))
        return found

    def shape_of(self, value: str) -> Shape:
        """Return the shape of a value."""
        shape = self.values.fact(value).shape
        assert shape is not None, value
        return shape

    def fresh(self, stem: str) -> str:
        """Return an unused name that tells what it comes from."""
        base = stem.split("@", 1)[0]
        while True:
            self._count += 1
            name = f"{base}@{self._count}"
            if name not in self.values.facts:
                return name
