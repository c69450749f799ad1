"""When each value is made and last read, counted in segments."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import Segment


@frozen
class Lifetime:
    """``first`` is the segment that makes the value, ``last`` the last that reads it, ``readers`` who reads it."""

    first: int
    last: int
    readers: tuple[str, ...]


def lifetimes(nodes: dict[str, AscNode], segments: tuple[Segment, ...]) -> dict[str, Lifetime]:
    """Return the lifetime of every evaluated node's value, in evaluation order."""
    segment_of = {name: i for i, segment in enumerate(segments) for name in segment.nodes}
    readers: dict[str, list[str]] = {name: [] for name in segment_of}
    for name in segment_of:
        for source in nodes[name].inputs:
            if source in readers:
                readers[source].append(name)
    return {
        name: Lifetime(first, max((segment_of[r] for r in readers[name]), default=first), tuple(readers[name]))
        for name, first in segment_of.items()
    }
