"""Invariants of a Program: its tables. `autofuse_ir.checks.steps` has those of its steps."""

from collections.abc import Iterator

from autofuse_ir.checks.asc_graph import asc_graph_findings
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.kernels import check_aliases
from autofuse_ir.checks.schedule import check_arguments
from autofuse_ir.checks.steps import check_steps
from autofuse_ir.checks.symbols import check_range, unknown_symbols
from autofuse_ir.dims import TRUE, free_symbols
from autofuse_ir.facts import InputDim, InputElement, SymbolFact
from autofuse_ir.program import BindSymbol, BufferKind, Program, ProgramKernel
from autofuse_ir.text.values import value_name, word

MOST_VARIANTS = 4
"""Ways to run a program that a call chooses from; each repeats all steps."""


def program_findings(program: Program) -> Iterator[Finding]:
    """Yield every broken invariant of ``program``."""
    yield from check_names(program)
    found = list(check_buffers(program))
    yield from found
    yield from check_symbols(program)
    yield from check_variants(program)
    yield from check_kernels(program)
    yield from check_regions(program)
    if not found:  # steps are followed through the buffers they share
        for number, variant in enumerate(program.variants):
            yield from check_steps(program, variant.steps, f"variant {number}")


def check_names(program: Program) -> Iterator[Finding]:
    """Buffers, kernels, regions and outputs have names of their own."""
    for what, names in (
        ("input", [value.name for value in program.inputs]),
        ("buffer", [buffer.name for buffer in program.buffers]),
        ("kernel", [kernel.name for kernel in program.kernels]),
        ("host region", [region.name for region in program.regions]),
        ("output", [output.name for output in program.outputs]),
    ):
        for name in duplicates(names):
            yield Finding(f"{what} {name!r}", "there are two of them", "give each its own name")


def check_buffers(program: Program) -> Iterator[Finding]:
    """Aliases lead to a buffer that owns its bytes; inputs, outputs and constants have buffers."""
    buffers = {buffer.name: buffer for buffer in program.buffers}
    for buffer in program.buffers:
        seen = {buffer.name}
        at = buffer
        while at.alias_of is not None:
            if at.alias_of not in buffers or at.alias_of in seen:
                what = f"following its alias of {at.alias_of!r} leads nowhere"
                yield Finding(f"buffer {buffer.name!r}", what, "", f"buffer {value_name(buffer.name)}: ")
                break
            at = buffers[at.alias_of]
            seen.add(at.name)
    for value in program.inputs:
        given = buffers.get(value.name)
        if given is None or given.kind not in (BufferKind.INPUT, BufferKind.OBJECT) or given.dtype != value.dtype:
            yield Finding(f"input {value.name!r}", "it has no input buffer of its dtype", "add its buffer", "program ")
    for constant in program.constants:
        kept = buffers.get(constant.name)
        if kept is None or kept.kind is not BufferKind.CONSTANT or kept.dtype != constant.data.dtype:
            yield Finding(f"constant {constant.name!r}", "it has no constant buffer of its dtype", "add its buffer")
    known = {value.name for value in program.inputs} | {constant.name for constant in program.constants}
    for buffer in program.buffers:
        if (
            buffer.kind in (BufferKind.INPUT, BufferKind.CONSTANT)
            and buffer.alias_of is None
            and buffer.name not in known
        ):
            what = f"the program has no such {buffer.kind.value}"
            yield Finding(f"buffer {buffer.name!r}", what, "", f"buffer {value_name(buffer.name)}: ")
    for output in program.outputs:
        if output.value not in buffers:
            yield Finding(f"output {output.name!r}", f"there is no buffer {output.value!r}", "add it", "program ")


def check_symbols(program: Program) -> Iterator[Finding]:
    """Sizes use the symbols that entry or a step binds; guards at entry only those of entry."""
    entry = {symbol.name for symbol in program.symbols}
    bound = entry | {
        step.symbol for variant in program.variants for step in variant.steps if isinstance(step, BindSymbol)
    }
    for symbol in program.symbols:
        yield from check_range(symbol.name, symbol.lo, symbol.hi, symbol.hint, f"symbol {word(symbol.name)} ")
        yield from _check_sources(program, symbol)
    for guard in program.guards:
        yield from unknown_symbols((guard.condition,), entry, f"guard of {guard.operator!r}", guard.kind.value)
    for variant in program.variants:
        yield from unknown_symbols((variant.condition,), entry, "variant", "where ")
    for buffer in program.buffers:
        anchor = f"buffer {value_name(buffer.name)}: "
        yield from unknown_symbols(buffer.shape, bound, f"buffer {buffer.name!r}", anchor)
    yield from unknown_symbols((program.peak_bytes,), bound, "peak bytes", "for ")


def _check_sources(program: Program, symbol: SymbolFact) -> Iterator[Finding]:
    inputs = {value.name: value for value in program.inputs}
    for source in symbol.sources:
        if not isinstance(source, InputDim | InputElement):
            continue
        value = inputs.get(source.input)
        if value is None:
            what = f"its source, input {source.input!r}, is not there"
        elif isinstance(source, InputDim) and not 0 <= source.dim < len(value.shape or ()):
            what = f"its source, input {source.input!r}, has no dim {source.dim}"
        elif isinstance(source, InputElement) and (source.element < 0 or not value.dtype.is_integer):
            what = f"its source, input {source.input!r}, has no integer element {source.element}"
        else:
            continue
        yield Finding(f"symbol {symbol.name!r}", what, "name an input's dim or element", f"symbol {word(symbol.name)} ")


def check_variants(program: Program) -> Iterator[Finding]:
    """There are at most four step lists, and the last one runs for all sizes."""
    if not 1 <= len(program.variants) <= MOST_VARIANTS:
        yield Finding("variants", f"there are {len(program.variants)}", f"use 1 to {MOST_VARIANTS}", "where ")
    if program.variants and program.variants[-1].condition is not TRUE:
        yield Finding("variants", "the last one does not run for all sizes", "end with the plain one", "where ")


def check_regions(program: Program) -> Iterator[Finding]:
    """A host region's operators make what it hands out."""
    for region in program.regions:
        made = {name for node in region.operators for name in node.outputs} | set(region.inputs)
        for name in region.outputs:
            if name not in made:
                yield Finding(f"host region {region.name!r}", f"none of its operators makes {name!r}", "add it")


def check_kernels(program: Program) -> Iterator[Finding]:
    """Call tables are in order, and the interpreter tier has well-formed AscGraphs to run."""
    sizes = {symbol.name for symbol in program.symbols}
    sizes |= {step.symbol for variant in program.variants for step in variant.steps if isinstance(step, BindSymbol)}
    for kernel in program.kernels:
        where = f"kernel {kernel.name!r}"
        for name in (*kernel.symbols, *free_symbols(kernel.workspace_bytes)):
            if name not in sizes:
                yield Finding(where, f"it needs the size {name}, which the program does not have", "add the symbol")
        outputs = sum(argument.is_output for argument in kernel.arguments)
        found = [*check_arguments(kernel.arguments)]
        found += check_aliases(kernel.safe_aliases, len(kernel.arguments) - outputs, outputs)
        for graph in kernel.graphs:
            found += asc_graph_findings(graph)
        found += check_calls(kernel)
        for finding in found:
            yield Finding(f"{where}, {finding.where}", finding.what, finding.fix, finding.anchor)


def check_calls(kernel: ProgramKernel) -> Iterator[Finding]:
    """Several graphs state what each reads and makes; every value is made before it is read, and once."""
    if not kernel.calls and len(kernel.graphs) <= 1:
        return
    if len(kernel.calls) != len(kernel.graphs):
        yield Finding("calls", f"there are {len(kernel.calls)} for {len(kernel.graphs)} graphs", "give one for each")
        return
    known = {argument.name for argument in kernel.arguments if not argument.is_output}
    made: list[str] = []
    for graph, call in zip(kernel.graphs, kernel.calls, strict=True):
        where = f"graph {graph.name!r}"
        for op, names in (("Data", call.inputs), ("Output", call.outputs)):
            count = sum(node.op == op for node in graph.nodes)
            if count != len(names):
                yield Finding(where, f"{len(names)} values for {count} {op} nodes", "give one for each")
        for name in call.inputs:
            if name not in known:
                yield Finding(where, f"it reads {name!r}, which is not made before", "order the graphs")
        known.update(call.outputs)
        made += call.outputs
    for name in duplicates(made):
        yield Finding(f"value {name!r}", "two graphs make it", "let one of them make it")
    for argument in kernel.arguments:
        if argument.is_output and argument.name not in made:
            yield Finding(f"output {argument.name!r}", "no graph makes it", "list it among what a graph makes")
