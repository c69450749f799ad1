"""Roles of root axes and nodes in a kernel with reductions or scans: what is walked, in which sweep."""

from collections.abc import Collection

from attrs import frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, AscKind, asc_op
from autofuse_ir.dims import const
from autofuse_ir.reduction import reduced_axes


@frozen
class Roles:
    """Root axes by name: ``roots`` all of them, ``swept`` those that some node reduces or scans, in root order."""

    roots: tuple[str, ...]
    swept: tuple[str, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """The root axes that no node reduces or scans."""
        return tuple(axis for axis in self.roots if axis not in self.swept)

    def varying(self, node: AscNode) -> tuple[str, ...]:
        """Return the root axes along which ``node``'s value varies."""
        return tuple(axis for axis, repeat in zip(self.roots, node.repeats, strict=True) if repeat != const(1))

    def walked(self, node: AscNode, source: AscNode | None = None) -> tuple[str, ...]:
        """Return the root axes that evaluating ``node`` walks: also those that it reduces ``source`` along."""
        names = {*self.varying(node), *reduced_axes(node), *(self.varying(source) if source is not None else ())}
        return tuple(axis for axis in self.roots if axis in names)

    def is_row(self, node: AscNode) -> bool:
        """Return whether ``node`` computes one value a row: it neither walks nor varies along a swept axis."""
        return not set(self.walked(node)) & set(self.swept)


def roles_of(graph: AscGraph) -> Roles:
    """Return the roles of the axes of ``graph``."""
    swept = {axis for node in graph.nodes for axis in joined_axes(node)}
    roots = tuple(axis.name for axis in graph.axes)
    return Roles(roots, tuple(axis for axis in roots if axis in swept))


def is_reduction(node: AscNode) -> bool:
    """Return whether ``node`` joins elements along axes."""
    rule = asc_op(node.op)
    return rule is not None and rule.kind is AscKind.REDUCE


def is_scan(node: AscNode) -> bool:
    """Return whether ``node`` joins each element with those before it."""
    rule = asc_op(node.op)
    return rule is not None and rule.kind is AscKind.SCAN


def joined_axes(node: AscNode) -> tuple[str, ...]:
    """Return the axes along which ``node`` reduces or scans; none for other nodes."""
    return (str(node.attr("axis")),) if is_scan(node) else reduced_axes(node)


def has_later_sweeps(graph: AscGraph) -> bool:
    """Return whether something along a swept axis waits for a reduction: the data is walked more than once."""
    roles = roles_of(graph)
    found = levels(graph.nodes, roles.swept)
    return any(found.get(node.name, 0) > 0 and not roles.is_row(node) for node in graph.nodes)


def levels(nodes: tuple[AscNode, ...], swept: Collection[str]) -> dict[str, int]:
    """Return for each evaluated node in how many sweeps before its own something must have been finished.

    What is joined along none of the axes ``swept`` is finished at once. A reader of a reduction stands one level after
    it. Scans of one level all run along one axis in one direction, reductions of one level all along the same axes, and
    nothing is reduced against a scan that runs backwards: whoever would conflict goes to the next level.
    """
    by_name = {node.name: node for node in nodes}
    found: dict[str, int] = {}
    scanned: dict[int, tuple[object, bool]] = {}
    reduced: dict[int, frozenset[str]] = {}
    sweeping = {node.name for node in nodes if set(joined_axes(node)) & set(swept)}
    for node in nodes:
        if node.op in NOT_EVALUATED:
            continue
        waits = {name for name in node.inputs if name in sweeping and is_reduction(by_name[name])}
        level = max((found[i] + (i in waits) for i in node.inputs if i in found), default=0)
        if node.name in sweeping and is_scan(node):
            is_backward = node.attr("reverse", False) is True
            direction = (node.attr("axis"), is_backward)
            while scanned.get(level, direction) != direction or (is_backward and level in reduced):
                level += 1
            scanned[level] = direction
        elif node.name in sweeping:
            axes = frozenset(reduced_axes(node))
            while scanned.get(level, ("", False))[1] or reduced.get(level, axes) != axes:
                level += 1
            reduced[level] = axes
        found[node.name] = level
    return found
