"""Run a kernel of a library: arguments to shared memory, a host process per launch, and its report back."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autofuse_ascend_sim.errors import (
    BlockDimError,
    HangError,
    LaunchError,
    Place,
)
from autofuse_ascend_sim.gm import Argument, SharedMemory, argument_lines, lay_out
from autofuse_ascend_sim.library import Library
from autofuse_ascend_sim.outcome import read_facts, report_of
from autofuse_ascend_sim.report import SimReport
from autofuse_ascend_sim.toolchain import host_program
from autofuse_ascend_sim.trace import name_lines

_MAX_ARGUMENTS = 66
_MAX_BLOCKS = 65535
_TIMELINE_ENTRIES = 16_000_000  # of all blocks together; 24 bytes each
_KILL_AFTER_SECONDS = 5.0
_MAX_SECONDS = 1_000_000
"""Longer timeouts are taken for mistakes: these are more than eleven days."""


def run(
    library: Library,
    entry: str,
    args: Sequence[Argument],
    tiling: bytes | None = None,
    block_dim: int = 1,
    workspace: int | np.ndarray | None = None,
    *,
    checks: str = "full",
    timing_only: bool = False,
    timeline: bool = True,
    trace: str | os.PathLike[str] | None = None,
    tiling_key: int = 0,
    threads: int | None = None,
    timeout: float = 60.0,
    oversubscribe: bool = False,
) -> SimReport:
    """Launch `entry` on `block_dim` blocks and return what happened.

    The kernel receives the addresses of `args` in order, then that of `workspace` bytes of zeroed memory (or of an
    array that is the workspace), then that of a copy of `tiling`; None leaves a parameter out, 0 or b"" passes the
    address of nothing. Arrays are written in place when the launch succeeds and stay as they were when it fails.

    `checks` is "full" or "static" (without missing synchronisation, uninitialised reads and conflicts between blocks).
    `timing_only` computes no values and reads GM as zeros; only the first and the last block run, which stand for all.
    `trace` names a Chrome-trace file to write. `threads` blocks run at a time, by default one per host core.
    `oversubscribe` allows more blocks than the SoC has cores: the chip runs them in waves.

    Raises `LaunchError` for arguments that do not fit, `EntryError` for a missing kernel, a subclass of `RuleError` for
    a broken rule, `CrashError` and `HangError` for user code that crashes or does not end within `timeout` seconds.
    """
    _check_launch(library, entry, args, block_dim, checks, oversubscribe)
    _check_host(threads, timeout, tiling_key, trace)
    regions, arrays, scalars, total = lay_out(args, tiling, workspace)
    with tempfile.TemporaryDirectory(prefix="ascend-sim-") as folder:
        job, report = Path(folder) / "job", Path(folder) / "report"
        memory = SharedMemory(total)
        try:
            for region, array in zip(regions, arrays, strict=True):
                # Without values only the tiling is looked at; the rest stays unbacked.
                if not timing_only or region.name == "tiling":
                    memory.write(region, array)
            sample = sorted({0, block_dim - 1}) if timing_only else []
            lines = [
                f"library {library.path.resolve()}",
                f"entry {entry}",
                f"memory {memory.fd} {total}",
                f"blocks {block_dim}",
                f"threads {threads or os.cpu_count() or 1}",
                f"timeout {timeout}",
                f"checks {checks}",
                f"values {int(not timing_only)}",
                f"timeline {int(timeline or timing_only or trace is not None)}",
                f"tiling_key {tiling_key}",
                f"event_limit {_TIMELINE_ENTRIES // (len(sample) or block_dim)}",
                f"sample {' '.join(map(str, sample))}",
                f"trace {Path(trace).resolve() if trace is not None else ''}",
                f"soc name {library.soc.name}",
            ]
            lines += [f"soc {key} {value!r}" for key, value in library.soc.numbers]
            lines += argument_lines(regions, scalars)
            job.write_text("\n".join(lines) + "\n", encoding="utf-8")
            output = _execute(job, report, memory, timeout)
            facts = read_facts(report, output, library, entry)
            if trace is not None:
                name_lines(Path(trace))
            if not timing_only:
                for region, array in zip(regions, arrays, strict=True):
                    memory.read(region, array)
        finally:
            memory.close()
    return report_of(facts, library, entry, block_dim, checks, output)


def _check_launch(
    library: Library, entry: str, args: Sequence[Argument], block_dim: int, checks: str, oversubscribe: bool
) -> None:
    if checks not in ("full", "static"):
        raise LaunchError(f'checks={checks!r}: it is "full" or "static"')
    if len(args) + 2 > _MAX_ARGUMENTS:
        raise LaunchError(f"{len(args)} arguments: a kernel can have {_MAX_ARGUMENTS - 2} beside workspace and tiling")
    if block_dim < 1:
        raise LaunchError(f"block_dim={block_dim}: a launch has at least one block")
    if block_dim > _MAX_BLOCKS:
        raise LaunchError(f"block_dim={block_dim}: a launch has at most {_MAX_BLOCKS} blocks")
    if block_dim > library.soc.cores and not oversubscribe:
        raise BlockDimError(
            f"{entry}: block_dim {block_dim} is more than the {library.soc.cores} vector cores of {library.soc.name}",
            block=-1,
            place=Place(),
            operand="block_dim",
            bytes=block_dim,
            limit=library.soc.cores,
        )


def _check_host(threads: int | None, timeout: float, tiling_key: int, trace: str | os.PathLike[str] | None) -> None:
    if threads is not None and threads < 1:
        raise LaunchError(f"threads={threads}: at least one block runs at a time")
    if not 0 < timeout < _MAX_SECONDS:
        raise LaunchError(f"timeout={timeout}: seconds, more than 0 and less than {_MAX_SECONDS}")
    if not 0 <= tiling_key < 2**64:
        raise LaunchError(f"tiling_key={tiling_key}: keys have 64 bits and no sign")
    if trace is not None and not Path(trace).resolve().parent.is_dir():
        raise LaunchError(f"trace={os.fspath(trace)!r}: the folder does not exist")


def _execute(job: Path, report: Path, memory: SharedMemory, timeout: float) -> str:
    """Run the host process; return what the kernel printed."""
    process = subprocess.Popen(
        [str(host_program()), str(job), str(report)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(memory.fd,),
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=timeout + _KILL_AFTER_SECONDS)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise HangError(f"the launch did not end within {timeout} seconds", block=-1, place=Place()) from error
    return output
