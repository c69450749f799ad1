"""One row of a segment: pointers and what is the same in all of its lanes, then its strips."""

from attrs import define, evolve, field
from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import const
from autofuse_ir.schedule import Segment

from autofuse_codegen.kernel.addresses import address
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    Integer,
    Name,
    Size,
    State,
    Statement,
    Strips,
    Walk,
)
from autofuse_codegen.kernel.rename import renamed
from autofuse_codegen.targets.cpu.ahead import distance
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.literals import type_name
from autofuse_codegen.targets.cpu.loads import LoadWriter
from autofuse_codegen.targets.cpu.operators import RAISED, as_bools, call, can_fail
from autofuse_codegen.targets.cpu.pieces import forms_of, looped, types_of
from autofuse_codegen.targets.cpu.reductions import OPERATIONS, StateForm
from autofuse_codegen.targets.cpu.row_text import ACCESS, POSITION, RowText
from autofuse_codegen.targets.cpu.scope import KernelScope, moved, times
from autofuse_codegen.targets.cpu.seams import Piece, RowPieces, cut_row

PIECE_POSITION = "at"
"""The position in a piece of a row."""

FEW_INSTRUCTIONS = frozenset(
    (
        *("Load", "Store", "Broadcast", "Scalar", "IndexExpr", "Select", "Cast"),
        *("Add", "Sub", "Mul", "Neg", "Abs", "Minimum", "Maximum"),
        *("Eq", "Ne", "Lt", "Le", "Gt", "Ge", "LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot"),
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"),
        *REDUCTIONS,
    )
)
"""Operators whose code is short."""
FEW_PIECES = 4
"""So many pieces of a row have code of their own, which is quicker where they are short; of more, those of one form
share theirs."""
MOST_FORMS = 8
"""Past this many forms a row is cut only where its pieces do not repeat much of one another."""
MANY_NODES = 16
"""Past this many nodes a body is not worth a copy for each strip of a round."""


@define
class RowWriter:
    """Writes the innermost level of ``segment``, whose reductions and scans have the states ``forms``.

    ``ahead`` names the Loads of other segments whose rows of the next tile it fetches, along axis ``tile``.
    """

    scope: KernelScope
    segment: Segment
    forms: tuple[StateForm, ...]
    ahead: tuple[str, ...] = ()
    tile: Axis | None = None
    _text: RowText = field(init=False)
    _streamed: str | None = None
    _guards: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._text = RowText(self.scope, self._strip)

    def statements(self, count: Expression | None) -> tuple[Statement, ...]:
        """Return the row; ``count`` is the name of its number of elements, where there is one."""
        scope = self.scope
        computed = tuple(name for name in self.segment.nodes if name not in scope.replaced)
        outside = (i for n in computed for i in self._inputs(n) if i not in self.segment.nodes)
        for name in dict.fromkeys(outside):
            self._text.fetch(name)
        for name in computed:
            node = scope.nodes[name]
            match node.op:
                case _ if name in scope.tables:
                    self._look_up(node)
                case "Load":
                    self._load(node)
                case "Store":
                    self._store(node)
                case op if op in OPERATIONS:
                    self._take(node)
                case "AxisIndex":
                    self._axis_index(node)
                case _:
                    self._compute(node)
            if name in scope.places and node.op not in ("Store", *REDUCTIONS):
                self._text.spill(node)
        for name in self.ahead:
            self._fetch_ahead(scope.nodes[name])
        if count is None:
            count = Integer(1) if self._strip is None else scope.nest.bound(self._strip)
        for guard in self._guards:
            count = Call("af_checked_count", (count, Name(guard), RAISED))
        if not self._text.body:
            return tuple(self._text.before)
        cut = (
            None if self.forms or self._can_raise() else cut_row(scope, self.segment, self._strip, count, self._sinks())
        )
        written = None if cut is None else self._pieces(cut)
        return (*self._text.before, *(written or (self._strips(count),)))

    def _pieces(self, cut: RowPieces) -> tuple[Statement, ...] | None:
        """Return the strips of all pieces; None where they are more code than telling pieces apart at each position."""
        pieces = tuple(map(self._piece, cut.pieces))
        if len(pieces) <= FEW_PIECES:
            return (*cut.before, *pieces)
        forms = forms_of(pieces, types_of((*self._text.before, *cut.before)) | self._constants())
        if len(forms) > MOST_FORMS and sum(len(piece.body) for piece in pieces) > 2 * len(self._text.body):
            return None
        return (*cut.before, *looped(forms, self.scope.names))

    @property
    def _strip(self) -> str | None:
        return self.segment.axes[-1] if self.segment.axes else None

    def _strips(self, count: Expression) -> Strips:
        trees = tuple(form for form in self.forms if form.is_reduction and not form.in_rows)
        states = tuple(State(self._taker(form), self.scope.state(form.node.name)) for form in trees)
        streamed = self._streamed
        if any(form.is_backwards and not form.in_rows for form in self.forms):
            walk, streamed = Walk.BACK, None
        elif not trees:
            walk = Walk.PLAIN
        else:
            walk = Walk.ROUNDS if streamed is None and self._is_short() else Walk.REDUCED
        body = tuple(statement for _, statement in self._text.body)
        target = None if streamed is None else Name(streamed)
        return Strips(POSITION, ACCESS, count, LANES, body, target, walk, states)

    def _constants(self) -> dict[str, str]:
        """Types of the constants, which are declared before all loops."""
        constants = (node for node in self.scope.impl.nodes if node.op in ("Scalar", "IndexExpr"))
        return {self.scope.value(node.name): f"af_vec<{type_name(node.dtype)}, {LANES}>" for node in constants}

    def _piece(self, piece: Piece) -> Strips:
        """Return the strips of a piece of the row, with the nodes it needs; its Selects pass one input on."""
        body: list[Statement] = []
        passed: dict[str, str] = {}
        for name, statement in self._text.body:
            if name in piece.selected and isinstance(statement, Declare):
                input_name = self.scope.value(piece.selected[name])
                value = as_bools(Name(passed.get(input_name, input_name)), self.scope.nodes[name].dtype)
                if isinstance(value, Name):
                    passed[statement.name] = value.text
                else:
                    body.append(evolve(statement, value=value))
            elif name in piece.nodes:
                body.append(renamed(statement, lambda variable: passed.get(variable, variable)))
        position = Declare("af_i64", POSITION, Binary("+", piece.first, Name(PIECE_POSITION)))
        target = None if self._streamed is None else Binary("+", Name(self._streamed), piece.first)
        count = Binary("-", piece.end, piece.first)
        return Strips(PIECE_POSITION, ACCESS, count, LANES, (position, *body), target)

    def _sinks(self) -> frozenset[str]:
        """The nodes whose values leave the row, and Loads that are fetched for others."""
        nodes = self.scope.nodes
        kept = (name for name in self.segment.nodes if nodes[name].op == "Store" or name in self.scope.places)
        return frozenset((*kept, *self.ahead))

    def _can_raise(self) -> bool:
        nodes = [self.scope.nodes[name] for name in self.segment.nodes]
        dtypes = {name: node.dtype for name, node in self.scope.nodes.items()}
        checked = any(node.access is not None and node.access.bounds is Bounds.ERROR for node in nodes)
        return checked or any(node.inputs and can_fail(node, dtypes[node.inputs[0]]) for node in nodes)

    def _is_short(self) -> bool:
        ops = [self.scope.nodes[name].op for name in self.segment.nodes]
        return len(ops) <= MANY_NODES and all(op in FEW_INSTRUCTIONS for op in ops)

    def _load(self, node: AscNode) -> None:
        forwards = len(self.segment.axes) > 1 and not any(form.is_backwards for form in self.forms)
        loop = self.segment.axes[-2] if forwards else None
        text = LoadWriter(self.scope, node, self._strip, ACCESS, POSITION, loop).text()
        self._text.before += text.before
        self._text.body += [(node.name, statement) for statement in text.body]
        if text.guard is not None:
            self._guards.append(text.guard)

    def _fetch_ahead(self, load: AscNode) -> None:
        assert load.access is not None
        assert self.tile is not None
        further = Size(distance(load, self.tile))
        offset = self.scope.offset(address(load.access), self._strip, further)
        name = self.scope.names.of(f"ahead {load.name}", f"{load.name}_ahead")
        base = self.scope.base(load.inputs[0])
        self._text.before.append(Declare(f"const {type_name(load.dtype)}*", name, moved(base, offset)))
        fetch = Call("af_fetch_ahead", (Binary("+", Name(name), Name(POSITION)),))
        self._text.body.append((load.name, Evaluate(fetch)))

    def _store(self, node: AscNode) -> None:
        scope = self.scope
        output = next(n for n in scope.impl.nodes if n.op == "Output" and n.inputs == (node.name,))
        assert node.access is not None
        where = address(node.access)
        step = const(0) if self._strip is None else where.step_along(scope.axes[self._strip].root)
        pointer = self._text.pointer(node, "row", scope.base(output.name), scope.offset(where, self._strip))
        if self._streamed is None and step == const(1) and scope.varies(node.name, self._strip):
            self._streamed = pointer
        self._text.write(node, pointer, step, self._operand(node.inputs[0], node))

    def _compute(self, node: AscNode) -> None:
        operands = tuple(Name(self.scope.value(name)) for name in node.inputs)
        dtypes = tuple(self.scope.nodes[name].dtype for name in node.inputs)
        value: Expression = operands[0]
        if node.op != "Broadcast":
            value = call(node, operands, dtypes, self._text.access_of(node.name))
        self._text.add(node.name, Declare("auto", self.scope.value(node.name), value))

    def _inputs(self, name: str) -> tuple[str, ...]:
        return (self.scope.tables[name].index,) if name in self.scope.tables else self.scope.nodes[name].inputs

    def _look_up(self, node: AscNode) -> None:
        """Take the value from its table."""
        table = self.scope.tables[node.name]
        found = Call("af_lookup", (Name(self.scope.table(node.name)), Name(self.scope.value(table.index))))
        self._text.add(node.name, Declare("auto", self.scope.value(node.name), found))

    def _axis_index(self, node: AscNode) -> None:
        kind = type_name(node.dtype)
        axis = str(node.attr("axis"))
        first = self.scope.index(axis, self._strip)
        value = self.scope.value(node.name)
        if self.scope.varies(node.name, self._strip):
            position = Name(POSITION) if first is None else Binary("+", first, Name(POSITION))
            lanes = (Call(f"({kind})", (position,)), Call(f"({kind})", (Integer(1),)))
            index = Call("af_iota", lanes, (kind, LANES))
        else:
            index = Call("af_splat", (Call(f"({kind})", (first or Integer(0),)),), (kind, LANES))
        self._text.add(node.name, Declare("auto", value, index))

    def _take(self, node: AscNode) -> None:
        """Give this strip's elements to the state of a reduction or scan."""
        form = next(form for form in self.forms if form.node is node)
        value = self._operand(node.inputs[0], node)
        arguments: tuple[Expression, ...] = (Name(ACCESS), value)
        if form.in_rows:
            arguments = (self._place_in_rows(form), *arguments)
        if not form.is_reduction:
            taken = Call(f"{self.scope.state(form.node.name)}.take", arguments)
            self._text.body.append((node.name, Declare("auto", self.scope.value(node.name), taken)))
            return
        name = self.scope.state(form.node.name) if form.in_rows else self._taker(form)
        self._text.body.append((node.name, Evaluate(Call(f"{name}.take", arguments))))

    def _place_in_rows(self, form: StateForm) -> Expression:
        """The element of a row of state that belongs to this strip; a scan has rows for all axes inside of its own."""
        position: Expression = Name(POSITION)
        if form.is_reduction:
            return position
        row = self.scope.axes[self.segment.axes[-1]].size
        for axis in reversed(self.segment.axes[form.depth + 1 : -1]):
            position = Binary("+", times(Name(self.scope.names.of(f"axis {axis}", axis)), row), position)
            row = row * self.scope.axes[axis].size
        return position

    def _taker(self, form: StateForm) -> str:
        return self.scope.names.of(f"taker {form.node.name}", f"into_{form.node.name}")

    def _operand(self, name: str, reader: AscNode) -> Expression:
        """Return the value of ``name`` in the form that memory holds."""
        return as_bools(Name(self.scope.value(name)), reader.dtype)
