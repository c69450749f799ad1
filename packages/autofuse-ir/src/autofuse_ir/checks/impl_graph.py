"""Invariants of an ImplGraph: its axes, nodes and loops. `autofuse_ir.checks.buffers` has those of its memory."""

from collections import Counter
from collections.abc import Iterator

from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.asc_ops import NOT_EVALUATED, AscKind, asc_op
from autofuse_ir.checks.asc_nodes import (
    anchor_of,
    check_access,
    check_broadcasts,
    check_dtypes,
    check_node_names,
    check_operators,
    check_order,
    check_reductions,
    check_repeats,
)
from autofuse_ir.checks.buffers import check_buffers, check_placements, check_reuse
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.groups import check_sources
from autofuse_ir.checks.scans import check_backwards, check_scans
from autofuse_ir.dependence import dependences
from autofuse_ir.dims import symbol
from autofuse_ir.schedule import ImplGraph
from autofuse_ir.text.values import word

_HALVES = (
    (AxisKind.TILE_OUTER, AxisKind.TILE_INNER),
    (AxisKind.BLOCK_OUTER, AxisKind.BLOCK_INNER),
)
_RANGE = (AxisKind.RANGE_OUTER, AxisKind.RANGE_INNER)
_INNER = (AxisKind.TILE_INNER, AxisKind.BLOCK_INNER, AxisKind.RANGE_INNER)


def impl_graph_findings(graph: ImplGraph) -> Iterator[Finding]:
    """Yield every broken invariant of ``graph``."""
    found = list(check_axes(graph))
    yield from found
    yield from check_node_names(graph.nodes)
    yield from check_order(graph.nodes)
    yield from check_operators(graph.nodes, is_numbered=False)
    yield from check_dtypes(graph.nodes)
    if not found:  # what follows walks the axes
        roots = tuple(axis for name in graph.roots for axis in graph.axes if axis.name == name)
        yield from check_repeats(graph.nodes, roots)
        yield from check_access(graph.nodes, roots)
        yield from check_reductions(graph.nodes, roots)
        yield from check_broadcasts(graph.nodes, roots, is_explicit=False)
        yield from check_loops(graph)
        yield from check_scans(graph)
    yield from check_backwards(graph)
    yield from check_sources(graph.nodes)
    yield from check_evaluation(graph)
    yield from check_tile_variables(graph)
    yield from check_placements(graph)
    yield from check_buffers(graph)
    yield from check_reuse(graph)
    if graph.index_bits not in (32, 64):
        yield Finding("index bits", f"{graph.index_bits} is neither 32 nor 64", "", "template ")


def check_axes(graph: ImplGraph) -> Iterator[Finding]:
    """Parents stand before their children; splits have both halves; roots are axes."""
    known: dict[str, Axis] = {}
    halves: Counter[tuple[str, AxisKind]] = Counter()
    for axis in graph.axes:
        where, anchor = f"axis {axis.name!r}", f"axis {word(axis.name)} "
        if axis.name in known:
            yield Finding(where, "there are two of them", "give each axis its own name", anchor)
        for parent in axis.parents:
            if parent not in known:
                yield Finding(where, f"its parent {parent!r} is not defined before it", "list parents first", anchor)
        wanted = {AxisKind.ORIGINAL: axis.parents == (), AxisKind.MERGED: len(axis.parents) >= 1}
        if not wanted.get(axis.kind, len(axis.parents) == 1):
            yield Finding(where, f"{len(axis.parents)} parents do not make it {axis.kind.value}", "", anchor)
        elif axis.kind not in wanted:
            halves[axis.parents[0], axis.kind] += 1
        known[axis.name] = axis
    for outer, inner in (*_HALVES, _RANGE):
        for parent in dict.fromkeys(parent for parent, kind in halves if kind in (outer, inner)):
            if halves[parent, outer] != 1 or halves[parent, inner] != 1:
                what = (
                    f"it is split into {halves[parent, outer]} {outer.value} and {halves[parent, inner]} {inner.value}"
                )
                yield Finding(f"axis {parent!r}", what, "a split has two halves", f"axis {word(parent)} ")
    for root in graph.roots:
        if root not in known:
            yield Finding(f"root {root!r}", "it is no axis", "list its axis", "roots ")
    for name in duplicates(graph.roots):
        yield Finding(f"root {name!r}", "it is listed twice", "", "roots ")


def check_evaluation(graph: ImplGraph) -> Iterator[Finding]:
    """Every evaluated node is in exactly one segment of one phase, after what it reads."""
    nodes = {node.name: node for node in graph.nodes}
    wanted = {node.name for node in graph.nodes if node.op not in NOT_EVALUATED}
    evaluated = [name for phase in graph.phases for segment in phase.segments for name in segment.nodes]
    for name in duplicates(evaluated):
        yield Finding(f"node {name!r}", "it is evaluated more than once", "clone it to recompute it", anchor_of(name))
    done: set[str] = set()
    for name in evaluated:
        if name not in wanted:
            what = "it is nothing to evaluate" if name in nodes else "there is no such node"
            yield Finding(f"segment with {name!r}", what, "remove it from its segment", anchor_of(name))
            continue
        for source in nodes[name].inputs:
            if source in wanted and source not in done:
                yield Finding(
                    f"node {name!r}", f"it is evaluated before {source!r}, which it reads", "", anchor_of(name)
                )
        done.add(name)
    for name in nodes:
        if name in wanted and name not in done:
            yield Finding(f"node {name!r}", "no segment evaluates it", "put it into a segment", anchor_of(name))


def check_loops(graph: ImplGraph) -> Iterator[Finding]:
    """Loops and vectorised axes together walk each root that the nodes need walked exactly once."""
    known = {axis.name for axis in graph.axes}
    needs = _walks(graph)
    for number, phase in enumerate(graph.phases):
        where = f"phase {number}"
        if phase.block is not None and phase.block not in phase.loops:
            yield Finding(where, f"the block axis {phase.block!r} is none of its loops", "", "phase")
        for segment in phase.segments:
            walked = (*phase.loops, *segment.axes)
            unknown = [name for name in walked if name not in known]
            for name in unknown:
                yield Finding(where, f"{name!r} is no axis", "list it among the axes", "phase")
            for name in duplicates(walked):
                yield Finding(where, f"{name!r} is walked twice", "an axis is a loop or vectorised, not both", "phase")
            if unknown:
                continue
            for root in graph.roots:
                times = _times_walked(root, walked, graph.axes)
                varies = any(root in needs.get(name, ()) for name in segment.nodes)
                if times > 1 or (times == 0 and varies):
                    what = f"the root {root!r} is walked {times} times around ({', '.join(segment.nodes[:4])}, ...)"
                    yield Finding(where, what, "each root, or both halves of it, must be walked once", "phase")


def _walks(graph: ImplGraph) -> dict[str, frozenset[str]]:
    """Return the roots that must be walked around each node.

    Those are the ones that decide about its value. What is stored or joined goes through all points along which it is
    wide, each once.
    """
    found = dependences(graph.nodes)
    for node in graph.nodes:
        rule = asc_op(node.op)
        if rule is not None and rule.kind in (AscKind.STORE, AscKind.REDUCE, AscKind.SCAN):
            wide = zip(graph.roots, node.repeats, strict=False)
            found[node.name] |= {root for root, repeat in wide if repeat != 1}
    return found


def _times_walked(axis: str, walked: tuple[str, ...], axes: tuple[Axis, ...]) -> int:
    """How often ``walked`` goes through ``axis``: itself, both halves of a split, or an axis it is merged into."""
    times = walked.count(axis)
    for outer_kind, inner_kind in _HALVES:
        halves = [each for each in axes if each.parents == (axis,) and each.kind in (outer_kind, inner_kind)]
        if halves:
            times += min(_times_walked(half.name, walked, axes) for half in halves)
    merged = [each for each in axes if each.kind is AxisKind.MERGED and axis in each.parents]
    return times + sum(_times_walked(each.name, walked, axes) for each in merged)


def check_tile_variables(graph: ImplGraph) -> Iterator[Finding]:
    """A tile variable sizes an inner half, from 1 up, in positive steps."""
    axes = {axis.name: axis for axis in graph.axes}
    for name in duplicates(variable.name for variable in graph.tile_variables):
        yield Finding(f"tile {name!r}", "there are two of them", "", f"tile {word(name)} ")
    for variable in graph.tile_variables:
        where, anchor = f"tile {variable.name!r}", f"tile {word(variable.name)} "
        axis = axes.get(variable.axis)
        if axis is None or axis.kind not in _INNER:
            yield Finding(where, f"{variable.axis!r} is no inner half of a split", "name the axis it sizes", anchor)
        elif axis.size != symbol(variable.name):
            yield Finding(where, f"the size of {variable.axis!r} is {axis.size}", f"it must be {variable.name}", anchor)
        if variable.lo < 1 or variable.multiple < 1:
            yield Finding(where, f"lo {variable.lo}, multiple {variable.multiple}", "both must be 1 or more", anchor)
