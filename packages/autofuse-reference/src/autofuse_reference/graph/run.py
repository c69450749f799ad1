"""Run a Graph on arrays: bind its symbols, check its inputs, evaluate its operators."""

from collections.abc import Mapping, Sequence
from typing import Any

from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Family, check_node, has_operator, operator, result_dtypes

from autofuse_reference.bindings import bind_inputs
from autofuse_reference.errors import EvaluationError
from autofuse_reference.executor import HostBackend
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_reference.operators.precision import Precision


def run_graph(
    graph: Graph,
    arrays: Sequence[Any],
    precision: Precision = "declared",
    hosts: Mapping[str, HostBackend] | None = None,
) -> list[Any]:
    """Return the outputs of ``graph`` for ``arrays`` in input order.

    Raises ``EvaluationError`` for arrays that do not fit the declared dtypes, ranks, sizes and ranges.
    """
    where = f"calling {graph.name}"
    sizes = bind_inputs(where, graph.inputs, (), arrays)
    for symbol in graph.symbols:
        if symbol.name in sizes and not symbol.lo <= sizes[symbol.name] <= symbol.hi:
            raise EvaluationError(
                f"size {symbol.name} is {sizes[symbol.name]}, outside its range {symbol.lo}..{symbol.hi}",
                where=where,
                fix=f"give a size in the range, or declare a wider one for {symbol.name}",
            )
    interpreter = GraphInterpreter(graph, dtypes_of(graph), hosts, precision)
    values = interpreter.outputs(dict(zip((v.name for v in graph.inputs), arrays, strict=True)))
    return [values[output.name] for output in graph.outputs]


def _check_signature(node: Node, dtypes: Mapping[str, DType]) -> None:
    """Raise where a node does not fit its operator; one that runs from its payload may take dtypes of its backend."""
    if not has_operator(node.op):
        return
    on_host = node.payload is not None and operator(node.op).family is Family.HOST
    given = [None if name is None or on_host else dtypes.get(name) for name in node.inputs]
    found = check_node(node, [None if dtype is None or dtype.is_opaque else dtype for dtype in given])
    if found:
        fixes = dict.fromkeys(finding.fix for finding in found if finding.fix)
        raise EvaluationError("; ".join(f.what for f in found), where=found[0].where, fix="; ".join(fixes))


def dtypes_of(graph: Graph) -> dict[str, DType]:
    """Return the declared dtype of every value that has one: given by the front end, or by the operator's rule.

    Raises ``EvaluationError`` for a node that does not fit its operator.
    """
    known = {v.name: v.dtype for v in (*graph.inputs, *graph.declared)}
    known |= {c.name: c.data.dtype for c in graph.constants}
    for node in graph.nodes:
        _check_signature(node, known)
        if not has_operator(node.op) or any(name is not None and name not in known for name in node.inputs):
            continue
        given = tuple(None if name is None else known[name] for name in node.inputs)
        for name, dtype in zip(node.outputs, result_dtypes(node, given), strict=False):
            if dtype is not None:
                known.setdefault(name, dtype)
    return known
