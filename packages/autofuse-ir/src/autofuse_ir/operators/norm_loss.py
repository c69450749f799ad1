"""Normalisations and losses."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.NORM_LOSS
_LAYER_NORM_ATTRS = "begin_norm_axis: int = 0, begin_params_axis: int = 0"

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE, Flag.REDUCTION),
        "BNTrainingReduce[T: float](x: T) -> sum: float32, square_sum: float32  # per channel (axis 1)",
        "BNTrainingUpdate[T: float](x: T, sum: float32, square_sum: float32, scale: float32, offset: float32,"
        " mean: float32, variance: float32; factor: float, epsilon: float)"
        " -> y: T, mean: float32, variance: float32, batch_mean: float32, batch_variance: float32",
        "BNTrainingUpdateV3[T: float](x: T, sum: float32, square_sum: float32, scale: float32, offset: float32;"
        " epsilon: float)"
        " -> y: T, batch_mean: float32, batch_variance: float32, reserve_1: float32, reserve_2: float32",
        "BNTrainingUpdateGrad[T: float](grads: T, x: T, batch_mean: float32, batch_variance: float32;"
        " epsilon: float = 0.0001) -> diff_scale: float32, diff_offset: float32",
        "BNTrainingReduceGrad[T: float](grads: T, x: T, diff_scale: float32, diff_offset: float32, scale: float32,"
        " batch_mean: float32, batch_variance: float32; epsilon: float = 0.0001) -> y: T",
        f"LayerNorm[T: float](x: T, gamma: T, beta: T; {_LAYER_NORM_ATTRS}, epsilon: float = 1e-7)"
        " -> y: T, mean: T, variance: T",
        f"LayerNormV3[T: float](x: T, gamma: T, beta: T; {_LAYER_NORM_ATTRS}, epsilon: float = 1e-5)"
        " -> y: T, mean: T, rstd: T",
        "LayerNormV4[T: float](x: T, normalized_shape: index, gamma?: T, beta?: T; epsilon: float = 1e-5)"
        " -> y: T, mean: T, rstd: T",
        "AddLayerNorm[T: float](x1: T, x2: T, gamma: T, beta: T, bias?: T; epsilon: float = 1e-5,"
        " additional_output: bool = False) -> y: T, mean: float32, rstd: float32, x: T",
        "LayerNormXBackpropV2[T: float](dy: T, x: T, variance: T, mean: T, gamma: T)"
        " -> pd_x: T, res_for_gamma: float32",
        "LayerNormXBackpropV3[T: float](dy: T, x: T, rstd: T, mean: T, gamma: T) -> pd_x: T, res_for_gamma: float32",
        "LayerNormBetaGammaBackpropV2[T: float](dy: T, res_for_gamma: float32; shape_gamma: int[])"
        " -> pd_gamma: T, pd_beta: T  # sums over the axes where shape_gamma is -1 (or broadcasts)",
        "RmsNorm[T: float](x: T, gamma: T; epsilon: float = 1e-6) -> y: T, rstd: float32"
        "  # x / sqrt(mean(x * x) + epsilon) * gamma over the axes of gamma",
        "AddRmsNorm[T: float](x1: T, x2: T, gamma: T; epsilon: float = 1e-6) -> y: T, rstd: float32, x: T",
        "GroupNorm[T: float](x: T, gamma: T, beta: T; num_groups: int, data_format: str = 'NCHW', eps: float = 1e-5,"
        " is_training: bool = True) -> y: T, mean: T, rstd: T  # gamma and beta per channel, or per group",
        "InstanceNorm[T: float](x: T, gamma: T, beta: T; data_format: str = 'NCHW', epsilon: float = 1e-6)"
        " -> y: T, mean: T, variance: T",
        "SoftmaxCrossEntropyWithLogits[T: float](features: T, labels: T) -> loss: T, backprop: T"
        "  # labels are distributions over the last axis",
        "SparseSoftmaxCrossEntropyWithLogits[T: float](features: T, labels: index) -> loss: T, backprop: T"
        "  # labels are class numbers",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE),
        "BNInferenceD[T: float](x: T, mean: T, variance: T, scale?: T, b?: T; momentum: float = 0.9,"
        " epsilon: float = 1e-5, use_global_stats: bool = True, mode: int = 1) -> y: T"
        "  # (x + mean) * variance * scale + b along axis 1: mean is negated, variance is 1 / std",
        "BNInfer[T: float, U: float](x: T, scale: U, offset: U, mean: U, variance: U; epsilon: float) -> y: T"
        "  # scale * (x - mean) / sqrt(variance + epsilon) + offset along axis 1",
        "RotaryPositionEmbedding[T: float](x: T, cos: T, sin: T; mode: int = 0) -> y: T"
        "  # x * cos + rotated(x) * sin; mode 0 rotates the halves of the last axis, 1 its even and odd elements",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE, Flag.EXTENSION),
        "RotaryEmbedding[T: float](X: T, cos_cache: T, sin_cache: T, position_ids?: int64; interleaved: int = 0,"
        " num_heads: int = 0, rotary_embedding_dim: int = 0) -> Y: T",
        "LpNormalization[T: float](input: T; axis: int = -1, p: int = 2) -> output: T  # 0 where the norm is 0",
        "MeanVarianceNormalization[T: float](X: T; axes: int[] = [0, 2, 3]) -> Y: T"
        "  # (X - mean) / (sqrt(mean(X**2) - mean**2) + 1e-9)",
        "LRN[T: float](X: T; size: int, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0) -> Y: T",
        "NegativeLogLikelihoodLoss[T: float](input: T, target: index, weight?: T; ignore_index?: int,"
        " reduction: str = 'mean') -> loss: T",
        "SoftmaxCrossEntropyLoss[T: float](scores: T, labels: index, weights?: T; ignore_index?: int,"
        " reduction: str = 'mean') -> output: T, log_prob?: T",
    ),
)
