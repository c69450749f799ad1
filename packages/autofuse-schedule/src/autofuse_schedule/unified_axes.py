"""The axes of two graphs as one: those that walk the same dim of the same data, element by element."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessMap, AscGraph, AscNode, Axis
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.errors import IrError
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.strides import dense_strides


@frozen
class Unified:
    """The axes of two graphs in one order, and what the axes of each are called there."""

    all: tuple[Axis, ...]
    names: tuple[Mapping[str, str], Mapping[str, str]]


def unified(maker: AscBackend, reader: AscBackend) -> Unified | None:
    """Return the axes of both parts in one order that respects both; None where there is none.

    So it is where they have more points than 64 bits count: many parts have many axes that they do not share.
    """
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
        names[axis.name] = same.get(axis.name) or fresh(axis.name, taken)
        taken.add(names[axis.name])
    renamed = tuple(evolve(axis, name=names[axis.name], parents=()) for axis in reader.graph.axes)
    order = _in_order(tuple(axis.name for axis in maker.graph.axes), tuple(axis.name for axis in renamed))
    if order is None:
        return None
    by_name = {axis.name: axis for axis in (*renamed, *(evolve(a, parents=()) for a in maker.graph.axes))}
    try:
        product(axis.size for axis in by_name.values())
    except IrError:
        return None
    return Unified(tuple(by_name[name] for name in order), ({name: name for name in sizes}, names))


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


def fresh(name: str, taken: set[str]) -> str:
    """Return ``name``, or a longer one that is not in ``taken``."""
    while name in taken:
        name += "_"
    return name


def moved(graph: AscGraph, names: Mapping[str, str], axes: tuple[Axis, ...]) -> tuple[AscNode, ...]:
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
