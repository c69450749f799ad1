"""Parts of one launch that are phases of one another: what passes between them is a value of a tile's rows.

    part 0 over (z0, z1, z2)     m = Max x over z1; ...; y = Div e, d; Store y
    part 1 over (z0, z1, z2)     t = Load y; k = Max t over z2; ...; Store
    both in one graph            m = Max x over z1; ...; y = Div e, d; k = Max y over z2; ...; Store

The axes of two parts are one where what passes between them, or what both read, has a dim that both walk. The axes that
all Stores and reductions walk, and nobody reduces, are shared by blocks; all others stay whole inside of a tile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessMap, AscGraph, AscNode
from autofuse_ir.errors import IrError
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.group_order import predecessors
from autofuse_ir.schedule import ScheduleGroup, TilingGroup

from autofuse_schedule.joint import Wiring
from autofuse_schedule.roles import Roles, is_scan, joined_axes, roles_of
from autofuse_schedule.unified_axes import fresh, moved, unified


@frozen
class Phased:
    """``node`` with some of its parts in one graph: those of the parts ``phased``."""

    node: FusedAscBackend
    phased: frozenset[str]


def in_phases(node: FusedAscBackend) -> Phased | None:
    """Return ``node`` with those of its parts in one graph that can be phases of one another; None where none can.

    Values that only such parts read are not stored any more; internal values keep their numbers.
    """
    parts = list(node.parts)
    phased: set[str] = set()
    for part in node.parts:
        makers = [each for each in parts if each.name != part.name and set(each.outputs) & set(part.inputs)]
        if part not in parts or not makers:
            continue
        maker = makers[-1]
        others = [each for each in parts if each not in (maker, part)]
        read = {name for each in others for name in each.inputs} | set(node.outputs)
        taken = {each.name for each in (*node.parts, *others)}
        name = maker.name if maker.name in phased else fresh(f"{maker.name}_phases", taken)
        joined = joined_part(name, maker, part, read)
        if joined is None:
            continue
        arranged = _in_order_of_data(node, [*others, joined])
        if arranged is not None:
            parts = arranged
            phased = phased - {part.name} | {name}
    return Phased(evolve(node, parts=tuple(parts)), frozenset(phased)) if phased else None


def joined_part(name: str, maker: AscBackend, reader: AscBackend, read: set[str]) -> AscBackend | None:
    """Return ``reader`` as a phase of ``maker``; None where their rows differ, or what passes is read in another order.

    ``read`` are the values that others need, which stay outputs.
    """
    if any(is_scan(node) for part in (maker, reader) for node in part.graph.nodes):
        return None
    axes = unified(maker, reader)
    if axes is None:
        return None
    first, second = (
        moved(part.graph, names, axes.all) for part, names in zip((maker, reader), axes.names, strict=True)
    )
    inputs = tuple(dict.fromkeys((*maker.inputs, *(name for name in reader.inputs if name not in maker.outputs))))
    kept = tuple(name for name in maker.outputs if name in read or name not in reader.inputs)
    outputs = (*kept, *reader.outputs)
    nodes = _joined_nodes(maker, first, reader, second, inputs, outputs)
    if nodes is None:
        return None
    graph = AscGraph(name, axes.all, nodes)
    operators = (*maker.operators, *reader.operators)
    return AscBackend(name, inputs, outputs, graph, operators) if group_of_phases(graph) is not None else None


def group_of_phases(graph: AscGraph) -> TilingGroup | None:
    """Return the roles of the axes of ``graph``: blocks share those that every sink walks and nobody reduces.

    They stand in front of all other axes that are kept. None where there is no such axis.
    """
    roles = roles_of(graph)
    by_name = {node.name: node for node in graph.nodes}
    walks = [
        set(_walk_of_sink(node, roles, by_name)) for node in graph.nodes if node.op == "Store" or joined_axes(node)
    ]
    shared: list[str] = []
    for axis in roles.kept:
        if not all(axis in walk for walk in walks):
            break
        shared.append(axis)
    if not shared or not roles.swept:
        return None
    others = tuple(axis for axis in roles.kept if axis not in shared)
    return TilingGroup(y=tuple(shared), r=roles.swept, n=others)


def _walk_of_sink(node: AscNode, roles: Roles, by_name: Mapping[str, AscNode]) -> tuple[str, ...]:
    return roles.walked(node, by_name[node.inputs[0]] if joined_axes(node) else None)


def _in_order_of_data(node: FusedAscBackend, parts: Sequence[AscBackend]) -> list[AscBackend] | None:
    """Return ``parts`` of ``node`` so that each stands behind those it reads; None where they wait for one another."""
    wiring = Wiring(evolve(node, parts=tuple(parts)))
    try:
        before = predecessors([ScheduleGroup(part.name, (), wiring.after(part)) for part in parts])
    except IrError:
        return None
    return sorted(parts, key=lambda part: len(before[part.name]))


def _joined_nodes(
    maker: AscBackend,
    first: tuple[AscNode, ...],
    reader: AscBackend,
    second: tuple[AscNode, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> tuple[AscNode, ...] | None:
    """Return the nodes of both, one behind the other; Loads of what passes between them are the values themselves."""
    stored: dict[str, tuple[str, AccessMap | None]] = {}
    by_name = {node.name: node for node in first}
    for node in first:
        if node.op == "Output":
            store = by_name[node.inputs[0]]
            stored[maker.outputs[node.argument_index]] = store.inputs[0], store.access
    nodes = list(_numbered(first, maker, inputs, outputs))
    known = {node.name for node in nodes}
    data = {inputs[node.argument_index]: node.name for node in nodes if node.op == "Data"}
    renamed: dict[str, str] = {}
    passing: dict[str, str] = {}
    for node in _numbered(second, reader, (*inputs, *maker.outputs), outputs):
        if node.op == "Data":
            value = (*inputs, *maker.outputs)[node.argument_index]
            if value in stored:
                passing[node.name] = value
                continue
            if value in data:
                renamed[node.name] = data[value]
                continue
        if node.op == "Load" and node.inputs[0] in passing:
            value, access = stored[passing[node.inputs[0]]]
            made = by_name[value]
            if node.access != access or node.inputs[1:] or made.repeats != node.repeats or made.dtype != node.dtype:
                return None
            renamed[node.name] = value
            continue
        name = fresh(node.name, known)
        known.add(name)
        renamed[node.name] = name
        nodes.append(evolve(node, name=name, inputs=tuple(renamed.get(source, source) for source in node.inputs)))
    return tuple(nodes)


def _numbered(
    nodes: Iterable[AscNode], part: AscBackend, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> Iterator[AscNode]:
    """Yield ``nodes`` with arguments numbered as ``inputs`` and ``outputs`` say; without Outputs that are not there."""
    listed = list(nodes)
    gone = {n.inputs[0] for n in listed if n.op == "Output" and part.outputs[n.argument_index] not in outputs}
    for node in listed:
        match node.op:
            case "Data":
                yield _indexed(node, inputs.index(part.inputs[node.argument_index]))
            case "Output" if node.inputs[0] in gone:
                continue
            case "Output":
                yield _indexed(node, outputs.index(part.outputs[node.argument_index]))
            case _ if node.name in gone:
                continue
            case _:
                yield node


def _indexed(node: AscNode, index: int) -> AscNode:
    return evolve(node, attrs=(*(attr for attr in node.attrs if attr.name != "index"), Attr("index", index)))
