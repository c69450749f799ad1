"""The last look: fusions that keep more memory alive than the graph as it is are taken apart again.

Two kernels side by side make their results at the same time, and a reader that took in its maker keeps what that read
alive for longer. As long as the peak is above that of one kernel per operator, a kernel that has to do with it is
taken apart: first into what can be fused one behind the other, then in two, where least is alive, and so on down to its
operators. Taking a kernel apart makes no cycle, since no path leaves it and comes back.
"""

from collections.abc import Iterable, Mapping

from autofuse_ir.target import TargetSpec

from autofuse_fusion.benefit import cost_model, work_of
from autofuse_fusion.groups import Group, group_of
from autofuse_fusion.items import Items, Thing, topological
from autofuse_fusion.memory import Peak, peaks_above
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.solve import Solver
from autofuse_fusion.units import Unit
from autofuse_fusion.values import Values

MOST_TRIES = 40
"""Times that kernels are taken apart, before none is left."""


def solve_within_peak(items: Items, allowed: int, target: TargetSpec, options: FusionOptions) -> Solver:
    """Return the solved fusion, whose peak at the hints is at most ``allowed``: that of one kernel per operator."""
    solver = Solver(items, target, options)
    solver.solve()
    things = topological(solver.things())
    originals = {unit.order: unit for thing in items.things if isinstance(thing, Group) for unit in thing.units}
    apart: frozenset[int] = frozenset()
    parts: dict[int, int] = {}
    for _ in range(MOST_TRIES):
        peaks = peaks_above(allowed, things, items.pinned, items.values)
        if not peaks:
            return Solver(Items(things, items.values, items.pinned), target, options, apart, parts) if apart else solver
        touching = _touching(things)
        found = [_culprit(things, peak, touching, items.values) for peak in peaks]
        culprits = {id(group): group for group in found if group is not None}
        if not culprits:
            break
        kept = [thing for thing in things if id(thing) not in culprits]
        for culprit in culprits.values():
            units = frozenset(unit.order for unit in culprit.units)
            if units <= apart:
                parts |= _halves(culprit, items.values)
            apart |= units
            kept += _pieces(culprit, originals, items.values, target, options, apart, parts)
        things = topological(kept)
    return Solver(items, target, options, frozenset(originals), {order: order for order in originals})


def _touching(things: list[Thing]) -> dict[str, list[Group]]:
    """Return, per tensor, the kernels of several operators that make or read it."""
    touching: dict[str, list[Group]] = {}
    for thing in things:
        if isinstance(thing, Group) and len(thing.units) > 1:
            for name in (*thing.outputs, *thing.inputs):
                touching.setdefault(name, []).append(thing)
    return touching


def _culprit(things: list[Thing], peak: Peak, touching: dict[str, list[Group]], values: Values) -> Group | None:
    """Return the kernel of several operators that has most to do with the peak; None where there is none.

    That is the one at work, or the one that made or will read most of what is alive.
    """
    at_work = things[peak.at]
    if isinstance(at_work, Group) and len(at_work.units) > 1:
        return at_work
    held: dict[int, int] = {}
    groups: dict[int, Group] = {}
    for name in peak.alive:
        for group in touching.get(name, ()):
            groups[id(group)] = group
            held[id(group)] = held.get(id(group), 0) + values.bytes_at_hints(name)
    most = max(held, key=held.__getitem__, default=None)  # the first of equals: dicts keep the order of the data
    return None if most is None else groups[most]


def _halves(group: Group, values: Values) -> dict[int, int]:
    """Return the part of each unit of ``group``, by its order: cut in two, near the middle, where least passes.

    Parts are named after their first unit.
    """
    units = group.units
    made = {name: place for place, unit in enumerate(units) for name in unit.outputs}
    passing = [0] * (len(units) + 1)
    last = {read.value: place for place, unit in enumerate(units) for read in unit.reads if read.value in made}
    for name, read in last.items():
        for cut in range(made[name] + 1, read + 1):
            passing[cut] += values.bytes_at_hints(name)
    middle = len(units) / 2
    cuts = range(max(1, len(units) // 4), max(2, len(units) - len(units) // 4))
    best = min(cuts, key=lambda cut: (passing[cut], abs(cut - middle)))
    return {unit.order: units[0 if place < best else best].order for place, unit in enumerate(units)}


def _pieces(
    group: Group,
    originals: Mapping[int, Unit],
    values: Values,
    target: TargetSpec,
    options: FusionOptions,
    apart: frozenset[int],
    parts: Mapping[int, int],
) -> Iterable[Thing]:
    """Return the units of ``group``, as they were before, fused as far as ``apart`` and ``parts`` let them be."""
    read = {read.value for unit in group.units for read in unit.reads}
    needed = read | set(group.outputs)
    units = [originals[unit.order] for unit in group.units]
    model = cost_model(target)
    singles: list[Thing] = [group_of(unit, needed, work_of(unit, values, model), group.scope) for unit in units]
    solver = Solver(Items(singles, values, frozenset(group.outputs)), target, options, apart, parts)
    solver.solve()
    return solver.things()
