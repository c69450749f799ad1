"""Gradients of activations and element-wise operators."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.GRADIENT

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE, Flag.COMPOSITE),
        "ReluGrad[T: number](gradients: T, features: T) -> backprops: T  # features > 0 ? gradients : 0",
        "LeakyReluGrad[T: float](gradients: T, features: T; negative_slope: float = 0.0) -> backprops: T"
        "  # features > 0 ? gradients : negative_slope * gradients",
        "EluGrad[T: float](grads: T, activations: T) -> y: T"
        "  # grads * (min(activations, 0) + 1); activations is the forward result",
        "SigmoidGrad[T: float](y: T, dy: T; complex_conj: bool = False) -> z: T  # dy * y * (1 - y)",
        "TanhGrad[T: float](y: T, dy: T; complex_conj: bool = False) -> z: T  # dy * (1 - y * y)",
        "RsqrtGrad[T: float](y: T, dy: T) -> z: T  # -dy * y**3 / 2",
        "SqrtGrad[T: float](y: T, dy: T) -> z: T  # dy / (2 * y)",
        "ReciprocalGrad[T: float](y: T, dy: T) -> z: T  # -dy * y * y",
        "AbsGrad[T: float](y: T, dy: T) -> z: T  # dy * sign(y)",
        "GeluGrad[T: float](dy: T, x: T, y: T) -> z: T  # of the tanh form; y is not read",
        "GeluGradV2[T: float](dy: T, x: T; approximate: str = 'none') -> z: T",
        "SiluGrad[T: float](dy: T, x: T) -> dx: T  # dy * s * (1 + x * (1 - s)), s = sigmoid(x)",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE),
        "SoftmaxGrad[T: float](softmax: T, grad_softmax: T; axes: int[] = [-1]) -> grad_x: T"
        "  # (grad_softmax - sum(grad_softmax * softmax)) * softmax",
        "SoftmaxGradExt[T: float](grad: T, x1: T, x2: T; axes: int = 1, keep_dims: bool = True) -> y: T"
        "  # (grad - sum(grad * x1)) * x1 * x2",
        "ConfusionSoftmaxGrad[T: float](grad: T, x: T) -> y: T  # grad - sum(grad * x) over the last axis",
        "LogSoftmaxGrad[T: float](grad: T, x: T; axis: int[] = [-1]) -> y: T"
        "  # grad - exp(x) * sum(grad); x is the forward result",
    ),
)
