"""The pass: every node of a graph in terms of what the chip has."""

from attrs import evolve, field, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.dtypes import int32

from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.legalise.casts import cast
from autofuse_schedule.legalise.chips import chip_of
from autofuse_schedule.legalise.reductions import Reductions, joins
from autofuse_schedule.legalise.rules import express, is_native
from autofuse_schedule.legalise.writer import Writer


@frozen
class Legalise:
    """Pure ``AscGraph -> AscGraph`` for target ``target``, the name that errors give, and sizes in ``ranges``.

    before   y = Add a, b                  : bfloat16
    after    y_1 = Cast a : float32        y_2 = Cast b : float32
             y_3 = Add y_1, y_2 : float32  y_4 = Cast y_3 : bfloat16

    Raises ``ScheduleError`` for operators and types that cannot be expressed. Expects Broadcasts to be collapsed.
    """

    target: str
    ranges: dict[str, tuple[int, int]] = field(factory=dict)

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` with every element-wise node expressed; the same object where nothing changes."""
        writer = Writer(len(graph.axes), chip_of(self.target))
        reductions = Reductions(writer, {axis.name: axis.size for axis in graph.axes}, self.ranges)
        stands_for: dict[str, str] = {}
        for node in graph.nodes:
            inputs = tuple(stands_for[name] for name in node.inputs)
            rule = asc_op(node.op)
            if node.op == "AxisIndex" and node.dtype != int32:
                writer.stem, writer.source = node.name, node.source
                found = cast(writer, writer.keep(evolve(node, dtype=int32)), node.dtype)
                if found is None:
                    raise self._refused(node, graph)
                stands_for[node.name] = found
                continue
            if joins(node.op):
                writer.stem, writer.source = node.name, node.source
                found = reductions.express(evolve(node, inputs=inputs) if inputs != node.inputs else node, *inputs)
                if found is None:
                    raise self._refused(node, graph)
                stands_for[node.name] = found
                continue
            if rule is None or rule.kind is not AscKind.ELEMENTWISE or is_native(node, writer, inputs):
                stands_for[node.name] = writer.keep(node if inputs == node.inputs else evolve(node, inputs=inputs))
                continue
            writer.stem, writer.source = node.name, node.source
            found = express(writer, node, inputs)
            if found is None:
                raise self._refused(node, graph)
            stands_for[node.name] = found
        nodes = _used(writer.nodes)
        return graph if nodes == graph.nodes else evolve(graph, nodes=nodes)

    def _refused(self, node: AscNode, graph: AscGraph) -> ScheduleError:
        types = {each.name: each.dtype.name for each in graph.nodes}
        operands = ", ".join(types[name] for name in node.inputs)
        return ScheduleError(
            f"{self.target} has no instruction for {node.op}({operands}) -> {node.dtype.name}, and none to compose it",
            where=f"kernel {graph.name}, node {node.name}",
            fix="cast to float32 or int32 first, or keep the operator out of the kernel",
        )


def _used(nodes: list[AscNode]) -> tuple[AscNode, ...]:
    """``nodes`` without computed values that nobody reads."""
    needed: set[str] = set()
    kept: list[AscNode] = []
    for node in reversed(nodes):
        rule = asc_op(node.op)
        is_computed = rule is None or rule.kind in (AscKind.ELEMENTWISE, AscKind.SCALAR, AscKind.INDEX)
        if node.name in needed or not is_computed:
            kept.append(node)
            needed.update(node.inputs)
    return tuple(reversed(kept))
