"""Peak memory of an arrangement, at the hints."""

from collections.abc import Sequence

from attrs import frozen

from autofuse_fusion.groups import Group
from autofuse_fusion.items import Thing, made_by, read_by
from autofuse_fusion.network import View
from autofuse_fusion.values import Values


@frozen(eq=False)
class Peak:
    """A time of many bytes of intermediate values: how many, who is at work (a place in the order), what is alive."""

    bytes: int
    at: int
    alive: tuple[str, ...]


def peak_of(things: Sequence[Thing], pinned: frozenset[str], values: Values) -> int:
    """Return the most bytes alive at once when ``things`` run in order.

    Inputs and constants belong to the caller and do not count. A view keeps the tensor behind it alive; results of the
    graph stay until the end. A kernel may write over what another one made and it is the last to read.
    """
    return max((peak.bytes for peak in peaks_above(0, things, pinned, values)), default=0)


def peaks_above(limit: int, things: Sequence[Thing], pinned: frozenset[str], values: Values) -> list[Peak]:
    """Return the highest point of each stretch of the order in which more than ``limit`` bytes are alive."""
    last = _last_reads(things, pinned)
    dying: dict[int, list[str]] = {}
    alive: dict[str, int] = {}
    ours: set[str] = set()
    now = 0
    found: list[Peak] = []
    top: Peak | None = None
    for step, thing in enumerate(things):
        for name in _overwritten(thing, [name for name in dying.get(step, ()) if name in ours], pinned, values):
            now -= alive.pop(name)
            dying[step].remove(name)
        ours.update(thing.outputs if isinstance(thing, Group) else ())
        for name in _stored(thing):
            if name not in last:
                continue  # a host region's own business
            alive[name] = values.bytes_at_hints(name)
            now += alive[name]
            dying.setdefault(last[name], []).append(name)
        if now > limit and (top is None or now > top.bytes):
            top = Peak(now, step, tuple(alive))
        for name in dying.pop(step, ()):
            now -= alive.pop(name)
        if now <= limit and top is not None:
            found.append(top)
            top = None
    return found if top is None else [*found, top]


def _last_reads(things: Sequence[Thing], pinned: frozenset[str]) -> dict[str, int]:
    root: dict[str, str] = {}
    last: dict[str, int] = {}
    for step, thing in enumerate(things):
        if isinstance(thing, View):
            root[thing.output] = root.get(thing.input, thing.input)
        for name in read_by(thing):
            last[root.get(name, name)] = step
    for name in pinned:
        last[root.get(name, name)] = len(things)
    return last


def _overwritten(thing: Thing, dying: Sequence[str], pinned: frozenset[str], values: Values) -> tuple[str, ...]:
    """Return which of ``dying``, which nobody reads after ``thing``, its results are written over.

    Such a tensor has the form of the result and is read as that is written, and nothing is waited for in between: the
    result is one of the last that the kernel comes to.
    """
    if not isinstance(thing, Group) or not dying:
        return ()
    depths = _depths(thing)
    deepest = max(depths.values())
    moved = {values.behind(name) for name in thing.inputs if name in values.leaves}
    free = [name for name in dying if name in thing.inputs and name not in moved]
    found = []
    for name, layout in thing.outputs.items():
        if name in pinned or depths[name] < deepest:
            continue
        fact = values.fact(name)
        for place, other in enumerate(free):
            known = values.fact(other)
            if thing.inputs[other] == (layout,) and known.dtype == fact.dtype and known.shape == fact.shape:
                found.append(free.pop(place))
                break
    return tuple(found)


def _depths(group: Group) -> dict[str, int]:
    """Return, per value a kernel makes, how many reductions one after the other it waits for."""
    depths: dict[str, int] = {}
    for unit in group.units:
        before = max((depths.get(read.value, 0) for read in unit.reads), default=0)
        depths.update(dict.fromkeys(unit.outputs, before + bool(unit.reduced)))
    return depths


def _stored(thing: Thing) -> tuple[str, ...]:
    """Return the values a thing makes in memory of their own."""
    if isinstance(thing, View):
        return ()
    return tuple(thing.outputs) if isinstance(thing, Group) else made_by(thing)
