"""Random tensors: reproducible for a seed other than 0, but no two implementations draw the same numbers."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.RANDOM
_SEEDS = "seed: int = 0, seed2: int = 0"

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.RANDOM),
        f"RandomUniform(shape: index; dtype: dtype, {_SEEDS}) -> y: dtype(dtype)  # uniform in [0, 1)",
        f"RandomUniformV2(shape: index, offset: int64; dtype: int, {_SEEDS}) -> y: ascend(dtype), offset: int64",
        f"RandomUniformInt[T: index](shape: index, min: T, max: T; {_SEEDS}) -> y: T  # uniform in [min, max)",
        f"RandomStandardNormal(shape: index; dtype: dtype, {_SEEDS}) -> y: dtype(dtype)",
        f"TruncatedNormal(shape: index; {_SEEDS}, dtype: dtype = float32) -> y: dtype(dtype)"
        "  # standard normal within 2 deviations",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.RANDOM, Flag.EXTENSION),
        "Bernoulli[T: float](input: T; dtype?: int, seed?: float) -> output: onnx(dtype) | T",
        "Multinomial[T: float](input: T; dtype: int = 6, sample_size: int = 1, seed?: float) -> output: onnx(dtype)",
    ),
)
