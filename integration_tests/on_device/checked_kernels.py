"""Kernels of many networks in one library of the emulator; every launch is compared with the interpreter.

What costs is the compiler: kernels share translation units, compiled without optimisation, and A3 runs what was
compiled for A2.
"""

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
import numpy as np
from attrs import evolve, field, frozen
from autofuse_codegen.stage import emit, link
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import FileRole, KernelBundle
from autofuse_ir.program import Program, ProgramKernel
from autofuse_ir.target import load_target
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.compare import RELATIVE_ALLOWANCE, ULP_ALLOWANCE, compare
from autofuse_reference.target_math import target_math
from autofuse_runtime.launchers.sim import SimKernels
from autofuse_runtime.launchers.tilings import (
    HOST_FLAGS,
    Tilings,
    compile_tilings,
    files_of,
    sources_of,
    write_sources,
)
from autofuse_runtime.toolchain import find_toolchain
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]

KERNELS_PER_UNIT = 24


@frozen
class Emitted:
    """A program and the sources of its kernels."""

    program: Program
    bundles: tuple[KernelBundle, ...]


def emitted(graph: Graph, target_name: str, options: FusionOptions, prefix: str) -> Emitted:
    """Run the stages on ``graph``; kernels' names begin with ``prefix``, so that one library can hold many graphs'."""
    target = load_target(target_name)
    inferred, facts = infer(graph)
    fused = fuse(inferred, facts, target, options)
    nodes = tuple(
        evolve(n, name=f"{prefix}_{n.name}") if isinstance(n, AscBackend | FusedAscBackend) else n for n in fused.nodes
    )
    fused = evolve(fused, nodes=nodes)
    bundles = []
    for node in nodes:
        if isinstance(node, AscBackend | FusedAscBackend):
            scheduled = schedule(node, fused.facts, target)
            bundles.append(emit(scheduled, tile(scheduled, fused.facts, target), fused.facts, target))
    return Emitted(link(fused, tuple(bundles), fused.facts, target), tuple(bundles))


class WrongValueError(AssertionError):
    """A kernel computed something else than the interpreter."""


@frozen(eq=False)
class CheckedKernels:
    """Emulated kernels: ``run`` compares each result with the interpreter's and hands the interpreter's on."""

    kernels: SimKernels
    launches: list[str] = field(factory=list)

    @property
    def reports(self) -> list[Any]:
        """What the emulator said of each launch."""
        return self.kernels.reports

    def on(self, target: str) -> "CheckedKernels":
        """The same compiled kernels on a chip of the same architecture."""
        soc = sim.load_soc(target)
        library = evolve(self.kernels.library, soc=soc)
        tilings = evolve(self.kernels.tilings, target=target, cores=soc.cores)
        return CheckedKernels(evolve(self.kernels, target=target, library=library, tilings=tilings, reports=[]))

    def run(self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int]) -> list[Array]:
        """Return the outputs of ``kernel``; raises ``WrongValueError``, and what the emulator raises."""
        wanted = self._interpreted(kernel, inputs, sizes, "declared")
        found = self.kernels.run(kernel, inputs, sizes)
        self.launches.append(kernel.name)
        off_by = ulp_of(kernel, self.kernels.target)
        wide = self._interpreted(kernel, inputs, sizes, "float64") if off_by else None
        made = [argument.name for argument in kernel.arguments if argument.is_output]
        for number, (name, result, want) in enumerate(zip(made, found, wanted, strict=True)):
            got = result.reshape(want.shape)
            allowed = 0.0
            if wide is not None and got.dtype.kind in "fV":
                allowed = RELATIVE_ALLOWANCE * compare(want, wide[number]).max_ulp + ULP_ALLOWANCE + off_by
                allowed = allowed if np.isfinite(allowed) else 2.0**10
            if not compare(got, want, allowed_ulp=allowed).equal:
                raise WrongValueError(told(kernel.name, name, sizes, got, want, allowed))
        return wanted

    def _interpreted(
        self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int], precision: Any
    ) -> list[Array]:
        with np.errstate(all="ignore"):
            if not kernel.calls:
                return interpret(kernel.graphs[0], inputs, sizes, precision)
            names = [argument.name for argument in kernel.arguments if not argument.is_output]
            values = dict(zip(names, inputs, strict=True))
            for graph, call in zip(kernel.graphs, kernel.calls, strict=True):
                given = [values[name] for name in call.inputs]
                values.update(zip(call.outputs, interpret(graph, given, sizes, precision), strict=True))
            return [values[argument.name] for argument in kernel.arguments if argument.is_output]


def told(kernel: str, output: str, sizes: Mapping[str, int], got: Array, want: Array, allowed: float) -> str:
    """What is wrong, in one line."""
    found = compare(got, want, allowed_ulp=allowed)
    at = found.first_mismatch or ()
    how_far = f"{found.max_ulp:.3g} ULP, {allowed:.3g} allowed"
    return (
        f"kernel {kernel}, output {output} {list(want.shape)} {want.dtype} at {dict(sizes)}: {found.mismatches} of "
        f"{want.size} elements are wrong ({how_far}), first at {list(at)}: {got[at]} instead of {want[at]}"
    )


def ulp_of(kernel: ProgramKernel, target: str) -> int:
    """Return how many ULP the least exact operator of a kernel may be off on ``target``; 0 where all are exact."""
    math = target_math(target)
    return max(math.ulp_from_rounded(node.op, node.dtype) for graph in kernel.graphs for node in graph.nodes)


def compiled(programs: Iterable[Emitted], folder: Path, target: str) -> CheckedKernels:
    """Compile the kernels of all ``programs`` into one library in ``folder``.

    Raises ``autofuse_ascend_sim.CompileError`` where a kernel does not compile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bundles = [bundle for each in programs for bundle in each.bundles]
    write_sources(sources_of(bundles), folder)
    kernels = files_of(bundles, FileRole.KERNEL)
    units = []
    for number, start in enumerate(range(0, len(kernels), KERNELS_PER_UNIT)):
        units.append(folder / f"kernels{number}.cpp")
        units[-1].write_text(_including(kernels[start : start + KERNELS_PER_UNIT]), encoding="utf-8")
    library = sim.compile(units, target, output=folder / "kernels.so", include_dirs=[folder], flags=["-O0", "-Werror"])
    flags = [flag if flag != "-O2" else "-O0" for flag in HOST_FLAGS]
    compile_tilings(folder, bundles, find_toolchain(), folder / "tiling.so", flags)
    tilings = Tilings(ctypes.CDLL(str(folder / "tiling.so")), target, sim.load_soc(target).cores)
    by_name = {bundle.name: bundle for bundle in bundles}
    return CheckedKernels(SimKernels(by_name, target, sim, library, tilings))


def _including(paths: Iterable[str]) -> str:
    return "".join(f'#include "{path}"\n' for path in paths)
