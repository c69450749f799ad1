"""Ascend kernels on the emulator: what ``device="sim"`` runs.

Kernels and tiling functions are compiled once and kept in the cache; every launch runs with all checks of the emulator.
"""

import ctypes
import importlib
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import field, frozen
from autofuse_ir.kernels import FileRole, KernelBundle
from autofuse_ir.program import ProgramKernel

from autofuse_runtime.arrays import Array
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import BuildError, InternalError, ToolMissingError
from autofuse_runtime.launchers.memory import check_status, inputs_of, outputs_of, results_of, workspace_of
from autofuse_runtime.launchers.tilings import (
    HOST_FLAGS,
    Tilings,
    compile_tilings,
    files_of,
    sources_of,
    write_sources,
)
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import Toolchain

KERNELS, TILING = "kernels.so", "tiling.so"

_KERNELS_PER_UNIT = 8
"""Kernels of one translation unit, which share the reading of the emulator's headers."""
_TILING_FLAGS = tuple("-O0" if flag == "-O2" else flag for flag in HOST_FLAGS)
"""Beside an emulated launch the microseconds of a tiling function are nothing; to optimise it takes up to 20 times as
long as to compile it."""


@frozen(eq=False)
class SimKernels:
    """The kernels of a program, ready to launch on the emulated chip ``target``; ``reports`` of all launches."""

    bundles: dict[str, KernelBundle]
    target: str
    emulator: ModuleType
    library: Any
    tilings: Tilings
    reports: list[Any] = field(factory=list)

    def run(
        self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int], **options: Any
    ) -> list[Array]:
        """Return the outputs of ``kernel`` for ``inputs``, whose sizes are ``sizes``.

        ``options`` go to the emulator: ``trace`` (a file to write), ``timing_only``. Raises ``RuntimeInputError`` when
        no tiles fit, ``StatusError`` for values without a result, ``InternalError`` when a rule is broken.
        """
        bundle = self.bundles[kernel.name]
        launch = self.tilings.decide(bundle, sizes)
        outputs = outputs_of(kernel, sizes)
        if launch.block_dim:
            workspace = workspace_of(kernel, sizes)
            try:
                report = self.emulator.run(
                    self.library,
                    bundle.launch,
                    [*inputs_of(inputs), *outputs],
                    tiling=launch.data,
                    block_dim=launch.block_dim,
                    workspace=workspace,
                    tiling_key=launch.tiling_key,
                    **options,
                )
            except self.emulator.AscendSimError as error:
                raise InternalError(
                    f"the emulator of {self.target} stopped the kernel: {error}",
                    where=f"kernel {kernel.name}",
                    fix="report this with the model and the sizes",
                ) from error
            self.reports.append(report)
            check_status(kernel, workspace, launch.block_dim)
        return results_of(kernel, outputs)


def load_sim(
    bundles: Sequence[KernelBundle], target: str, cache: ArtefactCache, toolchain: Toolchain, name: str
) -> SimKernels:
    """Compile ``bundles`` for the emulator of ``target`` and return them; ``name`` is that of the program.

    Raises ``ToolMissingError`` where the emulator is not installed, ``BuildError`` where a source does not compile.
    """
    emulator = _emulator()
    sources = sources_of(bundles)
    parts = {"target": target, "compiler": toolchain.identity, "emulator": version("autofuse-ascend-sim"), **sources}
    recipe = Recipe("emulated", f"kernels of {name} for the emulator", tuple(sorted(parts.items())), toolchain.identity)

    def make(directory: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="autofuse-src-", dir=directory.parent) as folder:
            write_sources(sources, Path(folder))
            _compile(Path(folder), directory / KERNELS, bundles, emulator, target, toolchain)
            compile_tilings(Path(folder), bundles, toolchain, directory / TILING, _TILING_FLAGS)

    directory = cache.entry(recipe, make)
    soc = emulator.load_soc(target)
    library = emulator.Library(path=directory / KERNELS, soc=soc, compiler=toolchain.driver)
    tilings = Tilings(ctypes.CDLL(str(directory / TILING)), target, soc.cores)
    return SimKernels({bundle.name: bundle for bundle in bundles}, target, emulator, library, tilings)


def _compile(
    folder: Path,
    library: Path,
    bundles: Sequence[KernelBundle],
    emulator: ModuleType,
    target: str,
    toolchain: Toolchain,
) -> None:
    kernels = files_of(bundles, FileRole.KERNEL)
    units = []
    # A program that is left to the host has no kernels, and a library all the same.
    for number, at in enumerate(range(0, max(1, len(kernels)), _KERNELS_PER_UNIT)):
        units.append(folder / f"kernels_{number}.cpp")
        text = "".join(f'#include "{path}"\n' for path in kernels[at : at + _KERNELS_PER_UNIT])
        units[-1].write_text(text, encoding="utf-8")
    try:
        emulator.compile(units, target, output=library, include_dirs=[folder], compiler=toolchain.driver)
    except emulator.CompileError as error:
        raise BuildError(
            f"a kernel does not compile: {error}", where=target, fix="report this with the model"
        ) from error


def _emulator() -> ModuleType:
    try:
        return importlib.import_module("autofuse_ascend_sim")
    except ImportError as error:
        raise ToolMissingError(
            "the emulator of Ascend chips is not installed",
            where="device sim",
            fix="pip install autofuse-ascend-sim",
        ) from error
