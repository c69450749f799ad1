"""What becomes of each operator: part of a kernel, a view, a few sizes, or work for the host, and why."""

from enum import Enum

from attrs import frozen
from autofuse_ir.dtypes import DType, bool_
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Node
from autofuse_ir.operators import Flag, operator
from autofuse_ir.target import TargetSpec

from autofuse_fusion.lower.primitives import primitives
from autofuse_fusion.lower.table import REINTERPRETED, VIEWS, lowering_of
from autofuse_fusion.lower.views.marks import is_placed
from autofuse_fusion.values import Values


class Kind(Enum):
    """Where an operator runs."""

    KERNEL = "kernel"
    VIEW = "view"
    SIZES = "sizes"
    """All its results are sizes that the program knows: nothing runs."""
    HOST = "host"


@frozen
class Place:
    """The kind of an operator and, for the host, why."""

    kind: Kind
    reason: Reason | None = None


def classify(node: Node, values: Values, target: TargetSpec) -> Place:
    """Return where ``node`` runs."""
    if all(is_sizes(output, values) for output in node.outputs if output):
        return Place(Kind.SIZES)
    host = _host_reason(node, values, target)
    if host is not None:
        return Place(Kind.HOST, host)
    return Place(Kind.VIEW if _is_view(node, values) else Kind.KERNEL)


def is_sizes(name: str, values: Values) -> bool:
    """True for a value that holds sizes which are known without it."""
    content = values.content(name)
    return content is not None and not values.binds_any(name, content)


def _is_view(node: Node, values: Values) -> bool:
    """True where the result has the bytes of the first input. Not all bytes are a bool."""
    return node.op in VIEWS or (node.op in REINTERPRETED and values.fact(node.outputs[0]).dtype != bool_)


def _host_reason(node: Node, values: Values, target: TargetSpec) -> Reason | None:
    op = operator(node.op)
    is_host = op.has(Flag.HOST) or op.has(Flag.RANDOM) or (op.has(Flag.CUBE) and not _is_thin(node, values))
    if is_host and not is_placed(node):
        return Reason.HOST_OPERATOR
    touched = [values.fact(name) for name in (*node.inputs, *node.outputs) if name]
    if any(fact.dtype.is_opaque for fact in touched):
        return Reason.DTYPE_NOT_SUPPORTED
    if not _is_view(node, values):
        lowering = lowering_of(node.op)
        if lowering is None or not lowering.accepts(node):
            if any(values.fact(name).shape is None for name in node.inputs if name):
                return Reason.RANK_UNKNOWN
            return values.unlowered.get(node.outputs[0], Reason.HOST_OPERATOR)
    results = [values.fact(name) for name in node.outputs if name]
    if any(fact.shape is None for fact in results):
        inputs = [values.fact(name) for name in node.inputs if name]
        return Reason.RANK_UNKNOWN if any(f.shape is None for f in inputs) else Reason.STRUCTURAL_OPERAND_UNKNOWN
    if any(values.fact(name).shape is None for name in node.inputs[:1] if name):
        return Reason.RANK_UNKNOWN
    if not _is_view(node, values):
        lowering = lowering_of(node.op)
        assert lowering is not None
        if lowering.space(node, values) is None:
            return Reason.STRUCTURAL_OPERAND_UNKNOWN
    passed = {name for name in (*node.inputs, *node.outputs) if name}
    if not _is_view(node, values) and len(passed) > target.limits.arguments:
        return Reason.TOO_MANY_INPUTS if len(passed) > 2 * len(results) else Reason.TOO_MANY_OUTPUTS
    if not all(_holds(target, fact.dtype) for fact in touched):
        return Reason.DTYPE_NOT_SUPPORTED
    if target.support and not _is_view(node, values) and not _computes(node, values, target):
        return Reason.DTYPE_NOT_SUPPORTED
    return None


def _is_thin(node: Node, values: Values) -> bool:
    """True for a product of matrices that vector kernels compute."""
    lowering = lowering_of(node.op)
    known = all(values.fact(name).shape is not None for name in (*node.inputs, *node.outputs) if name)
    return lowering is not None and known and lowering.accepts(node) and lowering.space(node, values) is not None


def _computes(node: Node, values: Values, target: TargetSpec) -> bool:
    """True where ``target`` takes every primitive that ``node`` is made of on its dtype; no row means every dtype."""
    rows = {row.op: row.dtypes for row in target.support}
    for primitive, dtype in primitives(node, values, target):
        if primitive in rows and dtype not in rows[primitive]:
            return False
    return True


def _holds(target: TargetSpec, dtype: DType) -> bool:
    """True where kernels of ``target`` can load elements of ``dtype``."""
    loads = [row for row in target.support if row.op == "Load"]
    return not loads or dtype in loads[0].dtypes
