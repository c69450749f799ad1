"""Arithmetic of two or more inputs."""

from autofuse_ir.operators import promote

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.mappings.by_name import plain
from autofuse_onnx.node import OnnxNode


def _div(n: OnnxNode) -> Lowering | None:
    """Integers truncate (``Div``); floats are ``RealDiv``."""
    dtype = n.dtype(0)
    if dtype is None:
        return None
    return one("RealDiv" if dtype.is_float else "Div", *n.inputs)


def _pow(n: OnnxNode) -> Lowering | None:
    """The result has the base's dtype, whatever the exponent's."""
    base, exponent = n.dtype(0), n.dtype(1)
    if base is None or exponent is None or base.is_opaque or exponent.is_opaque:
        return None
    if promote(base, exponent) == base:
        return one("Pow", *n.inputs)
    wide = f"{n.outputs[0]}.wide"
    return (
        Step("Pow", n.inputs, outputs=(wide,)),
        Step("Cast", (wide,), {"dst_type": base.ascend_code}, native=Native("Cast", (0,), {"to": base.onnx_code})),
    )


def _mod(n: OnnxNode) -> Lowering:
    return one("Mod" if n.attrs.get("fmod", 0) else "FloorMod", *n.inputs)


def _fold(op: str) -> Rule:
    """Return a rule that folds a variadic operator from left to right."""

    def rule(n: OnnxNode) -> Lowering | None:
        if len(n.inputs) == 1:
            return one("Identity", *n.inputs)
        steps: list[Step] = []
        first: Operand = n.inputs[0]
        for i, other in enumerate(n.inputs[1:], start=1):
            last = i == len(n.inputs) - 1
            outputs = n.outputs[:1] if last else (f"{n.outputs[0]}.{i}",)
            steps.append(Step(op, (first, other), outputs=outputs, native=Native(n.op_type, (0, 1))))
            first = outputs[0]
        return tuple(steps)

    return rule


def _sum(n: OnnxNode) -> Lowering:
    return one("Identity", *n.inputs) if len(n.inputs) == 1 else one("AddN", *n.inputs, N=len(n.inputs))


def _mean(n: OnnxNode) -> Lowering | None:
    dtype = n.dtype(0)
    if len(n.inputs) == 1:
        return one("Identity", *n.inputs)
    if dtype is None or not dtype.is_float:
        return None
    total, count = f"{n.outputs[0]}.sum", len(n.inputs)
    return (
        Step("AddN", n.inputs, {"N": count}, (total,), Native("Sum", tuple(range(count)))),
        Step("RealDiv", (total, n.scalar(count, dtype)), native=Native("Div", (0, 1))),
    )


RULES: dict[str, Rule] = {name: plain(name) for name in ("Add", "Sub", "Mul")} | {
    "Div": _div,
    "Max": _fold("Maximum"),
    "Mean": _mean,
    "Min": _fold("Minimum"),
    "Mod": _mod,
    "Pow": _pow,
    "Sum": _sum,
    "Where": plain("SelectV2"),
}
