"""From return addresses to kernel lines."""

from __future__ import annotations

import shutil
from pathlib import Path

from autofuse_ascend_sim.errors import Place
from autofuse_ascend_sim.toolchain import include_dir, run_tool


def place_of(object_file: str, offset: int, api: str) -> Place:
    """Return the kernel line of the call that returns to `offset` in `object_file`.

    Of the chain of inlined functions, the innermost line outside of the emulator's headers is the kernel's. Without
    addr2line or debug information the line is unknown.
    """
    if object_file == "-" or shutil.which("addr2line") is None:
        return Place(api=api)
    # One byte back: a return address may already belong to the next line.
    answer = run_tool(["addr2line", "-i", "-e", object_file, hex(max(offset - 1, 0))]).stdout
    for frame in answer.splitlines():
        file, _, line = frame.partition(" ")[0].rpartition(":")
        if file in ("", "??") or file.startswith(str(include_dir())):
            continue
        if line.isdigit() and int(line) > 0:
            return Place(api=api, file=_shown(file), line=int(line))
    return Place(api=api)


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
