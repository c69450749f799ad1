"""What the chosen tile sizes must respect: local memory and cores."""

from autofuse_ir.dims import Dim, const, symbol
from autofuse_ir.schedule import ImplGraph, local_bytes, resident_bytes
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CORES_SYMBOL, Constraint

from autofuse_tiling.model.cost import blocks_of


def constraints(impl: ImplGraph, target: TargetSpec) -> tuple[Constraint, ...]:
    """Return the constraints of ``impl``: local memory (where it has buffers or reads
    data again), then the number of blocks."""
    found = []
    local = local_bytes(impl.buffers) + resident_bytes(impl)
    if local != const(0):
        memory = target.local_memory
        found.append(
            Constraint(
                "local_memory",
                local,
                const(memory.usable),
                f"the tiles must fit the {memory.usable} usable bytes of {memory.name}",
            )
        )
    cores: Dim = symbol(CORES_SYMBOL) if target.cores == 0 else const(target.cores)
    found.append(Constraint("cores", blocks_of(impl), cores, "there are not more blocks than cores"))
    return tuple(found)
