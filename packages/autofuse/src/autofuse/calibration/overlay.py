"""Overlays: a TOML file that replaces some numbers of a shipped target, each with its unit and source."""

import json
import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from attrs import evolve
from autofuse_ir.checks import verify
from autofuse_ir.dtypes import dtype_named
from autofuse_ir.errors import IrError
from autofuse_ir.target import ANY_OPERATOR, OperatorCost, Quantity, TargetSpec, load_target, target_names

from autofuse.calibration.measure import Measured
from autofuse.errors import DriverError

_SUFFIX = ".toml"
_KEYS = {"base", "measured_on", "quantities", "costs"}


def target_named(name: str) -> TargetSpec:
    """Return the shipped target called ``name``, or the one that an overlay describes where it is a ``.toml`` file."""
    return read_overlay(Path(name)) if name.endswith(_SUFFIX) else load_target(name)


def read_overlay(path: Path) -> TargetSpec:
    """Return the target that the overlay at ``path`` is based on, with its numbers.

    Raises ``DriverError`` for a file that cannot be read or is none, for a number that the base lacks or states in
    another unit, and for values that make no sense.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = sorted(set(data) - _KEYS)
        if unknown:
            raise ValueError(f"it has a key {unknown[0]!r}")
        if data["base"] not in target_names():
            raise ValueError(f"its base is {data['base']!r}, not one of {', '.join(target_names())}")
        target = _overlaid(load_target(data["base"]), data)
        verify(target)
    except OSError as error:
        raise DriverError(
            f"the overlay cannot be read ({error.strerror})", where=str(path), fix="name a file that --calibrate wrote"
        ) from error
    except IrError as error:
        raise DriverError(f"the overlay makes no sense: {error.what}", where=str(path), fix=_FIX) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DriverError(f"this is no overlay of a target: {reason}", where=str(path), fix=_FIX) from error
    return target


_FIX = "correct it, or write a new one: autofuse targets --calibrate -o FILE.toml"


def _overlaid(base: TargetSpec, data: dict[str, Any]) -> TargetSpec:
    quantities = {row.name: row for row in base.quantities}
    for name, row in data.get("quantities", {}).items():
        if name not in quantities:
            raise ValueError(f"target {base.name} has no quantity {name!r}; it has {', '.join(quantities)}")
        if row["unit"] != quantities[name].unit:
            raise ValueError(f"{name} is in {row['unit']!r}, but target {base.name} counts {quantities[name].unit!r}")
        if not row["value"] > 0:
            raise ValueError(f"{name} is {row['value']}, not a positive number")
        quantities[name] = Quantity(name, float(row["value"]), row["unit"], str(row["source"]), known=True)
    costs = {(row.op, row.dtype): row for row in base.costs}
    for row in data.get("costs", []):
        dtype = dtype_named(row["dtype"])
        each, call = float(row["per_element"]), float(row.get("per_call", 0.0))
        costs[row["op"], dtype] = OperatorCost(row["op"], dtype, each, call, str(row["source"]), known=True)
    measured = f"; measured on {data['measured_on']}" if "measured_on" in data else ""
    return evolve(
        base,
        description=base.description + measured,
        quantities=tuple(quantities.values()),
        costs=tuple(costs.values()),
    )


def overlay_text(base: str, measured: Measured) -> str:
    """Return the overlay over target ``base`` with what was measured; the target counts in cycles of its clock."""
    clock = measured.clock_hz
    fork = (measured.fork_awake + measured.fork_asleep) / 2
    rows = (
        ("clock_hz", clock, "Hz", "one dependent addition a cycle"),
        ("bytes_per_cycle_read", measured.read / clock, "bytes/cycle", f"memory read at {_giga(measured.read)}"),
        ("bytes_per_cycle_write", measured.write / clock, "bytes/cycle", f"memory filled at {_giga(measured.write)}"),
        (
            "cache_bytes_per_cycle",
            measured.cache_copy / clock,
            "bytes/cycle",
            f"copy in the local memory of a block, read and written at {_giga(measured.cache_copy)}",
        ),
        (
            "launch_cycles",
            fork * clock,
            "cycles",
            f"{fork * 1e6:.2f} us, the mean of a launch on {measured.threads} threads that are awake "
            f"({measured.fork_awake * 1e6:.2f} us) and that sleep ({measured.fork_asleep * 1e6:.2f} us)",
        ),
    )
    quantities = "\n".join(
        f'{name} = {{ value = {value:.6g}, unit = "{unit}", source = {_quoted(f"measured: {what}")} }}'
        for name, value, unit, what in rows
    )
    per_element = measured.vector_op * clock
    source = f"measured: {measured.vector_op * 1e9:.4f} ns for one operation on one element, sixteen in a chain"
    return (
        "# Numbers of one machine, measured by `autofuse targets --calibrate`; one thread where nothing else is said.\n"
        "# They are used where this file is named: --target FILE.toml, or AUTOFUSE_TARGET.\n"
        f"base = {_quoted(base)}\n"
        f"measured_on = {_quoted(f'{measured.machine}, {measured.threads} threads')}\n\n"
        f"[quantities]\n{quantities}\n\n"
        f'[[costs]] # cycles\nop = "{ANY_OPERATOR}"\ndtype = "float32"\n'
        f"per_element = {per_element:.6g}\nper_call = 0.0\nsource = {_quoted(source)}\n"
    )


def checked_place(path: Path) -> None:
    """Raise ``DriverError`` where an overlay cannot go: it is a .toml file, and replaces nothing but an older one."""
    if path.suffix != _SUFFIX:
        raise DriverError("an overlay is a .toml file", where=str(path), fix="give a name that ends in .toml")
    if os.path.lexists(path):
        try:
            read_overlay(path)
        except DriverError as error:
            raise DriverError("something that is no overlay is here", where=str(path), fix="give a new name") from error
    if not path.parent.is_dir():
        raise DriverError("there is no such folder", where=str(path.parent), fix="make it, or name another")


def write_overlay(text: str, path: Path) -> None:
    """Write an overlay, whole or not at all; raises like ``checked_place``, and where the disk does not take it."""
    checked_place(path)
    partial: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            partial = Path(file.name)
            file.write(text)
        partial.chmod(0o644)
        partial.replace(path)
    except OSError as error:
        raise DriverError(
            f"the overlay cannot be written ({error.strerror})", where=str(path), fix="check the path and the disk"
        ) from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _giga(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e9:.1f} GB/s"


def _quoted(text: str) -> str:
    """A basic string of TOML, which JSON's strings are where they are ASCII."""
    return json.dumps(text)
