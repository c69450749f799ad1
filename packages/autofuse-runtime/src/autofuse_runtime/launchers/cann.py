"""CANN on this machine: where its compiler and its runtime library are."""

import os
import shutil
from pathlib import Path

from attrs import frozen

from autofuse_runtime.errors import ToolMissingError
from autofuse_runtime.toolchain import Toolchain, find_toolchain

COMPILER = ("compiler/ccec_compiler/bin/bisheng", "bin/bisheng", "compiler/bin/bisheng")
RUNTIME = ("lib64/libascendcl.so", "runtime/lib64/libascendcl.so", f"{os.uname().machine}-linux/lib64/libascendcl.so")


@frozen
class Cann:
    """A CANN: its folder, its compiler for kernels, and its runtime library."""

    home: Path
    compiler: Path
    runtime: Path

    def toolchain(self) -> Toolchain:
        """Return the compiler, as what starts its processes."""
        return find_toolchain(str(self.compiler))


def find_cann(home: str) -> Cann:
    """Return the CANN in folder ``home``, which its environment names ("" where it does not).

    Raises ``ToolMissingError``, in one paragraph that lists all that is missing.
    """
    missing = []
    folder = Path(home)
    if not home:
        missing.append("ASCEND_HOME_PATH is not set")
    elif not folder.is_dir():
        missing.append(f"ASCEND_HOME_PATH names {home}, which is no folder")
    compiler = _first(folder, COMPILER) if home else None
    if compiler is None and (found := shutil.which("bisheng")):
        compiler = Path(found)
    runtime = _first(folder, RUNTIME) if home else None
    if compiler is None:
        missing.append("its compiler (bisheng) was not found")
    if runtime is None:
        missing.append("its runtime library (libascendcl.so) was not found")
    if missing or compiler is None or runtime is None:
        raise ToolMissingError(
            f"kernels cannot run on an Ascend device here: {', '.join(missing)}",
            where="device real",
            fix="install CANN and source its set_env.sh, or use device sim, which runs kernels in the emulator",
        )
    return Cann(folder, compiler, runtime)


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).exists()), None)
