"""Which values that several sweeps read are kept in local memory, and which are computed again."""

from collections.abc import Mapping

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, AscKind, asc_op
from autofuse_ir.dims import const
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.roles import Roles, is_reduction, is_scan


@frozen
class Prices:
    """Cycles for one element on ``target``: of computing a node, and of a trip through local memory."""

    target: TargetSpec

    def of(self, node: AscNode, by_name: Mapping[str, AscNode]) -> float:
        """Return what evaluating ``node`` again costs, its inputs at hand."""
        match getattr(asc_op(node.op), "kind", None):
            case AscKind.LOAD if self.target.kind is TargetKind.CPU:
                picks = any(by_name[index].repeats[-1] != const(1) for index in node.inputs[1:])
                picked = self.target.quantity("gather_cycles")
                return picked if picks else node.dtype.itemsize / self.target.quantity("cache_bytes_per_cycle")
            case AscKind.LOAD:
                return node.dtype.itemsize / self.target.quantity("bytes_per_cycle_read")
            case AscKind.BROADCAST:
                return 0.0
            case _:
                sources = [by_name[name].dtype for name in node.inputs]
                dtype = max([node.dtype, *sources], key=lambda each: each.itemsize)
                return self.target.cost_of(node.op, dtype).per_element

    def trip(self, node: AscNode) -> float:
        """Return what keeping ``node``'s value and fetching it once costs; nothing where values live there anyway.

        A write takes the time of three reads, as measured for sums of loads: it fetches its line and drives out others.
        """
        if self.target.kind is not TargetKind.CPU:
            return 0.0
        return 4 * node.dtype.itemsize / self.target.quantity("cache_bytes_per_cycle")


def worth_keeping(nodes: tuple[AscNode, ...], roles: Roles, prices: Prices) -> frozenset[str]:
    """Return the names of values along the swept axes that cost less to keep than to compute twice.

    ``nodes`` are in topological order. A scan is always kept: it goes in one direction.
    """
    by_name = {node.name: node for node in nodes}
    again: dict[str, float] = {}
    kept: set[str] = set()
    for node in nodes:
        if node.op in NOT_EVALUATED or is_reduction(node) or roles.is_row(node):
            continue
        sources = [by_name[name] for name in dict.fromkeys(node.inputs) if name in by_name]
        cost = prices.of(node, by_name) + sum(again.get(source.name, 0.0) for source in sources)
        if is_scan(node) or cost > prices.trip(node):
            kept.add(node.name)
            cost = prices.trip(node) / 4
        again[node.name] = cost
    return frozenset(kept)
