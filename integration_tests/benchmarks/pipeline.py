"""What the pipeline costs and what its kernels reach, as ratios in one run: ``nox -s bench -- pipeline``.

Candidates of a ratio take turns, on one thread; figures are medians, times of compilers and stages are CPU times. Each
row has the limit it is held to, and the run fails where one is missed.
"""

import ctypes
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import autofuse
import numpy as np
from _turns import cpu_times
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.pipeline import Lowered
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import compile_library, kernel_sources
from autofuse_runtime.toolchain import find_toolchain
from rich.console import Console
from rich.table import Table

CHAIN = ("Add", "Mul", "Sub", "Maximum", "Minimum") * 2
COLUMNS = 1024
ROWS = 64 * 1024
NODES = (1000, 2200, 5000)
SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 255)


@frozen
class Row:
    """One measurement: its figure, the limit, and whether the figure has to stay below it."""

    what: str
    figure: float
    limit: float
    is_upper: bool = True

    @property
    def passed(self) -> bool:
        """Whether the limit is kept."""
        return self.figure <= self.limit if self.is_upper else self.figure >= self.limit


def main() -> int:
    """Measure everything and print the table; 1 where a limit is missed."""
    autofuse.set_num_threads(1)
    rows = [
        *import_time(),
        compiler_time(),
        *stage_time(),
        small_call(),
        large_call(),
        compiles(),
    ]
    table = Table(title="pipeline, one thread", title_justify="left")
    for name in ("what", "figure", "limit", ""):
        table.add_column(name, justify="left" if name == "what" else "right")
    for row in rows:
        bound = f"{'<=' if row.is_upper else '>='} {row.limit:g}"
        table.add_row(row.what, f"{row.figure:.3g}", bound, "ok" if row.passed else "MISSED")
    Console(width=80).print(table)
    return 0 if all(row.passed for row in rows) else 1


def chain(shape: tuple[str | int, ...] = ("rows", COLUMNS)) -> Graph:
    """Ten operators of {+, -, *, max, min} in a row, each with a bias that is broadcast."""
    b = GraphBuilder("chain")
    value = b.input("x", shape, dt.float32)
    bias = b.input("bias", (COLUMNS,), dt.float32)
    for op in CHAIN:
        value = b.op(op, value, bias)
    return b.build(outputs={"y": value})


def lowered(graph: Graph) -> Lowered:
    """The graph through all stages."""
    return lower_graph(graph, chosen_target("cpu"), chosen_options())


def import_time() -> list[Row]:
    """CPU seconds of ``import autofuse`` in a fresh process, and whether that loads sympy."""
    code = (
        "import time, sys; start = time.process_time(); import autofuse; "
        "print(time.process_time() - start, int('sympy' in sys.modules))"
    )
    answers = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    return [
        Row("import autofuse, s", statistics.median(float(seconds) for seconds, _ in answers), 0.3),
        Row("sympy imported with it", max(int(loaded) for _, loaded in answers), 0),
    ]


def compiler_time() -> Row:
    """What building a kernel of ten operators costs the compiler, against ``g++ -O3`` on the same text."""
    made = lowered(chain())
    toolchain = find_toolchain()
    ours, plain = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ours.append(
                _of_children(
                    lambda f=folder: compile_library(made.program, made.bundles, ArtefactCache(f / "cache"), toolchain)
                )
            )
            texts = kernel_sources(made.program, made.bundles)
            for path, text in texts.items():
                (folder / path).write_text(text, encoding="utf-8")
            sources = [path for path in texts if path.endswith(".cpp")]
            command = [toolchain.driver, "-O3", "-std=c++17", "-march=native", "-fPIC", "-c", *sources]
            plain.append(_of_children(lambda c=command, f=folder: subprocess.run(c, cwd=f, check=True)))
    return Row("compiler time / g++ -O3 on the same text", statistics.median(ours) / statistics.median(plain), 2.0)


def _of_children(work: Callable[[], object]) -> float:
    """CPU seconds of the processes that ``work`` starts and waits for."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start = spent()
    work()
    return spent() - start


def stage_time() -> list[Row]:
    """CPU milliseconds a node of all stages, and how they grow with the number of nodes."""
    lowered(network(50))  # imports, and tables that are made once
    seconds = []
    for nodes in NODES:
        graph = network(nodes)
        start = time.process_time()
        lowered(graph)
        seconds.append(time.process_time() - start)
    slope = float(np.polyfit(np.log(NODES), np.log(seconds), 1)[0])
    worst = max(taken / nodes for taken, nodes in zip(seconds, NODES, strict=True))
    return [
        Row("stages, ms CPU a node", worst * 1e3, 5.0),
        Row(f"growth of that from {NODES[0]} to {NODES[-1]} nodes, exponent", slope, 1.3),
    ]


def network(nodes: int) -> Graph:
    """Residual blocks of vector operators, each ending in an operator that runs on the host."""
    b = GraphBuilder(f"network_{nodes}")
    value = b.input("x", ("batch", 64), dt.float32)
    weight = b.input("weight", (64, 64), dt.float32)
    bias = b.input("bias", (64,), dt.float32)
    block = ("Add", "Relu", "Mul", "Sigmoid", "Sub", "Tanh", "Maximum", "Abs", "Minimum", "Exp")
    unary = ("Relu", "Sigmoid", "Tanh", "Abs", "Exp")
    count = 0
    while count < nodes:
        residual = value
        for op in block:
            value = b.op(op, value) if op in unary else b.op(op, value, bias)
        value = b.op("MatMul", b.op("Add", value, residual), weight)
        count += len(block) + 2
    return b.build(outputs={"y": value})


def small_call() -> Row:
    """A call with two arrays of four elements and ``out=``, against NumPy's own."""
    b = GraphBuilder("small")
    a, c, out = (np.ones(4, np.float32) for _ in range(3))
    fn = autofuse.compile(
        b.build(outputs={"y": b.op("Add", b.input("a", ("n",), dt.float32), b.input("c", ("n",), dt.float32))})
    )
    ours, numpy = cpu_times({"ours": lambda: fn(a, c, out=out), "numpy": lambda: np.add(a, c, out=out)}, 31, 20_000)
    return Row("call on 4 elements / np.add", ours / numpy, 1.0)


MOVER = """
#include <cstddef>
#include <immintrin.h>
#if defined(__AVX512DQ__)
#define OF(name) _mm512_##name##_ps
constexpr std::size_t lanes = 16;
#else
#define OF(name) _mm256_##name##_ps
constexpr std::size_t lanes = 8;
#endif
extern "C" void move(const float* x, const float* bias, float* y, std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row, x += columns, y += columns)
    for (std::size_t i = 0; i < columns; i += lanes) OF(stream)(y + i, OF(or)(OF(loadu)(x + i), OF(loadu)(bias + i)));
  _mm_sfence();
}
"""
"""Has the streams of the chain, two in and one out, and its kind of store, as wide and past the cache; next to no
arithmetic."""


def large_call() -> Row:
    """The chain on 64 M elements into a given output, against moving as many bytes."""
    fn = autofuse.compile(chain())
    x = _aligned(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    y = _aligned(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    x[:], y[:] = 0.5, 0.0
    bias = _aligned(COLUMNS)
    bias[:] = np.linspace(-1, 1, COLUMNS)
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "mover.cpp", Path(name) / "mover.so"
        source.write_text(MOVER, encoding="utf-8")
        command = [find_toolchain().driver, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run(command, check=True)
        move = ctypes.CDLL(str(library)).move
    move.argtypes = (*[ctypes.c_void_p] * 3, ctypes.c_size_t, ctypes.c_size_t)
    candidates: dict[str, Callable[[], object]] = {
        "mover": lambda: move(x.ctypes.data, bias.ctypes.data, y.ctypes.data, ROWS, COLUMNS),
        "ours": lambda: fn(x, bias, out=y),
    }
    mover, ours = cpu_times(candidates, 21, 1)
    expected = x[:1]
    for op in CHAIN:
        expected = getattr(np, {"Add": "add", "Mul": "multiply", "Sub": "subtract"}.get(op, op.lower()))(expected, bias)
    np.testing.assert_array_equal(y[-1:], expected)
    return Row("speed of ten operators on 64 M / of moving", mover / ours, 0.85, is_upper=False)


def _aligned(elements: int, boundary: int = 64) -> np.ndarray:
    raw = np.empty(elements * 4 + boundary, np.uint8)
    start = -raw.ctypes.data % boundary
    return raw[start : start + elements * 4].view(np.float32)


def compiles() -> Row:
    """Compiles of a model with two dynamic dims that is called at twenty sizes of each."""
    b = GraphBuilder("dynamic")
    x = b.input("x", ("n", "m"), dt.float32)
    fn = autofuse.compile(b.build(outputs={"y": b.op("Relu", b.op("Add", x, b.input("bias", ("m",), dt.float32)))}))
    for size in SIZES:
        for shape in ((size, 9), (9, size)):
            fn(np.ones(shape, np.float32), np.ones(shape[1], np.float32))
    return Row("compiles for 20 sizes of each of two dims", fn.stats.compiles, 1)


if __name__ == "__main__":
    sys.exit(main())
