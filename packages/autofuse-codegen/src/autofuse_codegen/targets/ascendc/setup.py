"""What stands before the loops of a case: tensors in GM, queues, buffers."""

import re

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import const
from autofuse_ir.dims_c import c_text

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import BARRIER, Item, needs_barrier_before, texts_of
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.memory import SCRATCH, Memory
from autofuse_codegen.targets.ascendc.transfers import elements_of


def setup(drafts: tuple[Draft, ...], body: tuple[Item, ...]) -> tuple[Memory, list[str]]:
    """Return the queues and buffers that ``body``, the lines of ``drafts``, uses, and what stands before it."""
    draft = drafts[0]
    made = list(dict.fromkeys(node for each in drafts for node in each.order))
    memory = draft.memory.of(frozenset(node.name for node in made))
    text = "\n".join(texts_of(body))
    lines: list[str] = []
    for node in made:
        if node.op in ("Load", "Store"):
            lines += [line for line in _global(node, draft) if line not in lines]
    lines += _leaves(draft, text)
    lines.append("TPipe pipe;")
    for queue in memory.queues:
        lines.append(f"{queue.type} {queue.name};")
        lines.append(f"pipe.InitBuffer({queue.name}, {queue.copies}, t->{queue.size_field});")
    for space in memory.spaces:
        lines.append(f"{space.type} {space.name};")
        lines.append(f"pipe.InitBuffer({space.name}, t->{space.size_field});")
    lines += [line for line in _slices(memory, draft) if re.search(rf"\b{line.split()[2]}\b", text)]
    scratch = memory.scratch
    if scratch is not None and re.search(rf"\b{SCRATCH}\b", text):
        lines.append(f"const LocalTensor<uint8_t> {SCRATCH} = {scratch.name}.Get<uint8_t>();")
    places = {name: space for space in memory.spaces for name in (space.buffer.name, memory.node_of(space)) if name}
    for node in made:
        kind = type_name(node.dtype)
        own = places.get(memory.memory_of(node.name) or "")
        if own is not None and node.name in draft.tensors:
            lines.append(f"const LocalTensor<{kind}> {draft.tensors[node.name]} = {own.name}.Get<{kind}>();")
        if node.name in places and re.search(rf"\b{(partials := draft.partials(node))}\b", text):
            lines.append(f"const LocalTensor<{kind}> {partials} = {places[node.name].name}.Get<{kind}>();")
    defined = _defined(drafts, memory)
    barrier = [BARRIER] if needs_barrier_before(body, frozenset(defined)) else []
    return memory, [*lines, *defined.values(), *barrier]


def _defined(drafts: tuple[Draft, ...], memory: Memory) -> dict[str, str]:
    """Return contents for the margins of memory that stays as it is from tile to tile."""
    found: dict[str, str] = {}
    margins = drafts[0].margins
    for value in (*margins.ends, *sorted(margins.gaps)):
        space = next((s for s in memory.spaces if s.buffer.name == memory.memory_of(value)), None)
        if space is not None and not space.is_filled and any(draft.makes(value) for draft in drafts):
            found[space.buffer.name] = f"af_define({space.name}.Get<uint8_t>(), t->{space.size_field});"
    return found


def _global(node: AscNode, draft: Draft) -> list[str]:
    name, key = draft.gm(node)
    kind = type_name(node.dtype)
    size = c_text(elements_of(node), draft.sizes.__getitem__)
    pointer = f"reinterpret_cast<__gm__ {kind}*>({draft.parameters[key]})"
    return [f"GlobalTensor<{kind}> {name};", f"{name}.SetGlobalBuffer({pointer}, static_cast<uint64_t>({size}));"]


def _leaves(draft: Draft, text: str) -> list[str]:
    """The results of leaves that blocks share, in workspace."""
    lines = []
    for node in draft.impl.nodes:
        offset = draft.memory.leaves_of(node.name)
        if offset is None or not re.search(rf"\b{(name := draft.leaves(node))}\b", text):
            continue
        kind = type_name(node.dtype)
        buffer = next(
            b for p in draft.impl.placements if p.node == node.name for b in draft.impl.buffers if b.name == p.buffer
        )
        count = c_text(buffer.bytes // node.dtype.itemsize, draft.sizes.__getitem__)
        at = "workspace" if offset == const(0) else f"workspace + {draft.nest.size(offset)}"
        pointer = f"reinterpret_cast<__gm__ {kind}*>({at})"
        lines += [
            f"GlobalTensor<{kind}> {name};",
            f"{name}.SetGlobalBuffer({pointer}, static_cast<uint64_t>({count}));",
        ]
    return lines


def _slices(memory: Memory, draft: Draft) -> list[str]:
    """Where the members of shared queues start, in bytes."""
    lines = []
    for queue in memory.queues:
        text = ""
        for member in queue.members[:-1] if queue.is_shared else ():
            own = draft.nest.size(member.bytes)
            text = f"{text} + {own}" if text else own
            following = queue.members[queue.members.index(member) + 1]
            name = draft.names.of(f"at {following.name}", f"{following.name}_at")
            lines.append(f"const uint32_t {name} = static_cast<uint32_t>({text});")
    return lines
