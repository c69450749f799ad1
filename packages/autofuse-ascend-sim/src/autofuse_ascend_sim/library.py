"""Compile Ascend C sources into a library that the emulator can run."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

from autofuse_ascend_sim.errors import CompileError
from autofuse_ascend_sim.soc import Soc, load_soc
from autofuse_ascend_sim.toolchain import find_compiler, include_dir, run_tool

_FLAGS = (
    "-std=c++17",
    "-O2",
    "-g1",
    # With DWARF 5, addr2line 2.40 takes functions of headers that are not inlined for ones of the kernel's file.
    "-gdwarf-4",
    "-fPIC",
    "-shared",
    "-Wall",
    "-fno-exceptions",
    "-fno-rtti",
    "-ffp-contract=off",
    # Errors name the kernel line by return address: a tail call would leave no trace of the line.
    "-fno-optimize-sibling-calls",
)


@frozen
class Library:
    """Compiled kernels: the shared object, the SoC they were compiled for, and the compiler used."""

    path: Path
    soc: Soc
    compiler: str
    sources: tuple[Path, ...] = ()


def compile(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    soc: str,
    *,
    output: str | os.PathLike[str] | None = None,
    compiler: str | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    flags: Sequence[str] = (),
) -> Library:
    """Return a library of the kernels in `sources` (paths of C++ files) for `soc`.

    The library is written to `output`, else to a temporary folder that lives as long as the process. Raises
    `CompileError` with the first error as one paragraph.
    """
    target = load_soc(soc)
    paths = tuple(Path(s) for s in ([sources] if isinstance(sources, str | os.PathLike) else sources))
    if not paths:
        raise CompileError("no sources were given")
    for path in paths:
        if not path.is_file():
            raise CompileError(f"{path}: no such file")
    cxx = find_compiler(compiler)
    library = Path(output) if output is not None else _temporary_folder() / "kernels.so"
    command = [cxx, *_FLAGS, f"-D__NPU_ARCH__={target.arch}", f"-I{include_dir()}"]
    command += [f"-I{folder}" for folder in include_dirs]
    command += [*flags, *(str(path) for path in paths), "-o", str(library)]
    result = run_tool(command)
    if result.returncode != 0 or not library.is_file():
        raise CompileError(_first_error(result.stderr, soc), result.stderr)
    return Library(path=library, soc=target, compiler=cxx, sources=paths)


def _temporary_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="ascend-sim-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def kernel_names(library: Library) -> tuple[str, ...]:
    """Return the functions that the library exports with C linkage."""
    listed = run_tool(["nm", "-D", "--defined-only", str(library.path)]).stdout
    names = [line.split()[-1] for line in listed.splitlines() if " T " in line]
    return tuple(sorted(name for name in names if not name.startswith("_")))


_ERROR = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_REQUIRED_FROM = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)?\s+"
    r"(?:required from here|note: in instantiation of .* requested here|note: in expansion of macro .*)",
    re.MULTILINE,
)


def _first_error(output: str, soc: str) -> str:
    """Return the first error with the kernel line that caused it, also where the error itself lies in a header."""
    found = _ERROR.search(output)
    if found is None:
        return f"the kernel does not compile for {soc}: {' '.join(output.split()) or 'the compiler said nothing'}"
    file, line, text = found["file"], found["line"], found["text"]
    text = text.removeprefix("static assertion failed: ").removeprefix("static_assert failed ").strip('"')
    text = re.sub(r"^static assertion failed due to requirement '[^']*'[^:]*: ?", "", text).strip('"')
    if file.startswith(str(include_dir())):
        for caller in _REQUIRED_FROM.finditer(output):
            if not caller["file"].startswith(str(include_dir())):
                return f"{caller['file']}:{caller['line']}: {text} (compiling for {soc})"
    return f"{file}:{line}: {text} (compiling for {soc})"
