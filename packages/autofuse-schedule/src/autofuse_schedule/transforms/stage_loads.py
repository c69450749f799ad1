"""Loads of no rows get a stage: local memory from where a vector unit gathers their elements. Stores write rows."""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessMap, AscGraph, AscNode, Bounds
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.graph import Attr

from autofuse_schedule.errors import ScheduleError

STAGE_BYTES = 33 * 1024
"""Room for 64 lines along the other axis, as long as what one access of global memory costs, and where elements lie."""


@frozen
class StageLoads:
    """Pure ``AscGraph -> AscGraph``: states scratch for Loads whose innermost axis is not that of their data.

    That are transposes, reversals and steps, and indices for each element of a row.

    before   x = Load in0 [m, n] at (z1, z0)
    after    x = Load in0 [m, n] at (z1, z0) {scratch: 33792}
    """

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` with stages; the same object where no Load needs one."""
        nodes = tuple(self._staged(node, graph) for node in graph.nodes)
        return graph if nodes == graph.nodes else evolve(graph, nodes=nodes)

    def _staged(self, node: AscNode, graph: AscGraph) -> AscNode:
        if node.op != "Load" or node.access is None:
            return node
        varying = [i for i, repeat in enumerate(node.repeats) if repeat != const(1)]
        if not varying or not self._is_scattered(node, varying[-1], graph):
            return node
        return evolve(node, attrs=(*node.attrs, Attr("scratch", STAGE_BYTES)))

    def _is_scattered(self, node: AscNode, innermost: int, graph: AscGraph) -> bool:
        """True where neighbours along root axis ``innermost`` are none in the data, and a stage makes them some."""
        assert node.access is not None
        if len(node.inputs) > 1:
            index = next(each for each in graph.nodes if each.name == node.inputs[1])
            operands = [dim.operand for dim in node.access.dims]
            is_last = operands[-1] == 0 and operands.count(None) == len(operands) - 1
            return is_last and index.repeats[innermost] != const(1)
        # Copies fill up blocks of 64-bit elements with zeros alone.
        is_filled = node.access.bounds is not Bounds.INSIDE and node.attr("fill", 0) != 0
        return step_along(node.access, graph.axes[innermost].name) != const(1) or (
            is_filled and node.dtype.itemsize == 8
        )


def step_along(access: AccessMap, axis: str) -> Dim:
    """Return how many elements of the data lie between neighbours along root axis ``axis``."""
    step = const(0)
    for position, dim in enumerate(access.dims):
        if dim.axis == axis:
            step = step + dim.step * product(access.memory[position + 1 :])
    return step


def check_stores(graph: AscGraph, target: str) -> None:
    """Raise ``ScheduleError`` for a Store that does not write rows: copies out of local memory move nothing else."""
    for node in graph.nodes:
        if node.op != "Store" or node.access is None:
            continue
        varying = [axis.name for axis, repeat in zip(graph.axes, node.repeats, strict=True) if repeat != const(1)]
        is_row = not varying or step_along(node.access, varying[-1]) == const(1)
        if not is_row or node.access.bounds is not Bounds.INSIDE:
            raise ScheduleError(
                f"{target} stores rows, and {node.inputs[0]} is not stored along the innermost axis of its data",
                where=f"kernel {graph.name}, node {node.name}",
                fix="make the view of the result a kernel of its own, which loads through it",
            )
