"""Seams: positions of a row where a Select on the position changes sides, as in a concatenation.

Between seams each Select has one side, so that a piece of the row needs the nodes of that side alone:

    y = Select(index < a, f(x0), g(x1))        [0, a): y = f(x0)        [a, count): y = g(x1)

Where the position is that of the row itself, along an axis outside of it, one of the pieces is the whole row.
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import Segment

from autofuse_codegen.kernel.program import Binary, Call, Declare, Expression, Integer, Name, Size, Statement
from autofuse_codegen.targets.cpu.scope import KernelScope

MOST_PIECES = 256
"""A row of more pieces is not cut: what tells them apart is found one after the other."""


@frozen
class Seam:
    """Where mask ``index < limit`` of axis ``root`` ends."""

    root: str
    limit: Dim


@frozen
class Piece:
    """Positions ``first`` to ``end`` of a row; ``selected`` says which input of each decided Select is its value."""

    first: Expression
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
    seams = {name: seam for name in segment.nodes if (seam := _seam(scope, scope.nodes[name])) is not None}
    if not seams:
        return None
    cutter = _Cutter(scope, segment, strip, seams, sinks)
    pieces = cutter.cut(cutter.declared("start", Size(const(0))), cutter.declared("end", count), {})
    if pieces is None or len(pieces) < 2:
        return None
    return RowPieces(tuple(cutter.before), pieces)


def _seam(scope: KernelScope, node: AscNode) -> Seam | None:
    """Return where mask ``index < limit`` ends, for a limit that is a size."""
    if node.op != "Lt":
        return None
    index, limit = (scope.nodes[name] for name in node.inputs)
    if index.op != "AxisIndex":
        return None
    value = limit.attr("expression") if limit.op == "IndexExpr" else limit.attr("value")
    if limit.op == "Scalar" and isinstance(value, int) and not isinstance(value, bool):
        value = const(value)
    return Seam(str(index.attr("axis")), value) if isinstance(value, Dim) else None


class _Cutter:
    def __init__(
        self, scope: KernelScope, segment: Segment, strip: str, seams: dict[str, Seam], sinks: frozenset[str]
    ) -> None:
        self.scope = scope
        self.segment = segment
        self.strip = strip
        self.seams = seams
        self.sinks = sinks
        self.before: list[Statement] = []
        self.made = 0

    def cut(self, first: Expression, end: Expression, known: dict[str, bool]) -> tuple[Piece, ...] | None:
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
        middle = self._middle(mask, first, end)
        below = self.cut(first, middle, {**known, mask: True})
        above = self.cut(middle, end, {**known, mask: False}) if below is not None else None
        return None if below is None or above is None else below + above

    def declared(self, what: str, value: Expression) -> Name:
        """Declare a position in the row and return its name."""
        name = self.scope.names.of(f"seam {what} {len(self.before)} {self.segment.nodes[0]}", what)
        self.before.append(Declare("af_i64", name, value))
        return Name(name)

    def _middle(self, mask: str, first: Expression, end: Expression) -> Name:
        """Where the row passes from the one side of ``mask`` to the other, within [first, end)."""
        seam = self.seams[mask]
        index = self.scope.index(seam.root, self.strip)
        if seam.root == self.scope.axes[self.strip].root:
            limit: Expression = Size(seam.limit) if index is None else Binary("-", Size(seam.limit), index)
            return self.declared(f"{mask}_end", Call("af_max", (first, Call("af_min", (limit, end)))))
        side = (index or Integer(0), Size(seam.limit), first, end)
        return self.declared(f"{mask}_end", Call("af_seam", side))

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
