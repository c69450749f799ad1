"""Swept axes that a block takes in pieces, one after the other, where a unified buffer does not hold them whole.

y = CumSum x over z1, of any length:   for piece: { x = Load; y = CumSum x, going on from the piece before; Store y }

Reductions keep their partial results from piece to piece, scans what their lines have come to. Other axes that the
kernel reduces or scans stay whole in the tile, but for those that are reduced together with the one in pieces: they
become loops where they stand outside of it.
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import const
from autofuse_ir.reduction import reduced_axes

from autofuse_schedule.roles import Roles, is_reduction, is_scan, joined_axes, roles_of
from autofuse_schedule.sweeps import Arrangement, Plan, plan


@frozen
class Pieces:
    """How ``axis`` is taken in pieces: ``around`` them are loops over other axes, element by element.

    ``roles`` count as swept what is joined from tile to tile alone.
    """

    axis: str
    around: tuple[str, ...]
    roles: Roles

    @property
    def looped(self) -> frozenset[str]:
        """The root axes that the loops of a sweep decide about."""
        return frozenset((self.axis, *self.around))


def pieces_of(graph: AscGraph, axis: str) -> Pieces:
    """Return how swept axis ``axis`` of ``graph`` is taken in pieces."""
    roots = roles_of(graph).roots
    together = _reduced_together(graph, axis)
    around = tuple(each for each in roots[: roots.index(axis)] if each in together)
    return Pieces(axis, around, Roles(roots, tuple(each for each in roots if each in together)))


def axes_in_pieces(graph: AscGraph) -> tuple[str, ...]:
    """Return the axes worth taking in pieces, if they can be.

    Of those that are reduced together these are the outermost, which leaves the others whole, and the innermost.
    """
    swept = roles_of(graph).swept
    found: dict[str, None] = {}
    for axis in swept:
        together = [each for each in swept if each in _reduced_together(graph, axis)]
        found |= dict.fromkeys((together[0], together[-1]))
    return tuple(axis for axis in swept if axis in found and _can_be(graph, pieces_of(graph, axis)))


def sweeps_in_pieces(graph: AscGraph, pieces: Pieces, held: frozenset[str] = frozenset()) -> Plan:
    """Return the sweeps of ``graph``; what a later one reads, but results of whole rows, it makes again."""
    return plan(graph, pieces.roles, Arrangement.APART, held, rescans=True)


def _reduced_together(graph: AscGraph, axis: str) -> frozenset[str]:
    """Return ``axis`` and those that some reduction joins with it, directly or by way of others."""
    found = {axis}
    reductions = [set(reduced_axes(node)) for node in graph.nodes]
    while more := {each for axes in reductions if axes & found for each in axes - found}:
        found |= more
    return frozenset(found)


def _can_be(graph: AscGraph, pieces: Pieces) -> bool:
    """False where a tile would need what other pieces have: the elements of a sweep come in one order.

    Scans go on from piece to piece along the axis in pieces, all of a sweep in one direction, and nothing is reduced
    against it. Along loops around the pieces, each would need a state for every piece. Results that later sweeps read
    must not differ from piece to piece.
    """
    made = sweeps_in_pieces(graph, pieces)
    by_name = {node.name: node for node in made.nodes}
    for body in made.bodies:
        nodes = [by_name[name] for name in body.nodes]
        scans = [node for node in nodes if is_scan(node) and set(joined_axes(node)) & pieces.looped]
        ways = {(node.attr("axis"), node.attr("reverse") is True) for node in scans}
        results = [node for node in nodes if is_reduction(node) and set(reduced_axes(node)) & pieces.looped]
        if not ways <= {(pieces.axis, False)} and (results or ways != {(pieces.axis, True)}):
            return False
        if any(_varies(node, pieces) for node in results):
            return False
    return True


def _varies(node: AscNode, pieces: Pieces) -> bool:
    roots = pieces.roles.roots
    return any(node.repeats[roots.index(axis)] != const(1) for axis in pieces.looped)
