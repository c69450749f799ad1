"""Lines of a kernel, and the barriers between vector instructions.

The vector unit starts its instructions in order, and each reads before it writes: only what reads a result of the same
unit has to wait for it. Other pipes are ordered by queues and flags.
"""

import re
from collections.abc import Iterable
from typing import TypeAlias, assert_never

from attrs import evolve, frozen

BARRIER = "PipeBarrier<PIPE_V>();"


@frozen
class Line:
    """A line of text: which memory the vector unit reads and writes by it.

    ``settles``: it waits for that unit itself; ``reads`` is then what it reads before, ``writes`` what is unfinished at
    its end. ``depth`` counts indentation relative to where the line stands.
    """

    text: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    settles: bool = False
    depth: int = 0


@frozen
class Loop:
    """A loop over tiles: its head, names that follow from its index, and all that stands in it."""

    head: str
    derived: tuple[str, ...]
    body: "tuple[Item, ...]"


@frozen
class AheadLoop:
    """A loop over tiles, each of which is filled in the iteration before the one that works on it.

    ``around`` is its head, and has one iteration more than there are tiles; ``fills`` stand in all but the last,
    ``work`` in all but the first. ``head`` is that of a loop that does both in one: loops of one head have as many
    iterations.
    """

    head: str
    around: str
    fills: Loop
    work: Loop


Item: TypeAlias = Line | Loop | AheadLoop

_NEXT = " of the next tile"


def for_next(memory: str) -> str:
    """Return what ``memory`` is called while it is filled for the next tile: another buffer of its queue."""
    return memory + _NEXT


def vector(text: str, reads: Iterable[str], writes: Iterable[str], settles: bool = False) -> Line:
    """Return a line of the vector unit."""
    return Line(text, frozenset(reads), frozenset(writes), settles)


def with_barriers(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return ``items`` with a barrier before each line that reads what was written since the last one.

    What the end of a loop leaves unfinished is so at its beginning.
    """
    return _insert(items, frozenset())[0]


def needs_barrier_before(items: tuple[Item, ...], written: frozenset[str]) -> bool:
    """True where ``items``, with its barriers, reads some of ``written`` before the first of them."""
    return _count(_insert(items, frozenset((memory, "") for memory in written))[0]) > _count(items)


def texts_of(items: Iterable[Item], indent: str = "") -> list[str]:
    """Return ``items`` as text. Names derived from an index are there where something uses them."""
    found: list[str] = []
    for item in items:
        match item:
            case Line():
                found.append((indent + "  " * item.depth + item.text).rstrip())
            case Loop():
                inside = texts_of(item.body, indent + "  ")
                derived = used((indent + "  " + text for text in item.derived), "\n".join(inside))
                found += [indent + item.head, *derived, *inside, indent + "}"]
            case AheadLoop():
                inside = texts_of((item.fills, item.work), indent + "  ")
                found += [indent + item.around, *inside, indent + "}"]
            case _:
                assert_never(item)
    return found


def used(declared: Iterable[str], after: str) -> list[str]:
    """Return those lines of ``declared`` that declare a name which later ones or ``after`` use, and all others."""
    kept: list[str] = []
    for line in reversed(list(declared)):
        found = _DECLARED.match(line)
        if found is None or re.search(rf"\b{found[1]}\b", after):
            kept.insert(0, line)
            after += line
    return kept


_DECLARED = re.compile(r"^ *const af_i64 (\w+) = ")


_Unfinished: TypeAlias = frozenset[tuple[str, str]]
"""Memory with writes to it that may be unfinished: always (""), or where the loop of this head had no iterations."""


def _insert(items: tuple[Item, ...], pending: _Unfinished) -> tuple[tuple[Item, ...], _Unfinished]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Loop | AheadLoop):
            entered = frozenset((memory, head) for memory, head in pending if head != item.head)
            changed, left = _repeat(item, entered)
            found.append(changed)
            passed = {(memory, head or item.head) for memory, head in pending}
            pending = left | {(memory, head) for memory, head in passed if (memory, "") not in left}
            continue
        if item.reads & {memory for memory, _ in pending}:
            found.append(Line(BARRIER, settles=True, depth=item.depth))
            pending = frozenset()
        found.append(item)
        written = frozenset((memory, "") for memory in item.writes)
        pending = written if item.settles else pending | written
    return tuple(found), pending


def _repeat(loop: Loop | AheadLoop, entered: _Unfinished) -> tuple[Item, _Unfinished]:
    """Return ``loop`` with its barriers, and what is unfinished behind it if it has iterations."""
    if isinstance(loop, AheadLoop):
        entered = _next_tile(_insert(loop.fills.body, entered)[1])
    changed, left = _once(loop, entered)
    if left - entered:  # the second iteration begins with what the first one leaves
        changed, left = _once(loop, entered | left)
    return changed, left


def _once(loop: Loop | AheadLoop, entered: _Unfinished) -> tuple[Item, _Unfinished]:
    if isinstance(loop, Loop):
        body, left = _insert(loop.body, entered)
        return evolve(loop, body=body), left
    fills, filled = _insert(loop.fills.body, entered)
    body, left = _insert(loop.work.body, filled)
    changed = evolve(loop, fills=evolve(loop.fills, body=fills), work=evolve(loop.work, body=body))
    return changed, _next_tile(left)


def _next_tile(pending: _Unfinished) -> _Unfinished:
    """What is unfinished where the next tile becomes the one that is worked on."""
    return frozenset((memory.removesuffix(_NEXT), head) for memory, head in pending)


def _count(items: tuple[Item, ...]) -> int:
    return sum(_lines_in(item) for item in items)


def _lines_in(item: Item) -> int:
    match item:
        case Line():
            return 1
        case Loop():
            return 1 + _count(item.body)
        case AheadLoop():
            return 1 + _count((item.fills, item.work))
        case _:
            assert_never(item)
