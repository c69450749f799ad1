"""The static filter: drop what provably never fits local memory, and say by how many bytes."""

from autofuse_ir.dims_eval import bounds
from autofuse_ir.schedule import Dropped, ImplGraph, local_bytes
from autofuse_ir.target import TargetSpec


def never_fits(impl: ImplGraph, target: TargetSpec, ranges: dict[str, tuple[int, int]]) -> Dropped | None:
    """Return why ``impl`` can never run: even the smallest tile at the smallest sizes needs too much local memory."""
    need = local_bytes(impl.buffers)
    smallest = {variable.name: (variable.lo, variable.lo) for variable in impl.tile_variables}
    least, _ = bounds(need, {**ranges, **smallest})
    available = target.local_memory.usable
    if least <= available:
        return None
    return Dropped(
        template=impl.template,
        case=impl.case.name,
        reason=f"the smallest tile needs {least} bytes of {target.local_memory.name}, {available} are usable",
        bytes_needed=need,
        bytes_available=available,
    )
