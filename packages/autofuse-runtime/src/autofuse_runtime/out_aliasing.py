"""When a result may be computed right into memory that an input also occupies."""

from autofuse_ir.program import KernelCall, Program, ProgramKernel, Step

from autofuse_runtime.buffers import BufferTable, reads, writes

NEVER, SAME_START, ANY = 0, 1, 2
"""Not at all; where both start at one address; however they overlap."""


def safe_aliases(program: Program, table: BufferTable, steps: tuple[Step, ...]) -> bytes:
    """Return one byte for each output and input, row by row: NEVER, SAME_START or ANY."""
    kernels = {kernel.name: kernel for kernel in program.kernels}
    rows = bytearray()
    for position, output in enumerate(program.outputs):
        root = table.root(output.value)
        for value in program.inputs:
            source = table.root(value.name)
            is_owner = table.owners.get(root) == position
            read_at_end = any(table.root(other.value) == source for other in program.outputs)
            rows.append(_verdict(table, steps, kernels, root, source) if is_owner and not read_at_end else NEVER)
    return bytes(rows)


def _verdict(
    table: BufferTable, steps: tuple[Step, ...], kernels: dict[str, ProgramKernel], target: int, source: int
) -> int:
    written = [k for k, step in enumerate(steps) if any(table.root(name) == target for name in writes(step))]
    read = [k for k, step in enumerate(steps) if any(table.root(name) == source for name in reads(step))]
    if not written:
        return NEVER
    if not read or read[-1] < written[0]:
        return ANY
    step = steps[written[0]]
    if read[-1] > written[0] or not isinstance(step, KernelCall):
        return NEVER
    proven = kernels[step.kernel].safe_aliases
    pairs = [
        (out, into)
        for out, name in enumerate(step.outputs)
        if table.root(name) == target
        for into, other in enumerate(step.inputs)
        if table.root(other) == source
    ]
    return SAME_START if all(pair in proven for pair in pairs) else NEVER
