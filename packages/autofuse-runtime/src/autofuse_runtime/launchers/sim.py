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

import numpy as np
from attrs import field, frozen
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType, bfloat16
from autofuse_ir.kernels import FileRole, KernelBundle
from autofuse_ir.program import ProgramKernel

from autofuse_runtime.arrays import Array, numpy_dtype
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import BuildError, InternalError, RuntimeInputError, ToolMissingError
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import Toolchain

KERNELS, TILING = "kernels.so", "tiling.so"

HOST_FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fPIC")
_KERNELS_PER_UNIT = 8

_BLOCK_DIM, _TILING_KEY = 0, 4
"""Places of these 32-bit fields in the tiling data."""


@frozen(eq=False)
class SimKernels:
    """The kernels of a program, ready to launch on the emulated chip ``target``; ``reports`` of all launches."""

    bundles: dict[str, KernelBundle]
    target: str
    emulator: ModuleType
    library: Any
    tiling: ctypes.CDLL
    cores: int
    reports: list[Any] = field(factory=list)

    def run(
        self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int], **options: Any
    ) -> list[Array]:
        """Return the outputs of ``kernel`` for ``inputs``, whose sizes are ``sizes``.

        ``options`` go to the emulator: ``trace`` (a file to write), ``timing_only``. Raises ``RuntimeInputError`` when
        no tiles fit, ``InternalError`` when the emulator finds a broken rule.
        """
        bundle = self.bundles[kernel.name]
        outputs = []
        for argument in kernel.arguments:
            if argument.is_output:
                shape = tuple(evaluate(dim, sizes) for dim in argument.shape)
                outputs.append(np.zeros(shape, _stored_as(argument.dtype)))
        data = self._tiling_data(bundle, sizes)
        head = np.frombuffer(data, np.uint32, 6)
        given = [np.ascontiguousarray(array).view(_stored_as_array(array)) for array in inputs]
        if int(head[_BLOCK_DIM]):
            try:
                report = self.emulator.run(
                    self.library,
                    bundle.launch,
                    [*given, *outputs],
                    tiling=data,
                    block_dim=int(head[_BLOCK_DIM]),
                    workspace=evaluate(bundle.workspace_bytes, sizes),
                    tiling_key=int(head[_TILING_KEY]),
                    **options,
                )
            except self.emulator.AscendSimError as error:
                raise InternalError(
                    f"the emulator of {self.target} stopped the kernel: {error}",
                    where=f"kernel {kernel.name}",
                    fix="report this with the model and the sizes",
                ) from error
            self.reports.append(report)
        made = (argument for argument in kernel.arguments if argument.is_output)
        return [output.view(numpy_dtype(a.dtype)) for output, a in zip(outputs, made, strict=True)]

    def _tiling_data(self, bundle: KernelBundle, sizes: Mapping[str, int]) -> bytes:
        values = (ctypes.c_int64 * max(1, len(bundle.symbols)))(*(sizes[name] for name in bundle.symbols))
        data = ctypes.create_string_buffer(bundle.tiling_bytes)
        status = getattr(self.tiling, bundle.tiling)(values, ctypes.c_int64(self.cores), data)
        if status != 0:
            known = {name: sizes[name] for name in bundle.symbols}
            raise RuntimeInputError(
                f"no tile sizes fit the sizes {known} on {self.target} (status {status})",
                where=f"kernel {bundle.name}",
                fix="use smaller sizes",
            )
        return data.raw


def load_sim(
    bundles: Sequence[KernelBundle], target: str, cache: ArtefactCache, toolchain: Toolchain, name: str
) -> SimKernels:
    """Compile ``bundles`` for the emulator of ``target`` and return them; ``name`` is that of the program.

    Raises ``ToolMissingError`` where the emulator is not installed, ``BuildError`` where a source does not compile.
    """
    emulator = _emulator()
    sources = {file.path: file.text for bundle in bundles for file in bundle.files}
    sources |= {file.name: file.text for bundle in bundles for file in bundle.support_files}
    parts = {"target": target, "compiler": toolchain.identity, "emulator": version("autofuse-ascend-sim"), **sources}
    recipe = Recipe("emulated", f"kernels of {name} for the emulator", tuple(sorted(parts.items())), toolchain.identity)

    def make(directory: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="autofuse-src-", dir=directory.parent) as folder:
            _compile(Path(folder), directory, bundles, sources, emulator, target, toolchain)

    directory = cache.entry(recipe, make)
    soc = emulator.load_soc(target)
    library = emulator.Library(path=directory / KERNELS, soc=soc, compiler=toolchain.driver)
    tiling = ctypes.CDLL(str(directory / TILING))
    return SimKernels({bundle.name: bundle for bundle in bundles}, target, emulator, library, tiling, soc.cores)


def _compile(
    folder: Path,
    directory: Path,
    bundles: Sequence[KernelBundle],
    sources: Mapping[str, str],
    emulator: ModuleType,
    target: str,
    toolchain: Toolchain,
) -> None:
    for path, text in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")

    def unit(role: FileRole, number: int, of: Sequence[str]) -> Path:
        path = folder / f"{role.value}_{number}.cpp"
        path.write_text("".join(f'#include "{name}"\n' for name in of), encoding="utf-8")
        return path

    def paths(role: FileRole) -> list[str]:
        return list(dict.fromkeys(file.path for bundle in bundles for file in bundle.files if file.role is role))

    kernels = paths(FileRole.KERNEL)
    starts = range(0, len(kernels), _KERNELS_PER_UNIT)
    units = [unit(FileRole.KERNEL, i, kernels[at : at + _KERNELS_PER_UNIT]) for i, at in enumerate(starts)]
    try:
        emulator.compile(units, target, output=directory / KERNELS, include_dirs=[folder], compiler=toolchain.driver)
    except emulator.CompileError as error:
        raise BuildError(
            f"a kernel does not compile: {error}", where=target, fix="report this with the model"
        ) from error
    host = unit(FileRole.TILING_FUNCTION, 0, paths(FileRole.TILING_FUNCTION))
    objects = [folder / "tiling.o", folder / "solver.o"]
    toolchain.compile_cpp(host, objects[0], HOST_FLAGS)
    toolchain.compile_cpp(folder / "af_tiling_solver.cpp", objects[1], HOST_FLAGS)
    toolchain.link_shared(objects, directory / TILING)


def _emulator() -> ModuleType:
    try:
        return importlib.import_module("autofuse_ascend_sim")
    except ImportError as error:
        raise ToolMissingError(
            "the emulator of Ascend chips is not installed",
            where="device sim",
            fix="pip install autofuse-ascend-sim",
        ) from error


def _stored_as(dtype: DType) -> Any:
    """The NumPy type of memory that kernels write; the emulator takes bfloat16 as its bits."""
    return np.dtype(np.uint16) if dtype == bfloat16 else numpy_dtype(dtype)


def _stored_as_array(array: Array) -> Any:
    return np.dtype(np.uint16) if array.dtype.name == "bfloat16" else array.dtype
