"""Local buffers of a block: offsets in one allocation, and addresses inside a tile."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Location

from autofuse_codegen.targets.cpu.access import Address


@frozen
class LocalMemory:
    """``bytes`` in all, and the byte offset of each buffer."""

    bytes: Dim
    offsets: tuple[tuple[str, Dim], ...]

    def offset(self, buffer: str) -> Dim:
        """Return where ``buffer`` starts."""
        return dict(self.offsets)[buffer]


def plan_local_memory(impl: ImplGraph) -> LocalMemory:
    """Lay the local buffers of ``impl`` out one after the other; one that reuses another starts where that one does."""
    end = const(0)
    offsets: dict[str, Dim] = {}
    for buffer in impl.buffers:
        if buffer.location is not Location.LOCAL:
            continue
        if buffer.reuses is not None:
            offsets[buffer.name] = offsets[buffer.reuses]
            continue
        offsets[buffer.name] = end
        end = end + buffer.bytes * buffer.copies
    return LocalMemory(end, tuple(offsets.items()))


def tile_address(node: AscNode, vectorised: tuple[Axis, ...], roots: tuple[str, ...]) -> Address:
    """Return the address of a value inside its tile: row-major over the vectorised axes it varies along."""
    running = const(1)
    coefficients: list[tuple[str, Dim]] = []
    for axis in reversed(vectorised):
        if node.repeats[roots.index(axis.root)] == const(1):
            continue
        coefficients.append((axis.name, running))
        running = running * axis.size
    return Address(const(0), tuple(reversed(coefficients)))
