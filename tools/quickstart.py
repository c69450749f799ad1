"""Compile and run real models that ship inside wheels, and print what fusion did to each.

Run by ``python3 tools/bootstrap.py quickstart``, which installs the wheels first.
"""

import importlib.metadata
import sys
import time
from pathlib import Path

import numpy as np
from attrs import evolve, frozen
from autofuse.benchmark import peers
from autofuse.compiler import import_graph, load_lowered
from autofuse.example_inputs import random_inputs
from autofuse.options import settings
from autofuse.pipeline import Lowered, lower
from autofuse.report import report_of
from autofuse_fusion.options import FusionOptions
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_runtime.timing import measure
from rich.console import Console
from rich.table import Table


@frozen
class Model:
    """A model inside a wheel, the sizes to run it at, and inputs with a meaning (all else is random)."""

    name: str
    distribution: str
    path: str
    sizes: tuple[tuple[tuple[str, int], ...], ...]
    inputs: tuple[tuple[str, int], ...] = ()


MODELS = (
    Model(
        "magika",
        "magika",
        "magika/models/standard_v3_3/model.onnx",
        tuple((("unk__214", n),) for n in (1, 8, 32)),
    ),
    Model(
        "silero-vad",
        "silero-vad",
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        tuple((("batch", n), ("sequence", 576)) for n in (1, 4, 16)),
        (("sr", 16000),),
    ),
    Model(
        "PP-OCRv4 rec",
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        tuple(
            (("p2o.DynamicDimension.0", n), ("x_2", 48), ("p2o.DynamicDimension.1", w))
            for n, w in ((1, 160), (1, 320), (2, 320))
        ),
    ),
)


def main() -> int:
    """Print one table a model; 1 when a result is further off than fusing may make it."""
    console = Console(width=min(100, Console().width))
    console.print(f"autofuse {importlib.metadata.version('autofuse')}, {settings().threads or 'all'} threads")
    right = [show(model, console) for model in MODELS]  # every model is shown, also after one that is wrong
    return 0 if all(right) else 1


def show(model: Model, console: Console) -> bool:
    """Compile ``model`` fused and unfused, run it at its sizes and print what was measured."""
    file = Path(str(importlib.metadata.distribution(model.distribution).locate_file(model.path)))
    target = load_target("cpu")
    start = time.process_time()
    graph = import_graph(str(file))
    fused = lower(graph, target, FusionOptions())
    compile_s = time.process_time() - start
    wall = time.perf_counter()
    run_fused = load_lowered(fused, target)
    build_s = time.perf_counter() - wall
    unfused = lower(graph, target, evolve(FusionOptions(), enable=False))
    run_unfused = load_lowered(unfused, target)
    report, before = report_of(fused), report_of(unfused)
    hosted = sum(len(r.operators) for r in report.regions)
    console.print(
        f"\n[bold]{model.name}[/bold]: {report.operators} operators, {report.operators - hosted} of them in "
        f"{report.launches} kernels, {hosted} in {len(report.regions)} host regions"
    )
    console.print(
        f"launches {before.launches} -> {report.launches}; compiled in {compile_s:.2f} s (stages) + {build_s:.1f} s "
        "(C++, cached)",
        highlight=False,
    )
    table = Table()
    for column in ("sizes", "MB before", "MB after", "MB host", "fused", "unfused", "ORT", "error"):
        table.add_column(column, justify="left" if column == "sizes" else "right")
    passed = True
    for sizes in model.sizes:
        bound = dict(sizes)
        arrays = _inputs(model, fused, bound)
        ordered = [arrays[v.name] for v in fused.graph.inputs]
        got, base = _tuple(run_fused(*ordered)), _tuple(run_unfused(*ordered))
        error = max(_relative(a, b) for a, b in zip(got, base, strict=True))
        passed = passed and error < 1e-3
        candidates = {"fused": lambda o=ordered: run_fused(*o), "unfused": lambda o=ordered: run_unfused(*o)}
        candidates |= peers(["onnxruntime"], str(file), fused, arrays)
        times = {t.name: t.median_ns / 1e6 for t in measure(candidates, 7)}
        table.add_row(
            " x ".join(str(n) for n in bound.values()),
            f"{evaluate(before.bytes_moved, bound) / 1e6:.2f}",
            f"{evaluate(report.bytes_moved, bound) / 1e6:.2f}",
            f"{sum(evaluate(r.bytes_handled, bound) for r in report.regions) / 1e6:.2f}",
            *(f"{times[name]:.2f} ms" for name in ("fused", "unfused", "onnxruntime")),
            f"{error:.0e}",
        )
    console.print(table)
    return passed


def _inputs(model: Model, lowered: Lowered, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    arrays = random_inputs(lowered.graph, lowered.facts, sizes)
    for value in lowered.graph.inputs:
        for name, number in model.inputs:
            if value.name == name:
                arrays[name] = np.full_like(arrays[name], number, dtype=numpy_dtype(value.dtype))
    return arrays


def _relative(actual: np.ndarray, wanted: np.ndarray) -> float:
    if not wanted.size:
        return 0.0
    scale = float(np.abs(wanted.astype(np.float64)).max()) or 1.0
    return float(np.abs(actual.astype(np.float64) - wanted.astype(np.float64)).max()) / scale


def _tuple(result: object) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main())
