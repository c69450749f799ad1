"""Loads of no rows get a stage: local memory from where a vector unit gathers their elements."""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import const, product
from autofuse_ir.graph import Attr

STAGE_BYTES = 32 * 1024
"""Room for a block of lines along the other axis, long enough for what one access of global memory costs."""


@frozen
class StageLoads:
    """Pure ``AscGraph -> AscGraph``: states scratch for Loads whose innermost axis is not that of their data.

    before   x = Load in0 [m, n] at (z1, z0)
    after    x = Load in0 [m, n] at (z1, z0) {scratch: 32768}
    """

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` with stages; the same object where no Load needs one."""
        nodes = tuple(self._staged(node, graph) for node in graph.nodes)
        return graph if nodes == graph.nodes else evolve(graph, nodes=nodes)

    def _staged(self, node: AscNode, graph: AscGraph) -> AscNode:
        if node.op != "Load" or node.access is None or len(node.inputs) > 1:
            return node
        axes = [axis.name for axis, repeat in zip(graph.axes, node.repeats, strict=True) if repeat != const(1)]
        if not axes:
            return node
        step = const(0)
        for position, dim in enumerate(node.access.dims):
            if dim.axis == axes[-1]:
                step = step + dim.step * product(node.access.memory[position + 1 :])
        if step == const(1):
            return node
        return evolve(node, attrs=(*node.attrs, Attr("scratch", STAGE_BYTES)))
