"""The dtypes of a node's outputs."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import assert_never

from autofuse_ir.dtypes import DType, dtype_of_ascend_code, dtype_of_onnx_code, float32, opaque
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Node
from autofuse_ir.operators.bind import attr_of, input_names, where
from autofuse_ir.operators.dtype_classes import promote
from autofuse_ir.operators.model import (
    CodeTable,
    Declared,
    DTypeRule,
    FirstOf,
    Fixed,
    FixedIf,
    FloatOf,
    FromAttr,
    ParamKind,
    Promote,
    SameAs,
)
from autofuse_ir.operators.table import operator


def result_dtypes(node: Node, input_dtypes: Sequence[DType | None]) -> tuple[DType | None, ...]:
    """Return the dtype of each output of ``node``.

    ``input_dtypes`` stand beside ``node.inputs`` (None for a missing optional input). None in the result means that
    only the front end knows (``Graph.declared``).
    """
    op = operator(node.op)
    given: dict[str, DType] = {}
    for name, dtype in zip(input_names(op, len(node.inputs)), input_dtypes, strict=True):
        if dtype is not None:
            given.setdefault(name, dtype)
    results: list[DType | None] = []
    lists = sum(result.kind is ParamKind.DYNAMIC for result in op.outputs)
    for result in op.outputs:
        count = (len(node.outputs) - len(op.outputs) + lists) // lists if result.kind is ParamKind.DYNAMIC else 1
        results.extend([_apply(result.rule, node, given)] * max(count, 0))
    return tuple(results[: len(node.outputs)])


def _apply(rule: DTypeRule, node: Node, given: Mapping[str, DType]) -> DType | None:
    match rule:
        case SameAs(param):
            return given.get(param)
        case Fixed(dtype):
            return dtype
        case FixedIf(attr, dtype):
            return dtype if attr_of(node, attr) else None
        case FromAttr(attr, codes):
            return _from_attr(node, attr, codes)
        case Promote(params):
            return reduce(promote, (given[param] for param in params))
        case FloatOf(param):
            dtype = given[param]
            return dtype if dtype.is_float else float32
        case FirstOf(rules):
            found = (_apply(alternative, node, given) for alternative in rules)
            return next((dtype for dtype in found if dtype is not None), None)
        case Declared():
            return None
        case _:
            assert_never(rule)


def _from_attr(node: Node, attr: str, codes: CodeTable) -> DType | None:
    value = attr_of(node, attr)
    if value is None or isinstance(value, DType):
        return value
    if not isinstance(value, int):
        raise IrError(f"attribute {attr!r} must name a dtype, not {value!r}", where=where(node))
    if codes is CodeTable.ONNX:
        return None if value == 0 else dtype_of_onnx_code(value) or opaque
    return dtype_of_ascend_code(value) or opaque
