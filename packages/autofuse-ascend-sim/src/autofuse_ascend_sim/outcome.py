"""What the host process wrote about a launch: the report of one that went well, or the error that ended it."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from autofuse_ascend_sim.errors import (
    RULE_ERRORS,
    CrashError,
    EntryError,
    HangError,
    LaunchError,
    Place,
)
from autofuse_ascend_sim.library import Library, kernel_names
from autofuse_ascend_sim.lines import function_at, place_of
from autofuse_ascend_sim.report import SimReport


def read_facts(path: Path, output: str, library: Library, entry: str) -> list[tuple[str, str]]:
    """Return the lines of the report as (key, value); raises what ended the launch, where something did."""
    if not path.exists():
        raise CrashError(
            f"{entry}: the host process ended without a report{': ' + output.strip() if output.strip() else ''}",
            block=-1,
            place=Place(),
        )
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    facts = [(key, value) for key, _, value in (line.partition(" ") for line in lines)]
    if dict(facts)["status"] != "ok":
        raise_failure(dict(facts), library, entry)
    return facts


def raise_failure(facts: dict[str, str], library: Library, entry: str) -> NoReturn:
    """Raise the error that the report of a failed launch tells."""
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


def report_of(
    facts: list[tuple[str, str]], library: Library, entry: str, block_dim: int, checks: str, output: str
) -> SimReport:
    """Return the report of a launch that went well; `output` is what the kernel printed."""
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
