"""Places for values: registers inside a segment, local buffers across segments, with reuse and in place."""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import define, evolve, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import Dim, product
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition, Segment
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.lifetime import Lifetime, lifetimes
from autofuse_schedule.nest import Nest
from autofuse_schedule.rows import Rows, rounded_up, rows_for
from autofuse_schedule.scratch import ScratchNeeds

MOVED_ELEMENTS = 512
"""Elements that a reduction along several axes has room to move at once, at least."""


@frozen
class Allocation:
    """Buffers and where each value lives."""

    buffers: tuple[Buffer, ...]
    placements: tuple[Placement, ...]
    row_multiple: int = 1


@frozen
class Course:
    """When the segments run: the ``phases`` they belong to, one number for each, and their ``nests``.

    A value that another phase reads survives iterations of loop axis ``crossing``. The first phases make values for
    many tiles: ``held`` has the loop axis whose iterations those of each survive.
    """

    segments: tuple[Segment, ...]
    nests: tuple[Nest, ...]
    phases: tuple[int, ...]
    crossing: str = ""
    held: tuple[str, ...] = ()


def allocate(
    nodes: tuple[AscNode, ...],
    course: Course,
    target: TargetSpec,
    spread: Mapping[str, Dim] = MappingProxyType({}),
    copies: int = 2,
) -> Allocation:
    """Place every evaluated node's value.

    A value read only by its own segment stays in registers. Others get a local buffer of one tile: in ``copies`` where
    a copy engine fills or drains it while another tile is worked on, and taken over from a buffer of the same size that
    is dead, or that dies in place (see ``_Pool``). What operators need besides is one more buffer (`scratch`).
    Reductions in ``spread`` have that many leaf results, in workspace.
    """
    by_name = {n.name: n for n in nodes}
    spans = lifetimes(by_name, course.segments)
    has_copy_engines = target.kind is TargetKind.ASCEND
    evaluated = tuple(by_name[name] for name in spans)
    rows = rows_for(evaluated, course.nests, target)
    needs = ScratchNeeds(target)
    pool, lasting = _Pool(copies), _Pool(copies)
    placements: list[Placement] = []
    shared: list[Buffer] = []
    held: list[Buffer] = []
    for name, span in spans.items():
        node, nest = by_name[name], course.nests[span.first]
        if node.op == "Store":
            placements.append(Placement(name, Location.GLOBAL))
        elif name in spread:
            size = rounded_up(product(node.repeats) * spread[name] * node.dtype.itemsize, target.block_bytes)
            shared.append(Buffer(f"{name}_leaves", Location.WORKSPACE, QueuePosition.VECCALC, size, 1))
            placements.append(Placement(name, Location.WORKSPACE, f"{name}_leaves"))
        elif span.first == span.last:
            placements.append(Placement(name, Location.REGISTER))
        else:
            varying = nest.varying(node)
            is_full = varying == nest.vectorised and not needs.any_for(node)
            is_late = has_copy_engines and _is_late(node, by_name)
            layout = _Layout(tuple(a.name for a in varying), node.dtype.itemsize, is_full, is_late)
            position = _position(node, by_name, spans) if has_copy_engines else QueuePosition.VECCALC
            size = rows.bytes_of(node, nest)
            between = Lifetime(course.phases[span.first], course.phases[span.last], span.readers)
            is_held = between.first < len(course.held)
            if between.first == between.last:
                once = is_held or is_late
                wanted = Buffer(f"{name}_buf", Location.LOCAL, position, size, 1 if once else pool.copies)
                pool.take(wanted, layout, span, between.first)
            elif is_held:
                lifetime = course.held[between.first]
                held.append(Buffer(f"{name}_buf", Location.LOCAL, position, size, 1, None, lifetime))
            else:
                times = 1 if is_late else copies
                lasts = Buffer(f"{name}_buf", Location.LOCAL, position, size, times, None, course.crossing)
                lasting.take(lasts, evolve(layout, is_full=False), between, between.first)
            placements.append(Placement(name, Location.LOCAL, f"{name}_buf"))
    scratch = needs.buffers(tuple(_work(by_name[n], course.nests[s.first], rows, by_name) for n, s in spans.items()))
    buffers = (*held, *pool.buffers, *lasting.buffers, *scratch, *shared)
    return Allocation(buffers, tuple(placements), rows.multiple)


def _work(node: AscNode, nest: Nest, rows: Rows, nodes: Mapping[str, AscNode]) -> tuple[AscNode, Dim]:
    """A node and the elements of a tile that it goes through: those that it reads where it joins them.

    Along several axes they are moved to their lanes first, some at a time; that takes a block for each result, too.
    """
    reduced = reduced_axes(node)
    if not reduced:
        return node, rows.elements_of(node, nest)
    elements = rows.elements_of(nodes[node.inputs[0]], nest)
    if len(reduced) == 1 and tree_of(node).partials > 1:
        return node, elements
    results = product(axis.size for axis in nest.varying(node)[-1:])
    return node, elements + MOVED_ELEMENTS + 8 * results


def _is_late(node: AscNode, nodes: Mapping[str, AscNode]) -> bool:
    """True for a Load at indices that are computed, or gathered themselves."""
    indices = [nodes[name] for name in node.inputs[1:]] if node.op == "Load" else []
    return any(index.op not in ("Load", *NOT_EVALUATED) or len(index.inputs) > 1 for index in indices)


def _position(node: AscNode, nodes: dict[str, AscNode], spans: dict[str, Lifetime]) -> QueuePosition:
    if node.op == "Load":
        return QueuePosition.VECIN
    if any(nodes[reader].op == "Store" for reader in spans[node.name].readers):
        return QueuePosition.VECOUT
    return QueuePosition.VECCALC


@frozen
class _Layout:
    """How a tile's elements lie in a buffer: the axes it varies along, and bytes per element.

    ``is_full``: it varies along all vectorised axes, so each element belongs to one point of the tile; and its operator
    needs no scratch, so that it does not come back to an operand after it has begun to write. ``is_late``: it is
    gathered while the tile is worked on, and shares its buffer with nothing.
    """

    axes: tuple[str, ...]
    itemsize: int
    is_full: bool
    is_late: bool = False


@define
class _Pool:
    """Buffers made so far. A buffer of the vector pipe may take over another one of the same size:

    * when the other's last reader is an earlier segment;
    * in place, when its last reader is the segment that makes the new value and both have one full layout: each strip
      then reads an element before it overwrites that same element. A narrower value is read again by every row or strip
      along the axes it does not vary on, after the first one would have overwritten it.

    One that a copy engine fills or drains takes over another of its kind only from an earlier phase: within one, the
    next tile may be on its way already.
    """

    copies: int
    buffers: list[Buffer] = field(factory=list)
    _owners: dict[str, tuple[_Layout, int, int]] = field(factory=dict)

    def take(self, wanted: Buffer, layout: _Layout, span: Lifetime, phase: int) -> None:
        """Add buffer ``wanted`` for a value that lives over ``span`` and is made in ``phase``.

        What the vector pipe alone uses has one copy.
        """
        if wanted.position is QueuePosition.VECCALC:
            wanted = evolve(wanted, copies=1)
        reuses = next((b.name for b in self.buffers if self._is_free(b, wanted, layout, span, phase)), None)
        self.buffers.append(evolve(wanted, reuses=reuses))
        self._owners[wanted.name] = (layout, span.last, phase)
        if reuses is not None:
            del self._owners[reuses]

    def _is_free(self, buffer: Buffer, wanted: Buffer, layout: _Layout, span: Lifetime, phase: int) -> bool:
        if buffer.name not in self._owners or buffer.position is not wanted.position:
            return False
        if (buffer.bytes, buffer.copies) != (wanted.bytes, wanted.copies):
            return False
        old_layout, last, made = self._owners[buffer.name]
        if layout.is_late or old_layout.is_late:
            return False
        if last < span.first:
            return wanted.position is QueuePosition.VECCALC or made < phase
        is_vector = wanted.position is QueuePosition.VECCALC
        return is_vector and last == span.first and layout.is_full and old_layout == layout
