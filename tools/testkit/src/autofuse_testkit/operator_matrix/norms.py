"""Normalisations with what they are scaled by, and their gradients."""

from typing import Any

from autofuse_ir import dtypes as dt

from autofuse_testkit.operator_matrix.call import Call, positive
from autofuse_testkit.operator_matrix.form import Form


def _per_channel(b: Call, *contents: Any) -> list[str]:
    return [b.x(b.dims[1], dtype=dt.float32, content=content) for content in contents]


def _training(count: int, outputs: int, **attrs: float) -> Any:
    """``count`` inputs of all dims, then statistics per channel, all positive."""

    def build(b: Call) -> tuple[str, ...]:
        statistics = len(b.operator.inputs) - count
        wide = [b.whole() for _ in range(count)]
        return b.call(*wide, *_per_channel(b, *[positive] * statistics), outputs=outputs, **attrs)

    return build


def _from_sums(outputs: int, **attrs: float) -> Any:
    """Sums and square sums that belong together, then statistics per channel."""

    def build(b: Call) -> tuple[str, ...]:
        x = b.whole()
        sums = b.op_outputs("BNTrainingReduce", x, outputs=2)
        rest = _per_channel(b, *[positive] * (len(b.operator.inputs) - 3))
        return b.call(x, *sums, *rest, outputs=outputs, **attrs)

    return build


def _layer(b: Call) -> tuple[str, ...]:
    first = b.turn % b.rank
    inner = b.dims[first:]
    return b.call(b.whole(), b.x(*inner), b.x(*inner), outputs=3, begin_norm_axis=first, begin_params_axis=first)


def _layer_of_shape(b: Call) -> tuple[str, ...]:
    outer = b.dims[:-1]
    inputs = [b.x(*outer, 5), b.fixed([5]), b.x(5), b.x(5)]
    return b.call(*inputs[: 2 if b.turn % 3 == 2 else 4], outputs=3)


def _added_layer(b: Call) -> tuple[str, ...]:
    inputs = [b.whole(), b.whole(), b.x(b.dims[-1]), b.x(b.dims[-1])]
    if b.turn % 2:
        inputs.append(b.x(b.dims[-1]))
    return b.call(*inputs, outputs=4, additional_output=True)


def _layer_gradient(b: Call) -> tuple[str, ...]:
    rows = (*b.dims[:-1], 1)
    return b.call(b.whole(), b.whole(), b.x(*rows, content=positive), b.x(*rows), b.x(b.dims[-1]), outputs=2)


def _scale_gradient(b: Call) -> tuple[str, ...]:
    shape = (*b.dims[:-1], 4)
    return b.call(b.x(*shape), b.x(*shape, dtype=dt.float32), outputs=2, shape_gamma=(4,))


def _rms(b: Call) -> tuple[str, ...]:
    gamma = b.dims[-1 - b.turn % min(2, b.rank) :]
    if b.operator.name == "AddRmsNorm":
        return b.call(b.whole(), b.whole(), b.x(*gamma), outputs=3)
    return b.call(b.whole(), b.x(*gamma), outputs=2)


def _groups(b: Call) -> tuple[str, ...]:
    channels = f"2*{b.dims[1]}"
    x = b.x(b.dims[0], channels, *b.dims[2:])
    return b.call(x, b.x(channels), b.x(channels), outputs=3, num_groups=2)


def _instance(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.x(b.dims[1]), b.x(b.dims[1]), outputs=3)


def _inference(b: Call) -> tuple[str, ...]:
    """Statistics of the type of x, some of them missing in turns."""
    count = 2 if b.turn % 2 else 4
    return b.call(b.whole(), *(b.x(b.dims[1], content=positive) for _ in range(count)))


def _inference_scaled(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), *_per_channel(b, *[positive] * 4), epsilon=1e-5)


FORMS: dict[str, Form] = {
    "BNTrainingReduce": Form(_training(1, 2), 2),
    "BNTrainingUpdate": Form(_from_sums(5, factor=0.1, epsilon=1e-3), 2),
    "BNTrainingUpdateV3": Form(_from_sums(5, epsilon=1e-3), 2),
    "BNTrainingUpdateGrad": Form(_training(2, 2), 2),
    "BNTrainingReduceGrad": Form(_training(2, 1), 2),
    "LayerNorm": Form(_layer, 1),
    "LayerNormV3": Form(_layer, 1),
    "LayerNormV4": Form(_layer_of_shape, 1),
    "AddLayerNorm": Form(_added_layer, 1),
    "LayerNormXBackpropV2": Form(_layer_gradient, 1),
    "LayerNormXBackpropV3": Form(_layer_gradient, 1),
    "LayerNormBetaGammaBackpropV2": Form(_scale_gradient, 1),
    "RmsNorm": Form(_rms, 1),
    "AddRmsNorm": Form(_rms, 1),
    "GroupNorm": Form(_groups, 2),
    "InstanceNorm": Form(_instance, 3),
    "BNInferenceD": Form(_inference, 2),
    "BNInfer": Form(_inference_scaled, 2),
    "LRN": Form(lambda b: b.call(b.whole(), size=3, alpha=0.01), 2),
}
