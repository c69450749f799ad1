"""Batch normalisation while training: statistics per channel (axis 1), and the tensor normalised by them."""

from autofuse_ir.dims import const, product
from autofuse_ir.dtypes import float32, float64, int64

from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.steps import Steps


class _Moments:
    """Mean, biased and unbiased variance from the sums; one element has no unbiased variance but 0."""

    def __init__(self, call: ViewCall) -> None:
        builder, self.steps = call.builder, Steps(call)
        steps = self.steps
        count = builder.size(product(size for k, size in enumerate(call.shape("x")) if k != 1), int64)
        self.mean = steps.apply("RealDiv", call.value("sum"), builder.cast(count, float32))
        square = steps.apply("RealDiv", call.value("square_sum"), builder.cast(count, float32))
        self.biased = steps.apply("Sub", square, steps.apply("Mul", self.mean, self.mean))
        others = steps.apply("Maximum", steps.apply("Sub", count, builder.number(1, int64)), builder.number(1, int64))
        ratio = steps.apply("RealDiv", builder.cast(count, float64), builder.cast(others, float64))
        self.unbiased = steps.apply("Mul", self.biased, builder.cast(ratio, float32))


def _normalise(call: ViewCall, moments: _Moments) -> None:
    """Finish scale * (x - mean) / sqrt(variance + epsilon) + offset."""
    steps, shape = moments.steps, call.shape("x")
    per_channel = tuple([size if k == 1 else const(1) for k, size in enumerate(shape)])
    epsilon = call.attr("epsilon")
    assert isinstance(epsilon, int | float)
    root = steps.apply("Sqrt", steps.apply("Add", moments.biased, steps.number(float(epsilon), moments.biased)))
    factor = steps.reshaped(steps.apply("RealDiv", call.value("scale"), root), per_channel)
    shifted = steps.promoted("Sub", steps.input("x"), steps.reshaped(moments.mean, per_channel), shape)
    scaled = steps.promoted("Mul", shifted, factor, shape)
    offset = steps.reshaped(call.value("offset"), per_channel)
    steps.finish(call.result, steps.promoted("Add", scaled, offset, shape))


def _update(call: ViewCall) -> None:
    moments = _Moments(call)
    steps = moments.steps
    _normalise(call, moments)
    factor = call.attr("factor")
    assert isinstance(factor, int | float)
    new = steps.number(float(factor), moments.mean)
    old = steps.apply("Sub", steps.number(1.0, moments.mean), new, shape=())

    def running(name: str, now: str) -> str:
        kept = steps.apply("Mul", call.value(name), old)
        return steps.apply("Add", kept, steps.apply("Mul", now, new))

    results = (running("mean", moments.mean), running("variance", moments.unbiased), moments.mean, moments.biased)
    for name, value in zip(call.node.outputs[1:], results, strict=False):
        steps.finish(name, value)


def _update_v3(call: ViewCall) -> None:
    moments = _Moments(call)
    _normalise(call, moments)
    results = (moments.mean, moments.unbiased, moments.mean, moments.biased)
    for name, value in zip(call.node.outputs[1:], results, strict=False):
        moments.steps.finish(name, value)


LOWERINGS: dict[str, ViewLowering] = {"BNTrainingUpdate": _update, "BNTrainingUpdateV3": _update_v3}
