"""GM of one launch: where each argument lies in the mapping that is shared with the host process."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from autofuse_ascend_sim.errors import LaunchError

Argument = np.ndarray | int | np.integer
"""A tensor in GM (a C-contiguous array, written in place) or a scalar parameter (an integer)."""

_PAGE = mmap.PAGESIZE


@frozen
class Region:
    """One argument in the shared mapping: name for messages, offset and bytes; an unmapped page follows it."""

    name: str
    offset: int
    bytes: int


class SharedMemory:
    """GM of one launch, shared with the host process."""

    def __init__(self, size: int) -> None:
        self.fd = os.memfd_create("ascend-sim-gm")
        os.ftruncate(self.fd, size)
        self._map = mmap.mmap(self.fd, size)

    def _view(self, region: Region, dtype: np.dtype[np.generic]) -> np.ndarray:
        return np.frombuffer(self._map, dtype, region.bytes // dtype.itemsize, region.offset)

    def write(self, region: Region, array: np.ndarray | None) -> None:
        """Copy an argument in; memory without one is zero."""
        if array is not None and region.bytes:
            np.copyto(self._view(region, array.dtype), array.reshape(-1))

    def read(self, region: Region, array: np.ndarray | None) -> None:
        """Copy an argument back."""
        if array is not None and region.bytes and array.flags.writeable:
            np.copyto(array.reshape(-1), self._view(region, array.dtype))

    def close(self) -> None:
        """Give the memory back."""
        self._map.close()
        os.close(self.fd)


def lay_out(
    args: Sequence[Argument], tiling: bytes | None, workspace: int | np.ndarray | None
) -> tuple[list[Region], list[np.ndarray | None], list[tuple[int, int]], int]:
    """Return regions and arrays of memory arguments, (position, value) of scalars, and the bytes of the mapping."""
    regions: list[Region] = []
    arrays: list[np.ndarray | None] = []
    scalars: list[tuple[int, int]] = []
    offset = 0

    def place(name: str, size: int, array: np.ndarray | None) -> None:
        nonlocal offset
        same = _same_memory(name, array, regions, arrays)
        regions.append(Region(name, offset if same is None else same.offset, size))
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
    name: str, array: np.ndarray | None, regions: Sequence[Region], arrays: Sequence[np.ndarray | None]
) -> Region | None:
    """Return the region of an earlier argument with exactly the memory of `array`: aliases stay aliases."""
    for region, other in zip(regions, arrays, strict=True):
        if array is None or other is None or not array.size or not np.may_share_memory(array, other):
            continue
        if (array.ctypes.data, array.nbytes) != (other.ctypes.data, other.nbytes):
            raise LaunchError(f"{name} and {region.name} overlap without being the same memory: pass copies")
        return region
    return None


def argument_lines(regions: Sequence[Region], scalars: Sequence[tuple[int, int]]) -> list[str]:
    """Return what the host process reads about the arguments, in the order of the kernel's parameters."""
    lines = [f"argument {region.offset} {region.bytes} {region.name}" for region in regions]
    for position, value in scalars:
        lines.insert(position, f"scalar {value}")
    return lines
