"""Bytes of global memory that the implementations of a kernel share between their blocks."""

from autofuse_ir.dims import Dim, const, dim_max, total
from autofuse_ir.schedule import ImplGraph, Location


def workspace_bytes(implementations: tuple[ImplGraph, ...]) -> Dim:
    """Return the most workspace that any of ``implementations`` needs; no tile size changes it."""
    needs = [
        total(buffer.bytes * buffer.copies for buffer in impl.buffers if buffer.location is Location.WORKSPACE)
        for impl in implementations
    ]
    used = [need for need in needs if need != const(0)]
    return dim_max(*used) if used else const(0)
