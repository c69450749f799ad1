"""From return addresses to kernel lines."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from autofuse_ascend_sim.errors import Place
from autofuse_ascend_sim.toolchain import include_dir, run_tool


def place_of(object_file: str, offset: int, api: str) -> Place:
    """Return the kernel line of the call that returns to `offset` in `object_file`.

    Of the chain of inlined functions, the innermost line outside of the emulator's headers is the kernel's. Without
    addr2line or debug information the line is unknown.
    """
    file, line = lines_of(object_file, (offset,))[0]
    return Place(api=api, file=file, line=line)


def lines_of(object_file: str, offsets: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Return (file, line) of each return address, ("", 0) where unknown."""
    if object_file == "-" or not offsets or shutil.which("addr2line") is None:
        return (("", 0),) * len(offsets)
    # One byte back: a return address may already belong to the next line. -a separates the answers.
    addresses = [hex(max(offset - 1, 0)) for offset in offsets]
    answer = run_tool(["addr2line", "-a", "-i", "-e", object_file, *addresses]).stdout
    groups = [group.splitlines()[1:] for group in re.split(r"^(?=0x)", answer, flags=re.MULTILINE) if group]
    return tuple(_kernel_line(group) for group in groups)


def function_at(object_file: str, offset: int) -> str:
    """Return the name of the function around the return address `offset`, as it is exported; "" where unknown."""
    if object_file == "-" or shutil.which("addr2line") is None:
        return ""
    answer = run_tool(["addr2line", "-f", "-i", "-e", object_file, hex(max(offset - 1, 0))]).stdout.splitlines()
    return answer[-2] if len(answer) > 1 else ""  # the outermost of the inlined functions


def _kernel_line(frames: Sequence[str]) -> tuple[str, int]:
    for frame in frames:
        file, _, line = frame.partition(" ")[0].rpartition(":")
        if file in ("", "??") or file.startswith(str(include_dir())):
            continue
        if line.isdigit() and int(line) > 0:
            return _shown(file), int(line)
    return "", 0


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
