"""Load what was built: the bundle checked first, then the library, then a callable module."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from autofuse_ir.abi import ABI_VERSION
from autofuse_ir.program import Program

from autofuse_runtime import pool
from autofuse_runtime.arrays import stand_in
from autofuse_runtime.bundle import Manifest
from autofuse_runtime.errors import BundleError
from autofuse_runtime.execute import HostBackend, compile_regions
from autofuse_runtime.faults import FaultReporter
from autofuse_runtime.isa import missing_features, this_machine
from autofuse_runtime.module import CompiledModule, Executor
from autofuse_runtime.plan import make_plan

Interpreter: TypeAlias = Callable[[Program, Mapping[str, HostBackend]], Executor]
"""Makes the executor of the interpreter tier (autofuse-reference has one)."""


def check_machine(manifest: Manifest, where: str) -> None:
    """Raise `BundleError`, naming what is missing, where this machine or runtime cannot run the bundle's library."""
    if manifest.library is None:
        return
    if manifest.abi_version != ABI_VERSION:
        raise BundleError(
            f"the bundle's kernels have ABI version {manifest.abi_version}, this runtime speaks {ABI_VERSION}",
            where=where,
            fix="compile the model again with this version",
        )
    missing = missing_features(manifest.isa, this_machine())
    if missing:
        raise BundleError(
            f"the bundle was built for {manifest.isa.architecture} ({manifest.isa.level}); "
            f"this machine ({this_machine().level}) lacks {', '.join(missing)}",
            where=where,
            fix="compile the model again on this machine",
        )


def load_library(extension: ModuleType, path: Path) -> Any:
    """Return the loaded kernel library; raises `BundleError` where it cannot be loaded or has another ABI version."""
    try:
        library = extension.Library(path)
    except OSError as error:
        raise BundleError(
            f"the kernel library cannot be loaded ({error})", where=str(path), fix="compile the model again"
        ) from error
    if library.abi_version != ABI_VERSION:
        raise BundleError(
            f"the kernel library has ABI version {library.abi_version}, this runtime speaks {ABI_VERSION}",
            where=str(path),
            fix="compile the model again with this version",
        )
    return library


def check_kernels(program: Program, library: Any, where: str) -> None:
    """Raise `BundleError` where the library lacks a kernel of the program or has another one of that name."""
    found = {row[0]: row[1:] for row in library.kernels}
    for kernel in program.kernels:
        outputs = sum(argument.is_output for argument in kernel.arguments)
        wanted = (len(kernel.symbols), len(kernel.arguments) - outputs, outputs, kernel.tiling_bytes)
        if found.get(kernel.name) != wanted:
            raise BundleError(
                f"the kernel library does not hold kernel {kernel.name} as program.json describes it",
                where=where,
                fix="compile the model again",
            )


def load_program(
    program: Program,
    library: Path | None,
    extension: ModuleType,
    *,
    hosts: Mapping[str, HostBackend] | None = None,
    threads: int | None = None,
    face: CompiledModule | None = None,
) -> CompiledModule:
    """Return ``program`` ready to run: kernels from ``library`` (None where it calls none), host steps by ``hosts``.

    ``face`` is the object that shows the module to the user (default: a new `CompiledModule`); its ``function`` is
    what to call. Raises `BundleError` for a library that does not fit, `ToolMissingError` for a missing host backend.
    """
    pool.start(extension, threads)
    loaded = None
    if program.kernels:
        if library is None:
            raise BundleError("the program calls kernels, but there is no library", where=program.name)
        loaded = load_library(extension, library)
        check_kernels(program, loaded, str(library))
    module = CompiledModule(program) if face is None else face
    plan = make_plan(program, loaded, compile_regions(program, hosts or {}))
    reporter = FaultReporter(program, plan)
    cache_bytes = pool.last_level_cache_bytes()
    native = extension.Module(plan.source, module, module.binder.explain, reporter.report, stand_in, cache_bytes)
    module.attach(native)
    module.set_num_threads = extension.set_num_threads
    return module


def load_interpreted(
    program: Program, interpreter: Interpreter, hosts: Mapping[str, HostBackend] | None = None
) -> CompiledModule:
    """Return ``program`` run by an interpreter: the same arguments, checks and errors, no compiler."""
    return CompiledModule(program, interpreter(program, hosts or {}))
