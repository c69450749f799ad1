"""Invariants of a Graph."""

from collections.abc import Iterator

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.symbols import check_range, unknown_symbols
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Family, check_node, has_operator, operator, result_dtypes
from autofuse_ir.text.values import values, word


def graph_findings(graph: Graph) -> Iterator[Finding]:
    """Yield every broken invariant of ``graph``."""
    yield from structure_findings(graph)
    yield from check_operators(graph)


def structure_findings(graph: Graph) -> Iterator[Finding]:
    """Yield what does not hold together in ``graph``, whatever its operators are."""
    yield from check_names(graph)
    yield from check_order(graph)
    yield from check_outputs(graph)
    yield from check_payloads(graph)
    yield from check_declared(graph)
    yield from check_symbols(graph)


def check_names(graph: Graph) -> Iterator[Finding]:
    """Every value is made once; nodes, symbols and payloads have names of their own."""
    made = [value.name for value in graph.inputs] + [constant.name for constant in graph.constants]
    made += [output for node in graph.nodes for output in node.outputs if output]
    for name in duplicates(made):
        yield Finding(f"value {name!r}", "it is made more than once", "give each value its own name")
    if "" in made:
        yield Finding("inputs", "an input or constant has no name", "name it")
    for what, names in (
        ("node", [node.name for node in graph.nodes]),
        ("symbol", [symbol.name for symbol in graph.symbols]),
        ("payload", [payload.name for payload in graph.payloads]),
        ("declaration of", [value.name for value in graph.declared]),
    ):
        for name in duplicates(names):
            yield Finding(f"{what} {name!r}", "there are two of them", "give each its own name")


def check_order(graph: Graph) -> Iterator[Finding]:
    """Nodes stand in topological order: what a node reads was made before it."""
    known = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    later = {output for node in graph.nodes for output in node.outputs if output}
    for node in graph.nodes:
        for name in node.inputs:
            if name is not None and name not in known:
                what = "is made further down" if name in later else "is made by nothing"
                fix = "order the nodes topologically" if name in later else "add what makes it"
                yield Finding(_where(node), f"its input {name!r} {what}", fix, _anchor(node))
        known.update(node.outputs)


def check_outputs(graph: Graph) -> Iterator[Finding]:
    """Results exist and have names of their own."""
    made = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    made |= {output for node in graph.nodes for output in node.outputs if output}
    for output in graph.outputs:
        if output.value not in made:
            yield Finding(f"output {output.name!r}", f"nothing makes its value {output.value!r}", "", "graph ")
    for name in duplicates(output.name for output in graph.outputs):
        yield Finding(f"output {name!r}", "there are two of them", "give each output its own name", "graph ")


def check_payloads(graph: Graph) -> Iterator[Finding]:
    """A payload that a node names exists."""
    known = {payload.name for payload in graph.payloads}
    for node in graph.nodes:
        if node.payload is not None and node.payload not in known:
            yield Finding(_where(node), f"there is no payload {node.payload!r}", "add it to the graph", _anchor(node))


def check_operators(graph: Graph) -> Iterator[Finding]:
    """Operators are known and their nodes fit the signature; what is unknown has a payload for a host backend.

    A node that runs from its payload may take dtypes that only its backend knows: its counts are checked alone.
    """
    dtypes = _given_dtypes(graph)
    for node in graph.nodes:
        if not has_operator(node.op):
            if node.payload is None:
                yield Finding(
                    _where(node), f"there is no operator {node.op!r}", "give it a payload for a host", _anchor(node)
                )
            continue
        on_host = node.payload is not None and operator(node.op).family is Family.HOST
        inputs = [None if name is None or on_host else dtypes.get(name) for name in node.inputs]
        found = check_node(node, inputs)
        for finding in found:
            yield Finding(finding.where, finding.what, finding.fix, _anchor(node))
        if not found and not on_host and all(d is not None for d, n in zip(inputs, node.inputs, strict=True) if n):
            yield from _note_results(node, inputs, dtypes)


def check_declared(graph: Graph) -> Iterator[Finding]:
    """What is declared is a result of some node."""
    made = {output for node in graph.nodes for output in node.outputs}
    for value in graph.declared:
        if value.name not in made:
            yield Finding(f"declaration of {value.name!r}", "no node makes it", "remove it", "declare ")


def check_symbols(graph: Graph) -> Iterator[Finding]:
    """Symbols of inputs and attributes are declared, with ranges of sizes; constant dims are not negative.

    Declared values may use other symbols, for dims that are not known.
    """
    known = {symbol.name for symbol in graph.symbols}
    for symbol in graph.symbols:
        yield from check_range(symbol.name, symbol.lo, symbol.hi, symbol.hint, "symbols:")
    for value in (*graph.inputs, *graph.declared):
        if any((dim.constant_value or 0) < 0 for dim in value.shape or ()):
            yield Finding(f"value {value.name!r}", "a dim is negative", "sizes are 0 or more", "graph ")
    for value in graph.inputs:
        yield from unknown_symbols(value.shape or (), known, f"input {value.name!r}", "graph ")
    for node in graph.nodes:
        attrs = [
            part for attr in node.attrs for part in (attr.value if isinstance(attr.value, tuple) else [attr.value])
        ]
        sizes = [part for part in attrs if isinstance(part, Dim)]
        yield from unknown_symbols(sizes, known, _where(node), _anchor(node))


def _given_dtypes(graph: Graph) -> dict[str, DType]:
    dtypes = {value.name: value.dtype for value in (*graph.inputs, *graph.declared)}
    return dtypes | {constant.name: constant.data.dtype for constant in graph.constants}


def _note_results(node: Node, inputs: list[DType | None], dtypes: dict[str, DType]) -> Iterator[Finding]:
    """Add the dtypes of a node's results to ``dtypes``; one that was declared otherwise is a finding."""
    try:
        results = result_dtypes(node, inputs)
    except IrError as error:
        yield Finding(error.where or _where(node), error.what, error.fix, _anchor(node))
        return
    for name, dtype in zip(node.outputs, results, strict=False):
        if not name or dtype is None:
            continue
        if dtypes.setdefault(name, dtype) != dtype:
            what = f"its result {name!r} is declared as {dtypes[name]}, but the operator makes {dtype}"
            yield Finding(_where(node), what, "correct the declaration, or cast", _anchor(node))


def _where(node: Node) -> str:
    return f"node {node.name!r}, operator {node.op}" + (f" ({node.source})" if node.source else "")


def _anchor(node: Node) -> str:
    made = values(node.outputs) if node.outputs else "()"
    return f"{made} = {word(node.op)}({values(node.inputs)})"
