"""Which values of enclosing scopes a node reads, and renaming them."""

from collections.abc import Iterator, Mapping

import onnx


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the graphs in the attributes of ``node`` (branches and bodies of control flow)."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def captured_names(node: onnx.NodeProto) -> tuple[str, ...]:
    """Return the outer values that the sub-graphs of ``node`` read, each once, in the order of first use."""
    found: dict[str, None] = {}
    for graph in subgraphs(node):
        found.update(dict.fromkeys(_free_names(graph)))
    return tuple(found)


def _free_names(graph: onnx.GraphProto) -> Iterator[str]:
    local = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    local |= {tensor.values.name for tensor in graph.sparse_initializer}
    for node in graph.node:
        for name in (*node.input, *captured_names(node)):
            if name and name not in local:
                yield name
        local.update(node.output)
    for value in graph.output:
        if value.name not in local:
            yield value.name


def rename(node: onnx.NodeProto, names: Mapping[str, str]) -> None:
    """Rename, in place, the values that ``node`` and its sub-graphs read and make; "" stays a missing one."""
    node.input[:] = [names.get(name, name) if name else "" for name in node.input]
    node.output[:] = [names.get(name, name) if name else "" for name in node.output]
    for graph in subgraphs(node):
        _rename_free(graph, names)


def _rename_free(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    hidden = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    hidden |= {tensor.values.name for tensor in graph.sparse_initializer}
    hidden |= {name for node in graph.node for name in node.output}
    visible = {old: new for old, new in names.items() if old not in hidden}
    for node in graph.node:
        rename(node, visible)
    for value in graph.output:
        value.name = visible.get(value.name, value.name)
