"""Ascend kernels on a device: what ``device="real"`` runs.

Built by the compiler of CANN, launched through its runtime library. This has been run with stand-ins of both, never on
an NPU.
"""

import ctypes
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from attrs import frozen
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.kernels import FileRole, KernelBundle
from autofuse_ir.program import ProgramKernel
from autofuse_ir.status import STATUS_BYTES

from autofuse_runtime.arrays import Array
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import InternalError
from autofuse_runtime.launchers.acl import AclDevice, device_of
from autofuse_runtime.launchers.cann import Cann
from autofuse_runtime.launchers.memory import check_status, inputs_of, outputs_of, results_of
from autofuse_runtime.launchers.tilings import Tilings, compile_tilings, files_of, sources_of, write_sources
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import Toolchain, in_parallel

TILING = "tiling.so"
LAUNCH = "_launch.cpp"
"""The end of the name of the source that launches a kernel."""

_ARCHITECTURE = "--npu-arch="


@frozen(eq=False)
class RealKernels:
    """The kernels of a program on ``device``: the library of each, by the path of its launch source."""

    bundles: dict[str, KernelBundle]
    libraries: dict[str, ctypes.CDLL]
    tilings: Tilings
    device: AclDevice

    def run(self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int]) -> list[Array]:
        """Return the outputs of ``kernel`` for ``inputs``, whose sizes are ``sizes``.

        Raises ``RuntimeInputError`` when no tiles fit, ``StatusError`` for values without a result,
        ``MemoryExhaustedError`` where the device has no memory left.
        """
        bundle = self.bundles[kernel.name]
        launch = self.tilings.decide(bundle, sizes)
        outputs = outputs_of(kernel, sizes)
        if launch.block_dim == 0:
            return results_of(kernel, outputs)
        with self.device.memory() as memory:
            given = [memory.put(array) for array in inputs_of(inputs)]
            made = [memory.take(output.nbytes) for output in outputs]
            workspace = memory.take(evaluate(kernel.workspace_bytes, sizes))
            words = np.zeros(launch.block_dim * STATUS_BYTES if kernel.status_messages else 0, np.uint8)
            memory.zero(workspace, words.nbytes)
            start = self.libraries[_launch_source(bundle)].AutofuseLaunch
            start.restype = ctypes.c_int64
            data = ctypes.create_string_buffer(launch.data, len(launch.data))
            blocks = ctypes.c_uint32(launch.block_dim)
            status = start(blocks, self.device.stream, *given, *made, workspace, data)
            if status != 0:
                raise InternalError(
                    f"its launch returned {status}", where=f"kernel {kernel.name}", fix="look into CANN's log"
                )
            self.device.wait()
            for address, output in zip(made, outputs, strict=True):
                memory.get(address, output)
            memory.get(workspace, words)
        check_status(kernel, words, launch.block_dim)
        return results_of(kernel, outputs)


def load_real(
    bundles: Sequence[KernelBundle],
    target: str,
    cores: int,
    cache: ArtefactCache,
    cann: Cann,
    toolchain: Toolchain,
    name: str,
) -> RealKernels:
    """Build ``bundles`` with ``cann`` (tiling functions with ``toolchain``) and return them, ready to launch.

    ``cores`` is how many vector cores ``target`` has, where the device does not say. Raises ``BuildError`` where a
    source does not compile.
    """
    compiler = cann.toolchain()
    sources = sources_of(bundles)
    parts = {"target": target, "compiler": compiler.identity, "host compiler": toolchain.identity, **sources}
    recipe = Recipe("device", f"kernels of {name} for {target}", tuple(sorted(parts.items())), compiler.identity)

    def make(directory: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="autofuse-src-", dir=directory.parent) as folder:
            write_sources(sources, Path(folder))
            unique = {_launch_source(bundle): bundle for bundle in bundles}

            def compile_one(bundle: KernelBundle) -> None:
                _compile(Path(folder), directory, bundle, compiler)

            in_parallel(compile_one, list(unique.values()), compiler)
            compile_tilings(Path(folder), bundles, toolchain, directory / TILING)

    directory = cache.entry(recipe, make)
    device = device_of(cann.runtime)
    tilings = Tilings(ctypes.CDLL(str(directory / TILING)), target, device.vector_cores(cores))
    libraries = {source: ctypes.CDLL(str(directory / _library(source))) for source in map(_launch_source, bundles)}
    return RealKernels({bundle.name: bundle for bundle in bundles}, libraries, tilings, device)


def _compile(folder: Path, directory: Path, bundle: KernelBundle, compiler: Toolchain) -> None:
    """Compile one kernel with its launch to a library of its own."""
    source = _launch_source(bundle)
    made = directory / _library(source)
    (architecture,) = (flag for flag in bundle.flags if flag.startswith(_ARCHITECTURE))
    objects = folder / f"{source}.o"
    flags = ("-x", "asc", architecture, "-O2", "-std=c++17", "-fPIC", f"-I{folder}")
    compiler.compile_cpp(folder / source, objects, flags)
    compiler.link_with_driver([objects], made)


def _launch_source(bundle: KernelBundle) -> str:
    return next(path for path in files_of([bundle], FileRole.SUPPORT) if path.endswith(LAUNCH))


def _library(source: str) -> str:
    return f"{source.removesuffix('.cpp')}.so"
