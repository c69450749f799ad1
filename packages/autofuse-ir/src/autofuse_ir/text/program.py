"""The text form of a Program."""

from collections.abc import Iterator
from typing import assert_never

from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    Copy,
    Free,
    HostCall,
    KernelCall,
    Program,
    ProgramBuffer,
    Step,
    WriteSizes,
)
from autofuse_ir.text.asc_graph import asc_graph_lines
from autofuse_ir.text.contents import content_lines
from autofuse_ir.text.facts import guard_text, symbol_row
from autofuse_ir.text.fused_graph import indented, operator_lines
from autofuse_ir.text.graph import outputs_text, typed
from autofuse_ir.text.schedule import argument_lines
from autofuse_ir.text.values import aligned, dims, tensor_type, value_name, values, word


def program_lines(program: Program, brief: bool = False) -> Iterator[str]:
    """Yield the lines of ``program``."""
    inputs = ", ".join(typed(value) for value in program.inputs)
    yield f"program {word(program.name)}({inputs}) -> {outputs_text(program.outputs)}"
    yield f"  for {program.target}  numerics {program.numerics}  peak {program.peak_bytes} bytes"
    yield from aligned(symbol_row(symbol) for symbol in program.symbols)
    for guard in program.guards:
        yield f"  {guard_text(guard)}"
    yield from aligned(_buffer_row(buffer) for buffer in program.buffers)
    yield from content_lines(program.constants, program.payloads, brief)
    for variant in program.variants:
        yield f"  where {variant.condition}"
        for step in variant.steps:
            yield f"    {step_text(step)}"
    for kernel in program.kernels:
        yield f"  kernel {word(kernel.name)}  launch {kernel.launch}  tiling {kernel.tiling}"
        yield from indented(argument_lines(kernel.arguments, kernel.symbols))
        for number, graph in enumerate(kernel.graphs):
            if kernel.calls:
                call = kernel.calls[number]
                yield f"    {values(call.outputs)} = graph {word(graph.name)}({values(call.inputs)})"
            yield from indented(indented(asc_graph_lines(graph)))
    for region in program.regions:
        head = f"host {word(region.name)}({values(region.inputs)})  on {word(region.backend)}"
        yield f"  {values(region.outputs)} = {head}"
        yield from indented(operator_lines(region.operators))


def step_text(step: Step) -> str:
    """Return one step on one line."""
    match step:
        case KernelCall(kernel, inputs, outputs, workspace):
            space = "" if workspace is None else f"  workspace {value_name(workspace)}"
            return f"{values(outputs)} = kernel {word(kernel)}({values(inputs)}){space}"
        case HostCall(region, inputs, outputs):
            return f"{values(outputs)} = host {word(region)}({values(inputs)})"
        case Alias(source, output):
            return f"{value_name(output)} = alias {value_name(source)}"
        case Copy(source, output):
            return f"{value_name(output)} = copy {value_name(source)}"
        case WriteSizes(output, elements):
            return f"{value_name(output)} = sizes {dims(elements)}"
        case BindSymbol(symbol, buffer, dim, element, lo, hi):
            part = f"dim {dim}" if dim is not None else f"element {element}"
            return f"bind {word(symbol)} = {part} of {value_name(buffer)} in [{lo}, {hi}]"
        case AssertGuard(guard):
            return guard_text(guard)
        case Free(buffer):
            return f"free {value_name(buffer)}"
        case never:
            assert_never(never)


def _buffer_row(buffer: ProgramBuffer) -> tuple[str, str]:
    known = f"buffer {value_name(buffer.name)}: {tensor_type(buffer.dtype, buffer.shape)} {buffer.kind.value}"
    return known, "" if buffer.alias_of is None else f"alias of {value_name(buffer.alias_of)}"
