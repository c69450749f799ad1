"""Predicted cycles of an ImplGraph, per pipe, for its busiest block.

Form (as in the original's model): ``head + max(MTE2, VEC, MTE3)``. A block runs ``share`` tiles; each tile moves its
Loads' and Stores' bytes and evaluates its nodes. The costs come from the TargetSpec alone.
"""

from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, product
from autofuse_ir.schedule import ImplGraph
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import CostTerm, PipeCost

SCALE = 1000
"""Bandwidths enter as integers per mille, since divisors of cost terms are exact sizes."""

NO_WORK = (*NOT_EVALUATED, "Load", "Store")


def pipe_costs(impl: ImplGraph, target: TargetSpec) -> tuple[PipeCost, ...]:
    """Return the cycles of the pipes that fill local memory (MTE2), compute (VEC) and drain it (MTE3)."""
    axes = {axis.name: axis for axis in impl.axes}
    tiles = _tiles_per_block(impl, axes)
    vectorised = _vectorised(impl, axes)
    return (
        PipeCost("MTE2", _movement(impl, "Load", target, tiles, vectorised)),
        PipeCost("VEC", _compute(impl, target, tiles, vectorised)),
        PipeCost("MTE3", _movement(impl, "Store", target, tiles, vectorised)),
    )


def head_cost(blocks: Dim, target: TargetSpec) -> tuple[CostTerm, ...]:
    """Return the cycles before any block works: handing out blocks costs nothing when there is only one."""
    more_than_one = dim_min(dim_max(blocks - 1, const(0)), const(1))
    return (CostTerm(target.quantity("launch_cycles"), more_than_one, const(1)),)


def blocks_of(impl: ImplGraph) -> Dim:
    """Return the number of blocks launched."""
    block = impl.phases[0].block
    return next((axis.size for axis in impl.axes if axis.name == block), const(1))


def _tiles_per_block(impl: ImplGraph, axes: dict[str, Axis]) -> Dim:
    """Tiles the busiest block runs: the sizes of all loops but the one bound to blocks."""
    phase = impl.phases[0]
    return product(axes[name].size for name in phase.loops if name != phase.block)


def _vectorised(impl: ImplGraph, axes: dict[str, Axis]) -> tuple[Axis, ...]:
    return tuple(axes[name] for name in impl.phases[0].segments[0].axes) if impl.phases[0].segments else ()


def _elements(node: AscNode, impl: ImplGraph, vectorised: tuple[Axis, ...]) -> Dim:
    """Elements of one tile of the node's value."""
    return product(axis.size for axis in vectorised if _varies(node, impl, axis))


def _varies(node: AscNode, impl: ImplGraph, axis: Axis) -> bool:
    return node.repeats[impl.roots.index(axis.root)] != const(1)


def _movement(
    impl: ImplGraph, op: str, target: TargetSpec, tiles: Dim, vectorised: tuple[Axis, ...]
) -> tuple[CostTerm, ...]:
    name = "bytes_per_cycle_read" if op == "Load" else "bytes_per_cycle_write"
    bandwidth = const(max(1, round(target.quantity(name) * SCALE)))
    moved = [n for n in impl.nodes if n.op == op]
    terms = [
        CostTerm(float(SCALE * n.dtype.itemsize), _elements(n, impl, vectorised) * tiles, bandwidth) for n in moved
    ]
    if moved:
        terms.append(CostTerm(target.quantity("tile_cycles") * len(moved), tiles, const(1)))
    return tuple(terms)


def _compute(impl: ImplGraph, target: TargetSpec, tiles: Dim, vectorised: tuple[Axis, ...]) -> tuple[CostTerm, ...]:
    terms = []
    for node in impl.nodes:
        if node.op in NO_WORK:
            continue
        cost = target.cost_of(node.op, node.dtype)
        terms.append(CostTerm(cost.per_element, _elements(node, impl, vectorised) * tiles, const(1)))
        if cost.per_call:
            terms.append(CostTerm(cost.per_call, tiles, const(1)))
    rows = product(axis.size for axis in vectorised[:-1])
    strips = ceildiv(vectorised[-1].size, const(_lanes(impl, target))) if vectorised else const(1)
    if target.kind is TargetKind.CPU:
        terms.append(CostTerm(target.quantity("row_cycles"), rows * tiles, const(1)))
        terms.append(CostTerm(1.0, rows * strips * tiles, const(1)))
    return tuple(terms)


def _lanes(impl: ImplGraph, target: TargetSpec) -> int:
    widest = max((n.dtype.itemsize for n in impl.nodes if n.op in ("Load", "Store")), default=4)
    return max(1, target.vector_bytes // widest)
