"""Build a program and its kernels into a bundle: a directory that can be moved, checked and loaded."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from autofuse_ir.abi import ABI_VERSION, header_text
from autofuse_ir.artefact import write
from autofuse_ir.contracts import Artefact
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_runtime.bundle import PROGRAM, Manifest, replacing, write_manifest, write_texts
from autofuse_runtime.c_header import c_header
from autofuse_runtime.c_model import file_stem
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import BuiltLibrary, bundle_sources, compile_library, kernel_sources
from autofuse_runtime.errors import BuildError, ToolMissingError
from autofuse_runtime.extension import carried_name, extension_file
from autofuse_runtime.isa import MachineIsa
from autofuse_runtime.settings import default_cache
from autofuse_runtime.toolchain import KERNEL_FLAGS, Toolchain, find_toolchain

_CMAKE = """cmake_minimum_required(VERSION 3.16)
project({name} CXX)
file(GLOB AF_SOURCES ${{CMAKE_CURRENT_SOURCE_DIR}}/*.cpp)
add_library({name} SHARED ${{AF_SOURCES}})
target_include_directories({name} PRIVATE ${{CMAKE_CURRENT_SOURCE_DIR}})
target_compile_options({name} PRIVATE {flags})
"""


def build(
    program: Program,
    bundles: Sequence[KernelBundle],
    target: TargetSpec,
    directory: str | Path,
    *,
    cache: ArtefactCache | None = None,
    toolchain: Toolchain | None = None,
    isa: str = "native",
    library: BuiltLibrary | None = None,
    extra_files: Mapping[str, str] | None = None,
    extra_artefacts: Mapping[str, Artefact] | None = None,
) -> Path:
    """Write the bundle of ``program`` to ``directory`` and return its path.

    ``library`` is what `compile_library` made already; without it the kernels are compiled (or found in ``cache``) for
    instruction set ``isa``. ``extra_files`` are texts by relative path (report.json), ``extra_artefacts`` artefacts by
    name (graph.json), their constants in the same folder as the program's. An existing bundle is replaced whole,
    anything else there is an error.

    Raises `ToolMissingError` without a compiler, `DiskError`, `BundleError`, `BuildError`.
    """
    if target.kind is not TargetKind.CPU:
        raise BuildError(
            f"this runtime builds for CPUs, not for {target.name}",
            where="build",
            fix="write the sources with write_sources() and build them with the target's own tools",
        )
    store = cache or default_cache()
    directory = Path(directory)
    with store.in_use():
        if program.kernels and (library is None or not library.path.exists()):
            library = compile_library(program, bundles, store, toolchain or find_toolchain(), isa)
        extension = _extension(store, toolchain)
        _write(directory, program, bundles, target, library, extension, extra_files or {}, extra_artefacts or {})
    return directory


def _extension(cache: ArtefactCache, toolchain: Toolchain | None) -> Path | None:
    """Return the extension of this Python, for machines without a compiler; None where it cannot be built here."""
    try:
        return extension_file(cache, toolchain)
    except ToolMissingError:
        return None


def _write(
    directory: Path,
    program: Program,
    bundles: Sequence[KernelBundle],
    target: TargetSpec,
    library: BuiltLibrary | None,
    extension: Path | None,
    extra_files: Mapping[str, str],
    extra_artefacts: Mapping[str, Artefact],
) -> None:
    with replacing(directory) as fresh:
        write_sources(program, bundles, fresh)
        write_texts(fresh, extra_files)
        for name, artefact in extra_artefacts.items():
            write(artefact, fresh / name)
        place = None
        (fresh / "lib").mkdir()
        if library is not None:
            place = f"lib/{file_stem(program)}.so"
            shutil.copyfile(library.path, fresh / place)
        if extension is not None:
            shutil.copyfile(extension, fresh / carried_name())
        write_manifest(
            fresh,
            Manifest(
                name=program.name,
                target=target.name,
                abi_version=ABI_VERSION,
                isa=library.isa if library else MachineIsa("any", "any", ()),
                compiler=library.compiler if library else "",
                flags=library.flags if library else (),
                library=place,
            ),
        )


def write_sources(
    program: Program, bundles: Sequence[KernelBundle], directory: Path, *, c_library: bool = True
) -> None:
    """Write ``program.json``, ``src/`` and ``include/`` of a bundle: all of it that needs no compiler.

    ``c_library`` False: the kernels are not functions of one C library, as those of a chip are not. They bring what
    they are built and called with, and nothing is added.
    """
    write(program, directory / PROGRAM)
    if not c_library:
        write_texts(directory, {f"src/{path}": text for path, text in bundle_sources(bundles).items()})
        return
    stem = file_stem(program)
    texts = {f"src/{path}": text for path, text in kernel_sources(program, bundles).items()}
    flags = " ".join(json.dumps(flag) for flag in (*KERNEL_FLAGS, "-march=native"))
    texts["src/CMakeLists.txt"] = _CMAKE.format(name=stem, flags=flags)
    texts["include/af_abi.h"] = header_text()
    texts[f"include/{stem}.h"] = c_header(program)
    write_texts(directory, texts)
