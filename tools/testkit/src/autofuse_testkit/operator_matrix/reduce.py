"""Reductions, scans and what normalises over axes."""

from typing import Any

from autofuse_ir import dtypes as dt

from autofuse_testkit.operator_matrix.call import Call, below, inside_one, positive
from autofuse_testkit.operator_matrix.form import Form


def reduced_axes(b: Call) -> tuple[int, ...]:
    """Axes: the last, the first, all, both ends, or one in the middle, in turns."""
    if not b.rank:
        return ()
    last = b.rank - 1
    choices = ((last,), (0,), tuple(range(b.rank)), (0, last), (last // 2,), tuple(range(0, b.rank, 2)))
    distinct = list(dict.fromkeys(tuple(dict.fromkeys(axes)) for axes in choices))
    return distinct[b.turn % len(distinct)]


def _given(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.fixed(list(reduced_axes(b))), keep_dims=b.turn % 2 == 1)


def _as_attribute(name: str = "axes", keep: str = "keep_dims", outputs: int = 1, **more: Any) -> Any:
    def build(b: Call) -> tuple[str, ...]:
        attrs = {name: reduced_axes(b), keep: b.turn % 2 == 1} if keep else {name: reduced_axes(b)}
        return b.call(b.whole(), outputs=outputs, **attrs, **more)

    return build


def _norm(b: Call) -> tuple[str, ...]:
    p = (2.0, 1.0, float("inf"), 3.0)[b.turn % 4]
    return b.call(b.whole(), axes=reduced_axes(b), keepdim=b.turn % 2 == 1, p=p)


def _along(name: str, outputs: int = 1, *variants: dict[str, Any]) -> Any:
    def build(b: Call) -> tuple[str, ...]:
        attrs = variants[b.turn % len(variants)] if variants else {}
        return b.call(b.whole(), outputs=outputs, **{name: b.axis()}, **attrs)

    return build


def _scan(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.fixed(b.axis()), exclusive=b.turn % 2 == 1, reverse=b.turn % 3 == 1)


def _alone(b: Call) -> tuple[str, ...]:
    return b.call(b.whole())


def _channel(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), data_format="NCHW" if b.turn % 2 and b.rank > 2 else "NHWC")


def _softmax_gradient(name: str) -> Any:
    def build(b: Call) -> tuple[str, ...]:
        attrs: dict[str, Any] = {name: (b.axis(),)} if name else {}
        return b.call(b.whole(inside_one), b.whole(), **attrs)

    return build


def _softmax_gradient_ext(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.whole(), b.x(), axes=b.axis(), keep_dims=True)


def _masked_loss(outputs: int) -> Any:
    def build(b: Call) -> tuple[str, ...]:
        target = b.x(b.dims[0], *b.dims[2:], dtype=dt.int64, content=below(b.dims[1]))
        reduction = ("mean", "sum", "none")[b.turn % 3]
        inputs = [b.whole(), target]
        if b.turn % 2:
            inputs.append(b.x(b.dims[1], content=positive))
        return b.call(*inputs, outputs=outputs, reduction=reduction)

    return build


def _cross_entropy(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.whole(positive), outputs=2)


def _sparse_cross_entropy(b: Call) -> tuple[str, ...]:
    labels = b.x(*b.dims[:-1], dtype=dt.int32, content=below(b.dims[-1]))
    return b.call(b.whole(), labels, outputs=2)


_GIVEN = ("Sum", "Max", "Min", "Prod", "All", "Any", "Mean", "LogSum", "LogSumExp")
_ATTRIBUTE = ("Sum", "Max", "Min", "Prod", "All", "Any", "Mean")
_LAST = ({"select_last_index": False}, {"select_last_index": True, "keepdims": False})

FORMS: dict[str, Form] = {
    **{f"Reduce{name}": Form(_given) for name in _GIVEN},
    "ReduceLogSum": Form(lambda b: b.call(b.whole(positive), b.fixed(list(reduced_axes(b))))),
    **{f"Reduce{name}D": Form(_as_attribute()) for name in _ATTRIBUTE},
    "SquareSumV1": Form(_as_attribute("axis")),
    "LpNormV2": Form(_norm),
    "L2Loss": Form(_alone),
    "BiasAddGrad": Form(_channel, 2, 5),
    "ReduceStdV2": Form(_as_attribute("dim", "keepdim", 2)),
    "ArgMaxWithValue": Form(_along("dimension", 2, {}, {"keep_dims": True}), 1),
    "ArgMinWithValue": Form(_along("dimension", 2, {}, {"keep_dims": True}), 1),
    "ArgMax": Form(_along("axis", 1, *_LAST), 1),
    "ArgMin": Form(_along("axis", 1, *_LAST), 1),
    "Cumsum": Form(_scan, 1),
    "Cumprod": Form(_scan, 1),
    "SoftmaxV2": Form(_as_attribute("axes", ""), 1),
    "LogSoftmaxV2": Form(_as_attribute("axes", ""), 1),
    "HardMax": Form(_along("axis"), 1),
    "SoftmaxGrad": Form(_softmax_gradient("axes"), 1),
    "SoftmaxGradExt": Form(_softmax_gradient_ext, 1),
    "ConfusionSoftmaxGrad": Form(_softmax_gradient(""), 1),
    "LogSoftmaxGrad": Form(_softmax_gradient("axis"), 1),
    "NegativeLogLikelihoodLoss": Form(_masked_loss(1), 2),
    "SoftmaxCrossEntropyLoss": Form(_masked_loss(2), 2),
    "SoftmaxCrossEntropyWithLogits": Form(_cross_entropy, 2, 2),
    "SparseSoftmaxCrossEntropyWithLogits": Form(_sparse_cross_entropy, 2, 2),
    "LpNormalization": Form(_along("axis", 1, {"p": 2}, {"p": 1}), 1),
    "MeanVarianceNormalization": Form(_as_attribute("axes", ""), 1),
}
