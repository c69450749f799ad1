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

    That are transposes, reversals and steps, and indices for each element of a row.

    before   x = Load in0 [m, n] at (z1, z0)
    after    x = Load in0 [m, n] at (z1, z0) {scratch: 32768}
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
        step = const(0)
        for position, dim in enumerate(node.access.dims):
            if dim.axis == graph.axes[innermost].name:
                step = step + dim.step * product(node.access.memory[position + 1 :])
        return step != const(1)
