"""The nodes of a phase as statements."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.schedule import QueuePosition

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.broadcasts import broadcast
from autofuse_codegen.targets.ascendc.call import Call
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.forms import write
from autofuse_codegen.targets.ascendc.handovers import Handovers
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.loads import index_operands, waits_for_values
from autofuse_codegen.targets.ascendc.operands import Tensor
from autofuse_codegen.targets.ascendc.reduction_places import is_spread
from autofuse_codegen.targets.ascendc.reductions import join, reduce
from autofuse_codegen.targets.ascendc.scans import SCANS, scan
from autofuse_codegen.targets.ascendc.transfers import Transfers


def write_node(node: AscNode, draft: Draft, queues: Handovers) -> None:
    """Add the statements of ``node`` to ``draft``; Loads are written ahead of all others if their indices are there."""
    if node.op == "Load":
        _load(node, draft, queues)
        return
    if draft.is_number(node):
        return
    if node.op == "Store":
        draft.say(node, f"Store {draft.spoken(node.inputs[0])} to {draft.parameters[draft.gm(node)[1]]}")
    else:
        draft.say(node, f"{node.op}({', '.join(draft.spoken(name) for name in node.inputs)})")
    queues.prepare(node)
    if node.op == "Store":
        _store(node, draft, queues)
    else:
        _compute(node, draft)
    queues.release(node)


def _load(node: AscNode, draft: Draft, queues: Handovers) -> None:
    """Gather by indices that were computed before; let go of those that were loaded."""
    if not index_operands(node):
        return
    is_late = waits_for_values(node, draft.nodes)
    if is_late:
        indices = ", ".join(draft.spoken(name) for name in index_operands(node))
        draft.say(node, f"Load from {draft.parameters[draft.gm(node)[1]]} at {indices}")
    queues.prepare(node)
    if is_late:
        queues.gather(node)
    queues.release(node)


def _compute(node: AscNode, draft: Draft) -> None:
    axes = draft.layouts.axes_of(node)
    if node.inputs and is_spread(draft.nodes[node.inputs[0]], draft):
        draft.lines += join(node, draft)
        return
    operands = tuple(draft.operand(name, node) for name in node.inputs)
    to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
    if node.op == "AxisIndex":
        draft.lines.append(_positions(node, to, draft))
        return
    if node.op == "Broadcast":
        draft.lines += broadcast(node, draft.nodes[node.inputs[0]], operands[0], to, draft.layouts)
        return
    if node.op in REDUCTIONS:
        (source,) = operands
        assert isinstance(source, Tensor), "what a reduction joins lies in local memory"
        draft.lines += reduce(node, source, draft)
        return
    if node.op in SCANS:
        scanned = draft.nodes[node.inputs[0]]
        value = Tensor(draft.tensor(scanned), scanned.dtype, draft.memory.memory_of(scanned.name) or scanned.name)
        draft.lines += scan(node, value, to, draft)
        return
    mask_is_bits = node.op == "Select" and node.inputs[0] in draft.bits
    count, as_bits = draft.layouts.count(axes), node.name in draft.bits
    layouts = draft.layouts
    call = Call(
        node, to, operands, count, lambda: layouts.whole(axes), lambda: layouts.row(axes), as_bits, mask_is_bits
    )
    draft.lines += write(call)


def _positions(node: AscNode, to: Tensor, draft: Draft) -> Line:
    """Count along the axis from where the tile starts."""
    axes = draft.layouts.axes_of(node)
    first = f"static_cast<int32_t>({draft.nest.base(str(node.attr('axis'))) or '0'})"
    if not axes:
        return vector(f"af_fill({to.text}, {first}, 1);", (), {to.memory})
    return vector(f"CreateVecIndex({to.text}, {first}, {draft.layouts.count(axes)});", (), {to.memory})


def _store(node: AscNode, draft: Draft, queues: Handovers) -> None:
    value = node.inputs[0]
    memory = draft.memory.memory_of(value)
    queue = draft.memory.queue_of(memory) if memory is not None else None
    is_gathered = waits_for_values(draft.nodes[value], draft.nodes)
    if queue is None and not is_gathered:
        raise CodegenError(
            f"the value of {value} lies in no queue that drains to global memory",
            where=f"node {node.name}",
            fix="place it in a VECOUT buffer",
        )
    if queue is not None and queue.position is not QueuePosition.VECIN:
        for each in queues.hand_on(node, queue):
            _copy_out(each, draft)
        return
    is_borrowed = queue is None or not queue.passes  # from memory that only the vector unit waits for
    if is_borrowed and not queues.is_ordered(value if queue is None else queue.name):
        draft.put("af_order<HardEvent::V_MTE3>();")
    _copy_out(node, draft)
    if is_borrowed:
        draft.put("af_order<HardEvent::MTE3_V>();")


def _copy_out(node: AscNode, draft: Draft) -> None:
    value = draft.tensor(draft.nodes[node.inputs[0]])
    transfers = Transfers(draft.nest, draft.layouts, draft.nodes, draft.index, draft.indices)
    draft.lines += transfers.store(node, draft.gm(node)[0], value)
