"""Which value of a node stands for which input, output and attribute of its operator."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from autofuse_ir.errors import IrError
from autofuse_ir.graph import AttrValue, Node
from autofuse_ir.operators.model import Operator, Param, ParamKind, Result
from autofuse_ir.operators.table import operator

Bound: TypeAlias = str | tuple[str, ...] | None
"""A value name; the names of a list; or None for an optional input or output that is missing."""


def where(node: Node) -> str:
    """Return how errors name ``node``: its name, operator, and source where it has one."""
    source = f" ({node.source})" if node.source else ""
    return f"node {node.name!r}, operator {node.op}{source}"


def bind(node: Node) -> Mapping[str, Bound]:
    """Return which value each input of the node's operator reads, in signature order.

    Several lists in one signature share the node's inputs equally. Raises ``IrError`` when a required input is
    missing or inputs are left over.
    """
    op = operator(node.op)
    return _bind(node, op.inputs, node.inputs, "input")


def bind_outputs(node: Node) -> Mapping[str, Bound]:
    """Return which value each output of the node's operator makes; an output named "" counts as missing."""
    op = operator(node.op)
    return _bind(node, op.outputs, tuple(name or None for name in node.outputs), "output")


def input_names(op: Operator, count: int) -> tuple[str, ...]:
    """Return the parameter that each of ``count`` positional inputs belongs to (lists repeat their name)."""
    length = _list_length(op.inputs, count)
    if length is None:
        raise IrError(f"{count} inputs do not fit the signature of {op.name}", where="operator table")
    names = [name for param in op.inputs for name in [param.name] * (length if _is_list(param) else 1)]
    return tuple(names[:count])


def attr_of(node: Node, name: str) -> AttrValue | None:
    """Return attribute ``name`` of ``node``, or its default; None only for an optional one without default."""
    spec = operator(node.op).attr_spec(name)
    if spec is None:
        raise IrError(f"there is no attribute {name!r} in the signature", where=where(node))
    value = node.attr(name)
    if value is None and spec.required:
        raise IrError(f"the required attribute {name!r} is missing", where=where(node), fix=f"set {name}")
    return spec.default if value is None else value


def _is_list(param: Param | Result) -> bool:
    return param.kind is ParamKind.DYNAMIC


def _list_length(params: Sequence[Param | Result], count: int) -> int | None:
    """Return how many values each list takes when ``count`` are given; None when they do not fit."""
    lists = sum(_is_list(param) for param in params)
    fixed = len(params) - lists
    if lists == 0:
        required = max((i + 1 for i, p in enumerate(params) if p.kind is ParamKind.REQUIRED), default=0)
        return 0 if required <= count <= fixed else None
    rest = max(0, count - fixed)
    return rest // lists if rest % lists == 0 else None


def _bind(
    node: Node, params: Sequence[Param | Result], values: tuple[str | None, ...], what: str
) -> Mapping[str, Bound]:
    length = _list_length(params, len(values))
    if length is None:
        names = ", ".join(_pretty(param) for param in params) or "none"
        raise IrError(
            f"{len(values)} {what}s do not fit the signature ({names})", where=where(node), fix=f"check its {what}s"
        )
    bound: dict[str, Bound] = {}
    position = 0
    for param in params:
        if _is_list(param):
            part = values[position : position + length]
            bound[param.name] = tuple(_present(node, param, what, name) for name in part)
            position += length
            continue
        value = values[position] if position < len(values) else None
        bound[param.name] = _present(node, param, what, value) if param.kind is ParamKind.REQUIRED else value
        position += 1
    return MappingProxyType(bound)


def _present(node: Node, param: Param | Result, what: str, value: str | None) -> str:
    if value is None:
        raise IrError(f"{what} {param.name!r} is required but missing", where=where(node), fix=f"give {param.name}")
    return value


def _pretty(param: Param | Result) -> str:
    match param.kind:
        case ParamKind.OPTIONAL:
            return f"{param.name}?"
        case ParamKind.DYNAMIC:
            return f"{param.name}*"
        case _:
            return param.name
