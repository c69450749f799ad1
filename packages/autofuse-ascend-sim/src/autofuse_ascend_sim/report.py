"""What a launch reports."""

from __future__ import annotations

from attrs import frozen


@frozen
class SimReport:
    """Result of one launch.

    Time is an estimate: it comes from a model, never from a chip. `cycles` is the time of the whole launch in cycles of
    the vector core, `microseconds` the same with the launch head. `busy_cycles` and `stall_cycles` are those of the
    block that ends last, per pipe and per (pipe, cause); `ub_high_water` is the largest number of UB bytes that buffers
    took in any block. `host_seconds` is the wall time that blocks took on this machine, `host_processor_seconds` the
    processor time of all host threads together.
    """

    soc: str
    entry: str
    blocks: int
    checks: str
    cycles: float = 0.0
    microseconds: float = 0.0
    busy_cycles: tuple[tuple[str, float], ...] = ()
    stall_cycles: tuple[tuple[str, str, float], ...] = ()
    ub_high_water: int = 0
    loaded_bytes: int = 0
    stored_bytes: int = 0
    host_seconds: float = 0.0
    host_processor_seconds: float = 0.0
    output: str = ""
    is_time_complete: bool = True
    notes: tuple[str, ...] = ()
