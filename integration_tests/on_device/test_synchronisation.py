"""No synchronisation of a generated kernel is missing, and none is one too many.

From kernels of different families each queue operation, flag and barrier is taken out alone: the emulator must report
every one of them. One that is executed and not missed should not have been written.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from attrs import evolve, frozen
from autofuse import plugins
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.program import ProgramKernel
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.executor import ProgramExecutor
from autofuse_runtime.launchers.memory import inputs_of, outputs_of, workspace_of
from autofuse_runtime.launchers.tilings import Decision
from autofuse_runtime.module import CompiledModule
from autofuse_testkit.joint import sides
from autofuse_testkit.networks import drawn_inputs
from autofuse_testkit.patterns import PATTERNS
from checked_kernels import CheckedKernels, Emitted, compiled, emitted
from mutants import Site, library_of, sites, whole_text

TARGET = "ascend-a2"
LARGEST = 100_000
SECONDS = 20


@frozen
class Sample:
    """A graph, and (sizes, cores) to run it at: several tiles of a block, tails, every template to try."""

    build: Callable[[], Graph]
    runs: tuple[tuple[Mapping[str, int], int], ...]


def column_sums() -> Graph:
    b = GraphBuilder("column_sums")
    x = b.input("x", ("n", "m"), dt.float32)
    return b.build({"y": b.op("ReduceSumD", x, axes=(0,), keep_dims=False)})


def transposed() -> Graph:
    b = GraphBuilder("transposed")
    x, y = b.input("x", ("n", "m"), dt.float32), b.input("y", ("m", "n"), dt.float32)
    return b.build({"z": b.op("Add", b.op("TransposeD", x, perm=(1, 0)), y)})


def casts() -> Graph:
    b = GraphBuilder("casts")
    wide = b.op("Cast", b.input("x", ("n", "m"), dt.float16), dst_type=dt.float32.ascend_code)
    rounded = b.op("Rint", b.op("Relu", wide))
    return b.build({"y": b.op("Cast", rounded, dst_type=dt.int8.ascend_code), "wide": wide})


def selected() -> Graph:
    b = GraphBuilder("selected")
    x, w = b.input("x", ("n", "m"), dt.float32), b.input("w", ("n", "m"), dt.float32)
    mask = b.op("LogicalAnd", b.op("Greater", x, w), b.input("mask", ("n", "m"), dt.bool_))
    return b.build({"y": b.op("SelectV2", mask, b.op("Abs", x), w), "mask_out": mask})


def spread() -> Graph:
    b = GraphBuilder("spread")
    shifted = b.op("Add", b.input("x", ("n", "m"), dt.float32), b.input("row", ("m",), dt.float32))
    return b.build({"y": b.op("Mul", shifted, b.input("column", ("n", 1), dt.float32))})


def running() -> Graph:
    b = GraphBuilder("running")
    axis = b.constant(to_tensor_data(np.asarray(1)))
    return b.build({"y": b.op("Cumsum", b.input("x", ("n", "m"), dt.float32), axis)})


def running_columns() -> Graph:
    """From the last element on, along an axis between two others."""
    b = GraphBuilder("running_columns")
    x, axis = b.input("x", ("k", "n", "m"), dt.float32), b.constant(to_tensor_data(np.asarray(1)))
    return b.build({"y": b.op("Cumsum", x, axis, exclusive=True, reverse=True)})


def in_phases() -> Graph:
    """Along one axis, then along the other: one nest where a tile holds both, else two groups."""
    b = GraphBuilder("in_phases")
    x = b.input("x", ("n", "k", "m"), dt.float32)
    return b.build({"y": b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(2,))})


def pattern(name: str) -> Callable[[], Graph]:
    return next(p.build for p in PATTERNS if p.name == name)


ROWS = (({"n": 190, "m": 333}, 1), ({"n": 2, "m": 50_001}, 1), ({"n": 1, "m": 40_000}, 4))
PLANE = (({"n": 150, "m": 700}, 1), ({"n": 3, "m": 5}, 2))
SAMPLES: Mapping[str, Sample] = {
    "softmax": Sample(pattern("softmax"), ROWS),
    "layer_norm": Sample(pattern("layer-norm-residual"), ROWS),
    "column_sums": Sample(column_sums, (({"n": 900, "m": 300}, 1), ({"n": 30_000, "m": 9}, 4))),
    "embedding": Sample(pattern("embedding-add-layer-norm"), (({"n": 9, "s": 30, "m": 300, "v": 50}, 1),)),
    "concat": Sample(
        pattern("concat-of-three"),
        (
            ({"n": 40, "p": 30, "q": 17, "k": 90}, 1),
            ({"n": 40, "p": 30, "q": 17, "k": 75}, 1),
            ({"n": 40, "p": 30, "q": 17, "k": 13}, 1),
            ({"n": 1, "p": 3000, "q": 1700, "k": 13}, 1),
        ),
    ),
    "transposed": Sample(transposed, (*PLANE, ({"n": 2, "m": 8001}, 1))),
    "casts": Sample(casts, PLANE),
    "selected": Sample(selected, PLANE),
    "spread": Sample(spread, PLANE),
    "running": Sample(running, (*PLANE, ({"n": 30, "m": 20_001}, 1), ({"n": 2, "m": 60_001}, 2))),
    "running_columns": Sample(
        running_columns,
        (
            ({"k": 3, "n": 40, "m": 70}, 1),
            ({"k": 2, "n": 30_001, "m": 3}, 1),
            ({"k": 1, "n": 30_001, "m": 3}, 1),
            ({"k": 5, "n": 1, "m": 3}, 2),
            ({"k": 5, "n": 4_001, "m": 150}, 4),
        ),
    ),
    "in_phases": Sample(
        in_phases, (({"n": 70, "k": 9, "m": 33}, 2), ({"n": 2, "k": 9, "m": 333}, 2), ({"n": 3, "k": 90, "m": 300}, 2))
    ),
    "joint": Sample(sides, (({"n": 190, "m": 333}, 1), ({"n": 190, "m": 333}, 4), ({"n": 20_000, "m": 9}, 2))),
}
SLICE = ("spread",)


@frozen(eq=False)
class Launch:
    """A kernel, its arguments, and what its tiling function decided."""

    kernel: ProgramKernel
    inputs: Sequence[Any]
    sizes: Mapping[str, int]
    decision: Decision

    def run(self, library: Any, entry: str) -> None:
        """Launch an entry of ``library`` in place of the kernel."""
        sim.run(
            library,
            entry,
            [*inputs_of(self.inputs), *outputs_of(self.kernel, self.sizes)],
            tiling=self.decision.data,
            block_dim=self.decision.block_dim,
            workspace=workspace_of(self.kernel, self.sizes),
            tiling_key=self.decision.tiling_key,
            timeout=SECONDS,
        )


def launches_of(made: Emitted, kernels: CheckedKernels, sample: Sample, graph: Graph) -> list[Launch]:
    """Run the program, right values checked, and return every launch."""
    found: list[Launch] = []
    for sizes, cores in sample.runs:
        limited = CheckedKernels(evolve(kernels.kernels, tilings=evolve(kernels.kernels.tilings, cores=cores)))

        def run(kernel: ProgramKernel, inputs: Any, known: Any, limited: CheckedKernels = limited) -> Any:
            bundle = limited.kernels.bundles[kernel.name]
            found.append(Launch(kernel, inputs, dict(known), limited.kernels.tilings.decide(bundle, known)))
            return limited.run(kernel, inputs, known)

        executor = ProgramExecutor(made.program, plugins.hosts(), run_kernel=run, tier="sim")
        given = drawn_inputs(graph, sizes, np.random.default_rng(3), below=2)
        CompiledModule(made.program, executor)(*given.values())
    return found


def is_reported(launches: Sequence[Launch], library: Any, number: int, entry: str, *more: type[Exception]) -> bool:
    for launch in launches:
        try:
            launch.run(library, f"m{number}_{entry}")
        except (sim.RuleError, sim.HangError, *more):
            return True
    return False


def survivors(launches: Sequence[Launch], bundle: Any, folder: Path) -> tuple[int, list[Site]]:
    """Return how many synchronisations the kernel has, and those that are executed, but not missed."""
    text = whole_text(bundle)
    every = sites(text, sorted({launch.decision.tiling_key for launch in launches}))
    removed = library_of(bundle, text, [(site, ";") for site in every], folder / "removed", TARGET)
    quiet = [site for n, site in enumerate(every) if not is_reported(launches, removed, n, bundle.launch)]
    if not quiet:
        return len(every), []
    traps = library_of(bundle, text, [(site, "assert(false);") for site in quiet], folder / "traps", TARGET)
    executed = [site for n, site in enumerate(quiet) if is_reported(launches, traps, n, bundle.launch, sim.CrashError)]
    return len(every) - len(quiet) + len(executed), executed


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SLICE else pytest.mark.whole) for name in SAMPLES]
)
def test_every_synchronisation_is_needed_and_none_is_missing(name: str, tmp_path: Path) -> None:
    built = SAMPLES[name].build()
    graph = evolve(built, symbols=tuple(evolve(symbol, hi=LARGEST) for symbol in built.symbols))
    made = emitted(graph, TARGET, FusionOptions(numerics="strict"), name)
    launches = launches_of(made, compiled([made], tmp_path / "kernels", TARGET), SAMPLES[name], graph)
    counted = 0
    for bundle in made.bundles:
        own = [launch for launch in launches if launch.kernel.name == bundle.name]
        count, superfluous = survivors(own, bundle, tmp_path / bundle.name)
        counted += count
        assert [str(site) for site in superfluous] == [], f"kernel {bundle.name}"
    assert counted >= 5
    print(f"{name}: {counted} synchronisations, each is missed")
