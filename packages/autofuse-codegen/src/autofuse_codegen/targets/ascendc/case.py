"""One ImplGraph as one function: loops over tiles around copy in, compute and copy out."""

import re

from attrs import frozen
from autofuse_ir.asc_graph import Axis
from autofuse_ir.schedule import ImplGraph, Phase

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.bits import as_bits
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.handovers import Handovers
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import with_barriers
from autofuse_codegen.targets.ascendc.loads import moves_rows, waits_for_values
from autofuse_codegen.targets.ascendc.margins import margins
from autofuse_codegen.targets.ascendc.memory import Memory
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.setup import defined, setup
from autofuse_codegen.targets.ascendc.statements import write_node


@frozen
class Written:
    """The text of a case: lines before its loops (``setup``) and the loops with everything in them (``body``)."""

    memory: Memory
    setup: tuple[str, ...]
    body: tuple[str, ...]


def write_case(
    impl: ImplGraph, names: Names, sizes: dict[str, str], parameters: dict[tuple[str, int], str], granule: int
) -> tuple[Written, ...]:
    """Return the texts of the functions of ``impl``; all blocks wait for each other between one and the next.

    ``parameters`` are the parameters of a function by argument, ``sizes`` the names of sizes; comparisons work on
    ``granule`` elements at a time.
    """
    if len(impl.phases) != 1:
        raise CodegenError(
            "kernels of several phases have no form on Ascend yet",
            where=f"kernel {impl.name}, template {impl.template}",
            fix="keep reductions out of the kernel",
        )
    (phase,) = impl.phases
    nest = Nest(impl, names, sizes)
    layouts = Layouts(impl, nest, names, _vectorised(impl, phase), granule)
    nodes = {node.name: node for node in impl.nodes}
    memory = Memory(impl, names, lambda node: moves_rows(node, layouts), lambda node: waits_for_values(node, nodes))
    opened, depth = nest.open(phase)
    bits = as_bits(impl.nodes)
    wanted = margins(impl, layouts, bits, memory)
    draft = Draft(impl, names, sizes, parameters, phase, nest, layouts, memory, bits, wanted, nodes, {})
    queues = Handovers(draft)
    queues.copy_in()
    for node in draft.order:
        write_node(node, draft, queues)
    lines = with_barriers(tuple(draft.lines), bool(depth))
    pad = "  " * depth
    tile = [(pad + "  " * line.depth + line.text).rstrip() for line in lines]
    declared = [pad + text for text in draft.layouts.declarations("\n".join(tile))]
    ends = ["  " * level + "}" for level in reversed(range(depth))]
    body = (*_used(opened, "\n".join((*declared, *tile))), *declared, *tile, *ends)
    before = (*setup(draft), *defined(draft, lines))
    if any(re.search(r"\braised\b", line.text) for line in lines):
        before, body = ("uint32_t raised = 0;", *before), (*body, "af_raise(status, raised);")
    return (Written(draft.memory, before, body),)


def _vectorised(impl: ImplGraph, phase: Phase) -> tuple[Axis, ...]:
    """The axes that segments of ``phase`` walk, in the order of the roots."""
    walked = dict.fromkeys(a for s in phase.segments for a in s.axes)
    axes = {axis.name: axis for axis in impl.axes}
    position = {root: i for i, root in enumerate(impl.roots)}
    return tuple(sorted((axes[name] for name in walked), key=lambda axis: position[axis.root]))


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
