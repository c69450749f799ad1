"""Comparisons, tests of floats, logic and bits."""

from autofuse_ir import dtypes as dt

from autofuse_fusion.lower.call import Call, Lowering, direct, direct2
from autofuse_fusion.lower.writer import Tensor


def _logical(op: str) -> Lowering:
    def write(call: Call) -> Tensor:
        return call.apply(op, call.truth(call.tensor("x1")), call.truth(call.tensor("x2")))

    return Lowering(op, write)


def _is_finite(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.apply("IsFinite", x) if x.dtype.is_float else call.writer.scalar(True, dt.bool_)


def _is_inf(call: Call) -> Tensor:
    positive, negative = call.flag("detect_positive"), call.flag("detect_negative")
    return call.writer.apply("IsInf", call.tensor("x"), positive=positive, negative=negative)


LOWERINGS: tuple[Lowering, ...] = (
    direct2("Equal", "Eq"),
    direct2("NotEqual", "Ne"),
    direct2("Greater", "Gt"),
    direct2("GreaterEqual", "Ge"),
    direct2("Less", "Lt"),
    direct2("LessEqual", "Le"),
    Lowering("IsFinite", _is_finite),
    Lowering("IsInf", _is_inf),
    direct("IsNan", "IsNan"),
    direct2("BitwiseAnd", "BitwiseAnd"),
    direct2("BitwiseOr", "BitwiseOr"),
    direct2("BitwiseXor", "BitwiseXor"),
    _logical("LogicalAnd"),
    _logical("LogicalOr"),
    _logical("LogicalXor"),
    direct("Invert", "BitwiseNot"),
    Lowering("LogicalNot", lambda call: call.apply("LogicalNot", call.truth(call.tensor("x")))),
    direct2("LeftShift", "LeftShift"),
    direct2("RightShift", "RightShift"),
)
