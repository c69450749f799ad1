"""Queues from copy in to copy out: when their buffers are taken, handed from pipe to pipe, and given back."""

from attrs import define, field
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.schedule import QueuePosition

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import vector
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.margins import close
from autofuse_codegen.targets.ascendc.memory import Queue
from autofuse_codegen.targets.ascendc.transfers import Transfers, moves_rows


@define
class Handovers:
    """The queues of one phase; ``_left`` counts the nodes that will still touch memory of each."""

    draft: Draft
    _open: dict[str, str] = field(factory=dict)
    _left: dict[str, int] = field(factory=dict)
    _waiting: dict[str, list[AscNode]] = field(factory=dict)
    _taken_at: dict[str, int] = field(factory=dict)
    _handed_on_at: int = 0

    def __attrs_post_init__(self) -> None:
        for node in self.draft.order:
            for memory in self._touched(node):
                queue = self.draft.memory.queue_of(memory)
                if queue is not None:
                    self._left[queue.name] = self._left.get(queue.name, 0) + 1

    def copy_in(self) -> None:
        """Fill all queues. What no copy moves is read last, by the scalar unit, once the vector unit lets go of it."""
        draft = self.draft
        transfers = Transfers(draft.nest, draft.layouts)
        late: list[tuple[Queue, AscNode]] = []
        read: list[AscNode] = []
        for queue in draft.memory.queues:
            if queue.position is not QueuePosition.VECIN:
                continue
            members = {member.name for member in queue.members}
            loads = [n for n in draft.order if n.op == "Load" and draft.memory.memory_of(n.name) in members]
            for node in loads:
                draft.say(node, f"Load from {draft.parameters[draft.gm(node)[1]]}")
            self._alloc(queue, loads)
            for node in (n for n in loads if moves_rows(n, draft.layouts)):
                draft.put(*transfers.load(node, draft.tensors[node.name], draft.gm(node)[0]))
            elements = [n for n in loads if not moves_rows(n, draft.layouts)]
            for node in elements:
                self._clear(node)
            read += elements
            if elements:
                late.append((queue, loads[0]))
            else:
                draft.put(f"{queue.name}.EnQue({self._handle(queue, loads[0])});")
        if read:
            draft.put("", "af_order<HardEvent::V_S>();")
            for node in read:
                draft.put(*transfers.load(node, draft.tensors[node.name], draft.gm(node)[0]))
            draft.put("af_order<HardEvent::S_V>();")
        for queue, first in late:
            draft.put(f"{queue.name}.EnQue({self._handle(queue, first)});")

    def prepare(self, node: AscNode) -> None:
        """Take what ``node`` reads from its queues, and room for what it writes."""
        for memory in self._touched(node):
            queue = self.draft.memory.queue_of(memory)
            if queue is None:
                continue
            if queue.position is QueuePosition.VECIN and self._open.get(queue.name) == "filled":
                self._dequeue(queue)
            elif queue.position is QueuePosition.VECOUT and queue.name not in self._open:
                self._alloc(queue, self._members(queue))
                self._close(queue, self._members(queue))

    def release(self, node: AscNode) -> None:
        """Give back the buffers that ``node`` was the last to touch."""
        for memory in self._touched(node):
            queue = self.draft.memory.queue_of(memory)
            if queue is None:
                continue
            self._left[queue.name] -= 1
            if self._left[queue.name] == 0:
                self.draft.put(f"{queue.name}.FreeTensor({self._handle(queue, self._members(queue)[0])});")

    def hand_on(self, node: AscNode, queue: Queue) -> list[AscNode]:
        """Hand the queue of the value that Store ``node`` writes on to the copy engine; return the Stores to do now.

        What shares a queue is handed on together, when the last of it is there.
        """
        waiting = self._waiting.setdefault(queue.name, [])
        waiting.append(node)
        if len(waiting) < self._stores_of(queue):
            return []
        self.draft.put(f"{queue.name}.EnQue({self._handle(queue, self._members(queue)[0])});")
        self._dequeue(queue)
        return waiting

    def is_ordered(self, queue: Queue) -> bool:
        """True where another queue has ordered vector unit and copy engine since ``queue`` was taken."""
        return self._taken_at[queue.name] <= self._handed_on_at

    def _touched(self, node: AscNode) -> tuple[str, ...]:
        own = () if node.op == "Load" else (node.name,)
        found = (self.draft.memory.memory_of(name) for name in (*node.inputs, *own))
        return tuple(dict.fromkeys(memory for memory in found if memory is not None))

    def _clear(self, node: AscNode) -> None:
        """Give what is read of the memory of ``node`` besides its elements its contents."""
        layouts = self.draft.layouts
        axes = layouts.axes_of(node)
        end = self.draft.margins.ends.get(node.name) or (layouts.count(axes) if len(axes) > 1 else None)
        if end is not None:
            self.draft.put(f"af_close_early({self.draft.tensors[node.name]}, 0, {end});")

    def _handle(self, queue: Queue, node: AscNode) -> str:
        if not queue.is_shared:
            return self.draft.tensor(node)
        return self.draft.names.of(f"handle {queue.name}", f"{queue.name}_tensor")

    def _alloc(self, queue: Queue, nodes: list[AscNode]) -> None:
        kind = "uint8_t" if queue.is_shared else type_name(nodes[0].dtype)
        handle = self._handle(queue, nodes[0])
        self.draft.put(f"LocalTensor<{kind}> {handle} = {queue.name}.AllocTensor<{kind}>();")
        self._open[queue.name] = "filled"
        self._slice(queue, nodes, declare=True)

    def _slice(self, queue: Queue, nodes: list[AscNode], declare: bool) -> None:
        if not queue.is_shared:
            return
        draft = self.draft
        handle = self._handle(queue, nodes[0])
        for node in nodes:
            memory = draft.memory.memory_of(node.name)
            first = memory == queue.members[0].name
            at = "" if first else f"[{draft.names.of(f'at {memory}', f'{memory}_at')}]"
            kind = type_name(node.dtype)
            view = "" if kind == "uint8_t" else f".ReinterpretCast<{kind}>()"
            prefix = f"LocalTensor<{kind}> " if declare else ""
            draft.put(f"{prefix}{draft.tensor(node)} = {handle}{at}{view};")

    def _members(self, queue: Queue) -> list[AscNode]:
        names = {member.name for member in queue.members}
        nodes = self.draft.nodes.values()
        return [n for n in nodes if n.op not in NOT_EVALUATED and self.draft.memory.memory_of(n.name) in names]

    def _dequeue(self, queue: Queue) -> None:
        nodes = self._members(queue)
        kind = "uint8_t" if queue.is_shared else type_name(nodes[0].dtype)
        self.draft.put(f"{self._handle(queue, nodes[0])} = {queue.name}.DeQue<{kind}>();")
        self._slice(queue, nodes, declare=False)
        self._open[queue.name] = "taken"
        if queue.position is QueuePosition.VECIN:
            self._taken_at[queue.name] = len(self.draft.lines)
            self._close(queue, nodes)
        else:
            self._handed_on_at = len(self.draft.lines)

    def _close(self, queue: Queue, nodes: list[AscNode]) -> None:
        draft = self.draft
        for node in nodes:
            if node.op == "Load" and not moves_rows(node, draft.layouts):
                continue  # done while it was read
            for text in close(node, draft.tensor(node), draft.margins, draft.layouts, queue.position):
                draft.lines.append(vector(text, (), {draft.memory.memory_of(node.name) or node.name}))

    def _stores_of(self, queue: Queue) -> int:
        members = {member.name for member in queue.members}
        nodes = self.draft.impl.nodes
        return sum(n.op == "Store" and self.draft.memory.memory_of(n.inputs[0]) in members for n in nodes)
