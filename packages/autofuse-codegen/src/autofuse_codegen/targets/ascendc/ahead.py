"""What queues of a phase hold, and which of them can be filled for the next tile while one is worked on."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.schedule import QueuePosition

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.fills import form_of
from autofuse_codegen.targets.ascendc.loads import LoadForm, index_operands, waits_for_values
from autofuse_codegen.targets.ascendc.memory import Queue

COPIED = (LoadForm.ROWS, LoadForm.BOX, LoadForm.ROW_BY_INDEX)
"""Loads that are nothing but copies, and fills around them."""


def members_of(draft: Draft, queue: Queue) -> list[AscNode]:
    """Return the nodes of the phase whose values lie in ``queue``."""
    names = {member.name for member in queue.members}
    return [node for node in draft.order if draft.memory.memory_of(node.name) in names]


def loads_of(draft: Draft, queue: Queue) -> list[AscNode]:
    """Return the Loads of the phase that fill ``queue``."""
    if queue.position is not QueuePosition.VECIN:
        return []
    return [node for node in members_of(draft, queue) if node.op == "Load"]


def is_kept(draft: Draft, queue: Queue) -> bool:
    """Return whether another phase reads a value of ``queue``."""
    names = {node.name for node in members_of(draft, queue)}
    readers = (n for n in draft.impl.nodes if n.op not in NOT_EVALUATED and not draft.makes(n.name))
    return any(name in names for reader in readers for name in reader.inputs)


def filled_ahead(draft: Draft) -> tuple[Queue, ...]:
    """Return the queues that can be filled while an earlier tile is worked on: by copies from known places.

    Indices that say the places are loaded ahead, too, and what is loaded at the places, or neither is.
    """
    loads = {q: loads_of(draft, q) for q in draft.memory.queues if q.is_ahead and not is_kept(draft, q)}
    found = {q: nodes for q, nodes in loads.items() if nodes and all(_is_copied(draft, node) for node in nodes)}
    while True:
        ahead = {node.name for nodes in found.values() for node in nodes}
        parted = {
            name
            for node in draft.order
            if (indices := index_operands(node)) and not ahead.issuperset({node.name, *indices})
            for name in (node.name, *indices)
        }
        left = {q: nodes for q, nodes in found.items() if parted.isdisjoint(node.name for node in nodes)}
        if len(left) == len(found):
            return tuple(found)
        found = left


def _is_copied(draft: Draft, node: AscNode) -> bool:
    return form_of(draft, node) in COPIED and not waits_for_values(node, draft.nodes)
