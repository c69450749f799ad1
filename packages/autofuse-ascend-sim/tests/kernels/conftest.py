"""Sample kernels: how each is run, and what NumPy says it must compute."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from attrs import frozen

HERE = Path(__file__).parent
NARROW = {"float16": np.float16, "float32": np.float32, "int16": np.int16, "int32": np.int32}


@frozen(eq=False)
class Run:
    """One launch: the arrays the kernel gets, and what the arrays at some positions must hold afterwards."""

    entry: str
    arguments: tuple[np.ndarray, ...]
    tiling: bytes
    block_dim: int
    expected: dict[int, np.ndarray]
    workspace: int = 0
    relative: float = 0.0
    absolute: float = 0.0
    label: str = ""

    def start(self, library: object, prefix: str = "") -> list[np.ndarray]:
        """Runs the kernel on copies of the arguments and returns them."""
        arrays = [array.copy() for array in self.arguments]
        sim.run(
            library,
            prefix + self.entry,
            arrays,
            tiling=self.tiling,
            block_dim=self.block_dim,
            workspace=self.workspace,
            timeout=20,
        )
        return arrays

    def check(self, arrays: list[np.ndarray]) -> None:
        """Compares what a run left behind with what NumPy says; exactly where no tolerance is given."""
        for position, expected in self.expected.items():
            np.testing.assert_allclose(
                arrays[position].astype(np.float64),
                expected.astype(np.float64),
                rtol=self.relative,
                atol=self.absolute,
                err_msg=f"{self.entry} {self.label}",
            )


def values(
    rng: np.random.Generator, shape: int | tuple[int, ...], dtype: type, low: float = -4, high: float = 4
) -> np.ndarray:
    """Random elements; integers use their whole range."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
    return rng.uniform(low, high, size=shape).astype(dtype)


def words(*numbers: int) -> bytes:
    """Tiling data of 32-bit unsigned fields."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def add_double_buffered(rng: np.random.Generator) -> Iterator[Run]:
    for name, dtype in NARROW.items():
        for blocks, tiles, tile in ((1, 1, 64), (3, 4, 256), (8, 3, 1024)):
            x, y = (values(rng, blocks * tiles * tile, dtype) for _ in range(2))
            yield Run(f"add_{name}", (x, y, np.zeros_like(x)), words(tiles * tile, tile), blocks, {2: x + y})


def mul_tail_pad(rng: np.random.Generator) -> Iterator[Run]:
    for name in ("float32", "float16", "int32"):
        for n, blocks, tile in ((1, 1, 64), (777, 2, 128), (5000, 7, 256)):
            x, y = (values(rng, n, NARROW[name]) for _ in range(2))
            tiling = struct.pack("<QII", n, -(-n // blocks), tile)
            yield Run(f"mul_{name}", (x, y, np.zeros_like(x)), tiling, blocks, {2: x * y}, label=str(n))


def row_softmax(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((1, 8, 1), (5, 33, 2), (9, 500, 2)):
        x = values(rng, (rows, cols), np.float32, -20, 20)
        exponents = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        y = exponents / exponents.sum(axis=1, keepdims=True)
        yield Run("row_softmax", (x, np.zeros_like(x)), words(rows, cols), blocks, {1: y}, relative=1e-5, absolute=1e-7)


def layer_norm(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((1, 8, 1), (7, 100, 2), (6, 768, 2)):
        x, gamma, beta = (values(rng, shape, np.float32) for shape in ((rows, cols), cols, cols))
        wide = x.astype(np.float64)
        y = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gamma + beta
        tiling = struct.pack("<IIf", rows, cols, 1e-5)
        yield Run(
            "layer_norm", (x, gamma, beta, np.zeros_like(x)), tiling, blocks, {3: y}, relative=1e-4, absolute=1e-4
        )


def broadcast_bias(rng: np.random.Generator) -> Iterator[Run]:
    for name in ("float32", "float16"):
        for rows, cols, per_tile, blocks in ((1, 16, 1, 1), (37, 96, 8, 2), (20, 272, 4, 3)):
            x, bias = (values(rng, shape, NARROW[name]) for shape in ((rows, cols), cols))
            y = np.maximum(x + bias, NARROW[name](0))
            yield Run(f"bias_relu_{name}", (x, bias, np.zeros_like(x)), words(rows, cols, per_tile), blocks, {2: y})


def strided_copy(rng: np.random.Generator) -> Iterator[Run]:
    for name, dtype in (("float32", np.float32), ("int8", np.int8), ("int64", np.int64)):
        for rows, cols, first, width, per_tile, blocks in (
            (1, 64, 0, 64, 1, 1),
            (13, 192, 64, 32, 4, 2),
            (40, 128, 32, 96, 8, 3),
        ):
            x = values(rng, (rows, cols), dtype)
            y = x[:, first : first + width]
            tiling = words(rows, cols, first, width, per_tile)
            yield Run(f"copy_window_{name}", (x, np.zeros(y.shape, dtype)), tiling, blocks, {1: y})


def transpose_tiles(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((16, 16, 1), (32, 80, 2), (112, 48, 3)):
        x = values(rng, (rows, cols), np.float16)
        yield Run("transpose_tiles", (x, np.zeros((cols, rows), np.float16)), words(rows, cols), blocks, {1: x.T})


def gather_table(rng: np.random.Generator) -> Iterator[Run]:
    for name in ("float32", "float16"):
        for length, count, tile, blocks in ((1, 5, 64, 1), (300, 1000, 128, 2), (1000, 700, 64, 3)):
            table = values(rng, length, NARROW[name])
            index = rng.integers(0, length, size=count, dtype=np.int32)
            arrays = (table, index, np.zeros(count, NARROW[name]))
            yield Run(f"gather_{name}", arrays, words(length, count, tile), blocks, {2: table[index]})


def compare_select(rng: np.random.Generator) -> Iterator[Run]:
    for name in ("float32", "float16"):
        dtype = NARROW[name]
        for count, tile, blocks in ((1, 128, 1), (1000, 256, 2), (4096, 512, 3)):
            x, z = (values(rng, count, dtype) for _ in range(2))
            tiling = struct.pack("<IIf", count, tile, 0.5)
            y = np.where(x > dtype(0.5), x * dtype(2), z)
            yield Run(f"select_above_{name}", (x, z, np.zeros_like(x)), tiling, blocks, {2: y}, label=str(count))


def bfloat16_bits(x: np.ndarray) -> np.ndarray:
    """float32 rounded to the nearest bfloat16, as its bits."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def cast_chain(rng: np.random.Generator) -> Iterator[Run]:
    for count, tile, blocks in ((1, 64, 1), (1000, 128, 2), (5000, 512, 3)):
        x = values(rng, count, np.float16, -100, 100)
        y = bfloat16_bits(np.floor(x.astype(np.float32) * np.float32(1.75)))
        tiling = struct.pack("<IIf", count, tile, 1.75)
        yield Run("cast_chain", (x, np.zeros(count, np.uint16)), tiling, blocks, {1: y})


def sum_multicore(rng: np.random.Generator) -> Iterator[Run]:
    for count, tile, blocks in ((1, 64, 1), (3000, 256, 4), (20000, 512, 8)):
        x = values(rng, count, np.float32)
        y = np.array([x.astype(np.float64).sum()])
        arrays = (x, np.zeros(1, np.float32))
        yield Run("sum_multicore", arrays, words(count, tile), blocks, {1: y}, 64 * 32, relative=1e-5, absolute=1e-2)


def column_sum_atomic(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((1, 8, 1), (10, 100, 3), (33, 64, 8)):
        x = values(rng, (rows, cols), np.float32)
        y = x.astype(np.float64).sum(axis=0)
        arrays = (x, np.zeros(cols, np.float32))
        yield Run("column_sum_float32", arrays, words(rows, cols), blocks, {1: y}, relative=1e-5, absolute=1e-4)
        whole = values(rng, (rows, cols), np.int32)
        total = whole.sum(axis=0, dtype=np.int32)
        yield Run("column_sum_int32", (whole, np.zeros(cols, np.int32)), words(rows, cols), blocks, {1: total})


def fill_and_add(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((1, 8, 1), (10, 100, 3), (33, 64, 8)):
        x = values(rng, (rows, cols), np.float32)
        arrays = (x, np.full(cols, 99, np.float32))
        y = x.astype(np.float64).sum(axis=0)
        yield Run("total_of_rows", arrays, words(rows, cols), blocks, {1: y}, 32, relative=1e-5, absolute=1e-4)


def sub_repeat(rng: np.random.Generator) -> Iterator[Run]:
    for name in ("float32", "float16", "int16"):
        for count, tile, blocks in ((1, 128, 1), (1000, 256, 2), (5000, 1024, 3)):
            x, y = (values(rng, count, NARROW[name]) for _ in range(2))
            yield Run(f"sub_repeat_{name}", (x, y, np.zeros_like(x)), words(count, tile), blocks, {2: x - y})


def conjugate_mask_bits(rng: np.random.Generator) -> Iterator[Run]:
    for count, blocks in ((256, 1), (2560, 2), (2048, 8)):
        x = values(rng, count, np.float16)
        y = x.copy()
        y[1::2] *= -1
        yield Run("conjugate_float16", (x, np.zeros_like(x)), words(count), blocks, {1: y})


def rms_norm_half(rng: np.random.Generator) -> Iterator[Run]:
    for rows, cols, blocks in ((1, 16, 1), (7, 100, 2), (5, 512, 2)):
        x, weight = (values(rng, shape, np.float16) for shape in ((rows, cols), cols))
        wide = x.astype(np.float64)
        y = wide / np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-6) * weight
        tiling = struct.pack("<IIf", rows, cols, 1e-6)
        arrays = (x, weight, np.zeros_like(x))
        yield Run("rms_norm_half", arrays, tiling, blocks, {2: y}, relative=1e-3, absolute=1e-4)


def quantize_int8(rng: np.random.Generator) -> Iterator[Run]:
    for count, tile, blocks in ((1, 64, 1), (1000, 256, 2), (3001, 512, 3)):
        x = values(rng, count, np.float32, -300, 300)
        q = np.clip(np.rint(x * np.float32(0.75)), -128, 127).astype(np.int8)
        tiling = struct.pack("<IIf", count, tile, 0.75)
        yield Run("quantize_int8", (x, np.zeros(count, np.int8)), tiling, blocks, {1: q})


def axpy_flags(rng: np.random.Generator) -> Iterator[Run]:
    for count, tile, blocks in ((1, 64, 1), (1000, 128, 2), (3000, 256, 3)):
        x, y = (values(rng, count, np.float32) for _ in range(2))
        tiling = struct.pack("<IIf", count, tile, 1.5)
        result = x.astype(np.float64) * 1.5 + y
        yield Run("axpy_flags", (x, y), tiling, blocks, {1: result}, relative=1e-6, absolute=1e-6)


def where_bytes(rng: np.random.Generator) -> Iterator[Run]:
    for count, tile, blocks in ((1, 128, 1), (1000, 256, 2), (4097, 512, 3)):
        mask = rng.integers(0, 2, size=count, dtype=np.uint8)
        x = values(rng, count, np.float16)
        tiling = struct.pack("<IIf", count, tile, -7.0)
        y = np.where(mask != 0, x, np.float16(-7))
        yield Run("where_bytes", (mask, x, np.zeros_like(x)), tiling, blocks, {2: y})


def gelu_erf(rng: np.random.Generator) -> Iterator[Run]:
    from math import erf  # noqa: PLC0415 - the reference of this kernel alone

    for count, tile, blocks in ((1, 64, 1), (1000, 256, 2), (2500, 512, 2)):
        x = values(rng, count, np.float32)
        y = np.array([0.5 * v * (1 + erf(v / 2**0.5)) for v in x.astype(np.float64)])
        yield Run(
            "gelu_erf", (x, np.zeros_like(x)), words(count, tile, 768), blocks, {1: y}, relative=1e-5, absolute=1e-6
        )


SAMPLES: dict[str, Callable[[np.random.Generator], Iterator[Run]]] = {
    runs.__name__: runs
    for runs in (
        add_double_buffered,
        mul_tail_pad,
        row_softmax,
        layer_norm,
        broadcast_bias,
        strided_copy,
        transpose_tiles,
        gather_table,
        compare_select,
        cast_chain,
        sum_multicore,
        column_sum_atomic,
        fill_and_add,
        sub_repeat,
        conjugate_mask_bits,
        rms_norm_half,
        quantize_int8,
        axpy_flags,
        where_bytes,
        gelu_erf,
    )
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `sample` runs for every kernel file of this folder."""
    if "sample" in metafunc.fixturenames:
        metafunc.parametrize("sample", sorted(path.stem for path in HERE.glob("*.cpp")))


def runs_of(sample: str) -> tuple[Run, ...]:
    """The launches of a sample kernel, always the same ones."""
    return tuple(SAMPLES[sample](np.random.default_rng(7)))


@pytest.fixture
def runs(sample: str) -> tuple[Run, ...]:
    """The launches of the sample kernel that the test is about."""
    return runs_of(sample)


@pytest.fixture(scope="session")
def all_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One source with every sample kernel, each in a namespace of its own."""
    text = '#include "kernel_operator.h"\n'
    for path in sorted(HERE.glob("*.cpp")):
        text += f'namespace sample_{path.stem} {{\n#include "{path}"\n}}\n'
    source = tmp_path_factory.mktemp("samples") / "samples.cpp"
    source.write_text(text)
    return source


@pytest.fixture(scope="session")
def compiled(all_samples: Path) -> Callable[[str], object]:
    """The library of all sample kernels for a SoC, compiled once."""
    libraries: dict[str, object] = {}

    def library(soc: str) -> object:
        if soc not in libraries:
            level = "-O2" if soc == "ascend-a2" else "-O0"  # both, so that neither hides what the other would show
            libraries[soc] = sim.compile([all_samples], soc, flags=["-Werror", level])
        return libraries[soc]

    return library
