"""``autofuse.schedule``: loop nests, phases, segments and buffers of one backend node.

An *ImplGraph* is a HintGraph whose axes were split and bound. It says everything about order and place; what is left
open are the tile sizes, which the tiling function solves at run time.
"""

from collections.abc import Iterable
from enum import Enum

from attrs import frozen

from autofuse_ir.asc_graph import AccessMap, AscNode, Axis
from autofuse_ir.dims import Cond, Dim, const, product
from autofuse_ir.dtypes import DType


@frozen
class TilingGroup:
    """Axes of a node by role: ``x`` input side of a transpose, ``y`` parallel, ``r`` reduced, ``n`` scanned.

    Blocks share axes of the roles ``x``, ``y`` and ``r``. One that is scanned each block has whole, if in pieces.
    """

    x: tuple[str, ...] = ()
    y: tuple[str, ...] = ()
    r: tuple[str, ...] = ()
    n: tuple[str, ...] = ()


class TileRole(Enum):
    """What a tile variable divides: ``local`` sizes what local memory holds, ``multicore`` the share of one block."""

    LOCAL = "local"
    MULTICORE = "multicore"


@frozen
class TileVariable:
    """A tile size the tiling function chooses: ``lo <= name <= hi``, a multiple of ``multiple`` or equal to ``hi``.

    ``name`` is a size symbol that the axes' sizes use; ``axis`` the inner half of the split it sizes.
    """

    name: str
    axis: str
    role: TileRole
    lo: int
    hi: Dim
    multiple: int


@frozen
class TilingCase:
    """Which root axes are split for the tile: one of each non-empty group, or all reduced ones that blocks share."""

    name: str
    split: tuple[str, ...]


class Location(Enum):
    """Where a value lives: global memory, local memory (UB; cache-resident on a CPU), workspace, or registers."""

    GLOBAL = "global"
    LOCAL = "local"
    WORKSPACE = "workspace"
    REGISTER = "register"


class QueuePosition(Enum):
    """Which pipes a local buffer connects: filled by MTE2, used by VEC alone, or drained by MTE3."""

    VECIN = "vecin"
    VECCALC = "veccalc"
    VECOUT = "vecout"


@frozen
class Buffer:
    """A local or workspace buffer of ``bytes`` (rounded up to the target's alignment) times ``copies``.

    ``copies`` 2 is a double buffer. ``reuses`` names the buffer whose memory it takes over once that one is dead.
    ``lifetime`` is the loop axis whose iteration it survives ("" : one tile).
    """

    name: str
    location: Location
    position: QueuePosition
    bytes: Dim
    copies: int
    reuses: str | None = None
    lifetime: str = ""


def local_bytes(buffers: Iterable[Buffer]) -> Dim:
    """Return the bytes of local memory that ``buffers`` take together, copies counted.

    A buffer that takes over the memory of another adds nothing.
    """
    return sum((b.bytes * b.copies for b in buffers if b.location is Location.LOCAL and b.reuses is None), const(0))


@frozen
class Placement:
    """Where the value of ``node`` lives; ``buffer`` for local and workspace values."""

    node: str
    location: Location
    buffer: str | None = None


@frozen
class Segment:
    """Nodes evaluated together, strip by strip, with their values in registers unless placed elsewhere.

    ``axes`` are the vectorised axes it walks, from outer to inner; strips run along the last one. The segments of a
    phase may walk different axes: those after a reduction only the ones it keeps. A value in a local buffer is
    row-major over the vectorised axes of its phase that it varies along, in the order of the roots.
    """

    nodes: tuple[str, ...]
    axes: tuple[str, ...]


class Sync(Enum):
    """What must have finished before the next phase may start: nothing, the block's own work, or that of all blocks.

    A value that crosses to the next phase needs ``block`` at least.
    """

    NONE = "none"
    BLOCK = "block"
    ALL = "all"


@frozen
class Phase:
    """A loop nest: ``loops`` from outer to inner (the first may be bound to blocks), around ``segments`` in order.

    The first ``shared`` loops are those of the phase before: both run in each of their iterations, one after the other.
    A phase with fewer loops than the one that follows in them makes what is the same in all iterations of the others:
    its values depend (`autofuse_ir.dependence`) on no axis that it does not walk. They are there for all points of a
    tile, an axis whose outer half it does not walk counting as long as a tile.
    ``block`` names the axis bound to blocks (threads, cores), None when the phase runs in one block.
    Iterations may come in any order, but for loops that walk the axis of a scan in the phase: those go from the first
    to the last, and what is in ``backwards`` from the last to the first.
    """

    loops: tuple[str, ...]
    block: str | None
    segments: tuple[Segment, ...]
    sync: Sync = Sync.NONE
    shared: int = 0
    backwards: tuple[str, ...] = ()


@frozen
class ImplGraph:
    """A scheduled kernel: one tiling case of one template.

    ``roots`` are the root axes (after merging) that the nodes' ``repeats`` and access maps refer to; ``axes`` lists all
    axes, parents before children. The value of a reduction is there once all loops that walk its axes are done; until
    then its partial results live where ``accumulators`` says. A reduction whose axes are spread over blocks is placed
    in workspace: the results of its leaves, row-major as (its value's elements, leaf); whoever reads it after a phase
    with ``sync`` ALL joins them by the tree. Where loops walk the axis of a scan, a tile is a piece of its lines: what
    each line has come to lives where ``accumulators`` says, from its first piece to its last.
    ``index_bits`` is 32 where every element offset provably fits, else 64.
    In local memory, rows along the innermost axis of a value with several start at multiples of ``row_multiple``
    elements. A local buffer that no placement names is scratch, for each operator in turn.
    """

    name: str
    case: TilingCase
    template: str
    group: TilingGroup
    roots: tuple[str, ...]
    axes: tuple[Axis, ...]
    nodes: tuple[AscNode, ...]
    tile_variables: tuple[TileVariable, ...]
    phases: tuple[Phase, ...]
    buffers: tuple[Buffer, ...]
    placements: tuple[Placement, ...]
    index_bits: int
    accumulators: tuple[Placement, ...] = ()
    row_multiple: int = 1


def resident_bytes(graph: ImplGraph) -> Dim:
    """Return the bytes of one tile that Loads with the attribute ``resident`` read again, each source counted once."""
    axes = {axis.name: axis for axis in graph.axes}
    counted: dict[tuple[str, AccessMap | None], Dim] = {}
    nodes = {node.name: node for node in graph.nodes}
    for phase in graph.phases:
        walked = dict.fromkeys(name for segment in phase.segments for name in segment.axes)
        for node in (nodes[name] for segment in phase.segments for name in segment.nodes if name in nodes):
            if node.op != "Load" or not node.attr("resident", False):
                continue
            varying = [axes[a] for a in walked if node.repeats[graph.roots.index(axes[a].root)] != 1]
            counted[node.inputs[0], node.access] = product(a.size for a in varying) * node.dtype.itemsize
    return sum(counted.values(), const(0))


NO_BYTES = const(0)


@frozen
class ScheduleGroup:
    """ImplGraphs for one part of a backend node; the tiling function picks one of them at run time.

    ``after`` names the groups that must be complete before it starts. Groups without an order between them, by
    ``after`` from group to group, may run side by side. ``workspace_bytes`` is what it is given for itself (leaves of
    reductions, say); an implementation that needs more for some sizes is not picked then.
    """

    name: str
    implementations: tuple[ImplGraph, ...]
    after: tuple[str, ...] = ()
    workspace_bytes: Dim = NO_BYTES


@frozen
class Alternative:
    """Groups that together do the whole node. ``applies`` is a condition on sizes for it to be legal."""

    name: str
    groups: tuple[ScheduleGroup, ...]
    applies: Cond


@frozen
class Dropped:
    """A template or case that was not kept, and why; ``bytes_needed`` against ``bytes_available`` for memory."""

    template: str
    case: str
    reason: str
    bytes_needed: Dim | None = None
    bytes_available: int | None = None


@frozen
class KernelArgument:
    """An input or output of the kernel, in ``Data``/``Output`` index order; ``shape`` is its row-major memory shape.

    Internal values of a kernel of several groups are described likewise; they are no outputs.
    """

    name: str
    is_output: bool
    index: int
    dtype: DType
    shape: tuple[Dim, ...]


@frozen
class ScheduleResult:
    """Everything the tiler and the emitters may know about one backend node.

    ``symbols`` are the run-time sizes the kernel needs, in the order its entry points take them. ``internals`` are the
    values that one group makes and others read, in workspace as `autofuse_ir.kernel_memory` lays it out. A ``Data`` or
    ``Output`` node states by attribute ``index`` which of the kernel's inputs or outputs it stands for, by ``internal``
    which internal value, and a ``Data`` by ``output`` which of the kernel's outputs it reads.
    """

    name: str
    target: str
    arguments: tuple[KernelArgument, ...]
    symbols: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    workspace_bytes: Dim
    dropped: tuple[Dropped, ...] = ()
    internals: tuple[KernelArgument, ...] = ()
