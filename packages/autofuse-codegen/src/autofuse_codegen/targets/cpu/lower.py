"""Phases of an ImplGraph as a kernel program for the CPU: pointers, constants, loops around segments."""

from attrs import define, field
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Location, Phase, Sync

from autofuse_codegen.kernel.names import Names
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Expression,
    Function,
    Literal,
    Name,
    Scope,
    Size,
    Statement,
)
from autofuse_codegen.kernel.prune import prune
from autofuse_codegen.targets.cpu.ahead import fetched_ahead, tile_axis
from autofuse_codegen.targets.cpu.borders import ALONE, Borders, in_workspace
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.literals import literal, type_name
from autofuse_codegen.targets.cpu.reductions import needs_row_memory
from autofuse_codegen.targets.cpu.scope import KernelScope
from autofuse_codegen.targets.cpu.segments import SegmentWriter
from autofuse_codegen.targets.cpu.table_rows import tables_filled


def phase_groups(impl: ImplGraph) -> tuple[tuple[Phase, ...], ...]:
    """Return the phases cut where all blocks must have finished: each group is one parallel run of its blocks."""
    groups: list[list[Phase]] = []
    starts = True
    for phase in impl.phases:
        if starts:
            groups.append([])
        groups[-1].append(phase)
        starts = phase.sync is Sync.ALL
    return tuple(map(tuple, groups))


@define
class GroupLowering:
    """Writes the function that runs one block of ``phases``; ``names`` is its scope."""

    impl: ImplGraph
    phases: tuple[Phase, ...]
    borders: Borders = ALONE
    scope: KernelScope = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.scope = KernelScope(self.impl)

    @property
    def names(self) -> Names:
        """The names of the function."""
        return self.scope.names

    def function(self, name: str) -> Function:
        """Return the function that runs one block."""
        tables = tables_filled(self.scope, self.phases)
        body = (*self._data(), *self._scalars(), *tables, *self._phases(self.phases, 0))
        return Function(name, self._comment(), prune(body))

    def _comment(self) -> tuple[str, ...]:
        sources = dict.fromkeys(s for n in self.impl.nodes for s in n.source)
        return (f"Template {self.impl.template}, tile split on {', '.join(self.impl.case.split)}.", *sources)

    def _phases(self, phases: tuple[Phase, ...], depth: int) -> tuple[Statement, ...]:
        """Return phases that share their first ``depth`` loops, which are entered."""
        nest = self.scope.nest
        runs: list[list[Phase]] = []
        for phase in phases:
            if not runs or phase.shared <= depth:
                runs.append([])
            runs[-1].append(phase)
        found: list[tuple[Statement, ...]] = []
        for run in runs:
            known = dict(nest.known)
            before: tuple[Statement, ...] = ()
            block = run[0].block
            if depth == 0 and block is not None:
                before = nest.enter(block, Name("block"))
            order = run[0].loops[depth : len(run[0].loops) if len(run) == 1 else depth + 1]
            order = tuple(axis for axis in order if axis != block)

            def inside(run: tuple[Phase, ...] = tuple(run)) -> tuple[Statement, ...]:
                return self._segments(run[0]) if len(run) == 1 else self._phases(run, depth + 1)

            found.append((*before, *nest.loops(order, inside)))
            nest.known = known
        return found[0] if len(found) == 1 else tuple(Scope(each) for each in found)

    def _segments(self, phase: Phase) -> tuple[Statement, ...]:
        tile = tile_axis(self.impl, phase)
        ahead = fetched_ahead(self.impl, phase)
        writers = [SegmentWriter(self.scope, s, loads, tile) for s, loads in zip(phase.segments, ahead, strict=True)]
        written = [writer.statements() for writer in writers]
        return written[0] if len(written) == 1 else tuple(map(Scope, written))

    def _data(self) -> tuple[Statement, ...]:
        """Declare typed base pointers of every argument, and of the block's buffers."""
        scope, found = self.scope, list[Statement]()

        def pointer(key: str, wish: str, kind: str, start: Expression) -> None:
            found.append(Declare(kind, self.names.of(key, wish), Call(f"({kind})", (start,))))

        for node in self.impl.nodes:
            if node.op in ("Data", "Output"):
                constness = "const " if node.op == "Data" else ""
                wish, data = self.borders.pointer(node)
                pointer(f"base {node.name}", wish, f"{constness}{type_name(node.dtype)}*", data)
        for name, place in scope.places.items():
            assert place.buffer is not None
            kind = f"{type_name(scope.nodes[name].dtype)}*"
            if place.location is Location.WORKSPACE:
                start = in_workspace(self.borders.workspace + scope.workspace.offset(place.buffer))
                pointer(f"base {name}", f"{name}_all", kind, start)
            else:
                start = _at("local", scope.local.offset(place.buffer))
                pointer(f"base {name}", f"{name}_tile", kind, start)
        for name, place in scope.accumulators.items():
            if place.location is Location.LOCAL and place.buffer is not None:
                kind = f"{type_name(scope.nodes[name].dtype)}*"
                start = _at("local", scope.local.offset(place.buffer))
                pointer(f"rows {name}", f"{name}_rows", kind, start)
        for number, (form, _) in enumerate(needs_row_memory(self.impl)):
            name, kind = form.node.name, f"{type_name(form.node.dtype)}*"
            start = Binary("+", Name("local"), Name(f"rows{number}_at"))
            pointer(f"rows {name}", f"{name}_rows", kind, start)
        return tuple(found)

    def _scalars(self) -> tuple[Statement, ...]:
        nodes = self.scope.nodes
        used = {i for p in self.phases for s in p.segments for n in s.nodes for i in nodes[n].inputs}
        found: list[Statement] = []
        for node in self.impl.nodes:
            if node.name not in used or node.op not in ("Scalar", "IndexExpr"):
                continue
            kind = type_name(node.dtype)
            value: Expression
            if node.op == "Scalar":
                constant = node.attr("value")
                assert isinstance(constant, bool | int | float)
                value = self.borders.constant(node.name) or Literal(literal(constant, node.dtype))
            else:
                expression = node.attr("expression")
                assert isinstance(expression, Dim)
                value = Call(f"({kind})", (Size(expression),))
            splat = Call("af_splat", (value,), (kind, LANES))
            found.append(Declare("auto", self.scope.value(node.name), splat))
        return tuple(found)


def _at(memory: str, offset: Dim) -> Expression:
    return Name(memory) if offset == const(0) else Binary("+", Name(memory), Size(offset))
