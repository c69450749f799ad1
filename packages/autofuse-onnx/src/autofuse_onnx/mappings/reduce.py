"""Reductions and scans."""

import numpy as np
from autofuse_ir.graph import AttrValue

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.mappings.by_name import renamed
from autofuse_onnx.node import OnnxNode


def _axes(n: OnnxNode) -> Operand:
    """Return the axes as an operand: an attribute before version 13 (ReduceSum) or 18, an input since."""
    axes = n.attrs.get("axes")
    return n.input(1) if axes is None else np.asarray(axes, np.int64)


def _flags(n: OnnxNode) -> dict[str, AttrValue]:
    # ONNX's defaults are the opposite of Ascend IR's: both flags are always set.
    return {
        "keep_dims": bool(n.attrs.get("keepdims", 1)),
        "noop_with_empty_axes": bool(n.attrs.get("noop_with_empty_axes", 0)),
    }


def _reduce(n: OnnxNode) -> Lowering:
    return one(n.op_type, n.input(0), _axes(n), **_flags(n))


def _known_axes(n: OnnxNode) -> tuple[int, ...] | None:
    """Return the axes where they are known: () for all of them."""
    return n.ints("axes", 1) if n.input(1) is not None or "axes" in n.attrs else ()


def _after(n: OnnxNode, first: str, then: tuple[str, ...] = ()) -> Lowering:
    """Return ``first`` on the input, a sum over the axes, and the operators ``then``."""
    base = n.outputs[0]
    names = [f"{base}.{op.lower()}" for op in (first, "ReduceSum", *then)]
    names[-1] = base
    steps = [
        Step(first, (n.input(0),), outputs=(names[0],), native=_NATIVE[first]),
        Step("ReduceSum", (names[0], _axes(n)), _flags(n), (names[1],), _native_sum(n)),
    ]
    steps += [Step(op, (names[i + 1],), outputs=(names[i + 2],)) for i, op in enumerate(then)]
    return tuple(steps)


_NATIVE = {"Abs": Native("Abs", (0,)), "Square": Native("Mul", (0, 0))}


def _native_sum(n: OnnxNode) -> Native | None:
    """Return the ONNX sum of the same version: its axes are an attribute before version 13."""
    flags: dict[str, int | float | str | list[int]] = {"keepdims": int(n.attrs.get("keepdims", 1))}
    if n.opset >= 13:
        flags["noop_with_empty_axes"] = int(n.attrs.get("noop_with_empty_axes", 0))
        return Native("ReduceSum", (0,) if _axes(n) is None else (0, 1), flags)
    axes = n.ints("axes")
    return Native("ReduceSum", (0,), flags if axes is None else flags | {"axes": list(axes)})


def _norm(p: float) -> Rule:
    """Return the rule of the sum of absolute values (p 1) or the root of the sum of squares (p 2)."""

    def rule(n: OnnxNode) -> Lowering | None:
        axes = _known_axes(n)
        if axes is None or (not axes and n.attrs.get("noop_with_empty_axes", 0)):
            return _after(n, "Abs") if p == 1.0 else _after(n, "Square", ("Sqrt",))
        return one("LpNormV2", n.input(0), p=p, axes=axes, keepdim=bool(n.attrs.get("keepdims", 1)), epsilon=0.0)

    return rule


def _square_sum(n: OnnxNode) -> Lowering:
    axes = _known_axes(n)
    return _after(n, "Square") if axes is None else one("SquareSumV1", n.input(0), axis=axes, **_flags(n))


def _top_k(n: OnnxNode) -> Lowering:
    attrs: dict[str, AttrValue] = {
        "axis": int(n.attrs.get("axis", -1)),
        "largest": bool(n.attrs.get("largest", 1)),
        "sorted": bool(n.attrs.get("sorted", 1)),
    }
    k: Operand = n.input(1) if n.opset >= 10 else np.asarray([n.attrs["k"]], np.int64)
    return (Step("TopK", (n.input(0), k), attrs),)


def _arg(n: OnnxNode) -> Lowering:
    attrs: dict[str, AttrValue] = {
        "axis": int(n.attrs.get("axis", 0)),
        "keepdims": bool(n.attrs.get("keepdims", 1)),
        "select_last_index": bool(n.attrs.get("select_last_index", 0)),
    }
    return (Step(n.op_type, n.inputs, attrs),)


_SCAN: dict[str, tuple[str, AttrValue]] = {"exclusive": ("exclusive", False), "reverse": ("reverse", False)}
_REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp"]

RULES: dict[str, Rule] = dict.fromkeys(_REDUCTIONS, _reduce) | {
    "ArgMax": _arg,
    "ArgMin": _arg,
    "CumProd": renamed("Cumprod", _SCAN),
    "CumSum": renamed("Cumsum", _SCAN),
    "ReduceL1": _norm(1.0),
    "ReduceL2": _norm(2.0),
    "ReduceSumSquare": _square_sum,
    "TopK": _top_k,
}
