"""Predicted time of real models and of networks of every family on an Ascend chip: ``nox -s bench -- ascend``.

Fused against a kernel for each operator, on vector cores alone: host steps (products of matrices, convolutions) count
on neither side. Times come from the cost tables of the target; nothing here runs on a chip. Sizes of models are their
hints, those of networks the medium ones of the benchmark `families`.
"""

import tomllib
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from attrs import frozen
from autofuse.prediction import predict_kernels
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.errors import AutofuseError
from autofuse_ir.graph import Graph
from autofuse_ir.target import TargetSpec, load_target
from autofuse_onnx.frontend import import_model
from autofuse_symshape.stage import infer
from autofuse_testkit.families import CASES
from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parents[1]
MODELS = tomllib.loads((FOLDER / "corpus.toml").read_text(encoding="utf-8"))["models"]
TARGETS = ("ascend-a2", "ascend-350")


@frozen
class Times:
    """Launches and microseconds of one run, and kernels that these do not count: no tiles fit their sizes."""

    launches: int
    microseconds: float
    left_out: int


def times(graph: Graph, target: TargetSpec, options: FusionOptions, sizes: Mapping[str, int] | None) -> Times:
    """Predict the kernels of ``graph``; without ``sizes``, at its hints."""
    inferred, facts = infer(graph)
    known = {s.name: s.hint for s in facts.symbols} | dict(sizes or {})
    kernels, without = predict_kernels(fuse(inferred, facts, target, options), target, known)
    return Times(len(kernels), sum(kernel.microseconds for kernel in kernels), len(without))


def add_row(table: Table, name: str, graph: Graph, sizes: Mapping[str, int] | None, target: TargetSpec) -> None:
    try:
        fused, unfused = (times(graph, target, FusionOptions(enable=on), sizes) for on in (True, False))
    except AutofuseError as error:
        table.add_row(name, "", "", "", error.what)
        return
    if not fused.launches:
        table.add_row(name, "", "", "", "nothing runs in kernels")
        return
    ratio = unfused.microseconds / fused.microseconds
    before, after = (f"{t.launches}: {t.microseconds:.0f} us" for t in (unfused, fused))
    left_out = fused.left_out + unfused.left_out
    remark = f"left out: {unfused.left_out} unfused, {fused.left_out} fused" if left_out else ""
    table.add_row(name, before, after, f"{ratio:.2f}", remark)


def sizes_of(graph: Graph, arguments: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The size symbols, from the dims of the arguments that are one."""
    found: dict[str, int] = {}
    for value in graph.inputs:
        for dim, size in zip(value.shape or (), arguments[value.name].shape, strict=True):
            if str(dim).isidentifier():
                found[str(dim)] = size
    return found


def main() -> None:
    console = Console(width=140)
    for target in map(load_target, TARGETS):
        table = Table(title=f"{target.name}: predicted launches and time", title_justify="left")
        for column in ("model or network", "unfused", "fused", "x", "remark"):
            table.add_column(column, justify="left" if column in ("model or network", "remark") else "right")
        for model in MODELS:
            file = distribution(model["distribution"]).locate_file(model["path"])
            add_row(table, Path(model["path"]).name, import_model(str(file)), None, target)
        for case in CASES:
            graph = case.build()
            sizes = sizes_of(graph, case.inputs("medium", np.random.default_rng(0)))
            add_row(table, case.name, graph, sizes, target)
        console.print(table)


if __name__ == "__main__":
    main()
