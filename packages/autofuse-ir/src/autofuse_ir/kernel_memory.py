"""Where the values of a kernel of several groups live: arguments, internal values, and the workspace they share.

Workspace is cut into slots. A slot holds internal values and the groups' own workspace (leaves of reductions, say) one
after the other: two of them share one only where all groups that use the first are complete before any that uses the
second starts, by the groups' order alone. Each slot starts at a multiple of `ALIGNMENT` bytes.
"""

from collections.abc import Sequence
from enum import Enum

from attrs import frozen

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, product
from autofuse_ir.group_order import predecessors
from autofuse_ir.schedule import Alternative, KernelArgument, ScheduleGroup

ALIGNMENT = 64
"""Bytes that every slot of workspace is a multiple of."""


class Memory(Enum):
    """What a ``Data`` or ``Output`` node of an ImplGraph stands for; the attribute that numbers it."""

    ARGUMENT = "index"
    """An input (``Data``) or output (``Output``) of the kernel."""
    OUTPUT = "output"
    """A ``Data`` that reads an output of the kernel, which an earlier group made."""
    INTERNAL = "internal"
    """An internal value, in workspace."""


@frozen
class Source:
    """Number ``index`` of what ``memory`` says."""

    memory: Memory
    index: int


def source_of(node: AscNode) -> Source | None:
    """Return what a ``Data`` or ``Output`` node stands for; None unless it says exactly one thing that fits."""
    found = [Source(memory, index) for memory in Memory if isinstance(index := node.attr(memory.value), int)]
    if len(found) != 1 or (node.op == "Output" and found[0].memory is Memory.OUTPUT):
        return None
    return found[0]


@frozen
class WorkspacePlan:
    """Byte offsets of the internal values by index, and of each group's own workspace by name; ``bytes`` in all."""

    bytes: Dim
    internals: tuple[Dim, ...]
    groups: tuple[tuple[str, Dim], ...]

    def of_group(self, name: str) -> Dim:
        """Return where the own workspace of group ``name`` starts."""
        return dict(self.groups)[name]


def workspace_plan(internals: tuple[KernelArgument, ...], alternative: Alternative) -> WorkspacePlan:
    """Lay the workspace of one alternative out: internal values first, then what groups need for themselves.

    Values that no group of the alternative makes or reads take no bytes.
    """
    groups = alternative.groups
    own = [(group.name, group.workspace_bytes) for group in groups]
    if not internals and len(groups) == 1:
        return WorkspacePlan(own[0][1], (), ((own[0][0], const(0)),))
    before = predecessors(groups)
    slots = _Slots(before)
    users = users_of_internals(groups)
    placed = [
        slots.place(product(value.shape) * value.dtype.itemsize, users[value.index]) if value.index in users else None
        for value in internals
    ]
    areas = [(name, slots.place(need, frozenset((name,))) if need != const(0) else None) for name, need in own]
    offsets, end = slots.offsets()
    return WorkspacePlan(
        end,
        tuple(const(0) if slot is None else offsets[slot] for slot in placed),
        tuple((name, const(0) if slot is None else offsets[slot]) for name, slot in areas),
    )


def users_of_internals(groups: Sequence[ScheduleGroup]) -> dict[int, frozenset[str]]:
    """Return the groups that make or read each internal value, by its index."""
    users: dict[int, set[str]] = {}
    for group in groups:
        for impl in group.implementations:
            for node in impl.nodes:
                source = source_of(node) if node.op in ("Data", "Output") else None
                if source is not None and source.memory is Memory.INTERNAL:
                    users.setdefault(source.index, set()).add(group.name)
    return {index: frozenset(names) for index, names in users.items()}


class _Slots:
    """Slots made so far: their sizes, and who uses what lies there."""

    def __init__(self, before: dict[str, frozenset[str]]) -> None:
        self._before = before
        self._sizes: list[Dim] = []
        self._users: list[list[frozenset[str]]] = []

    def place(self, need: Dim, users: frozenset[str]) -> int:
        """Return the number of the slot for ``need`` bytes: the first whose other tenants are never there with it."""
        size = ceildiv(need, const(ALIGNMENT)) * ALIGNMENT
        for number, tenants in enumerate(self._users):
            if all(self._is_apart(users, other) for other in tenants):
                tenants.append(users)
                self._sizes[number] = dim_max(self._sizes[number], size)
                return number
        self._users.append([users])
        self._sizes.append(size)
        return len(self._sizes) - 1

    def offsets(self) -> tuple[tuple[Dim, ...], Dim]:
        """Return where each slot starts, and where the last one ends."""
        starts: list[Dim] = []
        end: Dim = const(0)
        for size in self._sizes:
            starts.append(end)
            end = end + size
        return tuple(starts), end

    def _is_apart(self, first: frozenset[str], second: frozenset[str]) -> bool:
        return self._all_before(first, second) or self._all_before(second, first)

    def _all_before(self, first: frozenset[str], second: frozenset[str]) -> bool:
        return all(name in self._before[later] for later in second for name in first)
