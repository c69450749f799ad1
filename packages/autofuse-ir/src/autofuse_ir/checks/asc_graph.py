"""Invariants of an AscGraph in HintGraph form."""

from collections.abc import Iterator

from autofuse_ir.asc_graph import AscGraph, AxisKind
from autofuse_ir.checks.asc_nodes import (
    check_access,
    check_broadcasts,
    check_dtypes,
    check_indices,
    check_node_names,
    check_operators,
    check_order,
    check_reductions,
    check_repeats,
)
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.text.values import word


def asc_graph_findings(graph: AscGraph) -> Iterator[Finding]:
    """Yield every broken invariant of ``graph``."""
    yield from check_axes(graph)
    yield from check_node_names(graph.nodes)
    yield from check_order(graph.nodes)
    yield from check_operators(graph.nodes)
    yield from check_dtypes(graph.nodes)
    yield from check_repeats(graph.nodes, graph.axes)
    yield from check_access(graph.nodes, graph.axes)
    yield from check_reductions(graph.nodes, graph.axes)
    yield from check_broadcasts(graph.nodes, graph.axes, is_explicit=True)
    yield from check_indices(graph.nodes)


def check_axes(graph: AscGraph) -> Iterator[Finding]:
    """A HintGraph has original axes only, each with a name of its own."""
    for name in duplicates(axis.name for axis in graph.axes):
        yield Finding(f"axis {name!r}", "there are two of them", "give each axis its own name", f"axis {word(name)} ")
    for axis in graph.axes:
        if axis.kind is not AxisKind.ORIGINAL or axis.parents:
            where, anchor = f"axis {axis.name!r}", f"axis {word(axis.name)} "
            yield Finding(where, "it is split or merged already", "only a schedule splits and merges", anchor)
