"""What element-wise APIs compute, as NumPy.

A meaning maps working arrays (see `elements`) to the acceptable results: `target` is the destination's element type,
`dst` what it held before, `s` the scalar. Floating-point results are exact and rounded by the caller.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from autofuse_ascend_sim.conformance.elements import Element

Numbers = Any  # float64 arrays for floating-point elements, arrays of the element's own type for integers
Apply = Callable[["Call"], tuple[Numbers, ...]]


@frozen(eq=False)
class Call:
    """The operands of one call, lane by lane."""

    target: Element
    source: Element
    dst: Numbers
    a: Numbers
    b: Numbers
    scalar: Numbers


@frozen(eq=False)
class Meaning:
    """An API's arithmetic, the range its samples are drawn from, and how far a result may be off, per element type."""

    apply: Apply
    ulp: int = 0
    low: float = -8.0
    high: float = 8.0
    has_specials: bool = True
    scalar: float = 3.0
    prefix: str = ""
    divides: bool = False
    shifts: bool = False
    tags: frozenset[str] = field(default=frozenset())


def relu(x: Numbers) -> Numbers:
    """max(x, 0); NaN stays NaN."""
    return np.maximum(x, x.dtype.type(0))


def fused(call: Call, product: Numbers, addend: Numbers) -> tuple[Numbers, ...]:
    """product + addend, rounded once, or with the product rounded to the element type or to float first."""
    if not call.target.is_floating:
        return (product + addend,)
    middle = call.target.decode(call.target.encode(product))
    single = product.astype(np.float32).astype(np.float64)
    return (product + addend, middle + addend, (single + addend).astype(np.float32).astype(np.float64))


def saturated(call: Call, x: Numbers) -> Numbers:
    """x in the destination's type: rounded to even and clipped for integers."""
    if call.target.is_floating:
        return x.astype(np.float64)
    limits = np.iinfo(call.target.storage)
    return np.clip(np.rint(x.astype(np.float64)), limits.min, limits.max).astype(call.target.storage)


def stored(call: Call, x: Numbers) -> Numbers:
    """x rounded to the source's element type, as the step between two operations."""
    return call.source.decode(call.source.encode(x))


def quotient(call: Call) -> Numbers:
    """a / b; integers truncate towards zero."""
    if call.target.is_floating:
        return call.a / call.b
    signs = np.where((call.a < 0) ^ (call.b < 0), -1, 1).astype(call.a.dtype) if call.a.dtype.kind == "i" else 1
    return (np.abs(call.a) // np.abs(call.b)).astype(call.a.dtype) * signs


def inverted(call: Call) -> Numbers:
    """The bits of a, inverted."""
    if not call.target.is_floating:
        return ~call.a
    bits = ~call.target.encode(call.a).view(f"uint{8 * call.target.size}")
    return call.target.decode(bits.view(call.target.storage))


def shift(call: Call) -> Numbers:
    """The shift amounts, as wide as the values."""
    return (call.b if call.scalar is None else call.scalar).astype(call.a.dtype)


def reciprocal(call: Call) -> Numbers:
    """1 / a; integers truncate towards zero."""
    return 1 / call.a if call.target.is_floating else np.trunc(1 / call.a.astype(np.float64))


def whole_number(mode: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """x rounded to an integer in a rounding mode named by its letter (see cast.toml)."""
    rounded: NDArray[np.float64]
    match mode:
        case "F":
            rounded = np.floor(x)
        case "C":
            rounded = np.ceil(x)
        case "A":
            rounded = np.trunc(x + np.copysign(0.5, x))
            exact_half = np.abs(x - np.trunc(x)) < 0.5
            rounded = np.where(exact_half, np.trunc(x), rounded)
        case "Z":
            rounded = np.trunc(x)
        case _:
            rounded = np.rint(x)
    return rounded


MEANINGS: dict[str, Meaning] = {
    "Add": Meaning(lambda c: (c.a + c.b,)),
    "Sub": Meaning(lambda c: (c.a - c.b,)),
    "Mul": Meaning(lambda c: (c.a * c.b,)),
    "Div": Meaning(lambda c: (quotient(c),), divides=True),
    "Max": Meaning(lambda c: (np.maximum(c.a, c.b),)),
    "Min": Meaning(lambda c: (np.minimum(c.a, c.b),)),
    "And": Meaning(lambda c: (c.a & c.b,)),
    "Or": Meaning(lambda c: (c.a | c.b,)),
    "AddRelu": Meaning(lambda c: (relu(c.a + c.b),)),
    "SubRelu": Meaning(lambda c: (relu(c.a - c.b),)),
    "MulAddDst": Meaning(lambda c: fused(c, c.a * c.b, c.dst)),
    "FusedMulAdd": Meaning(lambda c: fused(c, c.a * c.dst, c.b)),
    "MulAddRelu": Meaning(lambda c: tuple(relu(x) for x in fused(c, c.a * c.dst, c.b))),
    "FusedMulAddRelu": Meaning(lambda c: tuple(relu(x) for x in fused(c, c.a * c.dst, c.b))),
    "AddReluCast": Meaning(
        lambda c: (saturated(c, relu(stored(c, c.a + c.b))), saturated(c, relu(c.a + c.b))),
        has_specials=False, low=-90, high=90,
    ),
    "SubReluCast": Meaning(
        lambda c: (saturated(c, relu(stored(c, c.a - c.b))), saturated(c, relu(c.a - c.b))),
        has_specials=False, low=-90, high=90,
    ),
    "MulCast": Meaning(
        lambda c: (saturated(c, stored(c, c.a * c.b)), saturated(c, c.a * c.b)), has_specials=False, low=-12, high=12
    ),
    "AddDeqRelu": Meaning(
        lambda c: (relu((c.a.astype(np.float64) + c.b) * 0.5),), has_specials=False,
        prefix="SetDeqScale(static_cast<half>(0.5f));", tags=frozenset({"small"}),
    ),
    "ShiftLeft": Meaning(lambda c: (np.left_shift(c.a, shift(c)),), shifts=True),
    "ShiftRight": Meaning(lambda c: (np.right_shift(c.a, shift(c)),), shifts=True),
    "Prelu": Meaning(lambda c: (np.where(c.a >= 0, c.a, c.a * c.b),), has_specials=False),
    "AbsSub": Meaning(lambda c: (np.abs(c.a - c.b),)),
    "FusedAbsSub": Meaning(lambda c: (np.abs(c.a - c.b),)),
    "ExpSub": Meaning(lambda c: (np.exp(c.a - c.b), np.exp(stored(c, c.a - c.b))), ulp=2),
    "FusedExpSub": Meaning(lambda c: (np.exp(c.a - c.b), np.exp(stored(c, c.a - c.b))), ulp=2),
    "Relu": Meaning(lambda c: (relu(c.a),)),
    "Abs": Meaning(lambda c: (np.abs(c.a),)),
    "Exp": Meaning(lambda c: (np.exp(c.a),), ulp=2),
    "Ln": Meaning(lambda c: (np.log(c.a),), ulp=2),
    "Sqrt": Meaning(lambda c: (np.sqrt(c.a),)),
    "Rsqrt": Meaning(lambda c: (1 / np.sqrt(c.a),), ulp=2),
    "Reciprocal": Meaning(lambda c: (reciprocal(c),), ulp=1, divides=True),
    "Not": Meaning(lambda c: (inverted(c),)),
    "Neg": Meaning(lambda c: (-c.a,)),
    "Adds": Meaning(lambda c: (c.a + c.scalar,)),
    "Muls": Meaning(lambda c: (c.a * c.scalar,)),
    "Maxs": Meaning(lambda c: (np.maximum(c.a, c.scalar),)),
    "Mins": Meaning(lambda c: (np.minimum(c.a, c.scalar),)),
    "Subs": Meaning(lambda c: (c.a - c.scalar,)),
    "Divs": Meaning(lambda c: (quotient(c),), divides=True),
    "Ands": Meaning(lambda c: (c.a & c.scalar,)),
    "Ors": Meaning(lambda c: (c.a | c.scalar,)),
    "LeakyRelu": Meaning(lambda c: (np.where(c.a >= 0, c.a, c.a * c.scalar),)),
    "Axpy": Meaning(lambda c: fused(c, c.a * c.scalar, c.dst)),
}  # fmt: skip
