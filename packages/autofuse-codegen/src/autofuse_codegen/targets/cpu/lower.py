"""An ImplGraph as a kernel program for the CPU: loops, strips, and one expression per node."""

from attrs import define, field
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Location, Phase, Segment

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Element,
    Evaluate,
    Expression,
    Function,
    Literal,
    Member,
    Name,
    Scope,
    Size,
    Statement,
    Strips,
)
from autofuse_codegen.kernel.prune import prune
from autofuse_codegen.targets.cpu.access import Address, address
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.literals import literal, type_name
from autofuse_codegen.targets.cpu.local_memory import LocalMemory, plan_local_memory, tile_address
from autofuse_codegen.targets.cpu.loops import Nest
from autofuse_codegen.targets.cpu.names import Names
from autofuse_codegen.targets.cpu.operators import as_bools, call

ACCESS = "strip"


@define
class CaseLowering:
    """Writes one ImplGraph; ``names`` is the scope of its function."""

    impl: ImplGraph
    names: Names = field(factory=Names)
    nodes: dict[str, AscNode] = field(init=False)
    axes: dict[str, Axis] = field(init=False)
    nest: Nest = field(init=False)
    local: LocalMemory = field(init=False)
    places: dict[str, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.nodes = {node.name: node for node in self.impl.nodes}
        self.axes = {axis.name: axis for axis in self.impl.axes}
        self.nest = Nest(self.axes, self.names, {})
        self.local = plan_local_memory(self.impl)
        self.places = {
            p.node: p.buffer for p in self.impl.placements if p.location is Location.LOCAL and p.buffer is not None
        }

    def function(self, name: str) -> Function:
        """Return the function that runs one block."""
        phases = self.impl.phases
        if len(phases) != 1:
            raise CodegenError(
                f"kernels of {len(phases)} phases are not written for the CPU yet",
                where=f"kernel {self.impl.name}",
                fix="schedule it in one phase",
            )
        return Function(name, self._comment(), prune(self._phase(phases[0])))

    def _comment(self) -> tuple[str, ...]:
        sources = dict.fromkeys(s for n in self.impl.nodes for s in n.source)
        return (f"Template {self.impl.template}, tile split on {', '.join(self.impl.case.split)}.", *sources)

    def _phase(self, phase: Phase) -> tuple[Statement, ...]:
        before: tuple[Statement, ...] = ()
        order = phase.loops
        if phase.block is not None:
            order = tuple(a for a in phase.loops if a != phase.block)
            before = self.nest.enter(phase.block, Name("block"))
        scalars = self._scalars(phase)

        def tile() -> tuple[Statement, ...]:
            if len(phase.segments) == 1:
                return self._segment(phase.segments[0])
            return tuple(Scope(self._segment(segment)) for segment in phase.segments)

        return (*self._data(), *before, *scalars, *self.nest.loops(order, tile))

    def _data(self) -> tuple[Statement, ...]:
        """Declare typed base pointers of every argument, and of the block's local buffers."""
        found: list[Statement] = []
        for node in self.impl.nodes:
            if node.op in ("Data", "Output"):
                array = "inputs" if node.op == "Data" else "outputs"
                constness = "const " if node.op == "Data" else ""
                pointer = Member(Element(Name(f"launch->{array}"), Literal(str(node.attr("index")))), "data")
                wish = f"{'in' if node.op == 'Data' else 'out'}{node.attr('index')}"
                name = self.names.of(f"base {node.name}", wish)
                kind = f"{constness}{type_name(node.dtype)}*"
                found.append(Declare(kind, name, Call(f"({kind})", (pointer,))))
        if self.local.bytes != const(0):
            for node_name, buffer in self.places.items():
                kind = f"{type_name(self.nodes[node_name].dtype)}*"
                start = Binary("+", Name("local"), Size(self.local.offset(buffer)))
                found.append(
                    Declare(kind, self.names.of(f"base {node_name}", f"{node_name}_tile"), Call(f"({kind})", (start,)))
                )
        return tuple(found)

    def _scalars(self, phase: Phase) -> tuple[Statement, ...]:
        used = {i for s in phase.segments for n in s.nodes for i in self.nodes[n].inputs}
        found: list[Statement] = []
        for node in self.impl.nodes:
            if node.name not in used or node.op not in ("Scalar", "IndexExpr"):
                continue
            kind = type_name(node.dtype)
            value: Expression
            if node.op == "Scalar":
                value = Literal(literal(node.attr("value"), node.dtype))  # type: ignore[arg-type]
            else:
                expression = node.attr("expression")
                assert isinstance(expression, Dim)
                value = Call(f"({kind})", (Size(expression),))
            splat = Call("af_splat", (value,), (kind, LANES))
            found.append(Declare("auto", self._value(node.name), splat))
        return tuple(found)

    def _segment(self, segment: Segment) -> tuple[Statement, ...]:
        strip_axis = segment.axes[-1]
        vectorised = tuple(self.axes[a] for a in segment.axes)

        def row() -> tuple[Statement, ...]:
            writer = _Row(self, segment, vectorised, strip_axis)
            return writer.statements()

        return self.nest.loops(segment.axes[:-1], row)

    def _value(self, node: str) -> str:
        return self.names.of(f"value {node}", node)


@define
class _Row:
    """One row of a segment: pointers and row constants, then strips."""

    case: CaseLowering
    segment: Segment
    vectorised: tuple[Axis, ...]
    strip_axis: str
    _before: list[Statement] = field(factory=list)
    _body: list[Statement] = field(factory=list)
    _streamed: str | None = None

    def statements(self) -> tuple[Statement, ...]:
        case = self.case
        for name in dict.fromkeys(i for n in self.segment.nodes for i in case.nodes[n].inputs):
            self._fetch(name)
        for name in self.segment.nodes:
            node = case.nodes[name]
            if node.op == "Load":
                self._load(node)
            elif node.op == "Store":
                self._store(node)
            else:
                self._compute(node)
            if node.op != "Store" and name in case.places:
                self._spill(node)
        strips = Strips("i", ACCESS, case.nest.bound(self.strip_axis), LANES, tuple(self._body), self._streamed)
        return (*self._before, strips)

    def _load(self, node: AscNode) -> None:
        data = self.case.nodes[node.inputs[0]]
        assert node.access is not None
        where = address(node.access)
        root = self.case.axes[self.strip_axis].root
        base = self.case.names.of(f"base {data.name}", data.name)
        self._read(node, base, self._row_offset(where, root), where.step_along(root))

    def _read(self, node: AscNode, base: str, offset: Expression | None, step: Dim) -> None:
        kind = type_name(node.dtype)
        pointer = self._pointer(f"row {node.name}", f"{node.name}_row", base, offset, f"const {kind}*")
        value = self.case._value(node.name)
        if step == const(0):
            first = Element(Name(pointer), Literal("0"))
            self._before.append(Declare("auto", value, Call("af_splat", (first,), (kind, LANES))))
            return
        self._body.append(Declare("auto", value, Call(f"{ACCESS}.load", self._moving(node, pointer, step))))

    def _store(self, node: AscNode) -> None:
        output = next(n for n in self.case.impl.nodes if n.op == "Output" and n.inputs == (node.name,))
        assert node.access is not None
        where = address(node.access)
        root = self.case.axes[self.strip_axis].root
        base = self.case.names.of(f"base {output.name}", output.name)
        step = where.step_along(root)
        kind = f"{type_name(node.dtype)}*"
        pointer = self._pointer(f"row {node.name}", f"{node.name}_row", base, self._row_offset(where, root), kind)
        if self._streamed is None and step == const(1):
            self._streamed = pointer
        value = as_bools(self._operand(node.inputs[0]), node.dtype)
        self._body.append(Evaluate(Call(f"{ACCESS}.store", (*self._moving(node, pointer, step), value))))

    def _moving(self, node: AscNode, pointer: str, step: Dim) -> tuple[Expression, ...]:
        """Pointer at this strip, and the run-time step where it is not 1."""
        if step == const(1):
            return (Binary("+", Name(pointer), Name("i")),)
        name = self.case.names.of(f"step {node.name}", f"{node.name}_step")
        self._before.append(Declare("af_i64", name, Size(step)))
        return (Binary("+", Name(pointer), Binary("*", Name("i"), Name(name))), Name(name))

    def _compute(self, node: AscNode) -> None:
        operands = tuple(self._operand(name) for name in node.inputs)
        dtypes = tuple(self.case.nodes[name].dtype for name in node.inputs)
        if node.op == "Broadcast":
            value: Expression = operands[0]
        else:
            value = call(node, operands, dtypes, ACCESS)
        self._body.append(Declare("auto", self.case._value(node.name), value))

    def _fetch(self, name: str) -> None:
        """Load a value that another segment left in its local buffer.

        All of a segment's local values are loaded before any is written: a new value may take over the buffer of one
        that dies here (in place, strip by strip).
        """
        if name in self.segment.nodes or name not in self.case.places:
            return
        node = self.case.nodes[name]
        where = tile_address(node, self.vectorised, self.case.impl.roots)
        base = self.case.names.of(f"base {name}", name)
        self._read(node, base, self._row_offset(where, self.strip_axis), where.step_along(self.strip_axis))

    def _operand(self, name: str) -> Expression:
        return Name(self.case._value(name))

    def _spill(self, node: AscNode) -> None:
        where = tile_address(node, self.vectorised, self.case.impl.roots)
        base = self.case.names.of(f"base {node.name}", node.name)
        step = where.step_along(self.strip_axis)
        offset = self._row_offset(where, self.strip_axis)
        pointer = self._pointer(f"spill {node.name}", f"{node.name}_to", base, offset, f"{type_name(node.dtype)}*")
        value = as_bools(Name(self.case._value(node.name)), node.dtype)
        if step == const(0):
            arguments: tuple[Expression, ...] = (Name(pointer), Literal("0"), value)
        else:
            arguments = (*self._moving(node, pointer, step), value)
        self._body.append(Evaluate(Call(f"{ACCESS}.store", arguments)))

    def _pointer(self, key: str, wish: str, base: str, offset: Expression | None, kind: str) -> str:
        name = self.case.names.of(key, wish)
        value: Expression = Name(base) if offset is None else Binary("+", Name(base), offset)
        self._before.append(Declare(kind, name, value))
        return name

    def _row_offset(self, where: Address, strip: str) -> Expression | None:
        """Offset of the row's first element: everything but the position along the strip."""
        terms: list[Expression] = [] if where.constant == const(0) else [Size(where.constant)]
        for axis, coefficient in where.coefficients:
            index = self.case.nest.base_of(self.strip_axis) if axis == strip else self.case.nest.known[axis]
            if axis == strip and axis == self.strip_axis:
                index = None if self.case.axes[axis].kind is AxisKind.TILE_INNER else index
            if index is None:
                continue
            terms.append(index if coefficient == const(1) else Binary("*", index, Size(coefficient)))
        if not terms:
            return None
        total = terms[0]
        for term in terms[1:]:
            total = Binary("+", total, term)
        return total
