"""Run a kernel of a library: arguments to shared memory, a host process per launch, and its report back."""

from __future__ import annotations

import mmap
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import frozen

from autofuse_ascend_sim.errors import (
    RULE_ERRORS,
    BlockDimError,
    CrashError,
    EntryError,
    HangError,
    LaunchError,
    Place,
)
from autofuse_ascend_sim.library import Library, kernel_names
from autofuse_ascend_sim.lines import function_at, place_of
from autofuse_ascend_sim.report import SimReport
from autofuse_ascend_sim.toolchain import host_program
from autofuse_ascend_sim.trace import name_lines

Argument = np.ndarray | int | np.integer
"""A tensor in GM (a C-contiguous array, written in place) or a scalar parameter (an integer)."""

_PAGE = mmap.PAGESIZE
_MAX_ARGUMENTS = 32
_MAX_BLOCKS = 65535
_TIMELINE_ENTRIES = 16_000_000  # of all blocks together; 24 bytes each
_KILL_AFTER_SECONDS = 5.0
_MAX_SECONDS = 1_000_000


@frozen
class _Region:
    """One argument in the shared mapping: name for messages, offset and bytes; an unmapped page follows it."""

    name: str
    offset: int
    bytes: int


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
    regions, arrays, scalars, total = _lay_out(args, tiling, workspace)
    with tempfile.TemporaryDirectory(prefix="ascend-sim-") as folder:
        job, report = Path(folder) / "job", Path(folder) / "report"
        memory = _SharedMemory(total)
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
            lines += _argument_lines(regions, scalars)
            job.write_text("\n".join(lines) + "\n", encoding="utf-8")
            output = _execute(job, report, memory, timeout)
            facts = _read_report(report, output, library, entry)
            if trace is not None:
                name_lines(Path(trace))
            if not timing_only:
                for region, array in zip(regions, arrays, strict=True):
                    memory.read(region, array)
        finally:
            memory.close()
    return _report(facts, library, entry, block_dim, checks, output)


class _SharedMemory:
    """GM of one launch, shared with the host process."""

    def __init__(self, size: int) -> None:
        self.fd = os.memfd_create("ascend-sim-gm")
        os.ftruncate(self.fd, size)
        self._map = mmap.mmap(self.fd, size)

    def _view(self, region: _Region, dtype: np.dtype[np.generic]) -> np.ndarray:
        return np.frombuffer(self._map, dtype, region.bytes // dtype.itemsize, region.offset)

    def write(self, region: _Region, array: np.ndarray | None) -> None:
        """Copy an argument in; memory without one is zero."""
        if array is not None and region.bytes:
            np.copyto(self._view(region, array.dtype), array.reshape(-1))

    def read(self, region: _Region, array: np.ndarray | None) -> None:
        """Copy an argument back."""
        if array is not None and region.bytes and array.flags.writeable:
            np.copyto(array.reshape(-1), self._view(region, array.dtype))

    def close(self) -> None:
        """Give the memory back."""
        self._map.close()
        os.close(self.fd)


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


def _lay_out(
    args: Sequence[Argument], tiling: bytes | None, workspace: int | np.ndarray | None
) -> tuple[list[_Region], list[np.ndarray | None], list[tuple[int, int]], int]:
    """Return regions and arrays of memory arguments, (position, value) of scalars, and the bytes of the mapping."""
    regions: list[_Region] = []
    arrays: list[np.ndarray | None] = []
    scalars: list[tuple[int, int]] = []
    offset = 0

    def place(name: str, size: int, array: np.ndarray | None) -> None:
        nonlocal offset
        same = _same_memory(name, array, regions, arrays)
        regions.append(_Region(name, offset if same is None else same.offset, size))
        arrays.append(array)
        if same is None:
            offset += -(-max(size, 1) // _PAGE) * _PAGE + _PAGE

    for index, value in enumerate(args):
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise LaunchError(f"args[{index}]: the array is not C-contiguous; pass np.ascontiguousarray(...)")
            if value.dtype.hasobject:
                raise LaunchError(f"args[{index}]: arrays of Python objects have no bytes to pass")
            if not value.dtype.isnative:
                raise LaunchError(f"args[{index}]: the bytes of {value.dtype.str} elements are in foreign order")
            place(f"args[{index}]", value.nbytes, value)
        elif isinstance(value, int | np.integer):
            scalars.append((index, int(value) & (2**64 - 1)))
        else:
            raise LaunchError(f"args[{index}]: {type(value).__name__} is neither a NumPy array nor an integer")
    if isinstance(workspace, np.ndarray):
        if not workspace.flags.c_contiguous:
            raise LaunchError("workspace: the array is not C-contiguous; pass np.ascontiguousarray(...)")
        place("workspace", workspace.nbytes, workspace)
    elif workspace is not None:
        if workspace < 0 or workspace > 2**40:
            raise LaunchError(f"workspace={workspace}: bytes must be between 0 and 2**40")
        place("workspace", workspace, None)
    if tiling is not None:
        place("tiling", len(tiling), np.frombuffer(tiling, np.uint8) if tiling else None)
    return regions, arrays, scalars, max(offset, _PAGE)


def _same_memory(
    name: str, array: np.ndarray | None, regions: Sequence[_Region], arrays: Sequence[np.ndarray | None]
) -> _Region | None:
    """Return the region of an earlier argument with exactly the memory of `array`: aliases stay aliases."""
    for region, other in zip(regions, arrays, strict=True):
        if array is None or other is None or not array.size or not np.may_share_memory(array, other):
            continue
        if (array.ctypes.data, array.nbytes) != (other.ctypes.data, other.nbytes):
            raise LaunchError(f"{name} and {region.name} overlap without being the same memory: pass copies")
        return region
    return None


def _argument_lines(regions: Sequence[_Region], scalars: Sequence[tuple[int, int]]) -> list[str]:
    lines = [f"argument {region.offset} {region.bytes} {region.name}" for region in regions]
    for position, value in scalars:
        lines.insert(position, f"scalar {value}")
    return lines


def _execute(job: Path, report: Path, memory: _SharedMemory, timeout: float) -> str:
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


def _read_report(path: Path, output: str, library: Library, entry: str) -> list[tuple[str, str]]:
    if not path.exists():
        raise CrashError(
            f"{entry}: the host process ended without a report{': ' + output.strip() if output.strip() else ''}",
            block=-1,
            place=Place(),
        )
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    facts = [(key, value) for key, _, value in (line.partition(" ") for line in lines)]
    if dict(facts)["status"] != "ok":
        _raise(dict(facts), library, entry)
    return facts


def _raise(facts: dict[str, str], library: Library, entry: str) -> None:
    message, kind = facts["message"], facts["kind"]
    if kind == "entry":
        names = ", ".join(kernel_names(library)) or "no kernel"
        raise EntryError(f'the library has no kernel {entry!r}; it exports {names} (kernels need extern "C")')
    if kind in ("load", "usage"):
        raise LaunchError(f"{entry}: {message}")
    block, place, other = int(facts["block"]), _place(facts.get("site")), _place(facts.get("other"))
    if kind in ("crash", "timeout") and (not place.line or _is_elsewhere(facts.get("site"), library, entry)):
        place = other
    where = f"{entry}, block {block}, {place}"
    if kind == "crash":
        raise CrashError(f"{where}: the kernel crashed: {message}", block=block, place=place)
    if kind == "timeout":
        raise HangError(f"{where}: the kernel did not end in time and was stopped there", block=block, place=place)
    operand, size, limit = facts["operand"], int(facts["bytes"]), int(facts["limit"])
    numbers = "" if size < 0 else f" [{size}" + (f" of {limit}]" if limit >= 0 else "]")
    second = f"; the other call is {other}" if facts.get("other") else ""
    raise RULE_ERRORS[facts["rule"]](
        f"{where}{', ' + operand if operand else ''}: {message}{numbers}{second}",
        block=block,
        place=place,
        operand=operand,
        bytes=size if size >= 0 else None,
        limit=limit if limit >= 0 else None,
        other=other if facts.get("other") else None,
    )


def _is_elsewhere(text: str | None, library: Library, entry: str) -> bool:
    """True where a signal's address is told to lie in another kernel than the one that runs.

    Stubs of the linker have no lines of their own, and the nearest ones may be those of any function.
    """
    if not text:
        return False
    rest, _, _ = text.rpartition(" ")
    object_file, _, offset = rest.rpartition(" ")
    function = function_at(object_file, int(offset))
    return function != entry and function in kernel_names(library)


def _place(text: str | None) -> Place:
    """Return the place that the host wrote as `object-file offset api`."""
    if not text:
        return Place()
    rest, _, api = text.rpartition(" ")
    object_file, _, offset = rest.rpartition(" ")
    return place_of(object_file, int(offset), api)


def _report(
    facts: list[tuple[str, str]], library: Library, entry: str, block_dim: int, checks: str, output: str
) -> SimReport:
    values = dict(facts)
    busy = [value.split() for key, value in facts if key == "busy"]
    stalls = [value.split() for key, value in facts if key == "stall"]
    return SimReport(
        soc=library.soc.name,
        entry=entry,
        blocks=block_dim,
        checks=checks,
        cycles=float(values.get("cycles", 0)),
        microseconds=float(values.get("microseconds", 0)),
        busy_cycles=tuple((pipe, float(cycles)) for pipe, cycles in busy),
        stall_cycles=tuple((pipe, cause, float(cycles)) for pipe, cause, cycles in stalls),
        ub_high_water=int(values["ub_high_water"]),
        loaded_bytes=int(values["loaded_bytes"]),
        stored_bytes=int(values["stored_bytes"]),
        host_seconds=float(values["host_seconds"]),
        host_processor_seconds=float(values["host_processor_seconds"]),
        output=output,
        is_time_complete=values.get("timeline_complete", "1") == "1",
        notes=tuple(value for key, value in facts if key == "note"),
    )
