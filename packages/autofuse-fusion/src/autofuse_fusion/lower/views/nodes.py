"""Adds nodes and values to the graph that views are lowered in."""

from collections.abc import Sequence

import numpy as np
from attrs import define, evolve, field
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DType, int64
from autofuse_ir.facts import ValueFact
from autofuse_ir.graph import Attr, Node
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.operators.precision import cast

from autofuse_fusion.index_map import Leaf, Number, Position, Viewed
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
