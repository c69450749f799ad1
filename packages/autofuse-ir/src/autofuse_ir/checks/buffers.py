"""Invariants of an ImplGraph's memory: where values live, and which buffers share bytes."""

from collections.abc import Iterator

from attrs import frozen

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.schedule import Buffer, ImplGraph, Location
from autofuse_ir.text.values import word


@frozen
class Span:
    """The segments, counted over all phases, from the one that makes a value to the last that reads it."""

    first: int
    last: int


def spans_of(graph: ImplGraph) -> dict[str, Span]:
    """Return the lifetime of every evaluated node's value."""
    segments = [segment for phase in graph.phases for segment in phase.segments]
    made = {name: i for i, segment in enumerate(segments) for name in segment.nodes}
    last = dict(made)
    for node in graph.nodes:
        for name in node.inputs:
            if name in made and node.name in made:
                last[name] = max(last[name], made[node.name])
    return {name: Span(first, last[name]) for name, first in made.items()}


def check_placements(graph: ImplGraph) -> Iterator[Finding]:
    """Every evaluated value has one place: global memory, a buffer, or registers that only its segment reads."""
    buffers = {buffer.name: buffer for buffer in graph.buffers}
    spans = spans_of(graph)
    for name in duplicates(placement.node for placement in graph.placements):
        yield Finding(f"node {name!r}", "it has two places", "keep one", f"place {word(name)} ")
    placed = {placement.node for placement in graph.placements}
    for name in spans:
        if name not in placed:
            yield Finding(f"node {name!r}", "its value has no place", "add its placement")
    for placement in graph.placements:
        where, anchor = f"node {placement.node!r}", f"place {word(placement.node)} "
        span = spans.get(placement.node)
        if span is None:
            yield Finding(where, "it has a place but is not evaluated", "remove its placement", anchor)
            continue
        needs_buffer = placement.location in (Location.LOCAL, Location.WORKSPACE)
        if needs_buffer != (placement.buffer is not None):
            does = "needs" if needs_buffer else "takes no"
            yield Finding(where, f"a value in {placement.location.value} {does} buffer", "", anchor)
        elif placement.buffer is not None:
            buffer = buffers.get(placement.buffer)
            if buffer is None or buffer.location is not placement.location:
                what = f"there is no {placement.location.value} buffer {placement.buffer!r}"
                yield Finding(where, what, "list the buffer", anchor)
        if placement.location is Location.REGISTER and span.first != span.last:
            yield Finding(where, "another segment reads it, but it lives in registers", "give it a buffer", anchor)


def check_buffers(graph: ImplGraph) -> Iterator[Finding]:
    """Buffers have names of their own, at least one copy, and a size that is not negative."""
    for name in duplicates(buffer.name for buffer in graph.buffers):
        yield Finding(f"buffer {name!r}", "there are two of them", "", _anchor(name))
    axes = {axis.name for axis in graph.axes}
    for buffer in graph.buffers:
        where = f"buffer {buffer.name!r}"
        if buffer.copies < 1:
            yield Finding(
                where, f"it has {buffer.copies} copies", "use 1, or 2 for a double buffer", _anchor(buffer.name)
            )
        if (buffer.bytes.constant_value or 0) < 0:
            yield Finding(where, f"it has {buffer.bytes} bytes", "", _anchor(buffer.name))
        if buffer.lifetime and buffer.lifetime not in axes:
            yield Finding(where, f"its lifetime {buffer.lifetime!r} is no axis", "", _anchor(buffer.name))
        if buffer.location not in (Location.LOCAL, Location.WORKSPACE):
            yield Finding(where, f"a buffer is not in {buffer.location.value}", "", _anchor(buffer.name))


def check_reuse(graph: ImplGraph) -> Iterator[Finding]:
    """Buffers that share memory form no cycle and are never alive together; they may meet in one segment, in place."""
    buffers = {buffer.name: buffer for buffer in graph.buffers}
    families: dict[str, list[Buffer]] = {}
    for buffer in graph.buffers:
        root = _root(buffer, buffers)
        if root is None:
            yield Finding(
                f"buffer {buffer.name!r}", f"reusing {buffer.reuses!r} leads nowhere", "", _anchor(buffer.name)
            )
        else:
            families.setdefault(root.name, []).append(buffer)
            if root.location is not buffer.location or not _fits(buffer, root):
                what = f"it does not fit into {root.name!r}, which has {root.bytes} bytes in {root.location.value}"
                yield Finding(f"buffer {buffer.name!r}", what, "reuse a buffer of its size", _anchor(buffer.name))
    alive = _alive(graph)
    for family in families.values():
        for position, second in enumerate(family):
            for first in family[:position]:
                a, b = alive.get(first.name), alive.get(second.name)
                if a is not None and b is not None and not _take_turns(a, b):
                    what = f"{first.name!r} is still alive where it takes over the memory"
                    yield Finding(f"buffer {second.name!r}", what, "give it memory of its own", _anchor(second.name))


def _take_turns(a: Span, b: Span) -> bool:
    """One is last read in the segment that makes the other (in place), or before; they are not made together."""
    return a.first != b.first and (a.last <= b.first or b.last <= a.first)


def _alive(graph: ImplGraph) -> dict[str, Span]:
    """From the first segment that writes a buffer to the last that reads it."""
    spans = spans_of(graph)
    alive: dict[str, Span] = {}
    for placement in graph.placements:
        span = spans.get(placement.node)
        if placement.buffer is None or span is None:
            continue
        known = alive.get(placement.buffer, span)
        alive[placement.buffer] = Span(min(known.first, span.first), max(known.last, span.last))
    return alive


def _root(buffer: Buffer, buffers: dict[str, Buffer]) -> Buffer | None:
    """Follow ``reuses`` to the buffer that owns the memory; None for a cycle or an unknown name."""
    seen = {buffer.name}
    while buffer.reuses is not None:
        if buffer.reuses not in buffers or buffer.reuses in seen:
            return None
        buffer = buffers[buffer.reuses]
        seen.add(buffer.name)
    return buffer


def _fits(buffer: Buffer, root: Buffer) -> bool:
    missing = (buffer.bytes * buffer.copies - root.bytes * root.copies).constant_value
    return missing is None or missing <= 0


def _anchor(name: str) -> str:
    return f"buffer {word(name)}: "
