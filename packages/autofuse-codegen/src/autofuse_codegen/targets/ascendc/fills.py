"""What Loads write into local memory, and what is written around it before it is read."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import QueuePosition

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.loads import LoadForm, load_form
from autofuse_codegen.targets.ascendc.margins import close
from autofuse_codegen.targets.ascendc.transfers import Transfers
from autofuse_codegen.targets.ascendc.vector_unit import BLOCK_BYTES


def form_of(draft: Draft, node: AscNode) -> LoadForm:
    """Return how the elements of Load ``node`` get into local memory."""
    return load_form(node, draft.nodes, draft.layouts)


def transfer(draft: Draft, node: AscNode) -> list[Line]:
    """Return the lines that load the elements of ``node``."""
    transfers = Transfers(draft.nest, draft.layouts, draft.nodes, draft.index, draft.indices)
    memory = draft.memory.memory_of(node.name) or node.name
    return transfers.load(node, draft.tensor(node), memory, draft.gm(node)[0])


def clear(draft: Draft, node: AscNode) -> None:
    """Give what is read of the memory of ``node`` besides its elements its contents, before the elements are there."""
    layouts = draft.layouts
    axes = layouts.axes_of(node)
    block = BLOCK_BYTES // node.dtype.itemsize
    end = draft.margins.ends.get(node.name) or f"af_round_up({layouts.count(axes)}, {block})"
    draft.put(f"af_close_early({draft.tensors[node.name]}, 0, {end});")


def close_all(draft: Draft, position: QueuePosition, nodes: list[AscNode]) -> None:
    """Give the margins of ``nodes``, whose memory was taken at ``position``, their contents."""
    for node in nodes:
        if node.op == "Load" and form_of(draft, node) is LoadForm.ELEMENTS:
            continue  # done before it was read
        for text in close(node, draft.tensor(node), draft.margins, draft.layouts, position):
            draft.lines.append(vector(text, (), {draft.memory.memory_of(node.name) or node.name}))
