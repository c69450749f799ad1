"""The functions of one ImplGraph: one a phase group, each with what it needs around its body."""

import re

from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, const
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.schedule import ImplGraph, Location, Phase, ScheduleResult
from autofuse_ir.status import NO_MEMORY

from autofuse_codegen.kernel.calls import calls
from autofuse_codegen.kernel.names import Names, identifier
from autofuse_codegen.printers.cpp import size, statements
from autofuse_codegen.targets.cpu.borders import ALONE, Borders
from autofuse_codegen.targets.cpu.lanes import LANES, lane_bytes
from autofuse_codegen.targets.cpu.local_memory import plan_memory
from autofuse_codegen.targets.cpu.lower import GroupLowering, phase_groups
from autofuse_codegen.targets.cpu.reductions import joined_elements, needs_row_memory
from autofuse_codegen.targets.cpu.scope import Scratch
from autofuse_codegen.targets.cpu.views import CaseView, FunctionView

ALIGNMENT = 64
"""Bytes to which the parts of a block's memory are aligned."""


def case_view(
    key: int,
    kernel: str,
    impl: ImplGraph,
    schedule: ScheduleResult,
    functions: Names,
    launch_names: dict[str, str],
    borders: Borders = ALONE,
) -> tuple[CaseView, frozenset[str]]:
    """Return the functions of ``impl`` and the header functions they call.

    ``functions`` hands out their names, which begin with ``kernel``; ``launch_names`` is what the launch function calls
    the symbols.
    """
    groups = phase_groups(impl)
    views: list[FunctionView] = []
    called: set[str] = set()
    for number, phases in enumerate(groups):
        parts = [kernel] + ([] if impl.template == "general" else [impl.template]) + [impl.case.name]
        if len(groups) > 1:
            parts.append(str(number + 1))
        name = functions.of(f"{key} {number}", identifier("_".join(parts)))
        tiling = f"t->{borders.tiling}"
        blocks = f"{tiling}blocks" if len(groups) == 1 else _blocks(impl, phases, launch_names, tiling)
        view, used = _function(name, impl, phases, schedule, blocks, borders)
        views.append(view)
        called |= used
    return CaseView(key, tuple(views)), frozenset(called)


def launch_symbols(impl: ImplGraph) -> set[str]:
    """Return the symbols that the launch of ``impl`` counts blocks with."""
    groups = phase_groups(impl)
    if len(groups) == 1:
        return set()
    tiles = {variable.name for variable in impl.tile_variables}
    return {s for phases in groups for s in free_symbols(_block_count(impl, phases))} - tiles


def _block_count(impl: ImplGraph, phases: tuple[Phase, ...]) -> Dim:
    block = next((phase.block for phase in phases if phase.block is not None), None)
    return const(1) if block is None else next(axis.size for axis in impl.axes if axis.name == block)


def _blocks(impl: ImplGraph, phases: tuple[Phase, ...], launch_names: dict[str, str], tiling: str) -> str:
    tiles = {variable.name: f"{tiling}{identifier(variable.name)}" for variable in impl.tile_variables}
    return size(_block_count(impl, phases), (launch_names | tiles).__getitem__)


def _function(
    name: str, impl: ImplGraph, phases: tuple[Phase, ...], schedule: ScheduleResult, blocks: str, borders: Borders
) -> tuple[FunctionView, frozenset[str]]:
    lowering = GroupLowering(impl, phases, borders)
    sizes = {s: lowering.names.of(f"size {s}", s) for s in schedule.symbols}
    tiles = {v.name: lowering.names.of(f"size {v.name}", v.name) for v in impl.tile_variables}
    function = lowering.function(name)
    known = sizes | tiles
    body = tuple(statements(function.body, known.__getitem__))
    text = "\n".join(body)
    called = {called for called in calls(function.body) if _is_in_headers(called)}
    memory = _local_memory(impl, known, text, lowering.scope.scratch)
    if any("af_state_rows" in line for line in memory):
        called.add("af_state_rows")
    text = "\n".join((text, *memory))
    computed = tuple(node for node in impl.nodes if node.name not in lowering.scope.replaced)
    prologue = [f"constexpr int {LANES} = AF_VECTOR_BYTES / {lane_bytes(computed)};"]
    prologue += [
        f"const af_i64 {sizes[s]} = launch->sizes[{i}];"
        for i, s in enumerate(schedule.symbols)
        if _mentions(text, sizes[s])
    ]
    prologue += [
        f"const af_i64 {tiles[v]} = launch->tiling->{borders.tiling}{identifier(v)};"
        for v in tiles
        if _mentions(text, tiles[v])
    ]
    epilogue: list[str] = []
    if _mentions(text, "stream"):
        prologue.append("const bool stream = launch->stream;")
        epilogue.append("if (stream) af_fence();")  # stores past the cache are not ordered by the pool's own signals
    if _mentions(text, "raised"):
        prologue.append("af_u32 raised = 0;")
        epilogue.append("if (raised) __atomic_fetch_or(&launch->status->bits, raised, __ATOMIC_RELAXED);")
    if memory:
        prologue += memory
        epilogue.append("launch->host->release(launch->host->context, local);")
    comment = tuple(comment_text(line) for line in function.comment)
    return FunctionView(function.name, comment, tuple(prologue), body, tuple(epilogue), blocks), frozenset(called)


def _local_memory(impl: ImplGraph, names: dict[str, str], text: str, scratch: list[Scratch]) -> list[str]:
    """Return the lines that allocate the buffers of a block, the rows of state that have none, and scratch."""
    if not _mentions(text, "local"):
        return []
    lines: list[str] = []
    end = size(plan_memory(impl, Location.LOCAL).bytes, names.__getitem__)
    for number, (form, row) in enumerate(needs_row_memory(impl)):
        at = f"rows{number}_at"
        if not _mentions(text, at):
            continue
        lines.append(f"const af_i64 {at} = {_aligned(end)};")
        rows = "1"
        if form.is_reduction:
            _, _, partials, leaf, _ = form.templates(LANES)
            rows = f"af_state_rows<{partials}, {leaf}>({size(joined_elements(form.node, impl), names.__getitem__)})"
        bytes_of_row = size(row * form.node.dtype.itemsize, names.__getitem__)
        end = f"{at} + {rows} * ({bytes_of_row})"
    for piece in scratch:
        lines.append(f"const af_i64 {piece.offset} = {_aligned(end)};")
        end = f"{piece.offset} + {size(piece.bytes, names.__getitem__)}"
    return [
        *lines,
        f"const af_i64 local_bytes = {end};",
        "unsigned char* const local = static_cast<unsigned char*>("
        "launch->host->allocate(launch->host->context, local_bytes));",
        "if (!local) {",
        f"  __atomic_fetch_or(&launch->status->bits, 1ULL << {NO_MEMORY}, __ATOMIC_RELAXED);",
        "  return;",
        "}",
    ]


def _aligned(end: str) -> str:
    return "0" if end == "0" else f"({end} + {ALIGNMENT - 1}) / {ALIGNMENT} * {ALIGNMENT}"


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _is_in_headers(function: str) -> bool:
    """True for functions of the vector headers; ``af_ceildiv`` comes with the arithmetic of sizes."""
    return function.startswith("af_") and "." not in function and function != "af_ceildiv"
