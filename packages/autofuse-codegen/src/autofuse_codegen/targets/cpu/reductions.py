"""Reductions and scans on the CPU: the state each has, where it is declared, and what its loops do to it."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import REDUCTIONS, AscKind, asc_op
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location, Segment

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.cpu.literals import type_name

OPERATIONS = {
    "Sum": "af_sum",
    "Prod": "af_prod",
    "Max": "af_largest",
    "Min": "af_smallest",
    "Any": "af_largest",
    "All": "af_smallest",
    "CumSum": "af_sum",
    "CumProd": "af_prod",
}
"""The joining operation of each reduction and scan (``af_join.h``)."""


@frozen
class StateForm:
    """The state of one reduction or scan in one segment.

    It is declared before the loop over ``segment.axes[depth]``. ``in_rows``: strips walk an axis that is kept, and the
    state is rows of memory; otherwise strips walk the joined axis.
    """

    node: AscNode
    depth: int
    in_rows: bool

    @property
    def is_reduction(self) -> bool:
        """True for a reduction, False for a scan."""
        return self.node.op in REDUCTIONS

    @property
    def is_backwards(self) -> bool:
        """True for a scan that starts at the end."""
        return self.node.attr("reverse") is True

    def templates(self, lanes: str) -> tuple[str, ...]:
        """Return the template arguments of the state's type."""
        shared = (OPERATIONS[self.node.op], type_name(self.node.dtype))
        if self.is_reduction:
            tree = tree_of(self.node)
            numbers = (str(tree.partials), str(tree.leaf))
            return (*shared, *numbers, lanes) if self.in_rows else (*shared, *numbers)
        flags = [_flag(self.node.attr("exclusive") is True), _flag(self.is_backwards)]
        return (*shared, flags[0]) if self.in_rows else (*shared, *flags)

    @property
    def type(self) -> str:
        """The state's type (``af_reduce.h``, ``af_reduce_rows.h``, ``af_scan.h``)."""
        if self.is_reduction:
            return "af_rows" if self.in_rows else "af_tree"
        return "af_scan_rows" if self.in_rows else "af_scan"


def state_forms(segment: Segment, impl: ImplGraph) -> tuple[StateForm, ...]:
    """Return the states of the reductions and scans of ``segment``."""
    nodes = {node.name: node for node in impl.nodes}
    return tuple(_form(nodes[n], segment, impl) for n in segment.nodes if nodes[n].op in OPERATIONS)


def needs_row_memory(impl: ImplGraph) -> tuple[tuple[StateForm, Dim], ...]:
    """Return the states in rows that the schedule gave no buffer, with the elements of one row.

    A scan has one for each point of the axes inside of the one it joins along.
    """
    given = {p.node for p in impl.accumulators if p.location is Location.LOCAL}
    sizes = {axis.name: axis.size for axis in impl.axes}
    return tuple(
        (form, product(sizes[axis] for axis in segment.axes[-1 if form.is_reduction else form.depth + 1 :]))
        for phase in impl.phases
        for segment in phase.segments
        for form in state_forms(segment, impl)
        if form.in_rows and form.node.name not in given
    )


def joined_elements(node: AscNode, impl: ImplGraph) -> Dim:
    """Return how many elements reduction ``node`` joins into one."""
    sizes = {axis.name: axis.size for axis in impl.axes}
    return product(sizes[name] for name in reduced_axes(node))


def joined_axes(node: AscNode) -> tuple[str, ...]:
    """Return the roots that a reduction or scan joins along."""
    rule = asc_op(node.op)
    if rule is not None and rule.kind is AscKind.SCAN:
        return (str(node.attr("axis")),)
    return reduced_axes(node)


def _form(node: AscNode, segment: Segment, impl: ImplGraph) -> StateForm:
    axes = {axis.name: axis for axis in impl.axes}
    joined = joined_axes(node)
    walked = [axes[name].root in joined for name in segment.axes]
    if True not in walked:
        raise _error(node, f"its segment walks none of {', '.join(joined)}", "walk what it joins in its segment")
    in_rows = not walked[-1]
    depth = walked.index(True)
    if node.op not in REDUCTIONS:
        return StateForm(node, depth, in_rows)
    if not all(walked[depth : len(walked) - in_rows]):
        fix = "walk the kept axes outside of the joined ones, and strips along one of either kind"
        raise _error(node, f"its segment walks {', '.join(segment.axes)}, which mixes kept and joined axes", fix)
    return StateForm(node, depth, in_rows)


def element_of_tile(node: AscNode, impl: ImplGraph) -> tuple[tuple[str, Dim], ...]:
    """Return how far one step along each reduced root moves the number of an element."""
    sizes = {axis.name: axis.size for axis in impl.axes}
    running, found = const(1), []
    for name in reversed(reduced_axes(node)):
        found.append((name, running))
        running = running * sizes[name]
    return tuple(reversed(found))


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _error(node: AscNode, what: str, fix: str) -> CodegenError:
    return CodegenError(what, where=f"node {node.name}, {node.op}", fix=fix)
