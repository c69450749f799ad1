"""Float functions stay within the ULP that are stated for Ascend targets (`autofuse_reference.target_math`).

What is measured is the emulator, whose functions have errors of their own; no chip was.
"""

import numpy as np
import pytest
from ascend_kernels import Kernel, build, compile_all
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS, AscKind, AscResult
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.target_math import target_math

COUNT = 20_000
ROUNDINGS = ("Floor", "Ceil", "Trunc", "Round", "Abs", "Neg", "Sign")
FUNCTIONS = tuple(
    op
    for op in ASC_OPS
    if op.kind is AscKind.ELEMENTWISE
    and op.result is AscResult.SAME
    and op.name not in ROUNDINGS
    and (op.dtypes == "float" or op.name in ("Pow", "Mod", "Fmod", "FloorDiv"))
)


def wide(rng, low=-40, high=40):
    return (rng.normal(size=COUNT) * 2.0 ** rng.uniform(low, high, COUNT)).astype(np.float32)


def operands(op, rng):
    """Values of all magnitudes, more of them where the function is hard."""
    middle = rng.uniform(-10, 10, COUNT).astype(np.float32)
    tiny = wide(rng, -20, 1)
    match op:
        case "Asin" | "Acos" | "Atanh":
            return [
                np.where(rng.random(COUNT) < 0.5, rng.uniform(-1, 1, COUNT), np.clip(tiny, -1, 1)).astype(np.float32)
            ]
        case "Exp" | "Expm1" | "Exp2" | "Sinh" | "Cosh":
            return [np.where(rng.random(COUNT) < 0.5, rng.uniform(-87, 87, COUNT), tiny).astype(np.float32)]
        case "Acosh":
            return [(1 + 2.0 ** rng.uniform(-20, 60, COUNT)).astype(np.float32)]
        case "Sin" | "Cos" | "Tan" | "Asinh":
            return [np.clip(wide(rng), -6e4, 6e4)]
        case "Ln" | "Log2" | "Log10" | "Sqrt" | "Rsqrt":
            return [np.abs(np.where(rng.random(COUNT) < 0.5, wide(rng), 1 + tiny / 8))]
        case "Log1p":
            return [np.maximum(np.where(rng.random(COUNT) < 0.5, wide(rng), tiny), np.float32(-0.999999))]
        case "Pow":
            return [np.abs(middle), rng.uniform(-10, 10, COUNT).astype(np.float32)]
        case "Mod" | "Fmod" | "FloorDiv":
            return [middle * np.float32(100), rng.uniform(-30, 30, COUNT).astype(np.float32)]
        case "Atan2" | "Div":
            return [wide(rng), wide(rng)]
    return [np.where(rng.random(COUNT) < 0.5, middle, wide(rng)).astype(np.float32)]


def kernels(dtype):
    made = []
    for op in FUNCTIONS:
        b = Kernel(f"u_{op.name.lower()}", {"z0": "n"})
        b.write(b.op(op.name, *(b.read(f"x{i}", dtype, "z0") for i in range(op.arity))), "y")
        made.append(b)
    return made


CASES = [(dtype, target) for target in ("ascend-a2", "ascend-350") for dtype in (dt.float32, dt.float16)]


@pytest.mark.parametrize(
    ("dtype", "target"),
    [pytest.param(*case, marks=[] if case == CASES[0] else pytest.mark.thorough) for case in CASES],
    ids=lambda value: getattr(value, "name", value),
)
def test_functions_are_as_exact_as_stated(dtype, target, tmp_path):
    emulated = compile_all(build(kernels(dtype), target), tmp_path, target)
    rng = np.random.default_rng(5)
    kind = numpy_dtype(dtype)
    for op in FUNCTIONS:
        with np.errstate(all="ignore"):
            name, arrays = f"u_{op.name.lower()}", [a.astype(kind) for a in operands(op.name, rng)]
        (found,) = emulated.run(name, arrays, {"n": COUNT})
        with np.errstate(all="ignore"):
            exact = [a.astype(np.float64) for a in arrays]
            (wanted,) = interpret(emulated.kernels[name].graph, exact, {"n": COUNT}, precision="float64")
            rounded = wanted.astype(kind)
        assert np.array_equal(np.isnan(found), np.isnan(rounded)), op.name
        normal = np.isfinite(rounded) & np.isfinite(found) & (np.abs(rounded) > np.finfo(kind).tiny)
        distance = np.abs(found[normal].astype(np.float64) - wanted[normal])
        largest = float(np.max(distance / np.spacing(np.abs(rounded[normal])).astype(np.float64), initial=0.0))
        print(f"{target} {dtype.name} {op.name}: {largest:.4f} ULP")
        assert largest <= target_math(target).max_ulp(op.name, dtype) + 1e-3, f"{op.name}: {largest} ULP"
