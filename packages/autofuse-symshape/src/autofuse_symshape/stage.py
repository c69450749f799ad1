"""Symbolic shape inference: ``infer`` is a stage, contract to contract."""

from collections.abc import Mapping

from autofuse_ir.checks import verify_structure
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType, opaque
from autofuse_ir.errors import IrError
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.given import check_kinds
from autofuse_ir.graph import Graph, Node, Value
from autofuse_ir.operators import Family, check_node, has_operator, operator, result_dtypes
from autofuse_ir.operators.bind import where
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.walk import live

from autofuse_symshape.call import Call
from autofuse_symshape.conclude import conclude
from autofuse_symshape.declared import declared_shape, refined, shape_of_rank
from autofuse_symshape.errors import ShapeError, UnknownShape
from autofuse_symshape.known import Known
from autofuse_symshape.multiples import without_multiples
from autofuse_symshape.rules import RULES, Shapes
from autofuse_symshape.scope import Scope
from autofuse_symshape.sources import add_inputs
from autofuse_symshape.values import KERNELS, follow
from autofuse_symshape.values.demand import wanted


def infer(graph: Graph, values: Mapping[str, TensorData] | None = None) -> tuple[Graph, SymbolFacts]:
    """Return ``graph`` and what is known about the sizes and contents of all its values.

    The graph comes back as it is, but for sizes that inputs tell only as multiples (see `without_multiples`).
    ``values`` gives inputs whose content is known when compiling (axes, perm, a shape). Relations that the program
    needs and that cannot be proved over the declared ranges become *assert* guards, those of operators that nobody
    reads excepted; raises `ShapeError` for those that can be disproved, `IrError` for a graph that does not hold
    together.
    """
    check_kinds("infer", graph=(graph, Graph))
    verify_structure(graph)
    graph, multiples = without_multiples(graph)
    scope = Scope(graph, wanted(graph, frozenset(KERNELS)))
    add_inputs(graph, values or {}, scope)
    for each in multiples:
        source = f"input {each.input!r}"
        scope.require(each.is_exact, operator=each.input, where=source, message=each.message)
    for constant in graph.constants:
        data = constant.data
        scope.known[constant.name] = Known(data.dtype, tuple([const(size) for size in data.shape]))
    declared = {value.name: value for value in graph.declared}
    needed = {node.name for node in live(graph)}
    for node in graph.nodes:
        scope.is_live = node.name in needed
        _infer_node(node, scope, declared)
    return graph, conclude(graph, scope)


def _infer_node(node: Node, scope: Scope, declared: Mapping[str, Value]) -> None:
    call = _called(node, scope)
    shapes: Shapes = () if call is None else _shapes(call)
    dtypes: tuple[DType | None, ...] = () if call is None else _dtypes(call, scope)
    for position, name in enumerate(node.outputs):
        if not name:
            continue
        given = declared.get(name)
        dtype = dtypes[position] if position < len(dtypes) else None
        if dtype is None:
            dtype = opaque if given is None else given.dtype
        elif given is not None and given.dtype != dtype:
            raise ShapeError(
                f"output {name!r} is declared as {given.dtype}, but the operator makes {dtype}",
                where=where(node),
                fix="correct the declaration, or cast",
            )
        shape = shapes[position] if position < len(shapes) else None
        if shape is None:
            shape = declared_shape(scope, name, given)
            if shape is None and call is not None:
                unsure = shape_of_rank(call)
                shape = unsure[position] if position < len(unsure) else None
        elif given is not None and given.shape is not None:
            shape = refined(scope, node, name, shape, given.shape)
        scope.known[name] = Known(dtype, None if shape is None else tuple([scope.oracle.normal(dim) for dim in shape]))
    if call is not None:
        follow(call, scope)


def _called(node: Node, scope: Scope) -> Call | None:
    """The node with its inputs by name; None for an operator that only the front end knows."""
    if not has_operator(node.op):
        return None
    missing = [value for value in node.inputs if value is not None and value not in scope.known]
    if missing:
        raise ShapeError(
            f"input {missing[0]!r} is not made by any node before this one",
            where=where(node),
            fix="list nodes in topological order",
        )
    found = check_node(node, _checked_dtypes(node, scope))
    if found:
        fixes = dict.fromkeys(finding.fix for finding in found if finding.fix)
        raise ShapeError("; ".join(f.what for f in found), where=where(node), fix="; ".join(fixes))
    return Call(node, operator(node.op), scope)


def _checked_dtypes(node: Node, scope: Scope) -> list[DType | None]:
    """The dtypes of the inputs, as far as the signature of the operator says what they may be.

    A node that runs from its payload may take dtypes that only its backend knows.
    """
    on_host = node.payload is not None and operator(node.op).family is Family.HOST
    dtypes = [None if value is None or on_host else scope.known[value].dtype for value in node.inputs]
    return [None if dtype is None or dtype.is_opaque else dtype for dtype in dtypes]


def _shapes(call: Call) -> Shapes:
    rule = RULES.get(call.op.name)
    if rule is None:
        return ()
    try:
        return rule(call)
    except UnknownShape:
        return ()
    except IrError as error:  # a size beyond int64, or an attribute that is missing
        raise ShapeError(error.what, where=call.where, fix=error.fix) from error


def _dtypes(call: Call, scope: Scope) -> tuple[DType | None, ...]:
    given = [None if value is None else scope.known[value].dtype for value in call.node.inputs]
    try:
        return result_dtypes(call.node, given)
    except IrError as error:
        raise ShapeError(error.what, where=call.where, fix=error.fix) from error
