"""Shapes of normalisations, losses, activations over axes, and their gradients."""

from autofuse_ir.dims import const, eq, floordiv, mod

from autofuse_symshape.broadcast import broadcast, broadcast_onto
from autofuse_symshape.call import Call, shown
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.gather_scatter import equal_parts
from autofuse_symshape.rules.model import Rule, Shapes, like, same_as
from autofuse_symshape.rules.reduce import without


def _over_axes(name: str, attr: str) -> Rule:
    """The rule of a same-shape operator over axes that must exist."""

    def rule(call: Call) -> Shapes:
        x = call.shape(name)
        call.axes(call.ints_of(attr), len(x), attr)
        return (x,) * call.output_count

    return rule


def _halved(call: Call) -> Shapes:
    x = call.shape("x")
    axis = call.axis(call.int_attr("dim"), len(x), "dim")
    call.require(eq(mod(x[axis], 2), 0), f"axis {axis} of {shown(x)} has no two equal halves")
    return ((*x[:axis], floordiv(x[axis], 2), *x[axis + 1 :]),)


def _equal_pair(first: str, second: str) -> Rule:
    def rule(call: Call) -> Shapes:
        return (equal_parts(call, call.shape(first), call.shape(second), f"{first} and {second}"),) * call.output_count

    return rule


def _layer_norm(call: Call) -> Shapes:
    x = call.shape("x")
    first = call.axis(call.int_attr("begin_norm_axis"), len(x), "begin_norm_axis")
    for name in ("gamma", "beta"):
        broadcast_onto(call, x, call.shape(name), name)
    kept = without(x, tuple(range(first, len(x))), True)
    return (x, kept, kept)


def _layer_norm_v4(call: Call) -> Shapes:
    x, normalised = call.shape("x"), call.sizes("normalized_shape", 0)
    if len(normalised) > len(x):
        call.fail(f"normalized_shape {shown(normalised)} is longer than {shown(x)}")
    first = len(x) - len(normalised)
    equal_parts(call, x[first:], normalised, "the normalised axes and normalized_shape")
    for name in ("gamma", "beta"):
        if call.has(name):
            broadcast_onto(call, x, call.shape(name), name)
    kept = without(x, tuple(range(first, len(x))), True)
    return (x, kept, kept)


def _trailing(call: Call, x: Shape) -> Shape:
    """``x`` with the axes that gamma covers reduced to 1."""
    gamma = call.shape("gamma")
    broadcast_onto(call, x, gamma, "gamma")
    return without(x, tuple(range(len(x) - len(gamma), len(x))), True)


def _add_layer_norm(call: Call) -> Shapes:
    x = broadcast(call, (call.shape("x1"), call.shape("x2")))
    if call.has("bias"):
        x = broadcast(call, (x, call.shape("bias")))
    kept = _trailing(call, x)
    return (x, kept, kept, x)


def _rms_norm(call: Call) -> Shapes:
    x = call.shape("x")
    return (x, _trailing(call, x))


def _add_rms_norm(call: Call) -> Shapes:
    x = broadcast(call, (call.shape("x1"), call.shape("x2")))
    return (x, _trailing(call, x), x)


def _gamma_beta(call: Call) -> Shapes:
    kept = tuple([const(size) for size in call.ints_attr("shape_gamma") if size != -1])
    return (kept, kept)


def _channel_last(call: Call) -> bool:
    return call.text_attr("data_format") in ("NHWC", "NDHWC")


def _group_norm(call: Call) -> Shapes:
    x, groups = call.shape("x"), call.int_attr("num_groups")
    if len(x) < 2:
        call.fail(f"input 'x' of shape {shown(x)} must have rank 2 or more")
    channels = x[-1] if _channel_last(call) else x[1]
    call.require(eq(mod(channels, groups), 0), f"{channels} channels do not make {groups} equal groups")
    return (x, (x[0], const(groups)), (x[0], const(groups)))


def _instance_norm(call: Call) -> Shapes:
    x = call.shape("x")
    channel = len(x) - 1 if _channel_last(call) else 1
    if len(x) < 2:
        call.fail(f"input 'x' of shape {shown(x)} must have rank 2 or more")
    kept = without(x, tuple([axis for axis in range(1, len(x)) if axis != channel]), True)
    return (x, kept, kept)


def channels(call: Call, x: Shape) -> Shape:
    """The dim of axis 1, alone."""
    if len(x) < 2:
        call.fail(f"an input of shape {shown(x)} must have a channel axis 1")
    return (x[1],)


def _reduce_moments(call: Call) -> Shapes:
    return (channels(call, call.shape("x")),) * 2


def _training_update(call: Call) -> Shapes:
    x = call.shape("x")
    per_channel = channels(call, x)
    return (x, *(per_channel,) * 4)


def _update_grad(call: Call) -> Shapes:
    return (channels(call, call.shape("grads")),) * 2


def _cross_entropy(call: Call) -> Shapes:
    features = call.shape("features")
    return (features[:-1], features)


def _likelihood(scores: str, labels: str) -> Rule:
    def rule(call: Call) -> Shapes:
        x, target = call.shape(scores), call.shape(labels)
        equal_parts(call, (x[0], *x[2:]), target, f"{scores} without classes, and {labels}")
        return (target if call.text_attr("reduction") == "none" else (), x)

    return rule


RULES: dict[str, Rule] = {
    "GLU": _halved,
    "SwiGlu": _halved,
    "SoftmaxV2": _over_axes("x", "axes"),
    "LogSoftmaxV2": _over_axes("x", "axes"),
    "HardMax": _over_axes("x", "axis"),
    "SoftmaxGrad": _equal_pair("softmax", "grad_softmax"),
    "SoftmaxGradExt": same_as("grad"),
    "ConfusionSoftmaxGrad": _equal_pair("grad", "x"),
    "LogSoftmaxGrad": _equal_pair("grad", "x"),
    "BNTrainingReduce": _reduce_moments,
    "BNTrainingUpdate": _training_update,
    "BNTrainingUpdateV3": _training_update,
    "BNTrainingUpdateGrad": _update_grad,
    "BNTrainingReduceGrad": same_as("grads"),
    "LayerNorm": _layer_norm,
    "LayerNormV3": _layer_norm,
    "LayerNormV4": _layer_norm_v4,
    "AddLayerNorm": _add_layer_norm,
    "LayerNormXBackpropV2": same_as("x"),
    "LayerNormXBackpropV3": same_as("x"),
    "LayerNormBetaGammaBackpropV2": _gamma_beta,
    "RmsNorm": _rms_norm,
    "AddRmsNorm": _add_rms_norm,
    "GroupNorm": _group_norm,
    "InstanceNorm": _instance_norm,
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _cross_entropy,
    "BNInferenceD": same_as("x"),
    "BNInfer": same_as("x"),
    "RotaryPositionEmbedding": same_as("x"),
    "RotaryEmbedding": same_as("X"),
    "LpNormalization": _over_axes("input", "axis"),
    "MeanVarianceNormalization": _over_axes("X", "axes"),
    "LRN": same_as("X"),
    "NegativeLogLikelihoodLoss": _likelihood("input", "target"),
    "SoftmaxCrossEntropyLoss": _likelihood("scores", "labels"),
    "BatchNormalization": like("X", "input_mean", "input_var"),
}
