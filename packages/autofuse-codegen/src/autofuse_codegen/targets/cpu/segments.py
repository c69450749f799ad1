"""One segment: its loops, the states of its reductions and scans, and its rows."""

from attrs import define, field
from autofuse_ir.asc_graph import Axis
from autofuse_ir.dims import Dim, const
from autofuse_ir.reduction import tree_of
from autofuse_ir.schedule import Location, Segment

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.addresses import Address
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    Integer,
    Name,
    Size,
    Statement,
    Variable,
)
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.local_memory import leaf_count, tile_address, workspace_address
from autofuse_codegen.targets.cpu.reductions import StateForm, element_of_tile, joined_axes, state_forms
from autofuse_codegen.targets.cpu.rows import RowWriter
from autofuse_codegen.targets.cpu.scope import KernelScope, added, moved, times


@define
class SegmentWriter:
    """Writes ``segment`` with the loops around it entered; it fetches what ``ahead`` names for the next ``tile``."""

    scope: KernelScope
    segment: Segment
    ahead: tuple[str, ...] = ()
    tile: Axis | None = None
    forms: tuple[StateForm, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.forms = state_forms(self.segment, self.scope.impl)
        for form in self.forms:
            self._check_walk(form)

    def statements(self) -> tuple[Statement, ...]:
        """Return the nest over the segment's axes."""
        count: tuple[Statement, ...] = ()
        if any(form.in_rows for form in self.forms):
            count = (Declare("af_i64", self._count, self.scope.nest.bound(self.segment.axes[-1])),)
        return (*count, *self._level(0))

    @property
    def _strip(self) -> str | None:
        return self.segment.axes[-1] if self.segment.axes else None

    @property
    def _count(self) -> str:
        """The number of elements of a row, where states need it outside of the strips."""
        strip = self.segment.axes[-1]
        return self.scope.names.of(f"count {strip} {self.segment.nodes[0]}", f"{strip}_count")

    def _level(self, depth: int) -> tuple[Statement, ...]:
        here = tuple(form for form in self.forms if form.depth == depth)
        opened = tuple(statement for form in here for statement in self._open(form))
        if depth + 1 < len(self.segment.axes):
            axis = self.segment.axes[depth]
            backwards = any(form.is_backwards and form.in_rows for form in here)
            steps = tuple(self._next(form) for form in here if form.in_rows and not form.is_reduction)
            inside = self.scope.nest.loops((axis,), lambda: (*self._level(depth + 1), *steps), backwards)
        else:
            inside = self._row()
        return (*opened, *inside, *(statement for form in here for statement in self._close(form)))

    def _row(self) -> tuple[Statement, ...]:
        count = Name(self._count) if any(form.in_rows for form in self.forms) else None
        rows = RowWriter(self.scope, self.segment, self.forms, self.ahead, self.tile).statements(count)
        return (*rows, *(self._next(form) for form in self.forms if form.in_rows and form.is_reduction))

    def _next(self, form: StateForm) -> Statement:
        arguments = (Name(self._count),) if form.is_reduction else ()
        return Evaluate(Call(f"{self.scope.state(form.node.name)}.next", arguments))

    def _open(self, form: StateForm) -> tuple[Statement, ...]:
        scope, name = self.scope, form.node.name
        found: list[Statement] = []
        arguments: list[Expression] = []
        if form.in_rows:
            arguments.append(Name(scope.names.of(f"rows {name}", f"{name}_rows")))
            if form.is_reduction:
                arguments.append(Size(scope.axes[self.segment.axes[-1]].size))
        if form.is_reduction and scope.location(name) is Location.WORKSPACE:
            leaves = scope.names.of(f"leaves {name}", f"{name}_leaves")
            where = workspace_address(form.node, scope.impl, leaf_count(form.node, scope.impl))
            first = self._first_leaf(form)
            offset = scope.offset(where, self._strip, *([first] if first is not None else []))
            found.append(Declare("auto*", leaves, moved(scope.base(name), offset)))
            arguments.append(Name(leaves))
            if form.in_rows:
                arguments.append(Size(self._result_step(where)))
        state = scope.state(name)
        found.append(Variable(state, Call(form.type, tuple(arguments), form.templates(LANES))))
        return tuple(found)

    def _first_leaf(self, form: StateForm) -> Expression | None:
        """The number of the first leaf of this tile, which starts at the border of a leaf."""
        first = self.scope.nest.first_of_range()
        if first is not None:
            return Binary("/", first, Integer(tree_of(form.node).leaf))
        number = Address(const(0), element_of_tile(form.node, self.scope.impl))
        inner = [axis for axis in self.segment.axes if self.scope.axes[axis].root in joined_axes(form.node)]
        terms: list[Expression] = []
        for root, step in number.coefficients:
            walked = next((axis for axis in inner if self.scope.axes[axis].root == root), None)
            index = self.scope.nest.base_of(walked) if walked is not None else self.scope.nest.known.get(root)
            if index is not None:
                terms.append(times(index, step))
        total = added(*terms)
        return None if total is None else Binary("/", total, Integer(tree_of(form.node).leaf))

    def _close(self, form: StateForm) -> tuple[Statement, ...]:
        scope, name = self.scope, form.node.name
        if not form.is_reduction:
            return ()
        state = scope.state(name)
        count = (Name(self._count),) if form.in_rows else ()
        match scope.location(name):
            case Location.WORKSPACE:
                return (Evaluate(Call(f"{state}.flush", count)),)
            case Location.LOCAL:
                where = tile_address(form.node, scope.vectorised[name], scope.impl)
                to = moved(scope.base(name), scope.offset(where, self._strip))
                if form.in_rows:
                    step = Size(self._result_step(where))
                    return (Evaluate(Call(f"{state}.finish", (*count, to, step))),)
                return (Evaluate(Call("af_put", (to, Call(f"{state}.finish", ())))),)
            case _:
                return ()  # nothing reads it: another segment would need it in a buffer

    def _result_step(self, where: Address) -> Dim:
        """How far the results of neighbour columns lie apart."""
        strip = self.segment.axes[-1]
        steps = dict(where.coefficients)
        return steps.get(strip, steps.get(self.scope.axes[strip].root, const(0)))

    def _check_walk(self, form: StateForm) -> None:
        """What a joined axis is split for must not cut a state: only leaves may be left for others to join."""
        name = form.node.name
        walked = [self.scope.axes[axis] for axis in self.segment.axes]
        whole = {axis.name for axis in walked}
        cut = [root for root in joined_axes(form.node) if root not in whole]
        cut = [root for root in cut if any(axis.root == root for axis in walked)]
        if cut and not (form.is_reduction and self.scope.location(name) is Location.WORKSPACE):
            raise CodegenError(
                f"its axis {cut[0]} is split, and its partial results would have to outlive a tile",
                where=f"node {name}, {form.node.op}",
                fix="keep the axis whole in its segment, or place the reduction in workspace",
            )
        if form.is_backwards and any(not other.is_backwards and not other.in_rows for other in self.forms):
            raise CodegenError(
                "a scan from the end shares its strips with what starts at the beginning",
                where=f"node {name}, {form.node.op}",
                fix="put them into segments of their own",
            )
