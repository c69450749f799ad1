"""Local and workspace buffers: offsets in one allocation each, and addresses inside of them."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location
from autofuse_ir.strides import dense_strides

from autofuse_codegen.kernel.addresses import Address


@frozen
class BufferMemory:
    """``bytes`` in all, and the byte offset of each buffer."""

    bytes: Dim
    offsets: tuple[tuple[str, Dim], ...]

    def offset(self, buffer: str) -> Dim:
        """Return where ``buffer`` starts."""
        return dict(self.offsets)[buffer]


def plan_memory(impl: ImplGraph, location: Location = Location.LOCAL) -> BufferMemory:
    """Lay the buffers of ``impl`` in ``location`` out one after the other.

    One that reuses another starts where that one does.
    """
    end = const(0)
    offsets: dict[str, Dim] = {}
    for buffer in impl.buffers:
        if buffer.location is not location:
            continue
        if buffer.reuses is not None:
            offsets[buffer.name] = offsets[buffer.reuses]
            continue
        offsets[buffer.name] = end
        end = end + buffer.bytes * buffer.copies
    return BufferMemory(end, tuple(offsets.items()))


def vectorised_axes(impl: ImplGraph) -> dict[str, tuple[Axis, ...]]:
    """Return for each evaluated node the vectorised axes of its phase, in the order of the roots."""
    axes = {axis.name: axis for axis in impl.axes}
    found: dict[str, tuple[Axis, ...]] = {}
    for phase in impl.phases:
        named = dict.fromkeys(name for segment in phase.segments for name in segment.axes)
        ordered = tuple(sorted((axes[name] for name in named), key=lambda axis: impl.roots.index(axis.root)))
        found |= {node: ordered for segment in phase.segments for node in segment.nodes}
    return found


def tile_address(node: AscNode, vectorised: tuple[Axis, ...], impl: ImplGraph) -> Address:
    """Return the address of a value inside its tile: row-major over the vectorised axes it varies along.

    Rows along the innermost of several axes start at multiples of ``impl.row_multiple`` elements.
    """
    running = const(1)
    coefficients: list[tuple[str, Dim]] = []
    for axis in reversed(vectorised):
        if node.repeats[impl.roots.index(axis.root)] == const(1):
            continue
        is_innermost = not coefficients
        coefficients.append((axis.name, running))
        running = running * axis.size
        if is_innermost:
            running = ceildiv(running, impl.row_multiple) * impl.row_multiple
    return Address(const(0), tuple(reversed(coefficients)))


def leaf_count(node: AscNode, impl: ImplGraph) -> Dim:
    """Return how many leaves the tree of reduction ``node`` has."""
    sizes = {axis.name: axis.size for axis in impl.axes}
    return ceildiv(product(sizes[name] for name in reduced_axes(node)), tree_of(node).leaf)


def workspace_address(node: AscNode, impl: ImplGraph, elements: Dim) -> Address:
    """Return the address of a value in workspace: row-major over the roots, each point with ``elements`` elements."""
    kept = zip(impl.roots, dense_strides(node.repeats), strict=True)
    return Address(const(0), tuple((root, stride * elements) for root, stride in kept if stride != const(0)))
