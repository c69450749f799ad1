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
    graph stay until the end.
    """
    return max((peak.bytes for peak in peaks_above(0, things, pinned, values)), default=0)


def peaks_above(limit: int, things: Sequence[Thing], pinned: frozenset[str], values: Values) -> list[Peak]:
    """Return the highest point of each stretch of the order in which more than ``limit`` bytes are alive."""
    last = _last_reads(things, pinned)
    dying: dict[int, list[str]] = {}
    alive: dict[str, int] = {}
    now = 0
    found: list[Peak] = []
    top: Peak | None = None
    for step, thing in enumerate(things):
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


def _stored(thing: Thing) -> tuple[str, ...]:
    """Return the values a thing makes in memory of their own."""
    if isinstance(thing, View):
        return ()
    return tuple(thing.outputs) if isinstance(thing, Group) else made_by(thing)
