"""How one reduction of a plan is carried out: over which loops, for how many results at once, in which state."""

from math import prod

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import Tree, reduced_axes, tree_of
from autofuse_ir.schedule import Location, Segment

from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.memory import Value
from autofuse_reference.impl_graph.nest import Nest


@frozen(eq=False)
class ReductionPlan:
    """A reduction in its segment.

    ``scope`` is the loop in each run of which it joins all of its elements (or, in workspace, whole leaves): the
    outermost one that walks reduced axes, that of blocks apart; None: one run of the segment. ``kept`` are the points
    of a segment that have results of their own, ``nest`` all of its points. ``state`` are the partial results, of
    ``state_bytes`` bytes, None in registers.
    """

    node: AscNode
    tree: Tree
    axes: tuple[str, ...]
    count: int
    scope: str | None
    nest: Nest
    kept: Nest
    in_workspace: bool
    state: Value | None
    state_bytes: int


def plan_reduction(kernel: Kernel, number: int, segment: Segment, node: AscNode) -> ReductionPlan:
    """Return how reduction ``node`` of ``segment`` in phase ``number`` is carried out; a fault where it cannot be."""
    phase, roots = kernel.impl.phases[number], frozenset(reduced_axes(node))
    accumulator, in_workspace = kernel.accumulator(node), kernel.in_workspace(node.name)
    if accumulator is None:
        raise kernel.fault("its partial results have no place", node.name)
    outer = [axis for axis in phase.loops if axis != phase.block]
    walking = [axis for axis in outer if kernel.walked_roots(axis) & roots]
    if accumulator.location is Location.REGISTER and walking and not in_workspace:
        raise kernel.fault(
            f"its partial results are in registers, but loop {walking[0]} around its segment walks its axes", node.name
        )
    scope = walking[0] if walking and accumulator.location is not Location.REGISTER else None
    outside = tuple(outer[: outer.index(scope)]) if scope else tuple(outer)
    if phase.block is not None:
        outside = (phase.block, *outside)
    kept_axes = tuple(axis for axis in segment.axes if not kernel.walked_roots(axis) & roots)
    nest = kernel.nest(number, phase.loops, segment.axes)
    kept = kernel.nest(number, outside, kept_axes)
    for root in roots - set(nest.reached):
        raise kernel.fault(f"no loop gives the index of axis {root}, which it reduces", node.name)
    if not in_workspace:
        kept.check_walks(node)
    tree, axes = tree_of(node), reduced_axes(node)
    count = prod(kernel.extent[axis] for axis in axes)
    reduced = [axis for axis in segment.axes if axis not in kept_axes]
    inner = kept_axes if scope or not reduced else segment.axes[segment.axes.index(reduced[0]) :]
    open_results = prod(kernel.extent[axis] for axis in inner if axis in kept_axes)
    if accumulator.location is Location.REGISTER and open_results > 1:
        raise kernel.fault(
            f"registers hold the state of one result, but {open_results} are open: kept axes run inside reduced ones",
            node.name,
        )
    whole_leaves = scope is not None and prod(kernel.extent[axis] for axis in reduced) % tree.leaf == 0
    has_results = all(kernel.extent[axis] for axis in kept_axes)
    elements = state_elements(node, tree, count, open_results, in_workspace, whole_leaves) if has_results else 0
    size = node.dtype.itemsize * elements
    state = None if accumulator.buffer is None else kernel.partial_results(node, accumulator.buffer)
    return ReductionPlan(node, tree, axes, count, scope, nest, kept, in_workspace, state, size)


def state_elements(
    node: AscNode, tree: Tree, count: int, open_results: int, in_workspace: bool, whole_leaves: bool
) -> int:
    """Return how many elements the state of ``open_results`` reductions of ``count`` elements has at least.

    Each has the partials of its current leaf and the joined leaves that wait for their neighbours. Where tiles are
    ``whole_leaves`` no partials outlive a tile, so one set of them is enough; leaves that go to workspace do not wait.
    What can be joined in any order needs one element a result.
    """
    if is_exact(node.op, node.dtype):
        return open_results
    leaves, partials = -(-count // tree.leaf), min(tree.partials, count)
    waiting = 0 if in_workspace else most_waiting(leaves)
    return open_results * waiting + (1 if whole_leaves else open_results) * partials


def is_exact(op: str, dtype: DType) -> bool:
    """True when the order in which elements are joined does not show in the result."""
    return not dtype.is_float or op in ("Any", "All")


def most_waiting(leaves: int) -> int:
    """Return how many joined leaves wait at most while ``leaves`` come one by one: the digits 1 of a binary counter."""
    return max((done.bit_count() for done in _fullest(leaves)), default=0)


def _fullest(leaves: int) -> tuple[int, ...]:
    """Counts below ``leaves`` with the most digits 1: those like 0b111, and ``leaves - 1``."""
    if leaves <= 1:
        return ()
    below = leaves - 1
    return (below, (1 << below.bit_length() - 1) - 1)
