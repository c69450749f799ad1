"""One ImplGraph as one function: loops over tiles around copy in, compute and copy out."""

import re

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import ImplGraph, Sync

from autofuse_codegen.targets.ascendc.bits import as_bits
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Line, texts_of, used, with_barriers
from autofuse_codegen.targets.ascendc.loads import moves_rows, waits_for_values
from autofuse_codegen.targets.ascendc.margins import margins
from autofuse_codegen.targets.ascendc.memory import Memory
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.phases import Function, places_of
from autofuse_codegen.targets.ascendc.reductions import opened_by
from autofuse_codegen.targets.ascendc.setup import setup


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
    outside = Nest(impl, names, sizes)
    spans = _between_waits(impl)
    places = {n: place for span in spans for n, place in places_of(impl, span, outside, granule).items()}
    phase_of = {name: i for i, phase in enumerate(impl.phases) for s in phase.segments for name in s.nodes}
    nodes = {node.name: node for node in impl.nodes}
    nowhere = Layouts(impl, outside, names, (), granule)

    def layouts_of(node: AscNode) -> Layouts:
        return places[phase_of[node.name]].layouts if node.name in phase_of else nowhere

    memory = Memory(
        impl, names, lambda node: moves_rows(node, layouts_of(node)), lambda node: waits_for_values(node, nodes)
    )
    bits = as_bits(impl.nodes)
    wanted = margins(impl, layouts_of, bits, memory)
    tensors: dict[str, str] = {}

    def draft_of(number: int) -> Draft:
        phase, place = impl.phases[number], places[number]
        opened = frozenset(node.name for axis in phase.loops for node in opened_by(impl, phase, axis))
        layouts = place.layouts
        return Draft(
            impl, names, sizes, parameters, phase, place.nest, layouts, memory, bits, wanted, nodes, tensors, opened
        )

    written = []
    for span in spans:
        function = Function(impl, outside, draft_of)
        body = with_barriers(function.items(span))
        if len(spans) > 1 and impl.phases[span[0]].block is None:
            body = (Line("if (block != 0) return;"), *body)
        own, before = setup(tuple(function.drafts), body)
        lines = used(texts_of(body), "")
        if any(re.search(r"\braised\b", line) for line in lines):
            before, lines = ["uint32_t raised = 0;", *before], [*lines, "af_raise(status, raised);"]
        written.append(Written(own, tuple(before), tuple(lines)))
    return tuple(written)


def _between_waits(impl: ImplGraph) -> list[tuple[int, ...]]:
    """Phases that a block runs one after the other without waiting for other blocks."""
    spans: list[tuple[int, ...]] = [()]
    for number, phase in enumerate(impl.phases):
        spans[-1] += (number,)
        if phase.sync is Sync.ALL and number + 1 < len(impl.phases):
            spans.append(())
    return spans
