"""The queues and buffers of one kernel function, and which value lies where.

Events of queues are scarce: a position has eight, and a double buffer takes two. Where there are more buffers than
that, several share a queue: they are filled one after the other and handed on together. What is gathered by indices
that the kernel computes has no queue: it is waited for before it is read, by one event for all.
"""

from collections.abc import Callable, Iterable
from copy import copy

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, REDUCTIONS
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import Buffer, ImplGraph, Location, QueuePosition

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.names import Names

EVENTS = 8
PASSING = 2
"""Most queues of values that are stored as they were loaded: each takes events of both positions."""
BUFFERS = 64
SCRATCH = "scratch"


LONG_NODES = 16
"""Operators of a tile whose instructions are too many to wait all at once: some take two or three."""
LONG_OPS = (*REDUCTIONS, "CumSum", "CumProd")
"""Operators of many instructions each; so are those that the schedule says are composed."""


def is_long(nodes: Iterable[AscNode]) -> bool:
    """True where the scalar unit has to wait for the vector unit before it has issued all of a tile's ``nodes``.

    What stands behind them, copies for the next tile, is late then.
    """
    computed = [node for node in nodes if node.op not in (*NOT_EVALUATED, "Load", "Store")]
    return len(computed) > LONG_NODES or any(
        node.op in LONG_OPS or node.attr("composed") is not None for node in computed
    )


@frozen
class Queue:
    """A queue of ``copies`` buffers, each for all of ``members``. ``passes``: what was loaded is stored as it is.

    ``is_ahead``: phases may fill it for the next tile before they take what they work on.
    """

    name: str
    position: QueuePosition
    members: tuple[Buffer, ...]
    copies: int
    size_field: str
    passes: bool = False
    is_ahead: bool = False

    @property
    def type(self) -> str:
        """The type of the queue."""
        if self.passes:
            return "TQueBind<TPosition::VECIN, TPosition::VECOUT, 1>"
        return f"TQue<TPosition::{self.position.name}, {self.copies if self.is_ahead else 1}>"

    @property
    def is_shared(self) -> bool:
        """True where values are slices of the queue's buffers."""
        return len(self.members) > 1


@frozen
class Space:
    """A buffer without a queue. ``is_filled``: by copies, too, that are waited for one by one."""

    name: str
    buffer: Buffer
    size_field: str
    is_filled: bool

    @property
    def type(self) -> str:
        """The type of the buffer."""
        return f"TBuf<TPosition::{'VECIN' if self.is_filled else 'VECCALC'}>"


@define
class Memory:
    """All queues and spaces of ``impl``; values by the memory they lie in.

    ``moves_rows``: a Load that copies make alone. ``waits``: one whose indices are computed.
    """

    impl: ImplGraph
    names: Names
    moves_rows: Callable[[AscNode], bool]
    waits: Callable[[AscNode], bool]
    queues: tuple[Queue, ...] = field(init=False)
    spaces: tuple[Space, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        local = [b for b in self.impl.buffers if b.location is Location.LOCAL and b.reuses is None]
        queues: list[Queue] = []
        passing = self._passing()
        late = [b for b in local if b.name in self._late()]
        # What other phases read, too, and what no value lies in, is handed on at other times than what shares a queue.
        used = {self.root_of(p.buffer) for p in self.impl.placements if p.buffer is not None}
        copied = [b for b in local if b not in late and b.position is not QueuePosition.VECCALC]
        held = [b for b in copied if b.lifetime or b.name not in used]
        own = (*late, *held)
        through = [b for b in local if b.name in passing and b not in own]
        plain = [b for b in local if b.position is QueuePosition.VECIN and b not in (*through, *own)]
        out = [b for b in local if b.position is QueuePosition.VECOUT and b not in own]
        # A queue that binds both positions takes events of both.
        inputs = EVENTS - self._events(through) - bool(late)
        outputs = EVENTS - self._events(through)
        kept = self._together(held, inputs - max((b.copies for b in plain), default=0))
        inputs -= self._events([members[0] for members in kept], QueuePosition.VECIN)
        outputs -= self._events([members[0] for members in kept], QueuePosition.VECOUT)
        for members in (*self._shared(plain, inputs), *kept, *self._shared(out, outputs), *[(b,) for b in through]):
            number = len(queues)
            first = members[0]
            stem = (self._value_of(first.name) if len(members) == 1 else "") or f"{first.position.name.lower()}{number}"
            name = self.names.of(f"queue {number}", f"{stem}_queue")
            passes = first.name in passing
            is_ahead = not passes and first.copies > 1 and self._feeds_long_tiles(members)
            queues.append(Queue(name, first.position, members, first.copies, f"q{number}_size", passes, is_ahead))
        self.queues = tuple(queues)
        rest = [b for b in local if b.position is QueuePosition.VECCALC or b in late]
        stages = any(n.op == "Load" and n.attr("scratch") for n in self.impl.nodes)
        owners = {a.buffer: a.node for a in self.impl.accumulators if a.buffer is not None}
        spaces = []
        for number, buffer in enumerate(rest):
            stem = self._value_of(buffer.name) or (f"{owners[buffer.name]}_acc" if buffer.name in owners else SCRATCH)
            is_filled = buffer in late or (stages and buffer.name not in (*used, *owners))
            name = self.names.of(f"space {buffer.name}", f"{stem}_buf")
            spaces.append(Space(name, buffer, f"b{number}_size", is_filled))
        self.spaces = tuple(spaces)
        count = sum(q.copies for q in queues) + len(spaces)
        if count > BUFFERS:
            raise CodegenError(
                f"it needs {count} buffers of local memory, {BUFFERS} are the most a kernel can have",
                where=f"kernel {self.impl.name}",
                fix="fuse fewer operators",
            )

    def root_of(self, buffer: str) -> str:
        """Return the buffer whose memory ``buffer`` takes over, itself where it has its own."""
        by_name = {b.name: b for b in self.impl.buffers}
        while (earlier := by_name[buffer].reuses) is not None:
            buffer = earlier
        return buffer

    def memory_of(self, value: str) -> str | None:
        """Return the root buffer that the value of node ``value`` lies in; None for values that have none."""
        for placement in self.impl.placements:
            if placement.node == value and placement.buffer is not None:
                return self.root_of(placement.buffer)
        return None

    def queue_of(self, memory: str) -> Queue | None:
        """Return the queue whose buffers ``memory`` is part of."""
        return next((q for q in self.queues if any(b.name == memory for b in q.members)), None)

    @property
    def scratch(self) -> Space | None:
        """Return the buffer that operators work in besides their operands."""
        used = {p.buffer for p in (*self.impl.placements, *self.impl.accumulators)}
        return next((s for s in self.spaces if s.buffer.name not in used), None)

    def of(self, nodes: frozenset[str]) -> "Memory":
        """Return the queues and buffers for these nodes alone, and those that no node has for itself."""
        placements = [p for p in self.impl.placements if p.buffer is not None]
        owned = {self.root_of(p.buffer): False for p in placements if p.buffer is not None}
        for p in placements:
            owned[self.root_of(p.buffer or "")] |= p.node in nodes
        owned |= {a.buffer: a.node in nodes for a in self.impl.accumulators if a.buffer is not None}
        found = copy(self)
        found.queues = tuple(q for q in self.queues if any(owned.get(b.name, True) for b in q.members))
        found.spaces = tuple(s for s in self.spaces if owned.get(s.buffer.name, True))
        return found

    @property
    def staging(self) -> Queue:
        """Return the queue that fetches results of leaves."""
        used = {p.buffer for p in self.impl.placements}
        found = next((q for q in self.queues if all(b.name not in used for b in q.members)), None)
        if found is None:
            raise CodegenError(
                "results of leaves have no queue to come in by",
                where=f"kernel {self.impl.name}",
                fix="give it a VECIN buffer that no value lies in",
            )
        return found

    def leaves_of(self, node: str) -> Dim | None:
        """Return where in workspace the results of the leaves of ``node`` start, in bytes; None where they are not."""
        mine = next((p.buffer for p in self.impl.placements if p.node == node), None)
        offset = const(0)
        for buffer in self.impl.buffers:
            if buffer.location is Location.WORKSPACE:
                if buffer.name == mine:
                    return offset
                offset = offset + buffer.bytes * buffer.copies
        return None

    def node_of(self, space: Space) -> str | None:
        """Return the node whose partial results ``space`` is for."""
        return next((a.node for a in self.impl.accumulators if a.buffer == space.buffer.name), None)

    def has_accumulator(self, node: str) -> bool:
        """True where partial results of ``node``, or the state of a scan, live in local memory."""
        return any(a.node == node and a.buffer is not None for a in self.impl.accumulators)

    def accumulator_of(self, node: str) -> Space:
        """Return the buffer in which partial results of ``node`` live."""
        buffer = next((a.buffer for a in self.impl.accumulators if a.node == node), None)
        found = next((space for space in self.spaces if space.buffer.name == buffer), None)
        if found is None:
            raise CodegenError(
                "its partial results have no place in local memory",
                where=f"kernel {self.impl.name}, node {node}",
                fix="give it an accumulator",
            )
        return found

    def _feeds_long_tiles(self, members: tuple[Buffer, ...]) -> bool:
        """True where a phase that loads into ``members`` gives the vector unit more work than waits in its queue."""
        names = {b.name for b in members}
        nodes = {node.name: node for node in self.impl.nodes}
        for phase in self.impl.phases:
            made = [nodes[name] for segment in phase.segments for name in segment.nodes]
            loads = [n for n in made if n.op == "Load" and self.memory_of(n.name) in names]
            if loads and is_long(made):
                return True
        return False

    def _passing(self) -> frozenset[str]:
        """Buffers of Loads that nobody but Stores reads."""
        readers: dict[str, set[str]] = {}
        for node in self.impl.nodes:
            for name in node.inputs:
                readers.setdefault(name, set()).add(node.op)
        loads = [n for n in self.impl.nodes if n.op == "Load" and readers.get(n.name) == {"Store"}]
        loads = [n for n in loads if n.access is not None and self.moves_rows(n)]
        return frozenset([m for m in (self.memory_of(n.name) for n in loads) if m is not None][:PASSING])

    def _late(self) -> frozenset[str]:
        """Buffers of Loads whose indices are computed."""
        found = [self.memory_of(n.name) for n in self.impl.nodes if n.op == "Load" and self.waits(n)]
        return frozenset(m for m in found if m is not None)

    def _together(self, held: list[Buffer], inputs: int) -> list[tuple[Buffer, ...]]:
        """What is handed on at other times than the rest as queues: one each while ``inputs`` events last.

        Else what one phase loads for others shares queues: all of it is there before anybody reads it.
        """
        loaded = [b for b in held if b.lifetime and b.position is QueuePosition.VECIN]
        alone = [(b,) for b in held if b not in loaded]
        events = inputs - self._events([b for (b,) in alone], QueuePosition.VECIN)
        if self._events(loaded) <= events:
            return [(b,) for b in held]
        groups: dict[tuple[int, str, int], list[Buffer]] = {}
        for buffer in loaded:
            groups.setdefault((self._phase_of(buffer.name), buffer.lifetime, buffer.copies), []).append(buffer)
        shared = [q for buffers in groups.values() for q in self._shared(buffers, events // len(groups))]
        return sorted([*alone, *shared], key=lambda members: held.index(members[0]))

    def _phase_of(self, buffer: str) -> int:
        """The number of the phase that makes the values in ``buffer``."""
        values = {p.node for p in self.impl.placements if p.buffer == buffer}
        made = (n for n, phase in enumerate(self.impl.phases) for s in phase.segments if values.intersection(s.nodes))
        return next(made, -1)

    def _shared(self, buffers: list[Buffer], events: int) -> list[tuple[Buffer, ...]]:
        """Buffers as queues that take ``events`` events at most."""
        if not buffers:
            return []
        most = max(1, events // max(b.copies for b in buffers))
        size = -(-len(buffers) // most)
        return [tuple(buffers[at : at + size]) for at in range(0, len(buffers), size)]

    @staticmethod
    def _events(buffers: list[Buffer], position: QueuePosition | None = None) -> int:
        return sum(b.copies for b in buffers if position is None or b.position is position)

    def _value_of(self, buffer: str) -> str:
        return next((p.node for p in self.impl.placements if p.buffer == buffer), "")
