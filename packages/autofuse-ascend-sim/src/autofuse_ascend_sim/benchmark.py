"""Measure how fast the emulator itself is: compile time, and GM traffic per host core."""

from __future__ import annotations

import struct
import tempfile
import time
from pathlib import Path

import numpy as np
from attrs import frozen

from autofuse_ascend_sim.launch import run
from autofuse_ascend_sim.library import compile
from autofuse_ascend_sim.toolchain import host_program

_ELEMENTS = 1 << 24
_BLOCKS = 48
_TILE = 4096


@frozen
class Speed:
    """Seconds to compile the sample kernel, and bytes of GM traffic per second of one host core."""

    compile_seconds: float
    static_bytes_per_second: float
    full_bytes_per_second: float


def measure(elements: int = _ELEMENTS, repeats: int = 3) -> Speed:
    """Return the best of some runs of the sample kernel, a float addition."""
    host_program()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).parent / "examples" / "add.cpp"
        started = time.perf_counter()
        library = compile(source, "ascend-a2", output=Path(folder) / "add.so")
        compile_seconds = time.perf_counter() - started
        x, y, z = np.ones((3, elements), np.float32)
        per_block = -(-elements // _BLOCKS // 8) * 8
        tiling = struct.pack("III", elements, per_block, _TILE)

        def rate(checks: str) -> float:
            reports = [
                run(library, "add", [x, y, z], tiling, _BLOCKS, 0, checks=checks, timeline=False, threads=1)
                for _ in range(repeats)
            ]
            return 3 * z.nbytes / min(report.host_processor_seconds for report in reports)

        return Speed(compile_seconds, rate("static"), rate("full"))


if __name__ == "__main__":
    speed = measure()
    print(f"compile: {speed.compile_seconds:.2f} s")
    print(f"static checks: {speed.static_bytes_per_second / 1e9:.2f} GB/s per host core")
    print(f"all checks: {speed.full_bytes_per_second / 1e9:.2f} GB/s per host core")
