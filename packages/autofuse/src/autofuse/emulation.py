"""One call of a model on emulated chips, with a timeline of every launch.

Launches follow one another on the timeline; what host steps take is not on it. Times are the emulator's estimates.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from autofuse_ir.program import ProgramKernel
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_reference.executor import ProgramExecutor
from autofuse_runtime.arrays import Array
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.launchers.sim import SimKernels, load_sim
from autofuse_runtime.module import CompiledModule
from autofuse_runtime.toolchain import find_toolchain

from autofuse import plugins
from autofuse.errors import DriverError
from autofuse.options import settings
from autofuse.pipeline import Lowered

BLOCKS_PER_LAUNCH = 1000
"""Distance of the process numbers of two launches in a timeline: more than any chip has cores."""


@frozen
class Launch:
    """One launch as the emulator saw it: cycles in all and of each pipe, bytes of UB that buffers took, bytes moved.

    ``busy_cycles`` and ``stall_cycles`` (pipe, cause, cycles) are those of the block that ended last.
    """

    kernel: str
    sizes: tuple[tuple[str, int], ...]
    blocks: int
    cycles: float
    microseconds: float
    busy_cycles: tuple[tuple[str, float], ...]
    stall_cycles: tuple[tuple[str, str, float], ...]
    local_bytes: int
    loaded_bytes: int
    stored_bytes: int

    def as_data(self) -> dict[str, Any]:
        """Return the launch as JSON data."""
        return {
            "kernel": self.kernel,
            "sizes": dict(self.sizes),
            "blocks": self.blocks,
            "cycles": self.cycles,
            "us": self.microseconds,
            "busy_cycles": dict(self.busy_cycles),
            "stall_cycles": [list(stall) for stall in self.stall_cycles],
            "local_bytes": self.local_bytes,
            "loaded_bytes": self.loaded_bytes,
            "stored_bytes": self.stored_bytes,
        }


@frozen(eq=False)
class Emulation:
    """A call: its results, its launches in order, and a Chrome trace of all of them (JSON data)."""

    results: tuple[object, ...]
    launches: tuple[Launch, ...]
    trace: dict[str, Any]


def emulate(lowered: Lowered, target: TargetSpec, arguments: Sequence[object], timing_only: bool = False) -> Emulation:
    """Run ``lowered`` once on the emulator of ``target``.

    ``timing_only``: kernels compute no values (their results are zeros), and of each launch the first and the last
    block run, which stand for all. Raises ``DriverError`` for targets that have no emulator.
    """
    if target.kind is not TargetKind.ASCEND:
        raise DriverError(
            f"there is no emulator of target {target.name}", where="trace", fix="give --target ascend-a2, -a3 or -350"
        )
    cache = ArtefactCache(settings().cache)
    kernels = load_sim(lowered.bundles, target.name, cache, find_toolchain(), lowered.program.name)
    with tempfile.TemporaryDirectory(prefix="autofuse-trace-") as folder:
        recorder = _Recorder(kernels, Path(folder), timing_only)
        executor = ProgramExecutor(lowered.program, plugins.hosts(), run_kernel=recorder.run, tier="sim")
        results = CompiledModule(lowered.program, executor)(*arguments)
    listed = results if isinstance(results, tuple) else (results,)
    return Emulation(listed, tuple(recorder.launches), recorder.timeline())


class _Recorder:
    """Runs kernels and keeps what the emulator says of each launch."""

    def __init__(self, kernels: SimKernels, folder: Path, timing_only: bool) -> None:
        self.kernels = kernels
        self.file = folder / "trace.json"
        self.timing_only = timing_only
        self.launches: list[Launch] = []
        self.events: list[dict[str, Any]] = []

    def run(self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int]) -> Sequence[Array]:
        """Launch ``kernel`` and return its results."""
        before = len(self.kernels.reports)
        results = self.kernels.run(kernel, inputs, sizes, trace=self.file, timing_only=self.timing_only)
        for report in self.kernels.reports[before:]:
            known = {name: sizes[name] for name in self.kernels.bundles[kernel.name].symbols}
            self._add(kernel.name, tuple(sorted(known.items())), report)
        return results

    def _add(self, kernel: str, sizes: tuple[tuple[str, int], ...], report: Any) -> None:
        number = len(self.launches)
        start = sum(launch.microseconds for launch in self.launches)
        for event in json.loads(self.file.read_text(encoding="utf-8"))["traceEvents"]:
            event["pid"] += number * BLOCKS_PER_LAUNCH
            if "ts" in event:
                event["ts"] += start
            if "line" in event["args"]:
                event["args"]["line"] = Path(event["args"]["line"]).name  # sources lay in a folder that is gone
            if event["ph"] == "M" and event["name"] == "process_name":
                event["args"]["name"] = f"{number}: {kernel}, {event['args']['name']}"
            self.events.append(event)
        self.launches.append(
            Launch(
                kernel=kernel,
                sizes=sizes,
                blocks=report.blocks,
                cycles=report.cycles,
                microseconds=report.microseconds,
                busy_cycles=report.busy_cycles,
                stall_cycles=report.stall_cycles,
                local_bytes=report.ub_high_water,
                loaded_bytes=report.loaded_bytes,
                stored_bytes=report.stored_bytes,
            )
        )

    def timeline(self) -> dict[str, Any]:
        """Return the events of all launches as a Chrome trace."""
        other = {"time": "estimated by a model, not measured on a chip; host steps are left out"}
        return {"traceEvents": self.events, "otherData": other}
