"""Seams: positions of a row where a Select on the position changes sides, as in a concatenation.

Between seams each Select has one side, so that a piece of the row needs the nodes of that side alone:

    y = Select(index < a, f(x0), g(x1))        [0, a): y = f(x0)        [a, count): y = g(x1)
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import Segment

from autofuse_codegen.kernel.program import Binary, Call, Declare, Expression, Name, Size, Statement
from autofuse_codegen.targets.cpu.scope import KernelScope

MOST_PIECES = 8
"""A row of more pieces is not cut: each has code of its own."""


@frozen
class Piece:
    """Positions ``first`` to ``end`` of a row; ``selected`` says which input of each decided Select is its value."""

    first: Expression | None
    end: Expression
    selected: dict[str, str]
    nodes: frozenset[str]


@frozen
class RowPieces:
    """A row cut at its seams: ``before`` declares where they are."""

    before: tuple[Statement, ...]
    pieces: tuple[Piece, ...]


def cut_row(
    scope: KernelScope, segment: Segment, strip: str | None, count: Expression, sinks: frozenset[str]
) -> RowPieces | None:
    """Return the pieces of a row of ``segment``, whose body is there for ``sinks``; None where nothing is to cut."""
    if strip is None:
        return None
    seams = {name: limit for name in segment.nodes if (limit := _limit(scope, scope.nodes[name], strip)) is not None}
    if not seams:
        return None
    cutter = _Cutter(scope, segment, strip, seams, sinks)
    pieces = cutter.cut(None, count, {})
    if pieces is None or len(pieces) < 2:
        return None
    return RowPieces(tuple(cutter.before), pieces)


def _limit(scope: KernelScope, node: AscNode, strip: str) -> Dim | None:
    """Return where mask ``index < limit`` along ``strip`` ends, for a limit that is a size."""
    if node.op != "Lt":
        return None
    index, limit = (scope.nodes[name] for name in node.inputs)
    if index.op != "AxisIndex" or index.attr("axis") != scope.axes[strip].root:
        return None
    value = limit.attr("expression") if limit.op == "IndexExpr" else limit.attr("value")
    if limit.op == "Scalar" and isinstance(value, int) and not isinstance(value, bool):
        return const(value)
    return value if limit.op == "IndexExpr" and isinstance(value, Dim) else None


class _Cutter:
    def __init__(
        self, scope: KernelScope, segment: Segment, strip: str, seams: dict[str, Dim], sinks: frozenset[str]
    ) -> None:
        self.scope = scope
        self.segment = segment
        self.strip = strip
        self.seams = seams
        self.sinks = sinks
        self.before: list[Statement] = []
        self.made = 0

    def cut(self, first: Expression | None, end: Expression, known: dict[str, bool]) -> tuple[Piece, ...] | None:
        """Return the pieces of [first, end), in which the masks ``known`` hold or not; None where they are too many."""
        nodes, selected = self._live(known)
        open_masks = [
            mask
            for name in self.segment.nodes
            if name in nodes and self.scope.nodes[name].op == "Select" and name not in selected
            for mask in self.scope.nodes[name].inputs[:1]
            if mask in self.seams
        ]
        if not open_masks:
            self.made += 1
            return None if self.made > MOST_PIECES else (Piece(first, end, selected, nodes),)
        mask = open_masks[-1]  # the outermost: its sides need the fewest others
        middle = self._seam(mask, first, end)
        below = self.cut(first, middle, {**known, mask: True})
        above = self.cut(middle, end, {**known, mask: False}) if below is not None else None
        return None if below is None or above is None else below + above

    def _seam(self, mask: str, first: Expression | None, end: Expression) -> Expression:
        start = self.scope.index(self.scope.axes[self.strip].root, self.strip)
        limit: Expression = Size(self.seams[mask])
        if start is not None:
            limit = Binary("-", limit, start)
        name = f"{mask}_end"
        cut = self.scope.names.of(f"seam {mask} {len(self.before)} {self.segment.nodes[0]}", name)
        low = Size(const(0)) if first is None else first
        self.before.append(Declare("af_i64", cut, Call("af_max", (low, Call("af_min", (limit, end))))))
        return Name(cut)

    def _live(self, known: dict[str, bool]) -> tuple[frozenset[str], dict[str, str]]:
        """Return the nodes that the sinks need where masks are ``known``, and which inputs Selects pass on."""
        here = set(self.segment.nodes)
        selected: dict[str, str] = {}
        live: set[str] = set()
        pending = list(self.sinks)
        while pending:
            name = pending.pop()
            if name in live:
                continue
            live.add(name)
            node = self.scope.nodes[name]
            inputs = node.inputs
            if name in here and node.op == "Select" and inputs[0] in known:
                selected[name] = inputs[1] if known[inputs[0]] else inputs[2]
                inputs = (selected[name],)
            if name in here:
                pending += inputs
        return frozenset(live), selected
