"""Queues from copy in to copy out: when their buffers are taken, handed from pipe to pipe, and given back."""

from attrs import define, field
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import QueuePosition

from autofuse_codegen.targets.ascendc.ahead import filled_ahead, is_kept, loads_of, members_of
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.fills import clear, close_all, form_of, transfer
from autofuse_codegen.targets.ascendc.lines import Line
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.loads import LoadForm, index_operands, is_gathered, waits_for_values
from autofuse_codegen.targets.ascendc.memory import Queue


@define
class Handovers:
    """The queues of one phase; ``_left`` counts the nodes that will still touch memory of each.

    Buffers of values that other phases read, too, are given back where the scope of the phase ends (``finish``).
    ``_arriving`` are Loads without a queue that nothing has waited for. ``_settled`` are values that the scalar unit
    may read, since it has waited for the vector unit when they were there. Queues in ``_ahead`` are filled in another
    scope than that of the phase, one tile before.
    """

    draft: Draft
    _ahead: set[str] = field(factory=set)
    _open: dict[str, str] = field(factory=dict)
    _left: dict[str, int] = field(factory=dict)
    _waiting: dict[str, list[AscNode]] = field(factory=dict)
    _taken_at: dict[str, int] = field(factory=dict)
    _arriving: list[AscNode] = field(factory=list)
    _settled: set[str] = field(factory=set)
    _handed_on_at: int = 0

    def __attrs_post_init__(self) -> None:
        for node in self.draft.order:
            for memory in self._touched(node):
                queue = self.draft.memory.queue_of(memory)
                if queue is not None:
                    self._left[queue.name] = self._left.get(queue.name, 0) + 1

    def copy_in_ahead(self) -> None:
        """Fill the queues that are filled one tile before; their scope ends with these lines."""
        self._ahead = {queue.name for queue in filled_ahead(self.draft)}
        self._copy_in([queue for queue in self.draft.memory.queues if queue.name in self._ahead])

    def copy_in(self) -> None:
        """Fill all queues but those of Loads whose indices are computed, and those filled before."""
        self._copy_in([queue for queue in self.draft.memory.queues if queue.name not in self._ahead])

    def _copy_in(self, queues: list[Queue]) -> None:
        """Fill ``queues``.

        Rows at places that index values say come behind those values; what no copy moves is read last, by the scalar
        unit, once the vector unit lets go of it.
        """
        draft = self.draft
        late: list[tuple[Queue, AscNode]] = []
        gathers: list[AscNode] = []
        read: list[AscNode] = []
        staged: list[AscNode] = []
        for queue in queues:
            loads = loads_of(draft, queue)
            if not loads or any(waits_for_values(node, draft.nodes) for node in loads):
                continue
            for node in loads:
                draft.say(node, f"Load from {draft.parameters[draft.gm(node)[1]]}")
            self._alloc(queue, loads)
            for node in loads:
                match form_of(draft, node):
                    case LoadForm.ELEMENTS:
                        clear(draft, node)
                        read.append(node)
                    case LoadForm.ROW_BY_INDEX:
                        gathers.append(node)
                    case LoadForm.STAGED:
                        staged.append(node)
                    case _:
                        draft.lines += transfer(draft, node)
            if any(node in loads for node in (*gathers, *read, *staged)) or self._has_indices(loads):
                late.append((queue, loads[0]))
            else:
                draft.put(f"{queue.name}.EnQue({self._handle(queue, loads[0])});")
        for node in sorted(staged, key=lambda node: not is_gathered(node.dtype)):
            draft.lines += transfer(draft, node)
        self._indexed(gathers, read)
        if read or not all(is_gathered(node.dtype) for node in staged):
            draft.put("af_order<HardEvent::S_V>();")
        for queue, first in late:
            if all(node in read or node in staged for node in loads_of(draft, queue)):
                self._taken_at[queue.name] = len(draft.lines)  # there when the vector unit is
            draft.put(f"{queue.name}.EnQue({self._handle(queue, first)});")

    def _indexed(self, gathers: list[AscNode], read: list[AscNode]) -> None:
        """Write what the scalar unit has a part in: first what it reads without indices, which may be indices."""
        draft = self.draft
        indexed = [n for n in draft.order if n in gathers or (n in read and index_operands(n))]
        indices = {draft.nodes[name] for node in indexed for name in index_operands(node)}
        is_filled = any(n.op == "Load" and form_of(draft, n) in (LoadForm.BOX, LoadForm.STAGED) for n in indices)
        if indices:
            draft.put("", "af_order<HardEvent::MTE2_S>();")
        if read or is_filled:
            draft.lines += [Line(""), Line("af_order<HardEvent::V_S>();", settles=True)]
        for node in (*[n for n in read if n not in indexed], *indexed):
            draft.lines += transfer(draft, node)

    def finish(self) -> list[str]:
        """Take what this phase loads for others alone; return what stands at the end of the scope of the phase."""
        self._arrive()
        kept = [queue for queue in self.draft.memory.queues if queue.name in self._open and is_kept(self.draft, queue)]
        for queue in kept:
            if queue.position is QueuePosition.VECIN and self._open[queue.name] == "filled":
                self._dequeue(queue)
        return [f"{queue.name}.FreeTensor({self._handle(queue, members_of(self.draft, queue)[0])});" for queue in kept]

    def open(self, node: AscNode) -> None:
        """Take room for the value of reduction ``node`` where the first of its elements are still to come."""
        queue = self.draft.memory.queue_of(self.draft.memory.memory_of(node.name) or "")
        if queue is not None:
            self._alloc(queue, [node])
            close_all(self.draft, queue.position, [node])

    def gather(self, node: AscNode) -> None:
        """Fill the memory of Load ``node``, whose indices have been computed.

        The vector unit is done with all of it when the scalar unit has the indices, and so begins to copy. What is read
        one by one, and is nothing but indices itself, the vector unit never sees.
        """
        draft = self.draft
        draft.tensor(node)
        is_read = form_of(draft, node) is LoadForm.ELEMENTS
        is_shared = any(node.name not in index_operands(reader) for reader in self._readers(node))
        if is_read and is_shared:
            clear(draft, node)
        is_staged = bool(node.attr("scratch"))  # in memory that the vector unit works in, too
        if (is_read and (is_shared or is_staged)) or not self._settled.issuperset(index_operands(node)):
            draft.lines.append(Line("af_order<HardEvent::V_S>();", settles=True))
            self._settled.update(index_operands(node), self._done_before(node))
        draft.lines += transfer(draft, node)
        if not is_read:
            self._arriving.append(node)
            return
        self._settled.add(node.name)
        self._taken_at[node.name] = len(draft.lines)
        if is_shared:
            draft.put("af_order<HardEvent::S_V>();")

    def _readers(self, node: AscNode) -> list[AscNode]:
        return [reader for reader in self.draft.impl.nodes if node.name in reader.inputs]

    def _done_before(self, node: AscNode) -> set[str]:
        """The values of the phase that the vector unit has computed, or waited for, before Load ``node``."""
        draft = self.draft
        done = set()
        for each in draft.order[: draft.order.index(node)]:
            queue = draft.memory.queue_of(draft.memory.memory_of(each.name) or "")
            is_there = each not in self._arriving if queue is None else self._open.get(queue.name) == "taken"
            if each.op != "Load" or is_there:
                done.add(each.name)
        return done

    def _arrive(self) -> None:
        """Wait for all Loads without a queue."""
        draft, arrived = self.draft, self._arriving
        self._arriving = []
        if arrived:
            draft.put("af_order<HardEvent::MTE2_V>();")
        for node in arrived:
            self._taken_at[node.name] = len(draft.lines)
            close_all(draft, QueuePosition.VECIN, [node])

    def _has_indices(self, loads: list[AscNode]) -> bool:
        """True where one of ``loads`` is an index that the scalar unit reads before the queue is handed on."""
        early = [n for n in self.draft.order if n.op == "Load" and not waits_for_values(n, self.draft.nodes)]
        names = {name for node in early for name in index_operands(node)}
        return any(node.name in names for node in loads)

    def prepare(self, node: AscNode) -> None:
        """Take what ``node`` reads from its queues, and room for what it writes."""
        if any(each.name in node.inputs for each in self._arriving):
            self._arrive()
        for memory in self._touched(node):
            queue = self.draft.memory.queue_of(memory)
            if queue is None:
                continue
            if queue.position is QueuePosition.VECIN and self._open.get(queue.name) == "filled":
                self._dequeue(queue)
            elif queue.position is QueuePosition.VECOUT and queue.name not in self._open:
                self._alloc(queue, members_of(self.draft, queue))
                close_all(self.draft, queue.position, members_of(self.draft, queue))

    def release(self, node: AscNode) -> None:
        """Give back the buffers that ``node`` was the last to touch."""
        for memory in self._touched(node):
            queue = self.draft.memory.queue_of(memory)
            if queue is None:
                continue
            self._left[queue.name] -= 1
            if self._left[queue.name] == 0 and not is_kept(self.draft, queue):
                self.draft.put(f"{queue.name}.FreeTensor({self._handle(queue, members_of(self.draft, queue)[0])});")

    def hand_on(self, node: AscNode, queue: Queue) -> list[AscNode]:
        """Hand the queue of the value that Store ``node`` writes on to the copy engine; return the Stores to do now.

        What shares a queue is handed on together, when the last of it is there.
        """
        waiting = self._waiting.setdefault(queue.name, [])
        waiting.append(node)
        if len(waiting) < self._stores_of(queue):
            return []
        value = self.draft.nodes[node.inputs[0]]
        self.draft.put(f"{queue.name}.EnQue({self._handle(queue, value)});")
        self._dequeue(queue, value)
        return waiting

    def is_ordered(self, name: str) -> bool:
        """True where another queue has ordered vector unit and copy engine since queue, or Load, ``name`` was taken."""
        return self._taken_at.get(name, len(self.draft.lines)) <= self._handed_on_at

    def _touched(self, node: AscNode) -> tuple[str, ...]:
        """The memory of values of this phase that ``node`` reads or writes."""
        own = () if node.op == "Load" else (node.name,)
        found = (self.draft.memory.memory_of(name) for name in (*node.inputs, *own) if self._is_made_here(name))
        return tuple(dict.fromkeys(memory for memory in found if memory is not None))

    def _is_made_here(self, name: str) -> bool:
        """True for values whose memory this phase takes: of its own nodes, but for reductions of pieces."""
        return self.draft.makes(name) and name not in self.draft.opened

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

    def _dequeue(self, queue: Queue, value: AscNode | None = None) -> None:
        """Take the buffer of ``queue``, whose values this phase makes, or made before: ``value``."""
        nodes = members_of(self.draft, queue) or ([value] if value is not None else [])
        kind = "uint8_t" if queue.is_shared else type_name(nodes[0].dtype)
        is_new = queue.name in self._ahead
        handle = self._handle(queue, nodes[0])
        if is_new:
            self.draft.put(f"LocalTensor<{kind}> {handle};")
        self.draft.put(f"{handle} = {queue.name}.DeQue<{kind}>();")
        self._slice(queue, nodes, declare=is_new)
        self._open[queue.name] = "taken"
        if queue.position is QueuePosition.VECIN:
            self._taken_at.setdefault(queue.name, len(self.draft.lines))
            close_all(self.draft, queue.position, nodes)
        else:
            self._handed_on_at = len(self.draft.lines)

    def _stores_of(self, queue: Queue) -> int:
        members = {member.name for member in queue.members}
        return sum(n.op == "Store" and self.draft.memory.memory_of(n.inputs[0]) in members for n in self.draft.order)
