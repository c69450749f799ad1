"""Open a bundle: path -> a callable module."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autofuse_ir.artefact import read
from autofuse_ir.checks import verify
from autofuse_ir.program import Program

from autofuse_runtime.bundle import PROGRAM, check_files, read_manifest
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import BundleError, ToolMissingError
from autofuse_runtime.execute import HostBackend
from autofuse_runtime.extension import carried_name, load_extension
from autofuse_runtime.load import Interpreter, check_machine, load_interpreted, load_program
from autofuse_runtime.module import CompiledModule
from autofuse_runtime.settings import default_cache
from autofuse_runtime.toolchain import Toolchain


def open_bundle(
    path: str | Path,
    hosts: Mapping[str, HostBackend] | None = None,
    *,
    cache: ArtefactCache | None = None,
    toolchain: Toolchain | None = None,
    threads: int | None = None,
    interpreter: Interpreter | None = None,
) -> Callable[..., Any]:
    """Return the bundle at ``path`` as a callable; `CompiledModule` documents its attributes.

    Every file is compared with its sha256 before anything is loaded. The extension is compiled on first use; where
    there is no compiler, the bundle's own is taken. It fits the Python that made the bundle: on others, ``interpreter``
    runs the program, where it is given, after a one-line warning. Raises `BundleError`, `ToolMissingError`.
    """
    module = open_module(path, hosts, cache=cache, toolchain=toolchain, threads=threads, interpreter=interpreter)
    return module.function


def open_module(
    path: str | Path,
    hosts: Mapping[str, HostBackend] | None = None,
    *,
    cache: ArtefactCache | None = None,
    toolchain: Toolchain | None = None,
    threads: int | None = None,
    interpreter: Interpreter | None = None,
) -> CompiledModule:
    """Return the module of the bundle at ``path``: what `open_bundle` returns the callable of."""
    directory = Path(path)
    manifest = read_manifest(directory)
    check_files(directory, manifest)
    check_machine(manifest, str(directory))
    program = read(directory / PROGRAM)
    if not isinstance(program, Program):
        raise BundleError(
            f"program.json holds a {type(program).__name__}", where=str(directory), fix="compile the model again"
        )
    verify(program)
    library = directory / manifest.library if manifest.library else None
    store = cache or default_cache()
    try:
        carried = directory / carried_name() if carried_name() in dict(manifest.files) else None
        extension = load_extension(store, toolchain, carried=carried)
    except ToolMissingError as error:
        if interpreter is None:
            raise
        warnings.warn(f"{error.what}; {program.name} runs on the interpreter", RuntimeWarning, stacklevel=3)
        return load_interpreted(program, interpreter, hosts)
    return load_program(program, library, extension, hosts=hosts, threads=threads)
