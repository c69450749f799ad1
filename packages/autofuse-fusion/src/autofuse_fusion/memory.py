"""Peak memory of an arrangement, at the hints."""

from collections.abc import Sequence

from attrs import frozen

from autofuse_fusion.groups import Group
from autofuse_fusion.items import Thing, made_by, read_by
from autofuse_fusion.network import View
from autofuse_fusion.values import Values


@frozen(eq=False)
class Peak:
    """The most bytes of intermediate values alive at once, and who is at work then."""

    bytes: int
    at: int
    alive: tuple[str, ...]


def peak_of(things: Sequence[Thing], pinned: frozenset[str], values: Values) -> Peak:
    """Return the peak of running ``things`` in order. Inputs and constants belong to the caller and do not count.

    A view keeps the tensor behind it alive; results of the graph stay until the end.
    """
    root: dict[str, str] = {}
    for thing in things:
        if isinstance(thing, View):
            root[thing.output] = root.get(thing.input, thing.input)
    last: dict[str, int] = {}
    for step, thing in enumerate(things):
        for name in read_by(thing):
            last[root.get(name, name)] = step
    for name in pinned:
        last[root.get(name, name)] = len(things)
    dying: dict[int, list[str]] = {}
    alive: dict[str, int] = {}
    now = 0
    best = Peak(0, 0, ())
    for step, thing in enumerate(things):
        for name in _stored(thing):
            alive[name] = values.bytes_at_hints(name)
            now += alive[name]
            dying.setdefault(last.get(name, step), []).append(name)
        if now > best.bytes:
            best = Peak(now, step, tuple(alive))
        for name in dying.pop(step, ()):
            now -= alive.pop(name)
    return best


def _stored(thing: Thing) -> tuple[str, ...]:
    """Return the values a thing makes in memory of their own."""
    if isinstance(thing, View):
        return ()
    return tuple(thing.outputs) if isinstance(thing, Group) else made_by(thing)
