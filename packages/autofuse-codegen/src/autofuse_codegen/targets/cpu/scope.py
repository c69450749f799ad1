"""What all parts of one function's lowering look up: nodes, axes, names, places, and what is known of the loops."""

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Location, Placement

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.addresses import Address
from autofuse_codegen.kernel.names import Names
from autofuse_codegen.kernel.program import Binary, Expression, Name, Size
from autofuse_codegen.targets.cpu.local_memory import BufferMemory, plan_memory, vectorised_axes
from autofuse_codegen.targets.cpu.loops import Nest
from autofuse_codegen.targets.cpu.tables import Table, replaced, tables_of


@frozen
class Scratch:
    """Memory of a block that the emitter adds to the schedule's buffers: ``bytes`` from variable ``offset`` on."""

    offset: str
    bytes: Dim


@define
class KernelScope:
    """One function of ``impl``; ``names`` hands out its C++ names, ``nest`` holds the indices of the loops around."""

    impl: ImplGraph
    names: Names = field(factory=Names)
    nodes: dict[str, AscNode] = field(init=False)
    axes: dict[str, Axis] = field(init=False)
    nest: Nest = field(init=False)
    local: BufferMemory = field(init=False)
    workspace: BufferMemory = field(init=False)
    places: dict[str, Placement] = field(init=False)
    accumulators: dict[str, Placement] = field(init=False)
    vectorised: dict[str, tuple[Axis, ...]] = field(init=False)
    scratch: list[Scratch] = field(factory=list, init=False)
    tables: dict[str, Table] = field(init=False)
    replaced: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.nodes = {node.name: node for node in self.impl.nodes}
        self.axes = {axis.name: axis for axis in self.impl.axes}
        self.nest = Nest(self.axes, self.names, {}, self.impl.roots)
        self.local = plan_memory(self.impl)
        self.workspace = plan_memory(self.impl, Location.WORKSPACE)
        self.places = {p.node: p for p in self.impl.placements if p.buffer is not None}
        self.accumulators = {p.node: p for p in self.impl.accumulators if p.buffer is not None}
        self.vectorised = vectorised_axes(self.impl)
        tables = tables_of(self.impl)
        self.tables = {table.result: table for table in tables}
        self.replaced = replaced(self.impl, tables)

    def value(self, node: str) -> str:
        """Return the name of the value of ``node``."""
        return self.names.of(f"value {node}", node)

    def base(self, node: str) -> str:
        """Return the name of the pointer to the data, or the buffer, of ``node``."""
        return self.names.of(f"base {node}", node)

    def table(self, result: str) -> str:
        """Return the name of the table of ``result``."""
        return self.names.of(f"table {result}", f"{result}_of")

    def state(self, node: str) -> str:
        """Return the name of the state of reduction or scan ``node``."""
        return self.names.of(f"state {node}", f"{node}_state")

    def location(self, node: str) -> Location | None:
        """Return the kind of buffer that ``node`` is placed in; None for values in registers and arguments."""
        return self.places[node].location if node in self.places else None

    def varies(self, node: str, strip: str | None) -> bool:
        """Return whether the value of ``node`` differs from lane to lane of strips along axis ``strip``."""
        return strip is not None and self.nodes[node].repeats[self.position(strip)] != const(1)

    def position(self, axis: str) -> int:
        """Return the place among the roots of the root that vectorised axis ``axis`` walks."""
        root = self.axes[axis].root
        if root not in self.impl.roots:
            raise CodegenError(
                f"axis {axis} walks {root}, which is no root",
                where=f"kernel {self.impl.name}",
                fix="vectorise roots, or the inner halves of their splits",
            )
        return self.impl.roots.index(root)

    def offset(self, where: Address, strip: str | None, *more: Expression) -> Expression | None:
        """Return the offset of a row's first element: everything but the position along ``strip``; None for 0.

        ``where`` counts along roots or along vectorised axes. An axis that no loop walks has one element.
        """
        terms: list[Expression] = [] if where.constant == const(0) else [Size(where.constant)]
        for axis, coefficient in where.coefficients:
            index = self.index(axis, strip)
            if index is not None:
                terms.append(times(index, coefficient))
        return added(*terms, *more)

    def index(self, axis: str, strip: str | None) -> Expression | None:
        """Return the index along ``axis`` at the start of a row with strips along ``strip``; None for 0."""
        if strip is not None and axis == self.axes[strip].root and axis != strip:
            return self.nest.base_of(strip)
        if axis == strip:
            inside_tile = self.axes[axis].kind is AxisKind.TILE_INNER
            return None if inside_tile else self.nest.base_of(strip)
        return self.nest.known.get(axis)


def added(*terms: Expression) -> Expression | None:
    """Return the sum of ``terms``; None when there are none."""
    if not terms:
        return None
    total = terms[0]
    for term in terms[1:]:
        total = Binary("+", total, term)
    return total


def moved(base: str, offset: Expression | None) -> Expression:
    """Return the pointer ``base`` moved by ``offset`` elements."""
    return Name(base) if offset is None else Binary("+", Name(base), offset)


def times(index: Expression, step: Dim) -> Expression:
    """Return ``index * step``."""
    return index if step == const(1) else Binary("*", index, Size(step))
