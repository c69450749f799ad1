"""Ranges of dims as users give them, checked before a front end reads the model."""

from collections.abc import Mapping
from operator import index
from typing import Any

from autofuse.errors import DriverError

Range = int | tuple[int, int]
"""One size, or the smallest and the largest."""

LARGEST = 2**63 - 1


def checked_dims(dims: Mapping[str, Any]) -> dict[str, Range]:
    """Return ``dims`` as plain ints and pairs; ``None`` leaves a dim as the model declares it."""
    return {name: _range(name, given) for name, given in _items(dims, "dims") if given is not None}


def checked_hints(hints: Mapping[str, Any]) -> dict[str, int]:
    """Return ``hints`` as plain ints."""
    found: dict[str, int] = {}
    for name, given in _items(hints, "hints"):
        size = _size(given)
        if size is None:
            raise DriverError(f"the hint {given!r} of {name!r} is no size", where="hints", fix="give a whole number")
        found[name] = size
    return found


def _items(given: Any, what: str) -> list[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise DriverError(f"{what} is a {kind}", where="autofuse.compile", fix="give a dict by name")
    return list(given.items())


def _range(name: str, given: Any) -> Range:
    if isinstance(given, tuple | list) and len(given) == 2:
        lo, hi = _size(given[0]), _size(given[1])
        if lo is not None and hi is not None and lo <= hi:
            return lo, hi
    else:
        size = _size(given)
        if size is not None:
            return size
    raise DriverError(
        f"dim {name!r} cannot be {given!r}",
        where="dims",
        fix="give a size N or a range (LO, HI) with 0 <= LO <= HI < 2**63, both inclusive",
    )


def _size(given: Any) -> int | None:
    if isinstance(given, bool):
        return None
    try:
        size = index(given)
    except TypeError:
        return None
    return size if 0 <= size <= LARGEST else None
