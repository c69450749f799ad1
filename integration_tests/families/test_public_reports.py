"""Faults that users of other compilers reported, as small inputs: arithmetic.

Every graph runs unfused, and fused under strict and auto numerics by the interpreter and by the compiler, compiled
once for all sizes. The wanted values are NumPy's, or written out. Each test cites where the fault was reported.
"""

from collections.abc import Mapping

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_reference.arrays import to_tensor_data
from autofuse_testkit.every_path import every_path
from autofuse_testkit.networks import Network

F = np.float32
BF16 = ml_dtypes.bfloat16
INT16, FLOAT32, BFLOAT16 = 6, 0, 27
"""Numbers of dtypes in `Cast`."""

Outputs = Mapping[str, str]


def test_bytes_wrap_before_they_are_widened() -> None:
    """https://github.com/pytorch/pytorch/issues/105264 (256 after a fused cast)."""

    def twice(b: Network, *shape: str) -> Outputs:
        x = b.input("x", shape, dt.uint8)
        return {"y": b.op("Cast", b.op("Add", x, x), dst_type=INT16)}

    one = every_path(twice)
    one.check((np.array(128, np.uint8),), np.array(0, np.int16))
    many = every_path(lambda b: twice(b, "n"))
    for count in (37, 1, 0, 256):
        x = np.full(count, 128, np.uint8)
        many.check((x,), (x + x).astype(np.int16))
    assert one.kernels == many.kernels == (1, 1)


@pytest.mark.parametrize("form", ["tensor", "scalar", "constant"])
def test_bfloat16_floor_division_is_of_the_exact_quotient(form: str) -> None:
    """https://github.com/pytorch/pytorch/issues/193754 (187 for length 2, 186 for length 1)."""

    def divided(b: Network) -> Outputs:
        a = b.input("a", ("n",), dt.bfloat16)
        if form == "constant":
            return {"y": b.op("FloorDiv", a, b.number(3, dt.bfloat16))}
        return {"y": b.op("FloorDiv", a, b.input("b", ("n",) if form == "tensor" else (), dt.bfloat16))}

    every = every_path(divided)
    for count in (1, 2, 8, 17, 0):
        a, three = np.full(count, 560, BF16), np.full(count if form == "tensor" else (), 3, BF16)
        wanted = np.full(count, 560 // 3, BF16)
        every.check((a,) if form == "constant" else (a, three), wanted)
    assert every.kernels == (1, 1)


@pytest.mark.parametrize("shape", [(), ("s0",)], ids=["scalars", "vectors"])
def test_products_are_rounded_before_they_are_added(shape: tuple[str, ...]) -> None:
    """https://github.com/openxla/xla/issues/41579 (a * x + b * x = 4.99e21)."""

    def products(b: Network) -> Outputs:
        a, c, x = (b.input(name, shape, dt.float32) for name in "acx")
        return {"y": b.op("Add", b.op("Mul", a, x), b.op("Mul", c, x))}

    every = every_path(products)
    for count in (1, 16, 19) if shape else (None,):
        a, c, x = (np.full(() if count is None else count, value, F) for value in (1e20, -1e20, 1e10))
        assert not np.any(a * x + c * x)
        every.check((a, c, x), a * x + c * x)


def test_a_mask_term_of_zero_leaves_the_scores() -> None:
    """https://github.com/jax-ml/jax/issues/6566 (the mask term wipes the scores)."""

    def masked(b: Network) -> Outputs:
        scores, mask = b.input("scores", ("n",), dt.float32), b.input("mask", (), dt.float32)
        term = b.op("Mul", b.op("Mul", b.number(-1), b.number(1e30)), b.op("Sub", b.number(1), mask))
        s = b.op("Add", scores, term)
        return {"y": b.op("Sub", s, b.op("ReduceMaxD", s, axes=(0,)))}

    every = every_path(masked)
    for scores in ([0.7, 0.5], [0.7], np.linspace(-3, 3, 77)):
        for mask in (1, 0):
            s = np.array(scores, F) + F(-1) * F(1e30) * (F(1) - F(mask))
            every.check((np.array(scores, F), np.array(mask, F)), s - s.max())
    assert every.kernels == (1, 1)


@pytest.mark.parametrize("count", [1, 33])
def test_zero_by_zero_is_no_number(count: int) -> None:
    """https://github.com/jax-ml/jax/issues/276 (isnan is false after 0 / 0)."""

    def quotient(b: Network) -> Outputs:
        zeros, x = b.input("zeros", (count,), dt.float32), b.input("x", (count,), dt.float32)
        ratio = b.op("RealDiv", zeros, zeros)
        constant = b.constant(to_tensor_data(np.zeros(count, F)))
        hit, folded = b.op("IsNan", ratio), b.op("IsNan", b.op("RealDiv", constant, constant))
        return {"hit": hit, "folded": folded, "y": b.op("SelectV2", hit, b.number(0), x)}

    every = every_path(quotient)
    hit = np.ones(count, np.bool_)
    every.check((np.zeros(count, F), np.full(count, 5, F)), hit, hit, np.zeros(count, F))


def test_minus_zero_plus_zero_is_zero() -> None:
    """https://github.com/pytorch/pytorch/issues/189799 ("x + 0 is x" loses a sign: the reciprocal is -inf)."""

    def sums(b: Network) -> Outputs:
        x, zeros = b.input("x", ("n",), dt.float32), b.input("zeros", ("n",), dt.float32)
        up = b.op("Ceil", x)
        others = {"given": zeros, "constant": b.number(0), "made": b.op("ZerosLike", x)}
        found = {name: b.op("Reciprocal", b.op("Add", up, other)) for name, other in others.items()}
        return found | {"swapped": b.op("Reciprocal", b.op("Add", b.number(0), up))}

    every = every_path(sums)
    for values in ([-0.5, -0.1, -0.9], [-0.25] * 40, []):
        x = np.array(values, F)
        with np.errstate(divide="ignore"):
            wanted = 1 / (np.ceil(x) + F(0))
        assert (wanted == np.inf).all()
        every.check((x, np.zeros_like(x)), *[wanted] * 4)


def test_integer_powers_wrap() -> None:
    """https://github.com/pydata/numexpr/issues/454 (they saturate)."""
    every = every_path(lambda b: {"y": b.op("Pow", *[b.input("a", ("n",), dt.int64)] * 2)})
    for values in ([10000, 20000], [0, 1, 2, 3, 15, 16, 17, 39, 41], [7] * 65, []):
        a = np.array(values, np.int64)
        every.check((a,), a**a)
    every.check((np.array([10000, 20000]),), np.array([0, 0]))


def test_a_comparison_used_as_a_factor_keeps_every_lane() -> None:
    """https://github.com/pytorch/pytorch/issues/100466 (NaN in the lanes of a full vector)."""

    def kept(b: Network) -> Outputs:
        x = b.input("x", ("n", "m"), dt.float32)
        return {"y": b.op("Mul", x, b.op("Cast", b.op("GreaterEqual", x, b.number(0)), dst_type=FLOAT32))}

    every = every_path(kept)
    for shape in ((3, 3), (1, 1), (5, 13), (0, 3)):
        x = np.random.default_rng(0).random(shape, F)
        every.check((x,), x)


@pytest.mark.parametrize("root", ["bfloat16", "float32"])
def test_values_equal_their_own_maximum(root: str) -> None:
    """https://github.com/pytorch/pytorch/issues/195214 (none does where one side was rounded: 1 / 0 follows)."""

    def ties(b: Network) -> Outputs:
        x = b.input("x", ("n", "m"), dt.bfloat16)
        if root == "bfloat16":
            q = b.op("RealDiv", x, b.number(48**0.5, dt.bfloat16))
        else:
            q = b.op("Cast", b.op("RealDiv", b.op("Cast", x, dst_type=FLOAT32), b.number(48**0.5)), dst_type=BFLOAT16)
        hit = b.op("Cast", b.op("Equal", q, b.op("ReduceMaxD", q, axes=(1,), keep_dims=True)), dst_type=FLOAT32)
        count = b.op("ReduceSumD", hit, axes=(1,))
        return {"count": count, "share": b.op("Reciprocal", count)}

    every = every_path(ties)
    x = np.linspace(-3, 3, 64).astype(F).astype(BF16).reshape(4, 16)
    every.check((x,), np.ones(4, F), np.ones(4, F))
    for shape in ((7, 33), (1, 1), (0, 5)):
        x = np.random.default_rng(1).standard_normal(shape).astype(BF16)
        q = (x.astype(F) / (F(BF16(48**0.5)) if root == "bfloat16" else F(48**0.5))).astype(BF16).astype(F)
        count = (q == q.max(1, keepdims=True)).sum(1).astype(F)
        every.check((x,), count, 1 / count)
    assert every.kernels == (1, 1)


@pytest.mark.parametrize("square", ["Pow", "Square", "Mul"])
def test_equal_squares_differ_by_nothing(square: str) -> None:
    """https://github.com/jax-ml/jax/issues/26147 (x1 ** 2 - x2 ** 2, where one square is not rounded)."""

    def difference(b: Network) -> Outputs:
        both = [b.input(name, ("n",), dt.float32) for name in ("x1", "x2")]
        second = {"Pow": lambda x: (x, b.number(2)), "Square": lambda x: (x,), "Mul": lambda x: (x, x)}[square]
        return {"y": b.op("Sub", *(b.op(square, *second(x)) for x in both))}

    every = every_path(difference)
    for count in (1, 4, 37):
        x = np.full(count, 0.1, F)
        every.check((x, x.copy()), np.zeros(count, F))
