"""Which buffers of a program share memory, and whose memory it is."""

from attrs import frozen
from autofuse_ir.dtypes import opaque
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    HostCall,
    KernelCall,
    Program,
    ProgramBuffer,
    Step,
    WriteSizes,
)

from autofuse_runtime.errors import InternalError

_NOT_OURS = (BufferKind.INPUT, BufferKind.CONSTANT, BufferKind.OBJECT)


@frozen
class BufferTable:
    """Buffers by number. ``roots[i]`` is the buffer whose memory buffer ``i`` is (itself for most).

    ``owners`` maps a root to the program output whose memory it becomes.
    """

    buffers: tuple[ProgramBuffer, ...]
    numbers: dict[str, int]
    roots: tuple[int, ...]
    owners: dict[int, int]

    def root(self, name: str) -> int:
        """Return the root of the buffer called ``name``."""
        return self.roots[self.numbers[name]]

    def is_object(self, number: int) -> bool:
        """True for buffers that hold a Python object instead of elements."""
        return self.buffers[number].kind is BufferKind.OBJECT or self.buffers[number].dtype.is_opaque


def buffer_table(program: Program) -> BufferTable:
    """Return the buffers of ``program``, with those of inputs that no step reads added."""
    buffers = list(program.buffers)
    known = {buffer.name for buffer in buffers}
    for value in program.inputs:
        if value.name not in known:
            kind = BufferKind.OBJECT if value.shape is None else BufferKind.INPUT
            buffers.append(ProgramBuffer(value.name, kind, value.dtype, value.shape or ()))
    numbers = {buffer.name: number for number, buffer in enumerate(buffers)}
    parents = {buffer.name: buffer.alias_of for buffer in buffers if buffer.alias_of is not None}
    for variant in program.variants:
        for step in variant.steps:
            if isinstance(step, Alias):
                parents.setdefault(step.output, step.input)
    roots = tuple(numbers[_root(program, buffer.name, parents)] for buffer in buffers)
    owners: dict[int, int] = {}
    for position, output in enumerate(program.outputs):
        root = roots[numbers[output.value]]
        if buffers[root].kind not in _NOT_OURS and buffers[root].dtype != opaque:
            owners.setdefault(root, position)
    return BufferTable(tuple(buffers), numbers, roots, owners)


def _root(program: Program, name: str, parents: dict[str, str]) -> str:
    seen = {name}
    while name in parents:
        name = parents[name]
        if name in seen:
            raise InternalError(f"buffer {name} is a view of itself", where=f"program {program.name}")
        seen.add(name)
    return name


def reads(step: Step) -> tuple[str, ...]:
    """Return the buffers whose content ``step`` reads."""
    match step:
        case KernelCall() | HostCall():
            return step.inputs
        case Copy():
            return (step.input,)
        case BindSymbol():
            return (step.buffer,)
        case Alias() | WriteSizes() | AssertGuard() | Free():
            return ()


def writes(step: Step) -> tuple[str, ...]:
    """Return the buffers whose content ``step`` makes."""
    match step:
        case KernelCall() | HostCall():
            return step.outputs
        case Copy() | WriteSizes():
            return (step.output,)
        case Alias() | BindSymbol() | AssertGuard() | Free():
            return ()


def last_uses(program: Program, table: BufferTable, steps: tuple[Step, ...]) -> dict[int, list[int]]:
    """Return, for each step, the roots whose memory nothing needs after it (inputs, constants and results apart).

    A view keeps the memory that it shows, whatever the order of the program's own Free steps.
    """
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        named = (*reads(step), *writes(step))
        if isinstance(step, Alias):
            named = (step.input, step.output)
        for name in named:
            last[table.root(name)] = position
    kept = (BufferKind.INPUT, BufferKind.CONSTANT)
    results = {table.root(output.value) for output in program.outputs}
    freed: dict[int, list[int]] = {}
    for root, position in sorted(last.items()):
        if table.buffers[root].kind not in kept and root not in results:
            freed.setdefault(position, []).append(root)
    return freed
