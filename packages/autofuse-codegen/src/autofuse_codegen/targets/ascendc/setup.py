"""What stands before the loops of a case: tensors in GM, queues, buffers."""

import re

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims_c import c_text

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import BARRIER, Line, needs_barrier_before
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.transfers import elements_of


def setup(draft: Draft) -> list[str]:
    """Return the declarations that the lines of ``draft`` need."""
    memory = draft.memory
    lines: list[str] = []
    for node in draft.impl.nodes:
        if node.op in ("Load", "Store"):
            lines += [line for line in _global(node, draft) if line not in lines]
    lines.append("TPipe pipe;")
    for queue in memory.queues:
        lines.append(f"{queue.type} {queue.name};")
        lines.append(f"pipe.InitBuffer({queue.name}, {queue.copies}, t->{queue.size_field});")
    for space in memory.spaces:
        lines.append(f"TBuf<TPosition::VECCALC> {space.name};")
        lines.append(f"pipe.InitBuffer({space.name}, t->{space.size_field});")
    lines += _slices(draft)
    scratch = memory.scratch
    if scratch is not None and any(re.search(rf"\b{SCRATCH}\b", line.text) for line in draft.lines):
        lines.append(f"const LocalTensor<uint8_t> {SCRATCH} = {scratch.name}.Get<uint8_t>();")
    for name, node in draft.nodes.items():
        own = next((s for s in memory.spaces if s.buffer.name == memory.memory_of(name)), None)
        if own is not None and name in draft.tensors:
            kind = type_name(node.dtype)
            lines.append(f"const LocalTensor<{kind}> {draft.tensors[name]} = {own.name}.Get<{kind}>();")
    return lines


def defined(draft: Draft, body: tuple[Line, ...]) -> list[str]:
    """Return contents for the margins of memory that stays as it is from tile to tile."""
    found: dict[str, str] = {}
    for value in draft.margins.ends:
        memory = draft.memory.memory_of(value)
        space = next((s for s in draft.memory.spaces if s.buffer.name == memory), None)
        if space is not None:
            found[space.buffer.name] = f"af_define({space.name}.Get<uint8_t>(), t->{space.size_field});"
    barrier = [BARRIER] if needs_barrier_before(body, frozenset(found)) else []
    return [*found.values(), *barrier]


def _global(node: AscNode, draft: Draft) -> list[str]:
    name, key = draft.gm(node)
    kind = type_name(node.dtype)
    size = c_text(elements_of(node), draft.sizes.__getitem__)
    pointer = f"reinterpret_cast<__gm__ {kind}*>({draft.parameters[key]})"
    return [f"GlobalTensor<{kind}> {name};", f"{name}.SetGlobalBuffer({pointer}, static_cast<uint64_t>({size}));"]


def _slices(draft: Draft) -> list[str]:
    """Where the members of shared queues start, in bytes."""
    lines = []
    for queue in draft.memory.queues:
        text = ""
        for member in queue.members[:-1] if queue.is_shared else ():
            own = draft.nest.size(member.bytes)
            text = f"{text} + {own}" if text else own
            following = queue.members[queue.members.index(member) + 1]
            name = draft.names.of(f"at {following.name}", f"{following.name}_at")
            lines.append(f"const uint32_t {name} = static_cast<uint32_t>({text});")
    return lines
