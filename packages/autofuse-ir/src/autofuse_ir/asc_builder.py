"""Build one kernel's AscGraph in Python, with repeats, strides, dtypes and access maps filled in."""

from collections.abc import Mapping
from typing import TypeAlias

from attrs import define, evolve, field, frozen

from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind, Bounds
from autofuse_ir.asc_ops import AscKind, AscResult, asc_op
from autofuse_ir.dims import Dim, DimLike, as_dim, const
from autofuse_ir.dtypes import DType, bool_, int64
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, AttrValue
from autofuse_ir.reduction import Tree, tree_for
from autofuse_ir.strides import dense_strides


@frozen
class Operand:
    """In place of an axis: index operand ``number`` of the load."""

    number: int


Place: TypeAlias = str | int | Dim | Operand | tuple[str | Operand | None, DimLike, DimLike]
"""Index of one data dim: an axis, an operand, a constant, or (axis or operand, step, offset)."""


@define
class AscGraphBuilder:
    """Collects the nodes of a kernel over ``axes`` (name -> size, outer to inner) and builds an ``AscGraph``.

    >>> from autofuse_ir import dtypes as dt
    >>> b = AscGraphBuilder("double", {"z0": "n", "z1": 4})
    >>> x = b.load(b.input("x", dt.float32), ("n", 4), ("z0", "z1"))
    >>> y = b.store(b.op("Add", x, x), "y", ("n", 4), ("z0", "z1"))
    >>> [node.op for node in b.build().nodes]
    ['Data', 'Load', 'Add', 'Store', 'Output']
    """

    name: str
    axes: Mapping[str, DimLike]
    _nodes: dict[str, AscNode] = field(factory=dict, init=False)
    _inputs: int = field(default=0, init=False)
    _outputs: int = field(default=0, init=False)

    def input(self, name: str, dtype: DType) -> str:
        """Add the next kernel input and return its name. It gets the repeats of its first Load."""
        self._add(AscNode(name, "Data", (), dtype, self._ones, self._zeros, (Attr("index", self._inputs),)))
        self._inputs += 1
        return name

    def load(
        self,
        data: str,
        memory: tuple[DimLike, ...],
        at: tuple[Place, ...],
        name: str | None = None,
        indices: tuple[str, ...] = (),
        bounds: Bounds = Bounds.INSIDE,
        fill: bool | int | float | None = None,
    ) -> str:
        """Load from input ``data``, row-major of shape ``memory``, the elements ``at``; returns the value's name.

        ``Operand(k)`` in ``at`` reads integer value ``indices[k]``. ``fill`` is what ``bounds`` FILL gives outside.
        """
        source = self._node(data)
        access = evolve(self._access(memory, at), bounds=bounds)
        gathered = [self._node(index).repeats for index in indices]
        columns = zip(self._repeats(access), *gathered, strict=True)
        repeats = tuple([next((each for each in column if each != 1), const(1)) for column in columns])
        strides = dense_strides(repeats)
        if source.repeats == self._ones:
            self._nodes[data] = AscNode(data, source.op, (), source.dtype, repeats, strides, source.attrs)
        attrs = () if fill is None else (Attr("fill", fill),)
        inputs = (data, *indices)
        return self._add(
            AscNode(name or self._fresh("load"), "Load", inputs, source.dtype, repeats, strides, attrs, access)
        )

    def scalar(self, value: bool | int | float, dtype: DType, name: str | None = None) -> str:
        """Add the constant ``value`` of ``dtype``."""
        attrs = (Attr("value", value),)
        return self._add(AscNode(name or self._fresh("scalar"), "Scalar", (), dtype, self._ones, self._zeros, attrs))

    def size(self, expression: DimLike, dtype: DType = int64, name: str | None = None) -> str:
        """Add the size ``expression`` as an integer."""
        attrs = (Attr("expression", as_dim(expression)),)
        return self._add(AscNode(name or self._fresh("size"), "IndexExpr", (), dtype, self._ones, self._zeros, attrs))

    def axis_index(self, axis: str, dtype: DType = int64, name: str | None = None) -> str:
        """Add the position along ``axis``."""
        sizes = zip(self.axes, self._sizes, strict=True)
        repeats = tuple([size if each == axis else const(1) for each, size in sizes])
        return self._compute("AxisIndex", (), dtype, repeats, (Attr("axis", axis),), name)

    def reduce(self, op: str, value: str, *axes: str, tree: Tree | None = None, name: str | None = None) -> str:
        """Join ``value`` along ``axes`` (outer to inner); without ``tree`` that of an inner or outer reduction."""
        source = self._node(value)
        order = list(self.axes)
        varying = [axis for axis, repeat in zip(order, source.repeats, strict=True) if repeat != 1]
        found = tree or tree_for(source.dtype, not varying or varying[-1] in axes)
        repeats = tuple([const(1) if axis in axes else r for axis, r in zip(order, source.repeats, strict=True)])
        attrs = (Attr("axes", tuple(axes)), *found.attrs())
        return self._compute(op, (value,), source.dtype, repeats, attrs, name)

    def scan(
        self, op: str, value: str, axis: str, exclusive: bool = False, reverse: bool = False, name: str | None = None
    ) -> str:
        """Join each element of ``value`` with those before it along ``axis``: CumSum or CumProd."""
        source = self._node(value)
        attrs = (Attr("axis", axis), Attr("exclusive", exclusive), Attr("reverse", reverse))
        return self._compute(op, (value,), source.dtype, source.repeats, attrs, name)

    def broadcast(self, value: str, axis: str, name: str | None = None) -> str:
        """Repeat ``value`` along ``axis``, on which it does not vary."""
        source = self._node(value)
        sizes = zip(self.axes, self._sizes, source.repeats, strict=True)
        repeats = tuple([size if each == axis else repeat for each, size, repeat in sizes])
        return self._compute("Broadcast", (value,), source.dtype, repeats, (Attr("axis", axis),), name)

    def cast(self, value: str, dtype: DType, name: str | None = None) -> str:
        """Convert ``value`` to ``dtype``."""
        return self._compute("Cast", (value,), dtype, self._node(value).repeats, (), name)

    def op(self, op: str, *inputs: str, name: str | None = None, **attrs: AttrValue) -> str:
        """Add element-wise operator ``op``; tensors among ``inputs`` must have one shape, scalars fit any."""
        rule = asc_op(op)
        if rule is None or rule.kind is not AscKind.ELEMENTWISE or rule.result is AscResult.ANY:
            raise self._error(f"{op!r} is no element-wise AscIR operator with a dtype of its own", "see ASC_OPS")
        if len(inputs) != rule.arity:
            raise self._error(f"{op} takes {rule.arity} inputs, not {len(inputs)}", "check its inputs")
        nodes = [self._node(name) for name in inputs]
        shapes = {node.repeats: None for node in nodes if _kind(node) is not AscKind.SCALAR}
        if len(shapes) > 1:
            raise self._error(f"the inputs of {op} vary along different axes", "broadcast() the narrower ones first")
        dtype = bool_ if rule.result is AscResult.BOOL else nodes[rule.result is AscResult.SECOND].dtype
        listed = tuple([Attr(key, attrs[key]) for key in sorted(attrs)])
        return self._compute(op, inputs, dtype, next(iter(shapes), self._ones), listed, name)

    def store(self, value: str, name: str, memory: tuple[DimLike, ...], at: tuple[Place, ...]) -> str:
        """Write ``value`` to the next kernel output, row-major of shape ``memory``; returns the output's name."""
        source = self._node(value)
        access = self._access(memory, at)
        written = self._add(
            AscNode(f"{name}_store", "Store", (value,), source.dtype, source.repeats, source.strides, (), access)
        )
        attrs = (Attr("index", self._outputs),)
        self._outputs += 1
        return self._add(AscNode(name, "Output", (written,), source.dtype, source.repeats, source.strides, attrs))

    def build(self) -> AscGraph:
        """Return the graph."""
        axes = zip(self.axes, self._sizes, strict=True)
        return AscGraph(
            self.name,
            tuple([Axis(name, AxisKind.ORIGINAL, size) for name, size in axes]),
            tuple(self._nodes.values()),
        )

    @property
    def _sizes(self) -> tuple[Dim, ...]:
        return tuple([as_dim(size) for size in self.axes.values()])

    @property
    def _ones(self) -> tuple[Dim, ...]:
        return (const(1),) * len(self.axes)

    @property
    def _zeros(self) -> tuple[Dim, ...]:
        return (const(0),) * len(self.axes)

    def _compute(
        self,
        op: str,
        inputs: tuple[str, ...],
        dtype: DType,
        repeats: tuple[Dim, ...],
        attrs: tuple[Attr, ...],
        name: str | None,
    ) -> str:
        node = AscNode(name or self._fresh(op.lower()), op, inputs, dtype, repeats, dense_strides(repeats), attrs)
        return self._add(node)

    def _access(self, memory: tuple[DimLike, ...], at: tuple[Place, ...]) -> AccessMap:
        if len(memory) != len(at):
            raise self._error(f"{len(at)} indices for {len(memory)} dims", "give one index a dim")
        return AccessMap(tuple([as_dim(size) for size in memory]), tuple(map(self._access_dim, at)))

    def _access_dim(self, place: Place) -> AccessDim:
        match place:
            case str():
                dim = AccessDim(place, const(1), const(0))
            case Operand(number):
                dim = AccessDim(None, const(1), const(0), number)
            case (Operand(number), step, offset):
                dim = AccessDim(None, as_dim(step), as_dim(offset), number)
            case (axis, step, offset):
                dim = AccessDim(axis, as_dim(step), as_dim(offset))
            case _:
                dim = AccessDim(None, const(0), as_dim(place))
        if dim.axis is not None and dim.axis not in self.axes:
            raise self._error(f"there is no axis {dim.axis!r}", f"its axes are {', '.join(self.axes)}")
        return dim

    def _repeats(self, access: AccessMap) -> tuple[Dim, ...]:
        """A value varies along the axes that its access names with a step that is not provably 0."""
        walked = {dim.axis for dim in access.dims if dim.step != 0}
        sizes = zip(self.axes, self._sizes, strict=True)
        return tuple([size if axis in walked else const(1) for axis, size in sizes])

    def _node(self, name: str) -> AscNode:
        if name not in self._nodes:
            raise self._error(f"there is no node {name!r}", "use a name that a method of this builder returned")
        return self._nodes[name]

    def _add(self, node: AscNode) -> str:
        if node.name in self._nodes:
            raise self._error(f"two nodes are called {node.name!r}", "give each node its own name")
        self._nodes[node.name] = node
        return node.name

    def _fresh(self, stem: str) -> str:
        number = len(self._nodes)
        while f"{stem}_{number}" in self._nodes:
            number += 1
        return f"{stem}_{number}"

    def _error(self, what: str, fix: str) -> IrError:
        return IrError(what, where=f"kernel {self.name}", fix=fix)


def _kind(node: AscNode) -> AscKind | None:
    rule = asc_op(node.op)
    return None if rule is None else rule.kind
