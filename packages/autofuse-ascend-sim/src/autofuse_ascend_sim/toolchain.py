"""The host compiler, and the emulator's run time built with it once per machine."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from autofuse_ascend_sim.errors import ToolchainError

_PACKAGE = Path(__file__).parent
_RUNTIME_FLAGS = ("-std=c++17", "-O3", "-ffp-contract=off", "-g1", "-Wall", "-Wextra", "-pthread")
# The run time is the same for every SoC; its headers only need some architecture to be named.
_RUNTIME_ARCH = 3510


def include_dir() -> Path:
    """Return the folder to pass to a compiler with `-I`: it holds `kernel_operator.h`."""
    return _PACKAGE / "include"


def find_compiler(name: str | None = None) -> str:
    """Return the path of the C++ compiler: `name`, else `$CXX`, else g++, else clang++."""
    for candidate in (name, os.environ.get("CXX")) if name or os.environ.get("CXX") else ("g++", "clang++"):
        if candidate and (path := shutil.which(candidate)):
            return path
    wanted = name or os.environ.get("CXX") or "g++ or clang++"
    raise ToolchainError(f"no C++ compiler: {wanted} was not found on PATH; install g++ 11 or clang++ 14 or newer")


def cache_dir() -> Path:
    """Return the folder for built files: `$AUTOFUSE_ASCEND_SIM_CACHE`, else the user's cache folder."""
    if chosen := os.environ.get("AUTOFUSE_ASCEND_SIM_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autofuse-ascend-sim"


@cache
def compiler_version(compiler: str) -> str:
    """Return the first line that the compiler says about itself."""
    return run_tool([compiler, "--version"]).stdout.splitlines()[0]


def run_tool(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a tool and return what it said, whatever its exit status."""
    return subprocess.run(command, capture_output=True, text=True, check=False)


def host_program() -> Path:
    """Return the program that runs kernels, building it on first use (some seconds, once per machine).

    Any compiler's kernels run in it: both follow the same C++ binary interface.
    """
    compiler = find_compiler()
    sources = sorted((_PACKAGE / "runtime").glob("*.cpp"))
    shared = re.findall(r'#include "(af_\w+\.h)"', (_PACKAGE / "runtime" / "seam.h").read_text(encoding="utf-8"))
    headers = [*sorted((_PACKAGE / "runtime").glob("*.h")), *(include_dir() / name for name in shared)]
    digest = hashlib.sha256()
    for part in (compiler, compiler_version(compiler), " ".join(_RUNTIME_FLAGS), _processor()):
        digest.update(part.encode())
    for path in (*sources, *headers):
        digest.update(path.read_bytes())
    program = cache_dir() / f"host-{digest.hexdigest()[:16]}"
    if not program.exists():
        _build(compiler, sources, program)
    return program


def _processor() -> str:
    """Return what -march=native depends on, so that a cache shared by machines keeps one program for each kind."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _build(compiler: str, sources: Sequence[Path], program: Path) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=program.parent) as folder:
        native = run_tool([compiler, "-march=native", "-E", "-x", "c++", os.devnull, "-o", os.devnull])
        flags = [*_RUNTIME_FLAGS, *(["-march=native"] if native.returncode == 0 else [])]
        flags += [f"-D__NPU_ARCH__={_RUNTIME_ARCH}", f"-I{include_dir()}"]

        def compile_one(source: Path) -> subprocess.CompletedProcess[str]:
            return run_tool([compiler, *flags, "-c", str(source), "-o", f"{folder}/{source.stem}.o"])

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            results = list(pool.map(compile_one, sources))
        for result in results:
            if result.returncode != 0:
                raise ToolchainError(f"the emulator's run time does not compile with {compiler}:\n{result.stderr}")
        program.with_suffix(".warnings").write_text("".join(r.stderr for r in results), encoding="utf-8")
        objects = [f"{folder}/{source.stem}.o" for source in sources]
        built = f"{folder}/host"
        linked = run_tool([compiler, "-rdynamic", "-pthread", *objects, "-o", built, "-ldl"])
        if linked.returncode != 0:
            raise ToolchainError(f"the emulator's run time does not link with {compiler}:\n{linked.stderr}")
        Path(built).replace(program)  # atomic: two processes may build at the same time
