"""Which templates are tried for a kernel, and for which tiling cases."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import evolve
from autofuse_ir.asc_graph import AscGraph, Axis
from autofuse_ir.schedule import ImplGraph, TilingCase, TilingGroup
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.crossed import crossed_cases
from autofuse_schedule.pieces import axes_in_pieces
from autofuse_schedule.roles import has_later_sweeps, roles_of
from autofuse_schedule.templates.held import HeldTemplate, Order
from autofuse_schedule.templates.parallel import ParallelTemplate
from autofuse_schedule.templates.reach import Reach
from autofuse_schedule.templates.reduce import ReduceTemplate
from autofuse_schedule.tiling_cases import in_pieces, shared_cases, tiling_cases

MOST_CPU_CASES = 2
"""Axes from the innermost on that a CPU may split for a tile."""

Template: TypeAlias = Callable[[AscGraph, TilingGroup, TilingCase, tuple[Axis, ...]], ImplGraph]


def templates_for(
    graph: AscGraph, group: TilingGroup, target: TargetSpec, ranges: dict[str, tuple[int, int]], holds: bool
) -> tuple[tuple[Template, tuple[TilingCase, ...]], ...]:
    """Return the templates for ``graph``, each with its cases.

    Blocks share reduced axes only where no scan goes along them. A unified buffer takes long rows in pieces, where a
    cache just lets them pass. Square tiles are good where data is read across its rows. A CPU walks the axes
    of a tile by loops, not by calls: tiles of the innermost axes come close to all others, and each case costs time of
    the compiler. With ``holds`` a unified buffer keeps what many tiles share.
    """
    listed = tuple(sorted(ranges.items()))
    whole = tiling_cases(group, graph.axes)
    if target.kind is TargetKind.CPU:
        whole = whole[-MOST_CPU_CASES:]
    if not roles_of(graph).swept:
        plain = ParallelTemplate(target, listed)
        tiled = (plain, (*whole, *crossed_cases(graph)))
        if target.kind is TargetKind.CPU:
            return (tiled,)
        held = tuple(HeldTemplate(target, listed, order) for order in Order) if holds else ()
        return (tiled, *((template, template.cases(graph, whole)) for template in held))
    # Where all-load applies, too, it serves short rows; a tile of several long ones gains nothing.
    alone = whole[-1:] if target.kind is TargetKind.CPU and has_later_sweeps(graph) else whole
    all_load = ReduceTemplate(target, listed, Reach.ALL_LOAD)
    common = ReduceTemplate(target, listed, Reach.COMMON)
    found: list[tuple[ReduceTemplate, tuple[TilingCase, ...]]] = [(all_load, whole)]
    if target.kind is TargetKind.ASCEND:
        pieces = in_pieces(axes_in_pieces(graph), whole)
        found.append((common, (*whole, *pieces) if group.n else pieces))
        found.append((evolve(all_load, copies=1), whole))
        if not pieces:  # longer rows fit where nothing has a second copy
            found.append((evolve(common, copies=1), whole))
    else:
        found.append((common, alone))
    if holds and target.kind is TargetKind.ASCEND:
        for template, cases in tuple(found):
            keeps = evolve(template, holds=True)
            found.append((keeps, keeps.cases(graph, cases)))
    if not group.n:
        shared = shared_cases(group, graph.axes, has_pieces=target.kind is TargetKind.ASCEND)
        found.append((ReduceTemplate(target, listed, Reach.R_CORE), shared))
    return tuple(found)


def templates_for_phases(
    graph: AscGraph, group: TilingGroup, target: TargetSpec, ranges: dict[str, tuple[int, int]]
) -> tuple[tuple[Template, tuple[TilingCase, ...]], ...]:
    """Return the templates for a graph whose reductions run along different axes: all that keep its rows at hand."""
    whole = tiling_cases(group, graph.axes)
    if target.kind is TargetKind.CPU:
        return ((ReduceTemplate(target, tuple(sorted(ranges.items())), Reach.ALL_LOAD), whole[-MOST_CPU_CASES:]),)
    all_load = ReduceTemplate(target, tuple(sorted(ranges.items())), Reach.ALL_LOAD)
    return ((all_load, whole), (evolve(all_load, copies=1), whole))
