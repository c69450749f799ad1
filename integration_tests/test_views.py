"""Results that are views: chains of them, several of one value, of inputs, and together with what they show."""

from collections.abc import Callable
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder

Array = np.ndarray[Any, Any]
Chain = Callable[[GraphBuilder, str], str]


def there_and_back(b: GraphBuilder, value: str) -> str:
    return b.op("Squeeze", b.op("Unsqueeze", value, axes=(2,)), axis=(-1,))


def wider(b: GraphBuilder, value: str) -> str:
    return b.op("Unsqueeze", b.op("Unsqueeze", value, axes=(0,)), axes=(3,))


def flat(b: GraphBuilder, value: str) -> str:
    return b.op("Flatten", b.op("Unsqueeze", value, axes=(1,)), axis=2)


CHAINS: dict[str, tuple[Chain, tuple[int, ...]]] = {
    "there and back": (there_and_back, (4, 3)),
    "wider": (wider, (1, 4, 3, 1)),
    "flat": (flat, (4, 3)),
}


@pytest.mark.parametrize("tier", ["jit", "interpreter"])
@pytest.mark.parametrize("chain", CHAINS)
def test_views_of_views_are_results(chain: str, tier: str) -> None:
    make, shape = CHAINS[chain]
    b = GraphBuilder("views")
    x = b.input("x", ("n", 3), dt.float32)
    positive = b.op("Relu", x)
    outputs = {
        "view": make(b, positive),
        "read elsewhere": b.op("Neg", positive),
        "again": make(b, positive),
        "shown": positive,
        "of the input": make(b, x),
    }
    fn = autofuse.compile(b.build(outputs), tier=tier)
    given = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    wanted = np.maximum(given, 0)
    view, negated, again, shown, of_input = fn(given)
    for got, want in (
        (view, wanted.reshape(shape)),
        (negated, -wanted),
        (again, wanted.reshape(shape)),
        (shown, wanted),
        (of_input, given.reshape(shape)),
    ):
        np.testing.assert_array_equal(np.asarray(got), want)
        assert np.asarray(got).shape == want.shape
    view[...] = 7  # every result is memory of its own
    np.testing.assert_array_equal(np.asarray(again), wanted.reshape(shape))
    np.testing.assert_array_equal(given, np.arange(12, dtype=np.float32).reshape(4, 3) - 5)


@pytest.mark.parametrize("chain", CHAINS)
def test_a_view_of_a_view_alone_is_written_in_place(chain: str) -> None:
    make, shape = CHAINS[chain]
    b = GraphBuilder("views")
    y = make(b, b.op("Exp", b.input("x", ("n", 3), dt.float64)))
    fn = autofuse.compile(b.build({"y": y, "z": b.op("Neg", y)}), tier="jit")
    out = np.zeros(shape)
    given = np.linspace(-1, 1, 12).reshape(4, 3)
    got, negated = fn(given, out=(out, None))
    assert got is out
    np.testing.assert_allclose(out, np.exp(given).reshape(shape), rtol=1e-14)
    np.testing.assert_array_equal(np.asarray(negated), -out)
