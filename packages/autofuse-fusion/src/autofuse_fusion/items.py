"""Everything that happens, as nodes of one graph: groups of units, host regions, views and sizes."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from attrs import define, field

from autofuse_fusion.benefit import CostModel, work_of
from autofuse_fusion.groups import Group, group_of
from autofuse_fusion.hosts import Region, regions_of
from autofuse_fusion.network import Network, Sizes, View
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.values import Values

Thing: TypeAlias = Group | Region | View | Sizes


@define(eq=False)
class Items:
    """Things in topological order, and who makes and who reads each value. ``pinned`` values stay until the end."""

    things: list[Thing]
    values: Values
    pinned: frozenset[str]
    groups: list[Group | None] = field(init=False)
    makers: dict[str, int] = field(factory=dict)
    readers: dict[str, list[int]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.groups = [thing if isinstance(thing, Group) else None for thing in self.things]
        for number, thing in enumerate(self.things):
            self.makers.update((name, number) for name in made_by(thing))
            for name in dict.fromkeys(read_by(thing)):
                self.readers.setdefault(name, []).append(number)

    def edges(self) -> list[tuple[int, int]]:
        """Return who must run before whom."""
        return [(self.makers[n], r) for n, readers in self.readers.items() if n in self.makers for r in readers]


def items_of(network: Network, values: Values, options: FusionOptions, model: CostModel) -> Items:
    """Return the items of ``network``, every unit a group of its own."""
    regions = regions_of(network)
    pinned = frozenset(output.value for output in network.graph.outputs)
    needed = set(pinned)
    needed.update(name for unit in network.units for name in (*(r.value for r in unit.reads), *unit.needs))
    needed.update(name for region in regions for name in region_reads(region))
    needed.update(view.input for view in network.views)
    needed.update(name for sizes in network.sizes for name in sizes.needs)
    things: list[Thing] = []
    for unit in network.units:
        scope = options.scope_of(unit.node.name)
        things.append(group_of(unit, needed, work_of(unit, values, model), scope))
    return Items(topological([*things, *regions, *network.views, *network.sizes]), values, pinned)


def made_by(thing: Thing) -> tuple[str, ...]:
    """Return the values a thing makes."""
    match thing:
        case Group():
            return tuple(name for unit in thing.units for name in unit.outputs)
        case Region():
            return tuple(name for operator in thing.operators for name in operator.outputs)
        case _:
            return (thing.output,)


def read_by(thing: Thing) -> tuple[str, ...]:
    """Return the values that must be there before a thing runs."""
    match thing:
        case Group():
            return (*thing.inputs, *thing.needs)
        case Region():
            return region_reads(thing)
        case View():
            return (thing.input,)
        case Sizes():
            return thing.needs


def region_reads(region: Region) -> tuple[str, ...]:
    """Return the values a region reads from outside."""
    own = {name for operator in region.operators for name in operator.outputs}
    reads = (name for operator in region.operators for name in operator.node.inputs if name)
    return tuple(dict.fromkeys(name for name in reads if name not in own))


def order_of(thing: Thing) -> int:
    """Return the place in the graph of the last operator a thing holds: about when all it reads is there."""
    match thing:
        case Group():
            return thing.units[-1].order
        case Region():
            return thing.operators[-1].order
        case _:
            return thing.order


def topological(things: Sequence[Thing]) -> list[Thing]:
    """Return ``things`` in an order that respects the data and follows the graph where it can."""
    loose = sorted(things, key=order_of)
    maker = {name: number for number, thing in enumerate(loose) for name in made_by(thing)}
    after: list[list[int]] = [[] for _ in loose]
    missing = [0] * len(loose)
    for number, thing in enumerate(loose):
        for source in sorted({maker[name] for name in read_by(thing) if name in maker}):
            after[source].append(number)
            missing[number] += 1
    ready = [number for number, count in enumerate(missing) if count == 0]
    heapify(ready)
    ordered = []
    while ready:
        number = heappop(ready)
        ordered.append(loose[number])
        for target in after[number]:
            missing[target] -= 1
            if missing[target] == 0:
                heappush(ready, target)
    assert len(ordered) == len(loose), "regions are convex and merges make no cycle"
    return ordered
