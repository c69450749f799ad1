"""A stand-in for CANN's folder: headers, compiler and runtime library with the names that AutoFuse uses, and no chip.

Written from the documented names and meanings, not from CANN's files. The compiler checks its flags and compiles
kernels for the emulator; launches run there. What passes here has the right shape for CANN; it has not run on an NPU.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE / "include"


def make_fake_cann(folder: Path) -> Path:
    """Make the stand-in in ``folder`` and return it: what ``ASCEND_HOME_PATH`` names.

    ``folder/log`` lists the calls of the compiler and of the runtime library.
    """
    for name in ("bin", "lib64"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(INCLUDE, folder / "include")
    compiler = folder / "bin" / "bisheng"
    compiler.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "compiler.py"}" "{folder}" "$@"\n')
    compiler.chmod(0o755)
    flags = ["-std=c++17", "-shared", "-fPIC", f'-DPYTHON="{sys.executable}"', f'-DLAUNCH="{HERE / "launch.py"}"']
    flags.append(f'-DLOG="{folder / "log"}"')
    library = folder / "lib64" / "libascendcl.so"
    subprocess.run(["g++", *flags, str(HERE / "acl.cpp"), "-o", str(library)], check=True)
    for name in ("platform", "tiling_api", "register"):
        empty = ["g++", "-shared", "-fPIC", "-x", "c++", "/dev/null", "-o", str(folder / "lib64" / f"lib{name}.so")]
        subprocess.run(empty, check=True)
    return folder


def log_of(folder: Path) -> list[str]:
    """Return the calls so far, one a line."""
    file = folder / "log"
    return file.read_text().splitlines() if file.exists() else []
