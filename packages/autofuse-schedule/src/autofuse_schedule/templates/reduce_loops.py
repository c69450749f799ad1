"""The loops of the templates for reductions: which axes are split, for whom, and which phases run in them."""

from collections.abc import Iterable
from math import gcd, prod

from attrs import evolve
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import Dim, const, dim_max, dim_min, product, total
from autofuse_ir.dims_eval import substitute
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Phase, Segment, Sync, TilingCase, local_bytes
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.allocate import Course
from autofuse_schedule.crossed import narrowest_bytes, rows_on_a_line
from autofuse_schedule.pieces import pieces_of
from autofuse_schedule.roles import Roles, is_reduction, is_scan
from autofuse_schedule.sweeps import Arrangement, Plan
from autofuse_schedule.templates.reach import Reach
from autofuse_schedule.transforms.ranges import RangeSplit, split_ranges
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
    """Return the loops of ``case``: blocks over kept axes, or (r-core) over ranges of the reduced ones as well.

    A second axis of the case is a swept one that each block takes in pieces. Symbols in ``taken`` name no tile size.
    """
    if not case.split:
        return split_nest(graph.axes, None, taken)
    if reach is Reach.R_CORE:
        return _shared(graph, roles, case, target, taken)
    split, *pieces = case.split
    if reach is Reach.COMMON and split in roles.swept:
        return _in_pieces(graph, split_nest(graph.axes, None, taken), split, target, taken)
    at = roles.roots.index(split)
    outside = tuple(axis for axis in roles.roots[:at] if axis in roles.kept)
    is_innermost = split == roles.roots[-1]
    sweeps = sum(not body.is_row for body in made.bodies)
    # Rows that do not stay at hand gain nothing from others in their tile; they only end up farther away.
    is_cached = target.kind is TargetKind.CPU
    goes_alone = is_cached and reach is Reach.COMMON and sweeps > 1 and not is_innermost and not pieces
    size = next(axis.size for axis in graph.axes if axis.name == split)
    together = dim_min(dim_max(size, const(1)), const(rows_on_a_line(graph, split, target)))
    multiple = _granule(graph, target) if is_innermost else 1
    loops = split_nest(graph.axes, TileSplit(split, outside, multiple, together if goes_alone else None), taken)
    for piece in pieces:
        loops = _in_pieces(graph, loops, piece, target, taken)
    return loops


def _shared(graph: AscGraph, roles: Roles, case: TilingCase, target: TargetSpec, taken: frozenset[str]) -> SplitLoops:
    """Let blocks share the elements of results, whole leaves each.

    Where pieces are cut off the outermost reduced axis, blocks share that one, and a tile has the others whole.
    Otherwise they share all of them.
    """
    trees = [tree_of(node) for node in graph.nodes if is_reduction(node)]
    leaf, partials = max(tree.leaf for tree in trees), max(tree.partials for tree in trees)
    if target.kind is TargetKind.CPU and len(case.split) == 1:
        at = roles.roots.index(case.split[0])
        outside = tuple(axis for axis in roles.roots[:at] if axis in roles.kept)
        return split_nest(graph.axes, TileSplit(case.split[0], outside, leaf), taken)
    sizes = {axis.name: axis.size for axis in graph.axes}
    pieces = [axis for axis in case.split if axis in roles.swept]
    tiled = [axis for axis in case.split if axis in roles.kept]
    if target.kind is TargetKind.CPU:
        outside = tuple(axis for axis in roles.kept if axis != roles.roots[-1])
        return split_ranges(graph.axes, RangeSplit(tuple(pieces), leaf, outside), taken)
    (piece,) = pieces
    takes_first = piece == roles.swept[0]
    axes = (piece,) if takes_first else roles.swept
    multiple = partials if piece == roles.roots[-1] or len(roles.swept) == 1 else 1
    last = roles.roots.index(piece) if takes_first else len(roles.roots)
    return split_ranges(
        graph.axes,
        RangeSplit(
            axes,
            leaf // gcd(leaf, _known_factor(sizes[axis] for axis in roles.swept if axis not in axes)),
            tuple(axis for axis in roles.roots[:last] if axis in roles.kept and axis not in tiled),
            TileSplit(tiled[0], (), _granule(graph, target)) if tiled else None,
            TileSplit(piece, (), multiple),
        ),
        taken,
    )


def _known_factor(sizes: Iterable[Dim]) -> int:
    """Return the product of those of ``sizes`` that are known."""
    return prod(size.constant_value for size in sizes if size.constant_value)


def _in_pieces(graph: AscGraph, loops: SplitLoops, piece: str, target: TargetSpec, taken: frozenset[str]) -> SplitLoops:
    """Let each block take ``piece``, a swept axis, in pieces that begin with the first of the partial results.

    Scans can go on from anywhere: rows are cut at whole blocks of local memory.
    """
    pieces = pieces_of(graph, piece)
    joined = [node for node in graph.nodes if is_reduction(node) and not pieces.looped.isdisjoint(reduced_axes(node))]
    multiple = max((tree_of(node).partials for node in joined), default=1)
    if piece == graph.axes[-1].name and any(map(is_scan, graph.nodes)):
        multiple = max(multiple, _granule(graph, target))
    return split_sweeps(graph.axes, loops, TileSplit(piece, pieces.around, multiple), taken)


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
                sweep = () if number in row_phases else loops.sweep_loops
                sync = Sync.NONE if is_last else Sync.BLOCK
                backwards = _backwards(sweep, loops, within, made)
                phase = Phase((*loops.loops, *sweep), loops.block, within, sync, shared, backwards)
            case Arrangement.SPREAD_APART:
                phase = _of_level(made, number, numbers, loops, within)
            case Arrangement.SPREAD if number in row_phases:
                phase = Phase((), None, within, Sync.NONE if is_last else Sync.ALL)
            case Arrangement.SPREAD:
                phase = Phase(loops.loops, loops.block, within, Sync.NONE if is_last else Sync.ALL)
        phases.append(phase)
    return tuple(phases)


def _backwards(sweep: tuple[str, ...], loops: SplitLoops, segments: tuple[Segment, ...], made: Plan) -> tuple[str, ...]:
    """Return those of the loops ``sweep`` that scans of ``segments`` go through from the last element on."""
    named = {name for segment in segments for name in segment.nodes}
    scans = [node for node in made.nodes if node.name in named and is_scan(node)]
    scanned = {node.attr("axis") for node in scans if node.attr("reverse") is True}
    roots = {axis.name: axis.parents[0] for axis in loops.axes if axis.parents}
    return tuple(loop for loop in sweep if roots.get(loop, loop) in scanned)


def _of_level(made: Plan, number: int, numbers: list[int], loops: SplitLoops, within: tuple[Segment, ...]) -> Phase:
    """Return phase ``number`` where blocks share reduced axes in pieces, and wait for each other between levels.

    What stores results of all levels walks them alone.
    """
    level_of = {body.phase: body.level for body in made.bodies}
    is_row = all(body.is_row for body in made.bodies if body.phase == number)
    if number == numbers[-1] and is_row:
        return Phase(loops.result_loops, next(iter(loops.result_loops), None), within)
    around = loops.loops if is_row else (*loops.loops, *loops.sweep_loops)
    begins = number == numbers[0] or level_of[number - 1] != level_of[number]
    ends = number != numbers[-1] and level_of[number + 1] != level_of[number]
    sync = Sync.NONE if number == numbers[-1] else Sync.ALL if ends else Sync.BLOCK
    return Phase(around, loops.block, within, sync, 0 if begins else len(loops.loops))


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
