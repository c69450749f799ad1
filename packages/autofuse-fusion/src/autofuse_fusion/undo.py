"""The last look: fusions that keep more memory alive than the graph as it is are taken apart again.

Two kernels side by side make their results at the same time; a reader that took in its maker keeps what that read alive
for longer. Where the peak grows by it, the groups at work or alive at the peak are solved anew: first without fusing
them side by side, then without fusing them at all.
"""

from collections.abc import Iterable

from autofuse_ir.target import TargetSpec

from autofuse_fusion.groups import Group
from autofuse_fusion.items import Items, Thing, topological
from autofuse_fusion.memory import Peak, peak_of
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.solve import Solver

MOST_TRIES = 6


def solve_within_peak(items: Items, target: TargetSpec, options: FusionOptions) -> Solver:
    """Return the solved fusion, whose peak at the hints is at most that of one kernel per operator."""
    allowed = peak_of(items.things, items.pinned, items.values).bytes
    apart: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    for attempt in range(MOST_TRIES):
        solver = _solved(items, target, options, apart, alone)
        arranged = topological(solver.things())
        peak = peak_of(arranged, items.pinned, items.values)
        if peak.bytes <= allowed:
            return solver
        found = frozenset(_at_peak(arranged, peak))
        if attempt >= MOST_TRIES // 2 or found <= apart:
            alone |= found
        apart |= found
    everything = frozenset(unit.order for unit in items.network.units)
    return _solved(items, target, options, everything, everything)


def _solved(
    items: Items, target: TargetSpec, options: FusionOptions, apart: frozenset[int], alone: frozenset[int]
) -> Solver:
    solver = Solver(items, target, options, apart, alone)
    solver.solve()
    return solver


def _at_peak(things: list[Thing], peak: Peak) -> Iterable[int]:
    """Yield the units of the kernels that hold more than one, and run or have results alive at the peak."""
    alive = set(peak.alive)
    for step, thing in enumerate(things):
        if not isinstance(thing, Group) or len(thing.units) == 1:
            continue
        if step == peak.at or any(name in alive for name in thing.outputs):
            yield from (unit.order for unit in thing.units)
