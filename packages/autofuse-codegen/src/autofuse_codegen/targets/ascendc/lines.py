"""Lines of a kernel, and the barriers between vector instructions.

The vector unit starts its instructions in order, and each reads before it writes: only what reads a result of the same
unit has to wait for it. Other pipes are ordered by queues and flags.
"""

from collections.abc import Iterable

from attrs import frozen

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


def vector(text: str, reads: Iterable[str], writes: Iterable[str], settles: bool = False) -> Line:
    """Return a line of the vector unit."""
    return Line(text, frozenset(reads), frozenset(writes), settles)


def with_barriers(body: tuple[Line, ...], is_repeated: bool) -> tuple[Line, ...]:
    """Return ``body`` with a barrier before each line that reads what was written since the last one.

    ``is_repeated``: the body is that of a loop, and what its end leaves unfinished is so at its beginning.
    """
    lines, pending = _insert(body, frozenset())
    if is_repeated and pending:
        lines, _ = _insert(body, pending)
    return lines


def needs_barrier_before(body: tuple[Line, ...], written: frozenset[str]) -> bool:
    """True where ``body``, with its barriers, reads some of ``written`` before the first of them."""
    return len(_insert(body, written)[0]) > len(body)


def _insert(body: tuple[Line, ...], pending: frozenset[str]) -> tuple[tuple[Line, ...], frozenset[str]]:
    found: list[Line] = []
    for line in body:
        if line.reads & pending:
            found.append(Line(BARRIER, settles=True, depth=line.depth))
            pending = frozenset()
        found.append(line)
        pending = line.writes if line.settles else pending | line.writes
    return tuple(found), pending
