"""Networks of memory-bound operators that must become one kernel each, with all dims symbolic, and input for them.

Some are written twice: from composite operators, and from primitives under other names; both must give the same kernel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import Graph

from autofuse_testkit.networks import (
    Array,
    Network,
    layer_norm_of,
    log_softmax_of,
    normal,
    one,
    rms_norm_of,
    softmax_of,
)

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Pattern:
    """A network: `build` makes its graph, `inputs` its arguments for sizes of `symbols` (name -> largest, smallest)."""

    name: str
    build: Callable[[], Graph]
    inputs: Callable[[Sizes, np.random.Generator], dict[str, Array]]
    symbols: Mapping[str, tuple[int, int]]

    def sizes(self, rng: np.random.Generator, tiny: bool) -> dict[str, int]:
        """Return one random point of sizes; `tiny` ones are the least that is allowed, and one more."""
        return {
            name: int(rng.integers(low, low + 2) if tiny else rng.integers(low, high + 1))
            for name, (low, high) in self.symbols.items()
        }


def _rows(b: Network, *others: str) -> tuple[str, ...]:
    x = b.input("x", ("n", "m"), dt.float32)
    return (x, *(b.input(name, ("m",), dt.float32) for name in others))


def _row_inputs(*others: str) -> Callable[[Sizes, np.random.Generator], dict[str, Array]]:
    def inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
        found = {"x": normal(rng, sizes["n"], sizes["m"])}
        return found | {name: normal(rng, sizes["m"]) for name in others}

    return inputs


_NM = {"n": (0, 70), "m": (0, 300)}


def _residual(norm: Callable[[Network, str, str, str], str]) -> Callable[[], Graph]:
    def build(b: Network) -> str:
        x = b.input("x", ("n", "m"), dt.float32)
        residual = b.input("residual", ("n", "m"), dt.float32)
        gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
        return norm(b, b.op("Add", x, residual), gamma, beta)

    return lambda: one("layer_norm_residual", build)


def _residual_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, m = sizes["n"], sizes["m"]
    return {"x": normal(rng, n, m), "residual": normal(rng, n, m), "gamma": normal(rng, m), "beta": normal(rng, m)}


def _group_norm(b: Network) -> str:
    """GroupNorm of two groups over [n, 2 * c, h], from primitives; scale and shift are [2 * c, 1]."""
    scale, shift = b.input("scale", (2, "c"), dt.float32), b.input("shift", (2, "c"), dt.float32)
    x = b.input("x", ("n", "2*c", "h"), dt.float32)
    gamma, beta = (b.op("Reshape", each, b.integers(-1, 1)) for each in (scale, shift))
    grouped = b.op("Reshape", x, b.integers(0, 2, -1))
    mean = b.op("ReduceMeanD", grouped, axes=(-1,), keep_dims=True)
    centred = b.op("Sub", grouped, mean)
    variance = b.op("ReduceMeanD", b.op("Mul", centred, centred), axes=(-1,), keep_dims=True)
    scaled = b.op("RealDiv", centred, b.op("Sqrt", b.op("Add", variance, b.number(1e-5))))
    back = b.op("Reshape", scaled, b.op("Shape", x, dtype=9), allowzero=True)
    return b.op("Add", b.op("Mul", back, gamma), beta)


def _group_norm_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, c, h = sizes["n"], sizes["c"], sizes["h"]
    return {"scale": normal(rng, 2, c), "shift": normal(rng, 2, c), "x": normal(rng, n, 2 * c, h)}


def _whole_group_norm(b: Network) -> str:
    rows = b.input("rows", ("c", "h"), dt.float32)
    x = b.input("x", ("n", "2*c", "h"), dt.float32)
    gamma, beta = b.input("gamma", ("2*c",), dt.float32), b.input("beta", ("2*c",), dt.float32)
    twice = b.op("ConcatV2D", rows, rows, concat_dim=0, N=2)
    return b.op_outputs("GroupNorm", b.op("Add", x, twice), gamma, beta, outputs=3, num_groups=2)[0]


def _whole_group_norm_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, c, h = sizes["n"], sizes["c"], sizes["h"]
    found = {"rows": normal(rng, c, h), "x": normal(rng, n, 2 * c, h)}
    return found | {"gamma": normal(rng, 2 * c), "beta": normal(rng, 2 * c)}


def _masked_softmax(b: Network) -> str:
    x = b.input("x", ("n", "h", "m"), dt.float32)
    mask = b.input("mask", ("n", 1, "m"), dt.bool_)
    return softmax_of(b, b.op("SelectV2", mask, b.op("Mul", x, b.number(0.125)), b.number(-1e9)))


def _masked_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, h, m = sizes["n"], sizes["h"], sizes["m"]
    return {"x": normal(rng, n, h, m), "mask": rng.random((n, 1, m)) < 0.7}


def _embedding(b: Network) -> str:
    words = b.input("words", ("v", "m"), dt.float32)
    ids = b.input("ids", ("n", "s"), dt.int64)
    positions = b.input("positions", ("s", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    found = b.op("GatherV2", words, ids, b.number(0, dt.int64))
    return layer_norm_of(b, b.op("Add", found, positions), gamma, beta)


def _embedding_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, s, m, v = sizes["n"], sizes["s"], sizes["m"], sizes["v"]
    return {
        "words": normal(rng, v, m),
        "ids": rng.integers(0, v, (n, s)),
        "positions": normal(rng, s, m),
        "gamma": normal(rng, m),
        "beta": normal(rng, m),
    }


def _rotary(b: Network) -> str:
    """Rotary embedding of the halves of the last axis of [n, s, 2 * d]."""
    cos, sin = b.input("cos", ("s", "d"), dt.float32), b.input("sin", ("s", "d"), dt.float32)
    x = b.input("x", ("n", "s", "2*d"), dt.float32)
    first, second = b.op_outputs("SplitD", x, outputs=2, split_dim=-1, num_split=2)
    left = b.op("Sub", b.op("Mul", first, cos), b.op("Mul", second, sin))
    right = b.op("Add", b.op("Mul", second, cos), b.op("Mul", first, sin))
    return b.op("ConcatV2D", left, right, concat_dim=-1, N=2)


def _rotary_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, s, d = sizes["n"], sizes["s"], sizes["d"]
    return {"cos": normal(rng, s, d), "sin": normal(rng, s, d), "x": normal(rng, n, s, 2 * d)}


def _swiglu(b: Network) -> str:
    x = b.input("x", ("n", "m"), dt.float32)
    gate, up = b.op_outputs("SplitD", x, outputs=2, split_dim=-1, num_split=2)
    return b.op("Mul", b.op("Mul", gate, b.op("Sigmoid", gate)), up)


def _adam() -> Graph:
    b = Network("adam")
    names = ("var", "m", "v", "grad")
    var, m, v, grad = (b.input(name, ("n", "k"), dt.float32) for name in names)
    beta1, beta2, lr, eps = b.number(0.9), b.number(0.999), b.number(1e-3), b.number(1e-8)
    power1, power2 = b.number(0.9**3), b.number(0.999**3)
    results = b.op_outputs("ApplyAdamD", var, m, v, power1, power2, lr, beta1, beta2, eps, grad, outputs=3)
    return b.build(dict(zip(("new_var", "new_m", "new_v"), results, strict=True)))


def _adam_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, k = sizes["n"], sizes["k"]
    found = {name: normal(rng, n, k) for name in ("var", "m", "v", "grad")}
    return found | {"v": np.abs(found["v"])}


def _int8(b: Network) -> str:
    x = b.input("x", ("n", "m"), dt.int8)
    wide = b.op("DequantizeLinear", x, b.number(0.05), b.number(3, dt.int8))
    return b.op("QuantizeLinear", b.op("Relu", wide), b.number(0.07), b.number(-5, dt.int8))


def _concat(b: Network) -> str:
    pieces = [b.input(name, ("n", width, "k"), dt.float32) for name, width in (("a", "p"), ("b", "q"), ("c", 3))]
    return b.op("ConcatV2D", pieces[0], b.op("Relu", pieces[1]), b.op("Neg", pieces[2]), concat_dim=1, N=3)


def _concat_inputs(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    n, k = sizes["n"], sizes["k"]
    return {name: normal(rng, n, width, k) for name, width in (("a", sizes["p"]), ("b", sizes["q"]), ("c", 3))}


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "softmax",
        lambda: one("softmax", lambda b: b.op("SoftmaxV2", *_rows(b), axes=(-1,))),
        _row_inputs(),
        _NM,
    ),
    Pattern("softmax-primitives", lambda: one("softmax", lambda b: softmax_of(b, *_rows(b))), _row_inputs(), _NM),
    Pattern("layer-norm-residual", _residual(layer_norm_of), _residual_inputs, _NM),
    Pattern(
        "rms-norm-primitives",
        lambda: one("rms_norm", lambda b: rms_norm_of(b, *_rows(b, "gamma"))),
        _row_inputs("gamma"),
        _NM,
    ),
    Pattern(
        "rms-norm",
        lambda: one("rms_norm", lambda b: b.op_outputs("RmsNorm", *_rows(b, "gamma"), outputs=2)[0]),
        _row_inputs("gamma"),
        _NM,
    ),
    Pattern(
        "log-softmax",
        lambda: one("log_softmax", lambda b: b.op("LogSoftmaxV2", *_rows(b), axes=(-1,))),
        _row_inputs(),
        _NM,
    ),
    Pattern(
        "log-softmax-primitives",
        lambda: one("log_softmax", lambda b: log_softmax_of(b, *_rows(b))),
        _row_inputs(),
        _NM,
    ),
    Pattern(
        "group-norm",
        lambda: one("group_norm", _whole_group_norm),
        _whole_group_norm_inputs,
        {"n": (0, 5), "c": (0, 9), "h": (0, 70)},
    ),
    Pattern(
        "group-norm-primitives",
        lambda: one("group_norm", _group_norm),
        _group_norm_inputs,
        # of an empty batch the reshape could not tell the size of a group
        {"n": (1, 5), "c": (0, 9), "h": (0, 70)},
    ),
    Pattern(
        "masked-softmax",
        lambda: one("masked_softmax", _masked_softmax),
        _masked_inputs,
        {"n": (0, 6), "h": (0, 9), "m": (0, 200)},
    ),
    Pattern(
        "embedding-add-layer-norm",
        lambda: one("embedding", _embedding),
        _embedding_inputs,
        {"n": (0, 5), "s": (0, 20), "m": (0, 200), "v": (1, 50)},
    ),
    Pattern(
        "rotary",
        lambda: one("rotary", _rotary),
        _rotary_inputs,
        {"n": (0, 5), "s": (0, 20), "d": (0, 70)},
    ),
    Pattern(
        "swiglu",
        lambda: one("swiglu", _swiglu),
        lambda sizes, rng: {"x": normal(rng, sizes["n"], sizes["m"] // 2 * 2)},
        _NM,
    ),
    Pattern("adam", _adam, _adam_inputs, {"n": (0, 40), "k": (0, 100)}),
    Pattern(
        "int8-dequantise-relu-quantise",
        lambda: one("int8", _int8),
        lambda sizes, rng: {"x": rng.integers(-128, 128, (sizes["n"], sizes["m"])).astype(np.int8)},
        _NM,
    ),
    Pattern(
        "concat-of-three",
        lambda: one("concat", _concat),
        _concat_inputs,
        {"n": (0, 20), "p": (0, 30), "q": (0, 30), "k": (0, 40)},
    ),
)
"""The networks of the promise "exactly one kernel each, one compile for all sizes"."""
