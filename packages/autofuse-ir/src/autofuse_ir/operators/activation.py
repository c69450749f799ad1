"""Activations."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.ACTIVATION

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE),
        "Relu[T: number](x: T) -> y: T  # max(x, 0); NaN stays",
        "Relu6[T: number](x: T) -> y: T  # min(max(x, 0), 6)",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE, Flag.COMPOSITE),
        "LeakyRelu[T: float](x: T; negative_slope: float = 0.0) -> y: T  # x >= 0 ? x : negative_slope * x",
        "PRelu[T: number](x: T, weight: T) -> y: T  # x < 0 ? weight * x : x; weight broadcasts to x",
        "Elu[T: float](x: T; alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> y: T"
        "  # scale * (x > 0 ? x : alpha * expm1(input_scale * x))",
        "CeluV2[T: float](x: T; alpha: float = 1.0) -> y: T  # max(x, 0) + min(alpha * expm1(x / alpha), 0)",
        "Selu[T: float](x: T) -> y: T  # Elu with the constants of self-normalising networks",
        "Sigmoid[T: float](x: T) -> y: T  # 1 / (1 + exp(-x))",
        "LogSigmoid[T: float](x: T) -> y: T  # -ln(1 + exp(-x))",
        "HardSigmoid[T: float](x: T; alpha: float = 0.16666666, beta: float = 0.5) -> y: T"
        "  # min(max(alpha * x + beta, 0), 1)",
        "HardSwish[T: float](x: T) -> y: T  # x * min(max(x / 6 + 1/2, 0), 1)",
        "HardShrink[T: float](x: T; lambd: float = 0.5) -> y: T  # 0 where abs(x) <= lambd, else x",
        "SoftShrink[T: float](x: T; lambd: float = 0.5) -> y: T  # x moved towards 0 by lambd",
        "Shrink[T: number](x: T; lambd: float = 0.5, bias: float = 0.0) -> y: T"
        "  # x < -lambd ? x + bias : x > lambd ? x - bias : 0",
        "ThresholdedRelu[T: float](x: T; alpha: float = 1.0) -> y: T  # x > alpha ? x : 0",
        "ThresholdV2[T: number](x: T, threshold: T, value: T) -> y: T  # x > threshold ? x : value",
        "Gelu[T: float](x: T) -> y: T  # the tanh form; see GeluV2",
        "GeluV2[T: float](x: T; approximate: str = 'none') -> y: T"
        "  # x * Phi(x): by erf for 'none', by tanh for 'tanh'",
        "Swish[T: float](x: T; scale: float = 1.0) -> y: T  # x * sigmoid(scale * x); SiLU for scale 1",
        "Mish[T: float](x: T) -> y: T  # x * tanh(ln(1 + exp(x)))",
        "Softplus[T: float](x: T) -> y: T  # ln(1 + exp(x))",
        "Softsign[T: float](x: T) -> y: T  # x / (1 + abs(x))",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE),
        "GLU[T: float](x: T; dim: int = -1) -> y: T  # first half along dim times the sigmoid of the second",
        "SwiGlu[T: float](x: T; dim: int = -1) -> y: T  # SiLU of the first half along dim times the second",
        "SoftmaxV2[T: float](x: T; axes: int[] = [-1], half_to_float: bool = False) -> y: float32 if half_to_float | T"
        "  # exp(x - max) / sum over axes",
        "LogSoftmaxV2[T: float](x: T; axes: int[] = [-1]) -> y: T  # x - max - ln(sum(exp(x - max))) over axes",
        "HardMax[T: number](x: T; axis: int = -1) -> y: T  # 1 at the first maximum along axis, 0 elsewhere",
    ),
)
