"""Invariants of a FusedGraph."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from attrs import evolve

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks.asc_graph import asc_graph_findings
from autofuse_ir.checks.facts import facts_findings
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.symbols import unknown_symbols
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedAscBackend,
    FusedGraph,
    FusedNode,
    HostRegion,
    SizesNode,
    ViewNode,
)
from autofuse_ir.text.values import values


def fused_graph_findings(graph: FusedGraph) -> Iterator[Finding]:
    """Yield every broken invariant of ``graph``, of its kernels and of its facts."""
    yield from check_names(graph)
    yield from check_order(graph)
    yield from check_outputs(graph)
    yield from check_known_values(graph)
    yield from facts_findings(graph.facts)
    for node in graph.nodes:
        match node:
            case AscBackend():
                yield from check_kernel(node, graph)
            case FusedAscBackend():
                yield from check_parts(node, graph)
            case HostRegion():
                yield from check_region(node, graph)
            case ViewNode():
                pass
            case SizesNode():
                known = [symbol.name for symbol in graph.facts.symbols]
                yield from unknown_symbols(node.elements, known, f"sizes {node.name!r}", _anchor(node))
            case never:
                assert_never(never)


def reads(node: FusedNode) -> tuple[str, ...]:
    """Return the values that ``node`` reads."""
    match node:
        case AscBackend() | FusedAscBackend() | HostRegion():
            return node.inputs
        case ViewNode():
            return (node.input,)
        case SizesNode():
            return ()
        case never:
            assert_never(never)


def makes(node: FusedNode) -> tuple[str, ...]:
    """Return the values that ``node`` makes."""
    match node:
        case AscBackend() | FusedAscBackend() | HostRegion():
            return node.outputs
        case ViewNode() | SizesNode():
            return (node.output,)
        case never:
            assert_never(never)


def check_names(graph: FusedGraph) -> Iterator[Finding]:
    """Every value is made once, and nodes have names of their own."""
    made = [value.name for value in graph.inputs] + [constant.name for constant in graph.constants]
    made += [name for node in graph.nodes for name in makes(node)]
    for name in duplicates(made):
        yield Finding(f"value {name!r}", "it is made more than once", "give each value its own name")
    for name in duplicates(node.name for node in graph.nodes):
        yield Finding(f"node {name!r}", "there are two of them", "give each node its own name")


def check_order(graph: FusedGraph) -> Iterator[Finding]:
    """Nodes stand in topological order. Since each runs as a whole, this also says that each is convex."""
    known = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    later = {name for node in graph.nodes for name in makes(node)}
    for node in graph.nodes:
        for name in reads(node):
            if name in known:
                continue
            what = "is made further down" if name in later else "is made by nothing"
            fix = "order the nodes; if that is impossible, one of them is not convex" if name in later else ""
            yield Finding(f"node {node.name!r}", f"its input {name!r} {what}", fix, _anchor(node))
        known.update(makes(node))


def check_outputs(graph: FusedGraph) -> Iterator[Finding]:
    """Results exist and have names of their own."""
    made = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    made |= {name for node in graph.nodes for name in makes(node)}
    for output in graph.outputs:
        if output.value not in made:
            yield Finding(f"output {output.name!r}", f"nothing makes its value {output.value!r}", "", "fused_graph ")
    for name in duplicates(output.name for output in graph.outputs):
        yield Finding(f"output {name!r}", "there are two of them", "", "fused_graph ")


def check_known_values(graph: FusedGraph) -> Iterator[Finding]:
    """Facts are known of every value that crosses a border."""
    known = {fact.name for fact in graph.facts.values}
    crossing = [value.name for value in graph.inputs] + [constant.name for constant in graph.constants]
    crossing += [name for node in graph.nodes for name in (*reads(node), *makes(node))]
    for name in dict.fromkeys(crossing):
        if name not in known:
            yield Finding(f"value {name!r}", "the facts do not mention it", "infer them again for this graph")


def check_kernel(node: AscBackend, graph: FusedGraph) -> Iterator[Finding]:
    """A kernel's AscGraph is well formed, and its Data and Output nodes are the inputs and outputs of the node."""
    for finding in asc_graph_findings(node.graph):
        yield evolve(finding, where=f"kernel {node.name!r}, {finding.where}")
    dtypes = {fact.name: fact.dtype for fact in graph.facts.values}
    known = [symbol.name for symbol in graph.facts.symbols]
    yield from unknown_symbols([axis.size for axis in node.graph.axes], known, f"kernel {node.name!r}", _anchor(node))
    yield from _check_borders(node.graph, "Data", node.inputs, dtypes, node)
    yield from _check_borders(node.graph, "Output", node.outputs, dtypes, node)


def _check_borders(
    asc: AscGraph, op: str, names: tuple[str, ...], dtypes: Mapping[str, DType], node: AscBackend
) -> Iterator[Finding]:
    border = [each for each in asc.nodes if each.op == op]
    if len(border) != len(names):
        what = f"it has {len(border)} {op} nodes for {len(names)} values"
        yield Finding(f"kernel {node.name!r}", what, "give one for each", _anchor(node))
    for each in border:
        index = each.attr("index")
        if not isinstance(index, int) or not 0 <= index < len(names):
            continue
        wanted = dtypes.get(names[index], each.dtype)
        if wanted != each.dtype:
            what = f"{op} {index} is {each.dtype}, but {names[index]!r} is {wanted}"
            yield Finding(f"kernel {node.name!r}", what, "cast inside the kernel", _anchor(node))


def check_parts(node: FusedAscBackend, graph: FusedGraph) -> Iterator[Finding]:
    """Parts stand in the order of their data flow; what passes between them is internal, the rest is visible."""
    known = set(node.inputs)
    where, anchor = f"fused kernel {node.name!r}", _anchor(node)
    for part in node.parts:
        yield from check_kernel(part, graph)
        for name in part.inputs:
            if name not in known:
                yield Finding(where, f"part {part.name!r} reads {name!r} too early", "order the parts", anchor)
        known.update(part.outputs)
    made = {name for part in node.parts for name in part.outputs}
    for name in (*node.outputs, *node.internal):
        if name not in made:
            yield Finding(where, f"no part makes {name!r}", "", anchor)
    for name in sorted(made - {*node.outputs, *node.internal}):
        yield Finding(where, f"{name!r} is neither an output nor internal", "list it", anchor)


def check_region(node: HostRegion, graph: FusedGraph) -> Iterator[Finding]:
    """A host region's operators read what it is given or what they made, and every one has its reason."""
    where, anchor = f"host region {node.name!r}", _anchor(node)
    known = set(node.inputs)
    for operator in node.operators:
        for name in operator.inputs:
            if name is not None and name not in known:
                yield Finding(where, f"operator {operator.name!r} reads {name!r}, which is no input", "add it", anchor)
        known.update(operator.outputs)
        if operator.payload is not None and operator.payload not in {payload.name for payload in graph.payloads}:
            yield Finding(where, f"operator {operator.name!r} has no payload {operator.payload!r}", "add it", anchor)
    for name in node.outputs:
        if name not in known - set(node.inputs):
            yield Finding(where, f"no operator makes its output {name!r}", "", anchor)
    reasons = {reason.operator for reason in node.reasons}
    for operator in node.operators:
        if operator.name not in reasons:
            yield Finding(where, f"operator {operator.name!r} has no reason to be there", "add a HostReason", anchor)


def _anchor(node: FusedNode) -> str:
    return f"{values(makes(node))} = "
