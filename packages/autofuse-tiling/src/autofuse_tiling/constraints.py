"""What the chosen tile sizes must respect: local memory, workspace and cores."""

from autofuse_ir.dims import Dim, const, dim_min, symbol, total
from autofuse_ir.schedule import ImplGraph, Location, local_bytes, resident_bytes
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CORES_SYMBOL, Constraint

from autofuse_tiling.model.cost import blocks_of


def constraints(impl: ImplGraph, target: TargetSpec, workspace: Dim) -> tuple[Constraint, ...]:
    """Return the constraints of ``impl`` in a kernel that is given ``workspace`` bytes.

    They are local memory (where it has buffers or reads data again), workspace (where it is given less than it needs
    for some sizes), and the number of blocks.
    """
    found = []
    local = local_bytes(impl.buffers) + resident_bytes(impl)
    if local != const(0):
        message = (
            f"the tiles must fit the {target.tile_bytes} usable bytes of local memory ({target.local_memory.name})"
        )
        found.append(Constraint("local_memory", local, const(target.tile_bytes), message))
    shared = total(b.bytes * b.copies for b in impl.buffers if b.location is Location.WORKSPACE)
    if shared != const(0) and shared != workspace:
        message = "blocks share no more workspace than the kernel is given"
        found.append(Constraint("workspace", shared, workspace, message))
    cores: Dim = symbol(CORES_SYMBOL)
    if target.cores != 0:
        cores = dim_min(cores, const(target.cores))  # a launch may be given fewer than the chip has
    found.append(Constraint("cores", blocks_of(impl), cores, "there are not more blocks than cores"))
    return tuple(found)
