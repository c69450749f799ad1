"""Parts of one launch that are phases of one another: what passes between them is a value of a tile's rows.

    part 0 over (z0, z1, z2)     m = Max x over z1; ...; y = Div e, d; Store y
    part 1 over (z0, z1, z2)     t = Load y; k = Max t over z2; ...; Store
    both in one graph            m = Max x over z1; ...; y = Div e, d; k = Max y over z2; ...; Store

The axes of two parts are one where what passes between them, or what both read, has a dim that both walk. The axes that
all Stores and reductions walk, and nobody reduces, are shared by blocks; all others stay whole inside of a tile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessMap, AscGraph, AscNode, Axis
from autofuse_ir.dims import Dim, const
from autofuse_ir.errors import IrError
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.group_order import predecessors
from autofuse_ir.schedule import ScheduleGroup, TilingGroup
from autofuse_ir.strides import dense_strides

from autofuse_schedule.joint import Wiring
from autofuse_schedule.roles import Roles, is_scan, joined_axes, roles_of


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
        name = maker.name if maker.name in phased else _fresh(f"{maker.name}_phases", taken)
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
    axes = _unified(maker, reader)
    if axes is None:
        return None
    first, second = (
        _moved(part.graph, names, axes.all) for part, names in zip((maker, reader), axes.names, strict=True)
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


@frozen
class _Unified:
    """The axes of two graphs in one order, and what the axes of each are called there."""

    all: tuple[Axis, ...]
    names: tuple[Mapping[str, str], Mapping[str, str]]


def _unified(maker: AscBackend, reader: AscBackend) -> _Unified | None:
    """Return the axes of both parts in one order that respects both; None where there is none."""
    same: dict[str, str] = {}
    for one, other in _met(maker, reader):
        known = same.setdefault(other, one)
        if known != one:
            return None
    if len(set(same.values())) < len(same):
        return None
    sizes = {axis.name: axis.size for axis in maker.graph.axes}
    if any(sizes[same[axis.name]] != axis.size for axis in reader.graph.axes if axis.name in same):
        return None
    taken = set(sizes)
    names: dict[str, str] = {}
    for axis in reader.graph.axes:
        names[axis.name] = same.get(axis.name) or _fresh(axis.name, taken)
        taken.add(names[axis.name])
    renamed = tuple(evolve(axis, name=names[axis.name], parents=()) for axis in reader.graph.axes)
    order = _in_order(tuple(axis.name for axis in maker.graph.axes), tuple(axis.name for axis in renamed))
    if order is None:
        return None
    by_name = {axis.name: axis for axis in (*renamed, *(evolve(a, parents=()) for a in maker.graph.axes))}
    return _Unified(tuple(by_name[name] for name in order), ({name: name for name in sizes}, names))


def _met(maker: AscBackend, reader: AscBackend) -> Iterator[tuple[str, str]]:
    """Yield axes of both parts that walk the same dim of the same data, one position at a time.

    Those of what passes between them come first; what both read is no reason for others to differ.
    """
    stored = {maker.outputs[index]: access for index, access in _accesses(maker.graph, "Output")}
    loaded = [(reader.inputs[index], access) for index, access in _accesses(reader.graph, "Data")]
    mine = [(maker.inputs[index], access) for index, access in _accesses(maker.graph, "Data")]
    found: dict[str, str] = {}
    for name, access in loaded:
        if name in stored:
            for pair in _aligned(stored[name], access):
                found.setdefault(pair[1], pair[0])
                yield pair
    for name, access in loaded:
        for other, first in mine:
            if other == name:
                pairs = [p for p in _aligned(first, access) if p[1] not in found and p[0] not in found.values()]
                found |= {axis: one for one, axis in pairs}
                yield from pairs


def _accesses(graph: AscGraph, op: str) -> Iterator[tuple[int, AccessMap]]:
    """Yield the access maps of Loads of each ``Data``, or of the Store of each ``Output``, with its index."""
    by_name = {node.name: node for node in graph.nodes}
    for node in graph.nodes:
        if op == "Data" and node.op == "Load" and node.access is not None:
            yield by_name[node.inputs[0]].argument_index, node.access
        if op == "Output" and node.op == "Output":
            access = by_name[node.inputs[0]].access
            assert access is not None
            yield node.argument_index, access


def _aligned(first: AccessMap, second: AccessMap) -> Iterator[tuple[str, str]]:
    """Yield the axes that walk the same dim of equal data, element by element from the first on."""
    if first.memory != second.memory:
        return
    for one, other in zip(first.dims, second.dims, strict=True):
        plain = all(dim.step == const(1) and dim.offset == const(0) for dim in (one, other))
        if plain and one.axis is not None and other.axis is not None:
            yield one.axis, other.axis


def _in_order(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of both in an order that is that of each, or None; common ones come as early as they can."""
    common = [name for name in first if name in second]
    if common != [name for name in second if name in first]:
        return None
    found: list[str] = []
    for names in (first, second):
        at = 0
        for name in names:
            if name in found:
                at = found.index(name) + 1
                continue
            while names is second and at < len(found) and found[at] not in second:
                at += 1
            found.insert(at, name)
            at += 1
    return tuple(found)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _moved(graph: AscGraph, names: Mapping[str, str], axes: tuple[Axis, ...]) -> tuple[AscNode, ...]:
    """Return the nodes of ``graph`` on ``axes``, where its own axes are called as ``names`` says."""
    places = {names[axis.name]: at for at, axis in enumerate(graph.axes)}
    return tuple(_moved_node(node, places, names, axes) for node in graph.nodes)


def _moved_node(node: AscNode, places: Mapping[str, int], names: Mapping[str, str], axes: tuple[Axis, ...]) -> AscNode:
    one: Dim = const(1)
    repeats = tuple(node.repeats[places[axis.name]] if axis.name in places else one for axis in axes)
    access = node.access
    if access is not None:
        dims = tuple(evolve(d, axis=None if d.axis is None else names[d.axis]) for d in access.dims)
        access = evolve(access, dims=dims)
    attrs = tuple(_renamed(attr, names) for attr in node.attrs)
    return evolve(node, repeats=repeats, strides=dense_strides(repeats), access=access, attrs=attrs)


def _renamed(attr: Attr, names: Mapping[str, str]) -> Attr:
    match attr.name, attr.value:
        case "axis", str(axis):
            return Attr("axis", names[axis])
        case "axes", tuple(axes):
            return Attr("axes", tuple(names[str(axis)] for axis in axes))
        case _:
            return attr


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
        name = _fresh(node.name, known)
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
