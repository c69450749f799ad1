"""The text form of a Graph::

graph bias_gelu(%x: f32[batch, 768], %bias: f32[768]) -> %y
  symbols: batch in [0, 512] hint 64
  %0 = Add(%x, %bias)                     : f32[batch, 768]   from "model.onnx, node /mlp/Add"
  %y = GeluV2(%0) {approximate = "none"}  : f32[batch, 768]
"""

from collections.abc import Iterator

from autofuse_ir.graph import LARGEST_SIZE, Graph, GraphOutput, Node, Symbol, Value
from autofuse_ir.text.contents import content_lines
from autofuse_ir.text.values import (
    MISSING,
    aligned,
    attributes,
    quoted,
    tensor_type,
    value_name,
    values,
    word,
)


def graph_lines(graph: Graph, brief: bool = False) -> Iterator[str]:
    """Yield the lines of ``graph``; `autofuse_ir.parse` reads them back where they are not ``brief``."""
    inputs = ", ".join(typed(value) for value in graph.inputs)
    yield f"graph {word(graph.name)}({inputs}) -> {outputs_text(graph.outputs)}"
    if graph.symbols:
        yield f"  symbols: {', '.join(map(symbol_text, graph.symbols))}"
    yield from content_lines(graph.constants, graph.payloads, brief)
    beside = declared_beside(graph)
    if beside is None:
        for value in graph.declared:
            yield f"  declare {typed(value)}"
    yield from aligned(node_row(node, beside or {}) for node in graph.nodes)


def declared_beside(graph: Graph) -> dict[str, Value] | None:
    """Return the declared values by name where each can stand beside the node that makes it, without loss of order."""
    by_name = {value.name: value for value in graph.declared}
    made = [output for node in graph.nodes for output in node.outputs if output in by_name]
    return by_name if made == [value.name for value in graph.declared] else None


def node_row(node: Node, declared: dict[str, Value]) -> tuple[str, str, str]:
    """Return a node as three columns: what it computes, the types of its results, what else is known of it."""
    made = values(node.outputs) if node.outputs else "()"
    types = ""
    if any(output in declared for output in node.outputs):
        shown = (declared.get(output) for output in node.outputs)
        types = ": " + ", ".join(MISSING if v is None else tensor_type(v.dtype, v.shape) for v in shown)
    notes = []
    if node.name != default_name(node.outputs):
        notes.append(f"as {quoted(node.name)}")
    if node.payload is not None:
        notes.append(f"payload @{word(node.payload)}")
    if node.source:
        notes.append(f"from {quoted(node.source)}")
    return f"{made} = {word(node.op)}({values(node.inputs)}){attributes(node.attrs)}", types, "  ".join(notes)


def default_name(outputs: tuple[str, ...]) -> str:
    """Return the name of a node that is not given one: that of its first result."""
    return outputs[0] if outputs else ""


def symbol_text(symbol: Symbol) -> str:
    """Return a symbol with its range: ``batch in [0, 512] hint 64``; the default range is left out."""
    bounds = "" if (symbol.lo, symbol.hi) == (0, LARGEST_SIZE) else f" in [{symbol.lo}, {symbol.hi}]"
    return word(symbol.name) + bounds + ("" if symbol.hint is None else f" hint {symbol.hint}")


def typed(value: Value) -> str:
    """Return ``%name: f32[n, 4]``."""
    return f"{value_name(value.name)}: {tensor_type(value.dtype, value.shape)}"


def outputs_text(outputs: tuple[GraphOutput, ...]) -> str:
    """Return the results of a graph: one alone, or several in parentheses; ``name = %value`` where they differ."""
    parts = [
        value_name(output.value) if output.name == output.value else f"{word(output.name)} = {value_name(output.value)}"
        for output in outputs
    ]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
