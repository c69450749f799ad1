"""The loops of the templates for reductions: which axes are split, for whom, and which phases run in them."""

from attrs import evolve
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import Dim, const, dim_max, dim_min, product, total
from autofuse_ir.dims_eval import substitute
from autofuse_ir.reduction import tree_of
from autofuse_ir.schedule import ImplGraph, Phase, Segment, Sync, TilingCase, local_bytes
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.allocate import Course
from autofuse_schedule.crossed import narrowest_bytes, rows_on_a_line
from autofuse_schedule.roles import Roles, is_reduction
from autofuse_schedule.sweeps import Arrangement, Plan
from autofuse_schedule.templates.reach import Reach
from autofuse_schedule.transforms.split import SplitLoops, TileSplit, split_nest, split_sweeps


def split_for(
    reach: Reach,
    graph: AscGraph,
    roles: Roles,
    case: TilingCase,
    made: Plan,
    target: TargetSpec,
    taken: frozenset[str],
) -> SplitLoops:
    """Return the loops of ``case``: blocks over kept axes, or (r-core) over the outermost reduced one as well.

    A second axis of the case is a reduced one that each block takes in pieces: whole multiples of the partial results,
    so that every piece begins with the first of them. Symbols in ``taken`` name no tile size.
    """
    if not case.split:
        return split_nest(graph.axes, None, taken)
    split, *pieces = case.split
    if reach is Reach.COMMON and split in roles.swept:
        return _in_pieces(graph, roles, split_nest(graph.axes, None, taken), split, taken)
    at = roles.roots.index(split)
    outside = tuple(axis for axis in roles.roots[:at] if axis in roles.kept)
    trees = [tree_of(node) for node in graph.nodes if is_reduction(node)]
    if reach is Reach.R_CORE:
        return split_nest(graph.axes, TileSplit(split, outside, max(tree.leaf for tree in trees)), taken)
    is_innermost = split == roles.roots[-1]
    sweeps = sum(not body.is_row for body in made.bodies)
    # Rows that do not stay at hand gain nothing from company; they only end up farther away.
    is_cached = target.kind is TargetKind.CPU
    goes_alone = is_cached and reach is Reach.COMMON and sweeps > 1 and not is_innermost and not pieces
    size = next(axis.size for axis in graph.axes if axis.name == split)
    company = dim_min(dim_max(size, const(1)), const(rows_on_a_line(graph, split, target)))
    multiple = _granule(graph, target) if is_innermost else 1
    loops = split_nest(graph.axes, TileSplit(split, outside, multiple, company if goes_alone else None), taken)
    for piece in pieces:
        loops = _in_pieces(graph, roles, loops, piece, taken)
    return loops


def _in_pieces(graph: AscGraph, roles: Roles, loops: SplitLoops, piece: str, taken: frozenset[str]) -> SplitLoops:
    """Let each block take ``piece``, a reduced axis, in pieces that begin with the first of the partial results."""
    before = roles.roots[: roles.roots.index(piece)]
    around = tuple(axis for axis in before if axis in roles.swept)
    partials = max(tree_of(node).partials for node in graph.nodes if is_reduction(node))
    return split_sweeps(graph.axes, loops, TileSplit(piece, around, partials), taken)


def phases_of(made: Plan, course: Course, loops: SplitLoops, arrangement: Arrangement) -> tuple[Phase, ...]:
    """Return the phases around the segments of ``course``; the first ones make what is held, once a block."""
    numbers = list(dict.fromkeys(course.phases))
    before = len(course.held)
    first = next((number for number in numbers if number >= before), before)
    row_phases = {body.phase + before for body in made.bodies if body.is_row}
    row_phases -= {body.phase + before for body in made.bodies if not body.is_row}
    phases = []
    for number in numbers:
        within: tuple[Segment, ...] = tuple(
            segment for at, segment in zip(course.phases, course.segments, strict=True) if at == number
        )
        is_last = number == numbers[-1]
        shared = len(loops.loops) if number > first else before
        match arrangement:
            case _ if number < before:
                phase = Phase(loops.loops[: number + 1], loops.block, within, Sync.BLOCK, number)
            case Arrangement.TOGETHER:
                phase = Phase(loops.loops, loops.block, within, shared=shared)
            case Arrangement.APART:
                around = loops.loops if number in row_phases else (*loops.loops, *loops.sweep_loops)
                phase = Phase(around, loops.block, within, Sync.NONE if is_last else Sync.BLOCK, shared)
            case Arrangement.SPREAD if number in row_phases:
                phase = Phase((), None, within, Sync.NONE if is_last else Sync.ALL)
            case Arrangement.SPREAD:
                phase = Phase(loops.loops, loops.block, within, Sync.NONE if is_last else Sync.ALL)
        phases.append(phase)
    return tuple(phases)


def with_near_rows(impl: ImplGraph, target: TargetSpec, least: int) -> ImplGraph:
    """Bound the rows of a tile by what the nearest cache holds, but take ``least``: more of them gain nothing.

    It holds what lives in local memory, and the data that Loads read and Stores write on the way.
    """
    if not impl.tile_variables:
        return impl
    rows, *others = impl.tile_variables
    one = const(1)
    row_bytes = substitute(local_bytes(impl.buffers) + _stream_bytes(impl), {rows.name: one})
    near = dim_max(const(round(target.quantity("near_bytes"))) // dim_max(row_bytes, one), const(least))
    return evolve(impl, tile_variables=(evolve(rows, hi=dim_min(rows.hi, near)), *others))


def _stream_bytes(impl: ImplGraph) -> Dim:
    """Bytes of global memory that one tile touches, each place once."""
    axes = {axis.name: axis for axis in impl.axes}
    walked = [axes[name] for name in dict.fromkeys(a for phase in impl.phases for s in phase.segments for a in s.axes)]
    found: dict[tuple[str, object], Dim] = {}
    for node in impl.nodes:
        if node.access is not None:
            sizes = [axis.size for axis in walked if node.repeats[impl.roots.index(axis.root)] != const(1)]
            place = node.inputs[0] if node.op == "Load" else node.name
            found[place, node.access] = product(sizes) * node.dtype.itemsize
    return total(found.values())


def _granule(graph: AscGraph, target: TargetSpec) -> int:
    """Elements of a piece of a row: a whole vector of any value on a CPU, a block of local memory elsewhere."""
    granule = target.vector_bytes if target.kind is TargetKind.CPU else target.block_bytes
    return max(1, granule // narrowest_bytes(graph))
