"""ONNX operators whose Ascend IR operator has the same name (or another), the same inputs and the same attributes."""

from typing import Any

from autofuse_ir.graph import AttrValue
from autofuse_ir.operators import operator
from autofuse_ir.operators.model import AttrKind

from autofuse_onnx.lowering import Lowering, Rule, Step
from autofuse_onnx.node import OnnxNode


def plain_attr(value: Any) -> AttrValue | None:
    """Return an ONNX attribute value as Ascend IR spells it; None for tensors, graphs and types."""
    match value:
        case bytes():
            return value.decode("utf-8", "replace")
        case bool() | int() | float() | str():
            return value
        case list() | tuple():
            items = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value]
            if all(isinstance(v, int) for v in items) or all(isinstance(v, float) for v in items):
                return tuple(items)
            return tuple(items) if all(isinstance(v, str) for v in items) else None
        case _:
            return None


def attrs_for(op: str, n: OnnxNode) -> dict[str, AttrValue] | None:
    """Return the attributes of ``n`` as those of operator ``op``; None when it lacks one that is set.

    Graphs are left out: they travel in the payload.
    """
    found: dict[str, AttrValue] = {}
    for name, value in n.attrs.items():
        plain = plain_attr(value)
        if plain is None:
            continue
        spec = operator(op).attr_spec(name)
        if spec is None:
            return None
        found[name] = bool(plain) if spec.kind is AttrKind.BOOL else plain
    return found


def same_attrs(op: str | None = None) -> Rule:
    """Return a rule for operator ``op`` (the ONNX name when None): inputs in order, attributes by name."""

    def rule(n: OnnxNode) -> Lowering | None:
        name = op or n.op_type
        attrs = attrs_for(name, n)
        return None if attrs is None else (Step(name, n.inputs, attrs),)

    return rule


def plain(op: str) -> Rule:
    """Return a rule for operator ``op``: inputs in order, no attributes."""
    return lambda n: (Step(op, n.inputs),)


def renamed(op: str, attrs: dict[str, tuple[str, AttrValue]], **fixed: AttrValue) -> Rule:
    """Return a rule for ``op``: ``attrs`` maps its attribute names to the ONNX name and the ONNX default."""

    def rule(n: OnnxNode) -> Lowering | None:
        values: dict[str, AttrValue] = dict(fixed)
        for ours, (theirs, default) in attrs.items():
            value = plain_attr(n.attrs[theirs]) if theirs in n.attrs else default
            if value is None:
                return None
            values[ours] = bool(value) if isinstance(default, bool) else value
        return (Step(op, n.inputs, values),)

    return rule
