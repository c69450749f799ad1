"""SoCs as data: `socs/<name>.toml`, flattened for the run time."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from autofuse_ascend_sim.errors import SocError

_SOCS = Path(__file__).parent / "socs"


@frozen
class Soc:
    """One SoC.

    `arch` is the value of `__NPU_ARCH__`; `ub_bytes` the usable unified buffer of a core; `cores` the vector cores that
    one launch can use at a time; `clock_megahertz` converts cycles to time. `numbers` holds every number of the file
    under dotted keys; `unknown` maps the keys without a source to the reason for the stand-in used.
    """

    name: str
    arch: int
    ub_bytes: int
    cores: int
    clock_megahertz: float
    numbers: tuple[tuple[str, float], ...]
    unknown: tuple[tuple[str, str], ...]


def soc_names() -> tuple[str, ...]:
    """Return the names of the SoCs the emulator knows."""
    return tuple(sorted(path.stem for path in _SOCS.glob("*.toml")))


@cache
def load_soc(name: str) -> Soc:
    """Return the SoC of that name; raise `SocError` when there is none."""
    path = _SOCS / f"{name}.toml"
    if name not in soc_names():
        raise SocError(f"unknown SoC {name!r}: the emulator knows {', '.join(soc_names())}")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = tuple(data.pop("unknown").items())
    numbers = _flatten(data)
    values = dict(numbers)
    return Soc(
        name=data["name"],
        arch=data["arch"],
        ub_bytes=data["memory"]["ub_bytes"],
        cores=data["cores"]["vector"],
        clock_megahertz=values["clock.megahertz"],
        numbers=numbers,
        unknown=unknown,
    )


def _flatten(data: dict[str, Any], prefix: str = "") -> tuple[tuple[str, float], ...]:
    """Dotted keys; a pair of a vector instruction's costs becomes `.per_element` and `.fixed`."""
    flat: list[tuple[str, float]] = []
    for key, value in data.items():
        match value:
            case dict():
                flat.extend(_flatten(value, f"{prefix}{key}."))
            case [per_element, fixed]:
                flat.append((f"{prefix}{key}.per_element", float(per_element)))
                flat.append((f"{prefix}{key}.fixed", float(fixed)))
            case int() | float():
                flat.append((f"{prefix}{key}", float(value)))
            case _:
                continue
    return tuple(flat)
