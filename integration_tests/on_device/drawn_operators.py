"""Operators that compute: how each is drawn into a network. Some draws come to nothing."""

from typing import Any

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const
from autofuse_ir.operators import operator
from drawing import Drawing

EXACT_UNARY = ("Abs", "Neg", "Relu", "Square", "Sqrt", "Reciprocal", "Floor", "Ceil", "Sign", "Rint", "LogicalNot")
JUMPS_OR_POLES = ("Sqrt", "Reciprocal", "Floor", "Ceil", "Sign", "Rint", "LogicalNot")
INEXACT_UNARY = ("Exp", "Tanh", "Sigmoid", "Erf", "GeluV2", "Swish", "Sin", "Softplus", "Elu")
BINARY = ("Add", "Sub", "Mul", "Maximum", "Minimum", "RealDiv", "LogicalAnd", "LogicalOr", "BitwiseAnd", "BitwiseXor")
COMPARES = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
REDUCTIONS = ("ReduceSumD", "ReduceMeanD", "ReduceMaxD", "ReduceMinD", "ReduceProdD", "ReduceAnyD", "ReduceAllD")


def unary(drawing: Drawing) -> None:
    op = drawing.random.choice(EXACT_UNARY if drawing.coin() else INEXACT_UNARY)
    value = drawing.value(op, op in JUMPS_OR_POLES)
    if value is None:
        return
    attrs: dict[str, Any] = {"approximate": drawing.random.choice(("none", "tanh"))} if op == "GeluV2" else {}
    name = drawing.builder.op(op, value.name, **attrs)
    dtype = dt.bool_ if op == "LogicalNot" else value.dtype
    drawing.add(name, dtype, value.shape, value.loose or op in INEXACT_UNARY)


def binary(drawing: Drawing) -> None:
    op = drawing.random.choice(BINARY)
    value = drawing.value(op, op in ("RealDiv", "LogicalAnd", "LogicalOr"))
    if value is None:
        return
    other = drawing.beside(value, op in ("RealDiv", "LogicalAnd", "LogicalOr"))
    loose = value.loose or any(v.loose for v in drawing.values if v.name == other)
    pair = (value.name, other) if op == "RealDiv" or drawing.coin() else (other, value.name)
    dtype = dt.bool_ if op.startswith("Logical") else value.dtype
    drawing.add(drawing.builder.op(op, *pair), dtype, value.shape, loose)


def compare(drawing: Drawing) -> None:
    op = drawing.random.choice(COMPARES)
    if (value := drawing.value(op, exact=True)) is not None:
        drawing.add(drawing.builder.op(op, value.name, drawing.beside(value, exact=True)), dt.bool_, value.shape)


def select(drawing: Drawing) -> None:
    masks = [v for v in drawing.values if v.dtype == dt.bool_]
    mask = drawing.random.choice(masks) if masks else drawing.input(dt.bool_, drawing.values[-1].shape)
    fitting = [v for v in drawing.values if v.shape == mask.shape]
    value = drawing.random.choice(fitting)
    other = drawing.beside(value)
    loose = value.loose or any(v.loose for v in drawing.values if v.name == other)
    drawing.add(drawing.builder.op("SelectV2", mask.name, value.name, other), value.dtype, value.shape, loose)


def cast(drawing: Drawing) -> None:
    drawing.cast_to(drawing.random.choice(drawing.values[-6:]), drawing.random.choice(drawing.dtypes))


def reduce(drawing: Drawing) -> None:
    op = drawing.random.choice(REDUCTIONS)
    value = drawing.value(op, op in ("ReduceAnyD", "ReduceAllD"), rank=1)
    if value is None:
        return
    rank = len(value.shape)
    axes = tuple(sorted(drawing.random.sample(range(rank), drawing.random.randint(1, min(rank, 2)))))
    dtype = dt.bool_ if op in ("ReduceAnyD", "ReduceAllD") else value.dtype
    shape = tuple(const(1) if i in axes else d for i, d in enumerate(value.shape))
    made = drawing.add(drawing.builder.op(op, value.name, axes=axes, keep_dims=True), dtype, shape, value.loose)
    if dtype == value.dtype and dtype != dt.bool_ and drawing.random.random() < 0.6:
        # what was reduced goes back to the whole, as in norms
        name = drawing.builder.op("Sub", value.name, made.name)
        drawing.add(name, dtype, value.shape, value.loose)


def normalise(drawing: Drawing) -> None:
    op = drawing.random.choice(("SoftmaxV2", "LogSoftmaxV2", "LayerNorm", "RmsNorm"))
    value = drawing.value(op, rank=1)
    if value is None:
        return
    if "Softmax" in op:
        axis = drawing.random.randrange(len(value.shape))
        drawing.add(drawing.builder.op(op, value.name, axes=(axis,)), value.dtype, value.shape, True)
        return
    gamma = drawing.input(value.dtype, value.shape[-1:]).name
    if op == "RmsNorm":
        (name, _) = drawing.builder.op_outputs(op, value.name, gamma, outputs=2, epsilon=1e-3)
    else:
        beta = drawing.input(value.dtype, value.shape[-1:]).name
        name, *_ = drawing.builder.op_outputs(
            op, value.name, gamma, beta, outputs=3, begin_norm_axis=-1, begin_params_axis=-1, epsilon=1e-3
        )
    drawing.add(name, value.dtype, value.shape, True)


def arg(drawing: Drawing) -> None:
    value = drawing.value("ArgMax", exact=True, rank=1)
    if value is None:
        return
    axis = drawing.random.randrange(len(value.shape))
    op = drawing.random.choice(("ArgMax", "ArgMin"))
    name = drawing.builder.op(op, value.name, axis=axis, keepdims=True, select_last_index=drawing.coin())
    shape = tuple(const(1) if i == axis else d for i, d in enumerate(value.shape))
    drawing.add(name, dt.int64, shape)


def scan(drawing: Drawing) -> None:
    op = drawing.random.choice(("Cumsum", "Cumsum", "Cumprod"))
    types = operator(op).inputs[0].types
    fitting = [v for v in drawing.values[-6:] if v.dtype in types and v.shape]
    if fitting:
        value = drawing.random.choice(fitting)
        axis = drawing.number(drawing.random.randrange(len(value.shape)), dt.int64)
        name = drawing.builder.op(op, value.name, axis, exclusive=drawing.coin(), reverse=drawing.coin())
        drawing.add(name, value.dtype, value.shape, value.loose)
