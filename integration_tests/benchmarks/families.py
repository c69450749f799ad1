"""What kernels of every family reach against moving their bytes: ``nox -s bench -- families``.

Each row is one network, fused, on one thread with given outputs. Its rival is a *mover*: it reads as many bytes from as
many streams, writes as many, with the same kind of store, and computes nothing. Both take turns; figures are medians of
CPU times. Every result is compared with the reference before it is timed. `large` runs the sizes that leave all caches.
"""

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
from _turns import cpu_times
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, HostRegion
from autofuse_ir.graph import Graph
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_runtime.toolchain import find_toolchain
from autofuse_symshape.stage import infer
from autofuse_testkit.families import CASES, Case
from rich.console import Console
from rich.table import Table

Array = np.ndarray[Any, Any]

MOVER = """
#include <cstddef>
#include <immintrin.h>
#if defined(__AVX512F__)
typedef __m512i Vector;
#define OR _mm512_or_si512
#define STREAM _mm512_stream_si512
#else
typedef __m256i Vector;
#define OR _mm256_or_si256
#define STREAM _mm256_stream_si256
#endif
constexpr std::size_t chunks = 512, width = sizeof(Vector);
static void part(std::size_t bytes, std::size_t k, std::size_t* first, std::size_t* last) {
  const std::size_t vectors = bytes / width;
  *first = vectors * k / chunks, *last = vectors * (k + 1) / chunks;
}
extern "C" void move(const char* const* in, const std::size_t* in_bytes, std::size_t ins, char* const* out,
                     const std::size_t* out_bytes, std::size_t outs, int stream) {
  Vector sum[4] = {};
  for (std::size_t k = 0; k < chunks; ++k) {
    std::size_t first, last;
    for (std::size_t i = 0; i < ins; ++i) {
      part(in_bytes[i], k, &first, &last);
      const char* p = in[i] + first * width;
      std::size_t n = last - first;
      for (; n >= 4; n -= 4, p += 4 * width)
        for (int u = 0; u < 4; ++u) {
          Vector v;
          __builtin_memcpy(&v, p + u * width, width);
          sum[u] = OR(sum[u], v);
        }
      for (; n > 0; --n, p += width) {
        Vector v;
        __builtin_memcpy(&v, p, width);
        sum[0] = OR(sum[0], v);
      }
    }
    const Vector all = OR(OR(sum[0], sum[1]), OR(sum[2], sum[3]));
    for (std::size_t i = 0; i < outs; ++i) {
      part(out_bytes[i], k, &first, &last);
      char* p = out[i] + first * width;
      if (stream)
        for (std::size_t n = first; n < last; ++n, p += width) STREAM((Vector*)p, all);
      else
        for (std::size_t n = first; n < last; ++n, p += width) __builtin_memcpy(p, &all, width);
    }
  }
  _mm_sfence();
}
"""

LAST_LEVEL_SHARE = 1 << 24
"""Outputs past this many bytes are stored past the cache, by the mover as by the kernels."""


@frozen
class Figures:
    """One row: milliseconds of both, and how many kernels the network became."""

    name: str
    kernels: int
    mover: float
    ours: float
    megabytes: float


def main(arguments: list[str]) -> int:
    """Measure the named cases (all of them where none is named) and print the table."""
    size = "large" if "large" in arguments else "tiny" if "tiny" in arguments else "medium"
    names = [a for a in arguments if a not in ("large", "tiny", "medium")]
    autofuse.set_num_threads(1)
    move = _mover()
    table = Table(title=f"families, {size}, one thread", title_justify="left")
    for heading in ("network", "kernels", "MB", "mover ms", "ours ms", "mover/ours"):
        table.add_column(heading, justify="left" if heading == "network" else "right")
    for case in CASES:
        if names and case.name not in names:
            continue
        row = measure(case, size, move)
        table.add_row(
            row.name,
            str(row.kernels),
            f"{row.megabytes:.3g}",
            f"{row.mover * 1e3:.3g}",
            f"{row.ours * 1e3:.3g}",
            f"{row.mover / row.ours:.2f}",
        )
    Console(width=80).print(table)
    return 0


def measure(case: Case, size: str, move: Callable[..., None]) -> Figures:
    """Compile the network, check its results, and time it against the mover."""
    graph = case.build()
    lowered = lower_graph(graph, chosen_target("cpu"), chosen_options())
    kernels = sum(isinstance(node, AscBackend | FusedAscBackend | HostRegion) for node in lowered.fused.nodes)
    fn = load_lowered(lowered, chosen_target("cpu"), "jit")
    values = case.inputs(size, np.random.default_rng(1))
    inputs = [_aligned(v) for v in values.values()]
    outputs = [_aligned(np.asarray(r)) for r in _as_tuple(fn(*inputs))]
    check(graph, dict(zip(values, inputs, strict=True)), outputs, case.tolerance)
    given = outputs[0] if len(outputs) == 1 else tuple(outputs)
    written = [a.nbytes for a in outputs]
    read = [sum(written) if name == case.gathered else a.nbytes for name, a in zip(values, inputs, strict=True)]
    stream = int(sum(written) > LAST_LEVEL_SHARE)
    spare = _aligned(np.zeros(max(1, sum(written)), np.uint8))
    starts = np.cumsum([0, *written])[:-1]
    ins = (ctypes.c_void_p * len(inputs))(*(a.ctypes.data for a in inputs))
    outs = (ctypes.c_void_p * len(outputs))(*(spare.ctypes.data + int(s) // 64 * 64 for s in starts))
    in_bytes, out_bytes = ((ctypes.c_size_t * len(b))(*b) for b in (read, written))
    candidates: dict[str, Callable[[], object]] = {
        "mover": lambda: move(ins, in_bytes, len(inputs), outs, out_bytes, len(outputs), stream),
        "ours": lambda: fn(*inputs, out=given),
    }
    total = sum(read) + sum(written)
    rounds, calls = (21, 1) if total > 1 << 26 else (31, max(1, (1 << 24) // max(total, 1 << 14)))
    mover, ours = cpu_times(candidates, rounds, calls)
    return Figures(case.name, kernels, mover, ours, total / 1e6)


def check(graph: Graph, values: dict[str, Array], results: list[Array], tolerance: float) -> None:
    """Compare with the reference."""
    known, facts = infer(graph)
    reference = GraphInterpreter(known, {fact.name: fact.dtype for fact in facts.values})
    for (name, want), got in zip(reference.outputs(values).items(), results, strict=True):
        wide, narrow = np.asarray(want, np.float64), np.asarray(got, np.float64)
        np.testing.assert_allclose(narrow, wide, rtol=tolerance, atol=tolerance, err_msg=name)


def _mover() -> Callable[..., None]:
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "mover.cpp", Path(name) / "mover.so"
        source.write_text(MOVER, encoding="utf-8")
        command = [find_toolchain().driver, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run(command, check=True)
        found: Any = ctypes.CDLL(str(library)).move
    found.argtypes = (*[ctypes.c_void_p] * 2, ctypes.c_size_t, *[ctypes.c_void_p] * 2, ctypes.c_size_t, ctypes.c_int)
    return found  # type: ignore[no-any-return]


def _aligned(array: Array) -> Array:
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
