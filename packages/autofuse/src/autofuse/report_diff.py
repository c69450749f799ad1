"""Two reports of a model compared: what grew, what shrank, and which operators changed their place."""

import json
from pathlib import Path
from typing import Any

from attrs import frozen

from autofuse.errors import DriverError

_HOST = "on the host"
_NOWHERE = "not in the model"


@frozen
class Figure:
    """One number of both reports, at their hints; None where sizes leave it open."""

    name: str
    old: int | None
    new: int | None

    @property
    def has_grown(self) -> bool:
        """Whether the number is known on both sides and larger in the new report."""
        return self.old is not None and self.new is not None and self.new > self.old


@frozen
class Moved:
    """An operator that shares its kernel with others than before; both sides in words."""

    operator: str
    old: str
    new: str


@frozen
class ReportDiff:
    """``figures`` of both reports and the operators that ``moved``; more launches or bytes are a regression."""

    figures: tuple[Figure, ...]
    moved: tuple[Moved, ...]

    @property
    def is_regression(self) -> bool:
        """Whether kernels or bytes grew."""
        return any(figure.has_grown for figure in self.figures)


def read_report(path: Path) -> dict[str, Any]:
    """Return a report that ``autofuse explain --json`` printed or a bundle holds; ``DriverError`` for anything else."""
    file = path / "report.json" if path.is_dir() else path
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        _figures(data, data)
        _places(data)
    except OSError as error:
        raise DriverError(f"the report cannot be read ({error.strerror})", where=str(file), fix=_FIX) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DriverError("this is no report", where=str(file), fix=_FIX) from error
    return data


_FIX = "give what `autofuse explain MODEL --json` prints"


def compare_reports(old: dict[str, Any], new: dict[str, Any]) -> ReportDiff:
    """Return what changed between two reports; ``DriverError`` where their numbers are for different sizes."""
    if old["hints"] != new["hints"]:
        sizes = " and ".join(_sizes(report["hints"]) for report in (old, new))
        raise DriverError(
            f"the reports are for different sizes: {sizes}", where="diff", fix="give both the same --hint"
        )
    before, after = _places(old), _places(new)
    moved = tuple(
        Moved(name, before.get(name, _NOWHERE), after.get(name, _NOWHERE))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )
    return ReportDiff(_figures(old, new), moved)


def _figures(old: dict[str, Any], new: dict[str, Any]) -> tuple[Figure, ...]:
    def at_hints(entry: Any) -> int | None:
        value = entry["at_hints"]
        return None if value is None else int(value)

    return (
        Figure("launches", int(old["launches"]["after"]), int(new["launches"]["after"])),
        Figure("bytes moved", at_hints(old["bytes_moved"]["after"]), at_hints(new["bytes_moved"]["after"])),
        Figure("bytes at hosts", at_hints(old["bytes_handled_by_host"]), at_hints(new["bytes_handled_by_host"])),
    )


def _places(report: dict[str, Any]) -> dict[str, str]:
    """Where each operator runs, without the names of kernels, which are numbered anew."""
    found: dict[str, str] = {}
    for kernel in report["kernels"]:
        names = [str(name) for name in kernel["operators"]]
        for name in names:
            others = ", ".join(other for other in names if other != name)
            found[name] = f"fused with {others}" if others else "alone in a kernel"
    for region in report["host_regions"]:
        found |= dict.fromkeys((str(name) for name in region["operators"]), _HOST)
    return found


def _sizes(hints: dict[str, Any]) -> str:
    return ", ".join(f"{name}={size}" for name, size in hints.items()) or "fixed sizes"
