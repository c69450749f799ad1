"""Cases of the high-level functions of one and two tensors: all their overloads, every element type."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from autofuse_ascend_sim.conformance.case import Case, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, count_steps
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions

Numbers = Any
TMP_BYTES = 16384

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


@frozen(eq=False)
class Formula:
    """NumPy for a function of one tensor: the range of its samples and whether they include special values."""

    of: Callable[[Numbers], Numbers]
    low: float = -8.0
    high: float = 8.0
    has_specials: bool = True


def lgamma(x: float) -> float:
    """log |gamma(x)|; infinite at the poles."""
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def digamma(x: float) -> float:
    """The derivative of log gamma, from its series by recurrence, independent of the headers' constants."""
    if math.isnan(x) or x == -math.inf or (x <= 0 and x == math.floor(x)):
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return digamma(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 30:
        total -= 1 / x
        x += 1
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def gelu(x: Numbers) -> Numbers:
    """The tanh form, x (1 + tanh(u)) / 2, written as x / (1 + exp(-2 u)) because 1 + tanh(u) cancels."""
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return np.where(x == -np.inf, -0.0, x / (1 + np.exp(-2 * u)))


def gelu_quadratic(x: Numbers) -> Numbers:
    """The form with the quadratic approximation of erf."""
    z = np.minimum(np.abs(x) * math.sqrt(0.5), 1.769) - 1.769
    return np.where(x == -np.inf, -0.0, x * (np.copysign(-0.1444 * z * z + 0.5, x) + 0.5))


def swish(x: Numbers, beta: float) -> Numbers:
    """x sigmoid(beta x)."""
    return np.where(x == -np.inf, -0.0, x / (1 + np.exp(-beta * x)))


def frac(x: Numbers) -> Numbers:
    """x - trunc(x)."""
    return np.where(np.isinf(x), np.copysign(0.0, x), x - np.trunc(x))


UNARY: dict[str, Formula] = {
    "Acos": Formula(np.arccos, -1, 1),
    "Asin": Formula(np.arcsin, -1, 1),
    "Acosh": Formula(np.arccosh, 1, 60000),
    "Asinh": Formula(np.arcsinh, -60000, 60000),
    "Atan": Formula(np.arctan, -100, 100),
    "Atanh": Formula(np.arctanh, -0.99, 0.99),
    "Sin": Formula(np.sin, -1000, 1000),
    "Cos": Formula(np.cos, -1000, 1000),
    "Tan": Formula(np.tan, -1000, 1000),
    "Sinh": Formula(np.sinh),
    "Cosh": Formula(np.cosh),
    "Tanh": Formula(np.tanh),
    "Erf": Formula(erf, -4, 4),
    "Erfc": Formula(erfc, -4, 4),
    "Log2": Formula(np.log2, 0, 100),
    "Log": Formula(np.log, 0, 100),
    "Log10": Formula(np.log10, 0, 100),
    "Trunc": Formula(np.trunc, -1000, 1000),
    "Frac": Formula(frac, -1000, 1000),
    "Sign": Formula(np.sign),
    "Floor": Formula(np.floor, -1000, 1000),
    "Ceil": Formula(np.ceil, -1000, 1000),
    "Round": Formula(np.rint, -1000, 1000),
    "Lgamma": Formula(np.vectorize(lgamma, otypes=[np.float64]), -10, 50),
    "Digamma": Formula(np.vectorize(digamma, otypes=[np.float64]), -10, 50),
    "Sigmoid": Formula(lambda x: 1 / (1 + np.exp(-x))),
    "Exp": Formula(np.exp),
    "Silu": Formula(lambda x: swish(x, 1)),
    "Swish": Formula(lambda x: swish(x, 1.5)),
    "Gelu": Formula(gelu),
    "FasterGelu": Formula(lambda x: swish(x, 1.702)),
    "FasterGeluV2": Formula(gelu_quadratic),
    "ClampMax": Formula(lambda x: np.where(x > 1.5, 1.5, x)),
    "ClampMin": Formula(lambda x: np.where(x < 1.5, 1.5, x)),
    "Rint": Formula(np.rint, -1000, 1000),
}

BINARY: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "Fmod": np.fmod,
    "Xor": lambda a, b: a ^ b,
    "ReGlu": lambda a, b: a * np.maximum(b, 0),
    "SwiGLU": lambda a, b: a * swish(b, 1.5),
    "Hypot": np.hypot,
    "BitwiseAnd": lambda a, b: a & b,
    "BitwiseOr": lambda a, b: a | b,
    "BitwiseXor": lambda a, b: a ^ b,
}

# What follows the operands, by form; the temporary comes before the count.
TAILS = {
    "u4_tmp_count": "tmp, n", "u4_tmp": "tmp", "u4_count": "n", "u4": "",
    "b4_tmp_count": "tmp, n", "b4_tmp": "tmp", "b4_count": "n", "b4": "",
    "exp_tmp": "tmp, n", "exp": "n", "clamp_tmp": "tmp, scalar, n", "clamp": "scalar, n",
    "gelu_tmp": "tmp, n", "gelu": "n",
}  # fmt: skip
SCALAR_TAILS = {"Swish": "n, scalar", "SwiGLU": "1.5f, tmp, n"}


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every high-level element-wise case of an architecture."""
    for row in functions(architecture):
        if row.topic != "math" or row.level != "high" or row.listed_only:
            continue
        for instance in row.instantiations:
            element = ELEMENTS[instance.arguments[0][1]]
            if row.name in UNARY:
                yield _unary(row, element, counts)
            elif row.name in BINARY:
                yield _binary(row, element, counts)
            elif row.name == "Power":
                yield _power(row, element, counts)


def _call(row: Function, element: Element, operands: str) -> str:
    tail = SCALAR_TAILS.get(row.name) or TAILS.get(row.form, "n")
    prelude = "const uint32_t n = p[0];\nstatic_cast<void>(n);\n"
    if "scalar" in tail:
        prelude += f"const {element.name} scalar = static_cast<{element.name}>(1.5f);\n"
    explicit = f"<{element.name}, 2>" if row.form.startswith("exp") else ""
    return f"{prelude}{row.name}{explicit}({operands}{', ' + tail if tail else ''});"


def _steps(row: Function, counts: Sequence[int]) -> tuple[Step, ...]:
    is_whole = row.form in ("u4_tmp", "u4", "b4_tmp", "b4")
    return ((CAPACITY,),) if is_whole else count_steps(counts)


def _unary(row: Function, element: Element, counts: Sequence[int]) -> Case:
    formula = UNARY[row.name]
    source = Operand("src", element, element.samples(CAPACITY, 1, formula.low, formula.high, formula.has_specials))
    return _case(row, element, (source,), _call(row, element, "dst, src"), _steps(row, counts), formula.of)


def _binary(row: Function, element: Element, counts: Sequence[int]) -> Case:
    inputs = tuple(Operand(f"src{i}", element, element.samples(CAPACITY, i + 1)) for i in range(2))
    return _case(row, element, inputs, _call(row, element, "dst, src0, src1"), _steps(row, counts), BINARY[row.name])


def _power(row: Function, element: Element, counts: Sequence[int]) -> Case:
    if element.is_floating:
        base = element.samples(CAPACITY, 1, 0.1, 4, specials=False)
        exponent = element.samples(CAPACITY, 2, -3, 3, specials=False)
    else:
        base = np.random.default_rng(1).integers(-9, 10, CAPACITY).astype(element.storage)
        exponent = np.random.default_rng(2).integers(0, 12, CAPACITY).astype(element.storage)
    inputs = (Operand("src0", element, base), Operand("src1", element, exponent))
    scalar = element.decode(element.encode(np.array([3.0])))[0]
    literal = f"static_cast<{element.name}>(3)"
    if row.form == "power_tensor_scalar_tmp":
        return _case(row, element, inputs, f"Power(dst, src0, {literal}, tmp, p[0]);", count_steps(counts),
                     lambda a, _: np.power(a, scalar))  # fmt: skip
    if row.form == "power_scalar_tensor_tmp":
        return _case(row, element, inputs, f"Power(dst, {literal}, src1, tmp, p[0]);", count_steps(counts),
                     lambda _, b: np.power(scalar, b))  # fmt: skip
    return _case(row, element, inputs, "Power(dst, src0, src1, tmp, p[0]);", count_steps(counts), np.power)


def _case(
    row: Function,
    element: Element,
    inputs: tuple[Operand, ...],
    code: str,
    steps: tuple[Step, ...],
    of: Callable[..., Numbers],
) -> Case:
    dst = target_of(element)
    with np.errstate(all="ignore"):
        results = element.encode(of(*(element.decode(operand.values) for operand in inputs)))

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[: step[0]] = results[: step[0]]
        return ((after,),)

    return Case(
        api=row.name,
        architecture=row.architecture,
        types=(element.name,),
        form=row.form or "count",
        code=code,
        inputs=inputs,
        outputs=(dst,),
        steps=steps,
        expected=expectation,
        ulp=1 if element.is_floating else 0,
        tmp_bytes=TMP_BYTES,
    )
