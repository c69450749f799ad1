"""One ImplGraph as one function: loops over tiles around copy in, compute and copy out."""

import re

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.comment import comment_text
from autofuse_ir.dims_c import c_text
from autofuse_ir.schedule import ImplGraph, Phase, QueuePosition

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.bits import as_bits
from autofuse_codegen.targets.ascendc.broadcasts import broadcast
from autofuse_codegen.targets.ascendc.call import Call
from autofuse_codegen.targets.ascendc.forms import write
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import BARRIER, Line, needs_barrier_before, vector, with_barriers
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.margins import Margins, close, margins
from autofuse_codegen.targets.ascendc.memory import SCRATCH, Memory, Queue
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.operands import Number, Operand, Tensor
from autofuse_codegen.targets.ascendc.transfers import Transfers, elements_of, moves_rows


@frozen
class Written:
    """The text of a case: lines before its loops (``setup``) and the loops with everything in them (``body``)."""

    memory: Memory
    setup: tuple[str, ...]
    body: tuple[str, ...]


@define
class CaseWriter:
    """Writes ``impl``; ``arguments`` are the parameters of the function by argument name, ``sizes`` names of sizes."""

    impl: ImplGraph
    names: Names
    sizes: dict[str, str]
    parameters: dict[tuple[str, int], str]
    granule: int
    memory: Memory = field(init=False)
    nest: Nest = field(init=False)
    layouts: Layouts = field(init=False)
    nodes: dict[str, AscNode] = field(init=False)
    phase: Phase = field(init=False)
    _bits: frozenset[str] = field(init=False)
    _margins: Margins = field(init=False)
    _tensors: dict[str, str] = field(factory=dict)
    _numbers: dict[str, Number] = field(factory=dict)
    _scalar_casts: set[str] = field(factory=set)
    _lines: list[Line] = field(factory=list)
    _open: dict[str, str] = field(factory=dict)
    _left: dict[str, int] = field(factory=dict)
    _waiting: dict[str, list[AscNode]] = field(factory=dict)
    _taken_at: dict[str, int] = field(factory=dict)
    _handed_on_at: int = 0

    def __attrs_post_init__(self) -> None:
        impl = self.impl
        if len(impl.phases) != 1:
            raise CodegenError(
                "kernels of several phases have no form on Ascend yet",
                where=f"kernel {impl.name}, template {impl.template}",
                fix="keep reductions out of the kernel",
            )
        (self.phase,) = impl.phases
        self.nodes = {node.name: node for node in impl.nodes}
        self.nest = Nest(impl, self.names, self.sizes)
        walked = tuple(dict.fromkeys(a for s in self.phase.segments for a in s.axes))
        axes = {axis.name: axis for axis in impl.axes}
        position = {root: i for i, root in enumerate(impl.roots)}
        vectorised = sorted((axes[name] for name in walked), key=lambda axis: position[axis.root])
        self.layouts = Layouts(impl, self.nest, self.names, tuple(vectorised), self.granule)
        self.memory = Memory(impl, self.names, lambda node: moves_rows(node, self.layouts))
        self._bits = as_bits(impl.nodes)

    def write(self) -> Written:
        """Return the text of the function's body."""
        opened, depth = self.nest.open(self.phase)
        order = tuple(self.nodes[name] for segment in self.phase.segments for name in segment.nodes)
        self._margins = margins(self.impl, self.layouts, self._bits, self.memory)
        self._count_uses(order)
        self._copy_in(order)
        for node in order:
            self._node(node)
        lines = with_barriers(tuple(self._lines), bool(depth))
        pad = "  " * depth
        tile = [(pad + "  " * line.depth + line.text).rstrip() for line in lines]
        declared = [pad + text for text in self.layouts.declarations("\n".join(tile))]
        ends = ["  " * level + "}" for level in reversed(range(depth))]
        body = (*_used(opened, "\n".join((*declared, *tile))), *declared, *tile, *ends)
        return Written(self.memory, (*self._setup(), *self._defined(lines)), body)

    # Setup: tensors in GM, queues and buffers.

    def _setup(self) -> list[str]:
        lines = []
        for node in self.impl.nodes:
            if node.op in ("Load", "Store"):
                lines += [line for line in self._global(node) if line not in lines]
        lines.append("TPipe pipe;")
        for queue in self.memory.queues:
            lines.append(f"{queue.type} {queue.name};")
            lines.append(f"pipe.InitBuffer({queue.name}, {queue.copies}, t->{queue.size_field});")
        for space in self.memory.spaces:
            lines.append(f"TBuf<TPosition::VECCALC> {space.name};")
            lines.append(f"pipe.InitBuffer({space.name}, t->{space.size_field});")
        lines += self._slices()
        scratch = self.memory.scratch
        if scratch is not None and any(re.search(rf"\b{SCRATCH}\b", line.text) for line in self._lines):
            lines.append(f"const LocalTensor<uint8_t> {SCRATCH} = {scratch.name}.Get<uint8_t>();")
        for name, node in self.nodes.items():
            own = next((s for s in self.memory.spaces if s.buffer.name == self.memory.memory_of(name)), None)
            if own is not None and name in self._tensors:
                kind = type_name(node.dtype)
                lines.append(f"const LocalTensor<{kind}> {self._tensors[name]} = {own.name}.Get<{kind}>();")
        return lines

    def _global(self, node: AscNode) -> list[str]:
        name, key = self._gm(node)
        kind = type_name(node.dtype)
        size = c_text(elements_of(node), self.sizes.__getitem__)
        pointer = f"reinterpret_cast<__gm__ {kind}*>({self.parameters[key]})"
        return [f"GlobalTensor<{kind}> {name};", f"{name}.SetGlobalBuffer({pointer}, static_cast<uint64_t>({size}));"]

    def _gm(self, node: AscNode) -> tuple[str, tuple[str, int]]:
        if node.op == "Load":
            data = self.nodes[node.inputs[0]]
            key = ("Data", data.argument_index)
        else:
            output = next(n for n in self.impl.nodes if n.op == "Output" and node.name in n.inputs)
            key = ("Output", output.argument_index)
        return self.names.of(f"gm {key}", f"{self.parameters[key]}_gm"), key

    def _slices(self) -> list[str]:
        """Where the members of shared queues start, in bytes."""
        lines = []
        for queue in self.memory.queues:
            text = ""
            for member in queue.members[:-1] if queue.is_shared else ():
                own = self.nest.size(member.bytes)
                text = f"{text} + {own}" if text else own
                following = queue.members[queue.members.index(member) + 1]
                name = self.names.of(f"at {following.name}", f"{following.name}_at")
                lines.append(f"const uint32_t {name} = static_cast<uint32_t>({text});")
        return lines

    def _defined(self, body: tuple[Line, ...]) -> list[str]:
        """Contents for the margins of memory that stays as it is from tile to tile."""
        found: dict[str, str] = {}
        for value in self._margins.ends:
            memory = self.memory.memory_of(value)
            space = next((s for s in self.memory.spaces if s.buffer.name == memory), None)
            if space is not None:
                found[space.buffer.name] = f"af_define({space.name}.Get<uint8_t>(), t->{space.size_field});"
        barrier = [BARRIER] if needs_barrier_before(body, frozenset(found)) else []
        return [*found.values(), *barrier]

    # Queues.

    def _count_uses(self, order: tuple[AscNode, ...]) -> None:
        """Note how many nodes will still read or write memory of each queue."""
        for node in order:
            for memory in self._touched(node):
                queue = self.memory.queue_of(memory)
                if queue is not None:
                    self._left[queue.name] = self._left.get(queue.name, 0) + 1

    def _touched(self, node: AscNode) -> tuple[str, ...]:
        own = () if node.op == "Load" else (node.name,)
        found = (self.memory.memory_of(name) for name in (*node.inputs, *own))
        return tuple(dict.fromkeys(memory for memory in found if memory is not None))

    def _copy_in(self, order: tuple[AscNode, ...]) -> None:
        """Fill all queues. What no copy moves is read last, by the scalar unit, once the vector unit lets go of it."""
        transfers = Transfers(self.nest, self.layouts)
        late: list[tuple[Queue, AscNode]] = []
        read: list[AscNode] = []
        for queue in self.memory.queues:
            if queue.position is not QueuePosition.VECIN:
                continue
            members = {member.name for member in queue.members}
            loads = [n for n in order if n.op == "Load" and self.memory.memory_of(n.name) in members]
            for node in loads:
                self._say(node, f"Load from {self.parameters[self._gm(node)[1]]}")
            self._alloc(queue, loads)
            for node in (n for n in loads if moves_rows(n, self.layouts)):
                self._put(*transfers.load(node, self._tensors[node.name], self._gm(node)[0]))
            elements = [n for n in loads if not moves_rows(n, self.layouts)]
            for node in elements:
                self._clear(node)
            read += elements
            if elements:
                late.append((queue, loads[0]))
            else:
                self._put(f"{queue.name}.EnQue({self._handle(queue, loads[0])});")
        if read:
            self._put("", "af_order<HardEvent::V_S>();")
            for node in read:
                self._put(*transfers.load(node, self._tensors[node.name], self._gm(node)[0]))
            self._put("af_order<HardEvent::S_V>();")
        for queue, first in late:
            self._put(f"{queue.name}.EnQue({self._handle(queue, first)});")

    def _clear(self, node: AscNode) -> None:
        """Give what is read of the memory of ``node`` besides its elements its contents."""
        axes = self.layouts.axes_of(node)
        end = self._margins.ends.get(node.name) or (self.layouts.count(axes) if len(axes) > 1 else None)
        if end is not None:
            self._put(f"af_close_early({self._tensors[node.name]}, 0, {end});")

    def _handle(self, queue: Queue, node: AscNode) -> str:
        return self.names.of(f"handle {queue.name}", f"{queue.name}_tensor") if queue.is_shared else self._tensor(node)

    def _alloc(self, queue: Queue, nodes: list[AscNode]) -> None:
        kind = "uint8_t" if queue.is_shared else type_name(nodes[0].dtype)
        handle = self._handle(queue, nodes[0])
        self._put(f"LocalTensor<{kind}> {handle} = {queue.name}.AllocTensor<{kind}>();")
        self._open[queue.name] = "filled"
        self._slice(queue, nodes, declare=True)

    def _slice(self, queue: Queue, nodes: list[AscNode], declare: bool) -> None:
        if not queue.is_shared:
            return
        handle = self._handle(queue, nodes[0])
        for node in nodes:
            memory = self.memory.memory_of(node.name)
            first = memory == queue.members[0].name
            at = "" if first else f"[{self.names.of(f'at {memory}', f'{memory}_at')}]"
            kind = type_name(node.dtype)
            view = "" if kind == "uint8_t" else f".ReinterpretCast<{kind}>()"
            prefix = f"LocalTensor<{kind}> " if declare else ""
            self._put(f"{prefix}{self._tensor(node)} = {handle}{at}{view};")

    def _members(self, queue: Queue) -> list[AscNode]:
        names = {member.name for member in queue.members}
        return [n for n in self.nodes.values() if n.op not in NOT_EVALUATED and self.memory.memory_of(n.name) in names]

    def _dequeue(self, queue: Queue) -> None:
        nodes = self._members(queue)
        kind = "uint8_t" if queue.is_shared else type_name(nodes[0].dtype)
        self._put(f"{self._handle(queue, nodes[0])} = {queue.name}.DeQue<{kind}>();")
        self._slice(queue, nodes, declare=False)
        self._open[queue.name] = "taken"
        if queue.position is QueuePosition.VECIN:
            self._taken_at[queue.name] = len(self._lines)
        else:
            self._handed_on_at = len(self._lines)
        if queue.position is QueuePosition.VECIN:
            self._close(queue, nodes)

    def _close(self, queue: Queue, nodes: list[AscNode]) -> None:
        for node in nodes:
            if node.op == "Load" and not moves_rows(node, self.layouts):
                continue  # done while it was read
            for text in close(node, self._tensor(node), self._margins, self.layouts, queue.position):
                self._lines.append(vector(text, (), {self.memory.memory_of(node.name) or node.name}))

    def _prepare(self, node: AscNode) -> None:
        """Take what ``node`` reads from its queues, and room for what it writes."""
        for memory in self._touched(node):
            queue = self.memory.queue_of(memory)
            if queue is None:
                continue
            if queue.position is QueuePosition.VECIN and self._open.get(queue.name) == "filled":
                self._dequeue(queue)
            elif queue.position is QueuePosition.VECOUT and queue.name not in self._open:
                self._alloc(queue, self._members(queue))
                self._close(queue, self._members(queue))

    def _release(self, node: AscNode) -> None:
        for memory in self._touched(node):
            queue = self.memory.queue_of(memory)
            if queue is None:
                continue
            self._left[queue.name] -= 1
            if self._left[queue.name] == 0:
                self._put(f"{queue.name}.FreeTensor({self._handle(queue, self._members(queue)[0])});")

    # Nodes.

    def _node(self, node: AscNode) -> None:
        if node.op == "Load":
            return
        if node.op == "Cast" and self._scalar_cast(node):
            return
        self._announce(node)
        self._prepare(node)
        if node.op == "Store":
            self._store(node)
        else:
            self._compute(node)
        self._release(node)

    def _scalar_cast(self, node: AscNode) -> bool:
        """A size in another type is a number of the scalar unit."""
        source = self.nodes[node.inputs[0]]
        is_stored = any(n.op == "Store" and node.name in n.inputs for n in self.impl.nodes)
        if source.op != "IndexExpr" or is_stored:
            return False
        number = self._number(source.name)
        self._scalar_casts.add(node.name)
        self._numbers[node.name] = Number(f"static_cast<{type_name(node.dtype)}>({number.text})", node.dtype)
        return True

    def _compute(self, node: AscNode) -> None:
        axes = self.layouts.axes_of(node)
        operands = tuple(self._operand(name, node) for name in node.inputs)
        to = Tensor(self._tensor(node), node.dtype, self.memory.memory_of(node.name) or node.name)
        if node.op == "AxisIndex":
            self._lines.append(self._positions(node, to))
            return
        if node.op == "Broadcast":
            source = self.nodes[node.inputs[0]]
            self._lines += broadcast(node, source, operands[0], to, self.layouts)
            return
        mask_is_bits = node.op == "Select" and node.inputs[0] in self._bits
        count, as_bits = self.layouts.count(axes), node.name in self._bits
        self._lines += write(Call(node, to, operands, count, lambda: self.layouts.whole(axes), as_bits, mask_is_bits))

    def _positions(self, node: AscNode, to: Tensor) -> Line:
        """Count along the axis from where the tile starts."""
        axes = self.layouts.axes_of(node)
        first = f"static_cast<int32_t>({self.nest.base(str(node.attr('axis'))) or '0'})"
        if not axes:
            return vector(f"af_fill({to.text}, {first}, 1);", (), {to.memory})
        return vector(f"CreateVecIndex({to.text}, {first}, {self.layouts.count(axes)});", (), {to.memory})

    def _store(self, node: AscNode) -> None:
        value = node.inputs[0]
        memory = self.memory.memory_of(value)
        queue = self.memory.queue_of(memory) if memory is not None else None
        if queue is None:
            raise CodegenError(
                f"the value of {value} lies in no queue that drains to global memory",
                where=f"node {node.name}",
                fix="place it in a VECOUT buffer",
            )
        if queue.position is QueuePosition.VECIN:
            self._copy_out(node, borrowed=not queue.passes)
            return
        # What shares a queue is handed on together, when the last of it is there.
        waiting = self._waiting.setdefault(queue.name, [])
        waiting.append(node)
        if len(waiting) < self._stores_of(queue):
            return
        self._put(f"{queue.name}.EnQue({self._handle(queue, self._members(queue)[0])});")
        self._dequeue(queue)
        for each in waiting:
            self._copy_out(each)

    def _stores_of(self, queue: Queue) -> int:
        members = {member.name for member in queue.members}
        return sum(n.op == "Store" and self.memory.memory_of(n.inputs[0]) in members for n in self.impl.nodes)

    def _copy_out(self, node: AscNode, borrowed: bool = False) -> None:
        """Copy the value that ``node`` stores; ``borrowed`` from a queue that only the vector unit takes from."""
        gm, _ = self._gm(node)
        queue = self.memory.queue_of(self.memory.memory_of(node.inputs[0]) or "")
        if borrowed and queue is not None and self._taken_at[queue.name] > self._handed_on_at:
            self._put("af_order<HardEvent::V_MTE3>();")  # else a queue since then has ordered the pipes
        value = self._tensor(self.nodes[node.inputs[0]])
        self._put(*Transfers(self.nest, self.layouts).store(node, gm, value))
        if borrowed:
            self._put("af_order<HardEvent::MTE3_V>();")

    # Operands.

    def _operand(self, name: str, reader: AscNode) -> Operand:
        node = self.nodes[name]
        if node.op in ("Scalar", "IndexExpr") or name in self._scalar_casts:
            return self._number(name)
        is_shared = not self.layouts.axes_of(node) and self.layouts.axes_of(reader)
        if is_shared and reader.op != "Store":
            return self._number(name)
        return Tensor(self._tensor(node), node.dtype, self.memory.memory_of(name) or name)

    def _number(self, name: str) -> Number:
        if name not in self._numbers:
            node = self.nodes[name]
            value = node.attr("value")
            if node.op == "Scalar" and isinstance(value, (bool, int, float)):
                self._numbers[name] = Number(literal(value, node.dtype), node.dtype, value)
            elif node.op == "IndexExpr":
                expression = node.attr("expression")
                text = c_text(expression, self.sizes.__getitem__)  # type: ignore[arg-type]
                self._numbers[name] = Number(f"static_cast<{type_name(node.dtype)}>({text})", node.dtype)
            else:
                wish = self.names.of(f"number {name}", f"{name}_value")
                kind = type_name(node.dtype)
                text = f"const {kind} {wish} = af_scalar_of({self._tensor(node)});"
                self._lines.append(Line(text, settles=True))
                self._numbers[name] = Number(wish, node.dtype)
        return self._numbers[name]

    def _tensor(self, node: AscNode) -> str:
        if node.name not in self._tensors:
            self._tensors[node.name] = self.names.of(f"value {node.name}", node.name)
        return self._tensors[node.name]

    def _spoken(self, name: str) -> str:
        node = self.nodes[name]
        value = node.attr("value")
        return str(value) if node.op == "Scalar" else self.names.of(f"value {name}", name)

    def _announce(self, node: AscNode) -> None:
        if node.op == "Store":
            self._say(node, f"Store {self._spoken(node.inputs[0])} to {self.parameters[self._gm(node)[1]]}")
        else:
            self._say(node, f"{node.op}({', '.join(self._spoken(name) for name in node.inputs)})")

    def _say(self, node: AscNode, text: str) -> None:
        """Add a comment: what follows, and the operators of the model it came from."""
        result = "" if node.op == "Store" else f"{self._tensor(node)} = "
        source = f"  [{', '.join(node.source)}]" if node.source else ""
        if self._lines and not self._lines[-1].text.startswith("//"):
            self._lines.append(Line(""))
        self._lines.append(Line(f"// {comment_text(result + text + source)}"))

    def _put(self, *texts: str) -> None:
        self._lines += [Line(text) for text in texts]


_DECLARED = re.compile(r"^ *const af_i64 (\w+) = ")


def _used(lines: list[str], after: str) -> list[str]:
    """Return ``lines`` without declarations that neither they nor ``after`` use."""
    kept: list[str] = []
    for line in reversed(lines):
        found = _DECLARED.match(line)
        if found is None or re.search(rf"\b{found[1]}\b", after):
            kept.insert(0, line)
            after += line
    return kept
