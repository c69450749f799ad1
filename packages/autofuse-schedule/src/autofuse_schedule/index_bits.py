"""Which integer width every element offset of a kernel fits in."""

from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import const, product
from autofuse_ir.dims_eval import bounds

LARGEST_INT32 = 2**31 - 1


def index_bits(nodes: tuple[AscNode, ...], roots: tuple[Axis, ...], ranges: dict[str, tuple[int, int]]) -> int:
    """Return 32 when the element counts of all loops and all data provably stay below 2^31, else 64."""
    counts = [product(axis.size for axis in roots)]
    counts += [product(node.access.memory) if node.access.memory else const(1) for node in nodes if node.access]
    return 32 if all(bounds(count, ranges)[1] <= LARGEST_INT32 for count in counts) else 64
