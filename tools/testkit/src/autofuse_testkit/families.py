"""The twenty-four networks that kernels of all families are measured on, with all dims but fixed widths symbolic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph

from autofuse_testkit import family_networks as made
from autofuse_testkit.networks import normal, one

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


def _embedding_arguments(shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
    v, n, m = shape
    found = {"table": normal(rng, v, m), "ids": rng.integers(0, v, n), "positions": normal(rng, n, m)}
    return found | {"gamma": normal(rng, m), "beta": normal(rng, m)}


def _batch_norm_arguments(shape: Shape, rng: np.random.Generator) -> dict[str, Array]:
    found = {name: normal(rng, shape[1], 1) for name in ("mean", "var", "gamma", "beta")}
    return {"x": normal(rng, *shape)} | found | {"var": np.abs(found["var"]) + np.float32(0.1)}


_ROWS = _sizes((4, 1024), (1024, 1024), (32768, 1024))
_FLAT = _sizes((4096,), (1 << 20,), (64 << 20,))

CASES: tuple[Case, ...] = (
    Case("01_chain10", lambda: one("chain", made.chain), _with_rows(("x",), ("bias",)), _ROWS),
    Case(
        "02_gelu_erf_bias_res",
        lambda: one("gelu_erf", made.gelu_erf),
        lambda s, r: {"x": normal(r, *s), "bias": normal(r, s[1]), "residual": normal(r, *s)},
        _ROWS,
    ),
    Case(
        "03_gelu_tanh",
        lambda: one("gelu", lambda b: b.op("GeluV2", b.input("x", ("n", "m"), dt.float32), approximate="tanh")),
        _normals("x"),
        _ROWS,
    ),
    Case("04_swiglu", lambda: one("swiglu", made.swiglu), _normals("gate", "up"), _ROWS),
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
        lambda: one("norm", made.residual_norm),
        _with_rows(("x", "r"), ("gamma", "beta")),
        _sizes((5, 768), (1365, 768), (32768, 768)),
    ),
    Case(
        "06b_res_ln_4096",
        lambda: one("norm", made.residual_norm),
        _with_rows(("x", "r"), ("gamma", "beta")),
        _sizes((1, 4096), (256, 4096), (6144, 4096)),
    ),
    Case(
        "07_rmsnorm_bf16",
        lambda: one("rms", made.rms_bf16),
        _with_rows(("x",), ("gamma",), dt.bfloat16),
        _sizes((1, 4096), (256, 4096), (16384, 4096)),
        tolerance=2e-2,
    ),
    Case("08a_sum_last", lambda: one("sum", made.reduced("ReduceSumD", (1,))), _normals("x"), _ROWS, 1e-3),
    Case("08b_mean_first", lambda: one("mean", made.reduced("ReduceMeanD", (0,))), _normals("x"), _ROWS, 1e-3),
    Case(
        "08c_var_mid",
        lambda: one("variance", made.variance(1)),
        _normals("x"),
        _sizes((2, 32, 64), (8, 512, 256), (64, 2048, 512)),
    ),
    Case("08d_sum_full", lambda: one("sum", made.reduced("ReduceSumD", (0,), 1)), _normals("x"), _FLAT, 1e-2),
    Case("08e_var_last", lambda: one("variance", made.variance(-1)), _normals("x"), _ROWS),
    Case(
        "09_concat3",
        lambda: one("concat", made.concat3),
        lambda s, r: {name: normal(r, *s) for name in ("a", "b", "c")},
        _sizes((5, 256), (1024, 352), (32768, 352)),
    ),
    Case(
        "10_transpose_add",
        lambda: one("transpose", made.transpose_add),
        lambda s, r: {"x": normal(r, *s), "y": normal(r, s[0], s[2], s[1])},
        _sizes((1, 64, 64), (4, 512, 512), (24, 1024, 1024)),
    ),
    Case(
        "11_rotary",
        lambda: one("rotary", made.rotary),
        lambda s, r: {"q": normal(r, *s, 128), "cos": normal(r, s[1], 128), "sin": normal(r, s[1], 128)},
        _sizes((1, 32), (16, 512), (256, 1024)),
    ),
    Case(
        "12_adam",
        made.adam,
        lambda s, r: {"p": normal(r, *s), "g": normal(r, *s), "m": normal(r, *s), "v": np.abs(normal(r, *s))},
        _sizes((4096,), (1 << 20,), (12 << 20,)),
    ),
    Case(
        "13_mixed_f16_bf16",
        lambda: one("mixed", made.mixed),
        lambda s, r: {"x": normal(r, *s, dtype=dt.float16), "y": normal(r, *s, dtype=dt.bfloat16)},
        _sizes((4096,), (1 << 20,), (32 << 20,)),
    ),
    Case(
        "14_embed_add_ln",
        lambda: one("embedding", made.embedding),
        _embedding_arguments,
        _sizes((1000, 5, 768), (8000, 1365, 768), (50000, 32768, 768)),
        gathered="table",
    ),
    Case(
        "15_masked_softmax",
        lambda: one("masked", made.masked),
        lambda s, r: {"x": normal(r, *s), "mask": r.random(s) > 0.3},
        _ROWS,
    ),
    Case(
        "16_xent",
        lambda: one("cross_entropy", made.cross_entropy),
        lambda s, r: {"x": normal(r, *s), "labels": r.integers(0, s[1], (s[0], 1))},
        _sizes((8, 512), (32, 32000), (2048, 32000)),
    ),
    Case(
        "17_bn_relu6",
        lambda: one("batch_norm", made.batch_norm),
        _batch_norm_arguments,
        _sizes((1, 16, 256), (1, 64, 16384), (32, 64, 16384)),
    ),
    Case(
        "18_int8_dqrq",
        lambda: one("quantised", made.quantised),
        lambda s, r: {"x": r.integers(-128, 128, s).astype(np.int8)},
        _sizes((4096,), (1 << 20,), (128 << 20,)),
        tolerance=1.01,
    ),
)
"""Workloads and sizes follow the peer measurements that the project plans from."""
