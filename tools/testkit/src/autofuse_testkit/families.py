"""The twenty-four networks that kernels of all families are measured on, with all dims but fixed widths symbolic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph

from autofuse_testkit.patterns import (
    Network,
    layer_norm_of,
    normal,
    one,
    rms_norm_of,
    softmax_of,
)

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A network, and its inputs for each of the sizes "tiny", "medium" and "large"."""

    name: str
    build: Callable[[], Graph]
    arguments: Callable[[Shape, np.random.Generator], dict[str, Array]]
    shapes: Mapping[str, Shape]
    tolerance: float = 1e-4
    gathered: str = ""
    """The input that rows are gathered from: as much is read of it as is written."""

    def inputs(self, size: str, rng: np.random.Generator) -> dict[str, Array]:
        """Return the arguments."""
        return self.arguments(self.shapes[size], rng)


def _sizes(tiny: Shape, medium: Shape, large: Shape) -> dict[str, Shape]:
    return {"tiny": tiny, "medium": medium, "large": large}


def _normals(*names: str) -> Callable[[Shape, np.random.Generator], dict[str, Array]]:
    """Arguments of one shape."""
    return lambda shape, rng: {name: normal(rng, *shape) for name in names}


def _with_rows(wide: tuple[str, ...], rows: tuple[str, ...], dtype: DType = dt.float32) -> Any:
    """Arguments of the whole shape, and vectors of its last dim."""

    def arguments(shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
        found = {name: normal(rng, *shape, dtype=dtype) for name in wide}
        return found | {name: normal(rng, shape[-1], dtype=dtype) for name in rows}

    return arguments


def _chain(b: Network) -> str:
    x, bias = b.input("x", ("n", "m"), dt.float32), b.input("bias", ("m",), dt.float32)
    t = b.op("Add", b.op("Mul", x, b.number(0.7)), bias)
    a = b.op("Relu", t)
    left = b.op("Add", b.op("Mul", a, b.op("Sigmoid", t)), b.op("Tanh", t))
    return b.op("Mul", left, b.op("Exp", b.op("Neg", a)))


def _gelu_erf(b: Network) -> str:
    x, bias = b.input("x", ("n", "m"), dt.float32), b.input("bias", ("m",), dt.float32)
    residual = b.input("residual", ("n", "m"), dt.float32)
    return b.op("Add", b.op("GeluV2", b.op("Add", x, bias)), residual)


def _swiglu(b: Network) -> str:
    gate, up = b.input("gate", ("n", "m"), dt.float32), b.input("up", ("n", "m"), dt.float32)
    return b.op("Mul", b.op("Swish", gate), up)


def _residual_norm(b: Network) -> str:
    x, r = b.input("x", ("n", "m"), dt.float32), b.input("r", ("n", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    return layer_norm_of(b, b.op("Add", x, r), gamma, beta)


def _rms_bf16(b: Network) -> str:
    x, gamma = b.input("x", ("n", "m"), dt.bfloat16), b.input("gamma", ("m",), dt.bfloat16)
    wide, scale = (b.op("Cast", each, dst_type=0) for each in (x, gamma))
    return b.op("Cast", rms_norm_of(b, wide, scale), dst_type=27)


def _variance(axis: int) -> Callable[[Network], str]:
    def build(b: Network) -> str:
        shape = ("n", "m") if axis < 0 else ("n", "k", "m")
        x = b.input("x", shape, dt.float32)
        centred = b.op("Sub", x, b.op("ReduceMeanD", x, axes=(axis,), keep_dims=True))
        return b.op("ReduceMeanD", b.op("Mul", centred, centred), axes=(axis,))

    return build


def _reduced(op: str, axes: tuple[int, ...], rank: int = 2) -> Callable[[Network], str]:
    def build(b: Network) -> str:
        x = b.input("x", ("n", "m")[:rank], dt.float32)
        return b.op(op, x, axes=axes)

    return build


def _concat3(b: Network) -> str:
    x, y, z = (b.input(name, ("n", name), dt.float32) for name in ("a", "b", "c"))
    middle = b.op("Add", b.op("Mul", y, b.number(2.0)), b.number(1.0))
    return b.op("ConcatV2D", b.op("Relu", x), middle, b.op("Tanh", z), concat_dim=1, N=3)


def _transpose_add(b: Network) -> str:
    x, y = b.input("x", ("b", "s", "d"), dt.float32), b.input("y", ("b", "d", "s"), dt.float32)
    return b.op("Add", b.op("TransposeD", x, perm=(0, 2, 1)), y)


def _rotary(b: Network) -> str:
    q = b.input("q", ("h", "s", 128), dt.float32)
    cos, sin = b.input("cos", ("s", 128), dt.float32), b.input("sin", ("s", 128), dt.float32)
    first, second = b.op_outputs("SplitD", q, outputs=2, split_dim=-1, num_split=2)
    turned = b.op("ConcatV2D", b.op("Neg", second), first, concat_dim=-1, N=2)
    return b.op("Add", b.op("Mul", q, cos), b.op("Mul", turned, sin))


def _adam() -> Graph:
    b = Network("adam")
    p, g, m, v = (b.input(name, ("n",), dt.float32) for name in ("p", "g", "m", "v"))

    def times(x: str, value: float) -> str:
        return b.op("Mul", x, b.number(value))

    first = b.op("Add", times(m, 0.9), times(g, 0.1))
    second = b.op("Add", times(v, 0.999), b.op("Mul", times(g, 0.001), g))
    root = b.op("Add", b.op("Sqrt", times(second, 1000.0)), b.number(1e-8))
    step = b.op("RealDiv", times(first, 1e-2), root)
    return b.build({"new_p": b.op("Sub", p, step), "new_m": first, "new_v": second})


def _mixed(b: Network) -> str:
    x, y = b.input("x", ("n",), dt.float16), b.input("y", ("n",), dt.bfloat16)
    total = b.op("Add", b.op("Cast", x, dst_type=0), b.op("Cast", y, dst_type=0))
    return b.op("Mul", b.op("Relu", total), b.number(0.5))


def _embedding(b: Network) -> str:
    table, ids = b.input("table", ("v", "m"), dt.float32), b.input("ids", ("n",), dt.int64)
    positions = b.input("positions", ("n", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    found = b.op("GatherV2", table, ids, b.number(0, dt.int64))
    return layer_norm_of(b, b.op("Add", found, positions), gamma, beta)


def _embedding_arguments(shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
    v, n, m = shape
    found = {"table": normal(rng, v, m), "ids": rng.integers(0, v, n), "positions": normal(rng, n, m)}
    return found | {"gamma": normal(rng, m), "beta": normal(rng, m)}


def _masked(b: Network) -> str:
    x, mask = b.input("x", ("n", "m"), dt.float32), b.input("mask", ("n", "m"), dt.bool_)
    return softmax_of(b, b.op("SelectV2", mask, b.op("Mul", x, b.number(0.125)), b.number(-1e9)))


def _cross_entropy(b: Network) -> str:
    x, labels = b.input("x", ("n", "m"), dt.float32), b.input("labels", ("n", 1), dt.int64)
    picked = b.op("GatherElements", b.op("LogSoftmaxV2", x, axes=(-1,)), labels, dim=1)
    return b.op("Neg", b.op("ReduceMeanD", picked, axes=(0, 1)))


def _batch_norm(b: Network) -> str:
    x = b.input("x", ("n", "c", "h"), dt.float32)
    mean, var, gamma, beta = (b.input(name, ("c", 1), dt.float32) for name in ("mean", "var", "gamma", "beta"))
    scale = b.op("RealDiv", gamma, b.op("Sqrt", b.op("Add", var, b.number(1e-5))))
    return b.op("Relu6", b.op("Add", b.op("Mul", b.op("Sub", x, mean), scale), beta))


def _batch_norm_arguments(shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
    found = {name: normal(rng, shape[1], 1) for name in ("mean", "var", "gamma", "beta")}
    return {"x": normal(rng, *shape)} | found | {"var": np.abs(found["var"]) + np.float32(0.1)}


def _quantised(b: Network) -> str:
    x = b.input("x", ("n",), dt.int8)
    wide = b.op("DequantizeLinear", x, b.number(0.05), b.number(3, dt.int8))
    return b.op("QuantizeLinear", b.op("Relu", wide), b.number(0.04), b.number(-10, dt.int8))


_ROWS = _sizes((4, 1024), (1024, 1024), (32768, 1024))
_FLAT = _sizes((4096,), (1 << 20,), (64 << 20,))

CASES: tuple[Case, ...] = (
    Case("01_chain10", lambda: one("chain", _chain), _with_rows(("x",), ("bias",)), _ROWS),
    Case(
        "02_gelu_erf_bias_res",
        lambda: one("gelu_erf", _gelu_erf),
        lambda s, r: {"x": normal(r, *s), "bias": normal(r, s[1]), "residual": normal(r, *s)},
        _ROWS,
    ),
    Case(
        "03_gelu_tanh",
        lambda: one("gelu", lambda b: b.op("GeluV2", b.input("x", ("n", "m"), dt.float32), approximate="tanh")),
        _normals("x"),
        _ROWS,
    ),
    Case("04_swiglu", lambda: one("swiglu", _swiglu), _normals("gate", "up"), _ROWS),
    Case(
        "05a_softmax_1024",
        lambda: one("softmax", lambda b: b.op("SoftmaxV2", b.input("x", ("n", "m"), dt.float32))),
        _normals("x"),
        _ROWS,
    ),
    Case(
        "05b_softmax_50257",
        lambda: one("softmax", lambda b: b.op("SoftmaxV2", b.input("x", ("n", "m"), dt.float32))),
        _normals("x"),
        _sizes((1, 50257), (20, 50257), (640, 50257)),
    ),
    Case(
        "06a_res_ln_768",
        lambda: one("norm", _residual_norm),
        _with_rows(("x", "r"), ("gamma", "beta")),
        _sizes((5, 768), (1365, 768), (32768, 768)),
    ),
    Case(
        "06b_res_ln_4096",
        lambda: one("norm", _residual_norm),
        _with_rows(("x", "r"), ("gamma", "beta")),
        _sizes((1, 4096), (256, 4096), (6144, 4096)),
    ),
    Case(
        "07_rmsnorm_bf16",
        lambda: one("rms", _rms_bf16),
        _with_rows(("x",), ("gamma",), dt.bfloat16),
        _sizes((1, 4096), (256, 4096), (16384, 4096)),
        tolerance=2e-2,
    ),
    Case("08a_sum_last", lambda: one("sum", _reduced("ReduceSumD", (1,))), _normals("x"), _ROWS, 1e-3),
    Case("08b_mean_first", lambda: one("mean", _reduced("ReduceMeanD", (0,))), _normals("x"), _ROWS, 1e-3),
    Case(
        "08c_var_mid",
        lambda: one("variance", _variance(1)),
        _normals("x"),
        _sizes((2, 32, 64), (8, 512, 256), (64, 2048, 512)),
    ),
    Case("08d_sum_full", lambda: one("sum", _reduced("ReduceSumD", (0,), 1)), _normals("x"), _FLAT, 1e-2),
    Case("08e_var_last", lambda: one("variance", _variance(-1)), _normals("x"), _ROWS),
    Case(
        "09_concat3",
        lambda: one("concat", _concat3),
        lambda s, r: {name: normal(r, *s) for name in ("a", "b", "c")},
        _sizes((5, 256), (1024, 352), (32768, 352)),
    ),
    Case(
        "10_transpose_add",
        lambda: one("transpose", _transpose_add),
        lambda s, r: {"x": normal(r, *s), "y": normal(r, s[0], s[2], s[1])},
        _sizes((1, 64, 64), (4, 512, 512), (24, 1024, 1024)),
    ),
    Case(
        "11_rotary",
        lambda: one("rotary", _rotary),
        lambda s, r: {"q": normal(r, *s, 128), "cos": normal(r, s[1], 128), "sin": normal(r, s[1], 128)},
        _sizes((1, 32), (16, 512), (256, 1024)),
    ),
    Case(
        "12_adam",
        _adam,
        lambda s, r: {"p": normal(r, *s), "g": normal(r, *s), "m": normal(r, *s), "v": np.abs(normal(r, *s))},
        _sizes((4096,), (1 << 20,), (12 << 20,)),
    ),
    Case(
        "13_mixed_f16_bf16",
        lambda: one("mixed", _mixed),
        lambda s, r: {"x": normal(r, *s, dtype=dt.float16), "y": normal(r, *s, dtype=dt.bfloat16)},
        _sizes((4096,), (1 << 20,), (32 << 20,)),
    ),
    Case(
        "14_embed_add_ln",
        lambda: one("embedding", _embedding),
        _embedding_arguments,
        _sizes((1000, 5, 768), (8000, 1365, 768), (50000, 32768, 768)),
        gathered="table",
    ),
    Case(
        "15_masked_softmax",
        lambda: one("masked", _masked),
        lambda s, r: {"x": normal(r, *s), "mask": r.random(s) > 0.3},
        _ROWS,
    ),
    Case(
        "16_xent",
        lambda: one("cross_entropy", _cross_entropy),
        lambda s, r: {"x": normal(r, *s), "labels": r.integers(0, s[1], (s[0], 1))},
        _sizes((8, 512), (32, 32000), (2048, 32000)),
    ),
    Case(
        "17_bn_relu6",
        lambda: one("batch_norm", _batch_norm),
        _batch_norm_arguments,
        _sizes((1, 16, 256), (1, 64, 16384), (32, 64, 16384)),
    ),
    Case(
        "18_int8_dqrq",
        lambda: one("quantised", _quantised),
        lambda s, r: {"x": r.integers(-128, 128, s).astype(np.int8)},
        _sizes((4096,), (1 << 20,), (128 << 20,)),
        tolerance=1.01,
    ),
)
"""Workloads and sizes follow the peer measurements that the project plans from."""
