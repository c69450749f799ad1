"""Bytes of global memory that the implementations of a kernel share between their blocks."""

from autofuse_ir.dims import Dim, const, dim_max, le, product, select, total
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import ImplGraph, Location

MOST_KEPT = 4096
"""Results beyond which each block has some of its own on any machine: leaves in workspace are for fewer."""


def workspace_bytes(implementations: tuple[ImplGraph, ...]) -> Dim:
    """Return the most workspace that any of ``implementations`` may use; no tile size changes it.

    Those that spread a reduction over blocks are given none where there are more than `MOST_KEPT` results.
    """
    used = [need for need in map(_need, implementations) if need != const(0)]
    return dim_max(*used) if used else const(0)


def _need(impl: ImplGraph) -> Dim:
    need = total(buffer.bytes * buffer.copies for buffer in impl.buffers if buffer.location is Location.WORKSPACE)
    if need == const(0):
        return need
    swept = {axis for node in impl.nodes for axis in reduced_axes(node)}
    sizes = {axis.name: axis.size for axis in impl.axes}
    kept = product(sizes[root] for root in impl.roots if root not in swept)
    return select(le(kept, const(MOST_KEPT)), need, const(0))
