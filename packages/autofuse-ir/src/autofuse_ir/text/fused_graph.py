"""The text form of a FusedGraph: its nodes, the kernels inside, and why no more was fused."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from autofuse_ir.fused_graph import (
    AscBackend,
    FusedAscBackend,
    FusedGraph,
    FusedNode,
    HostRegion,
    Refusal,
    SizesNode,
    ViewNode,
)
from autofuse_ir.graph import Node
from autofuse_ir.text.asc_graph import asc_graph_lines
from autofuse_ir.text.contents import content_lines
from autofuse_ir.text.facts import fact_lines
from autofuse_ir.text.graph import node_row, outputs_text, typed
from autofuse_ir.text.values import aligned, dims, quoted, value_name, values, word


def fused_graph_lines(graph: FusedGraph, brief: bool = False) -> Iterator[str]:
    """Yield the lines of ``graph``."""
    inputs = ", ".join(typed(value) for value in graph.inputs)
    yield f"fused_graph {word(graph.name)}({inputs}) -> {outputs_text(graph.outputs)}"
    yield f"  numerics {graph.numerics}"
    yield from content_lines(graph.constants, graph.payloads, brief)
    for node in graph.nodes:
        yield from indented(fused_node_lines(node))
    yield from aligned(_refusal_row(refusal) for refusal in graph.refusals)
    for removed in graph.removed_roundings:
        yield f"  in {word(removed.kernel)}: {quoted(removed.operator)} is not rounded to {removed.dtype_name}"
    yield "  facts"
    yield from indented(fact_lines(graph.facts))


def fused_node_lines(node: FusedNode) -> Iterator[str]:
    """Yield the lines of one node."""
    match node:
        case AscBackend():
            yield f"{values(node.outputs)} = kernel {word(node.name)}({values(node.inputs)})  {made_of(node.operators)}"
            yield from indented(asc_graph_lines(node.graph))
        case FusedAscBackend():
            internal = f"  internal {values(node.internal)}" if node.internal else ""
            yield f"{values(node.outputs)} = fused kernel {word(node.name)}({values(node.inputs)}){internal}"
            for part in node.parts:
                yield from indented(fused_node_lines(part))
        case HostRegion():
            yield f"{values(node.outputs)} = host {word(node.name)}({values(node.inputs)})  on {word(node.backend)}"
            yield from operator_lines(node.operators)
            for reason in node.reasons:
                yield f"  because {quoted(reason.operator)}: {reason.reason.value}"
        case ViewNode():
            yield f"{value_name(node.output)} = view {word(node.name)}({value_name(node.input)})  " + made_of(
                node.operators
            )
        case SizesNode():
            yield f"{value_name(node.output)} = sizes {word(node.name)}{dims(node.elements)}  {made_of(node.operators)}"
        case never:
            assert_never(never)


def operator_lines(operators: tuple[Node, ...]) -> Iterator[str]:
    """Yield the operators of a host region."""
    return aligned(node_row(operator, {}) for operator in operators)


def made_of(operators: tuple[str, ...]) -> str:
    """Return which operators of the user's graph something was made of."""
    return f"of [{', '.join(map(quoted, operators))}]"


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield ``lines`` two columns further right."""
    return (f"  {line}" for line in lines)


def _refusal_row(refusal: Refusal) -> tuple[str, str, str, str]:
    return (
        f"refused {quoted(refusal.first)} with {quoted(refusal.second)}",
        f"over {value_name(refusal.tensor)} {dims(refusal.shape)}",
        f"{refusal.reason.value}, {refusal.bytes_saved} bytes",
        refusal.detail,
    )
