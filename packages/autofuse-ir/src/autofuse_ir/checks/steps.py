"""Invariants of a program's steps, followed in order: what is read was written, what is freed is not used again."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from attrs import define, field

from autofuse_ir.checks.finding import Finding
from autofuse_ir.dims import Cond, Dim, free_symbols
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
    ProgramKernel,
    ProgramRegion,
    Step,
    WriteSizes,
    root_of,
)
from autofuse_ir.text.program import step_text


def check_steps(program: Program, steps: Sequence[Step], where: str) -> Iterator[Finding]:
    """Yield what is wrong with ``steps``; the program's buffers must be well formed."""
    walk = _Walk(
        {buffer.name: buffer for buffer in program.buffers},
        {kernel.name: kernel for kernel in program.kernels},
        {region.name: region for region in program.regions},
        {symbol.name for symbol in program.symbols},
    )
    walk.written = {value.name for value in program.inputs} | {constant.name for constant in program.constants}
    for number, step in enumerate(steps):
        for what in walk.problems(step):
            yield Finding(f"{where}, step {number}", what, "", step_text(step))
    for output in program.outputs:
        root = walk.root(output.value)
        if root not in walk.written:
            yield Finding(where, f"output {output.name!r} is never written", "add the step that makes it", "program ")
        elif root in walk.freed:
            yield Finding(where, f"output {output.name!r} is freed", "keep it", "program ")


@define
class _Walk:
    """What is known after the steps so far. ``written`` and ``freed`` hold buffers that own their bytes."""

    buffers: dict[str, ProgramBuffer]
    kernels: dict[str, ProgramKernel]
    regions: dict[str, ProgramRegion]
    symbols: set[str]
    written: set[str] = field(factory=set)
    freed: set[str] = field(factory=set)

    def root(self, name: str) -> str:
        """Return the buffer that owns the bytes of ``name``."""
        return root_of(name, self.buffers)

    def problems(self, step: Step) -> Iterator[str]:
        """Yield what is wrong with ``step``, and take it."""
        match step:
            case KernelCall():
                yield from self._kernel(step)
            case HostCall():
                yield from self._host(step)
            case Alias(source, output):
                yield from self._read(source)
                if not self._unknown(output) and not self._unknown(source) and self.root(output) != self.root(source):
                    yield f"the buffer {output!r} does not share the bytes of {source!r}"
            case Copy(source, output):
                yield from self._read(source)
                yield from self._write(output)
            case WriteSizes(output, elements):
                yield from self._sizes(elements)
                yield from self._write(output)
            case BindSymbol():
                yield from self._bind(step)
            case AssertGuard(guard):
                yield from self._sizes((guard.condition,))
            case Free(name):
                yield from self._free(name)
            case never:
                assert_never(never)

    def _kernel(self, step: KernelCall) -> Iterator[str]:
        kernel = self.kernels.get(step.kernel)
        if kernel is None:
            yield f"there is no kernel {step.kernel!r}"
            return
        yield from self._sizes(tuple(size for argument in kernel.arguments for size in argument.shape))
        for is_output, names in ((False, step.inputs), (True, step.outputs)):
            arguments = [argument for argument in kernel.arguments if argument.is_output is is_output]
            if len(arguments) != len(names):
                yield f"{len(names)} {'outputs' if is_output else 'inputs'} are given for {len(arguments)}"
                continue
            for argument, name in zip(arguments, names, strict=True):
                buffer = self.buffers.get(name)
                if buffer is not None and buffer.dtype != argument.dtype:
                    yield f"the buffer {name!r} is {buffer.dtype}, but the argument is {argument.dtype}"
        if step.workspace is None and kernel.workspace_bytes != 0:
            yield "the kernel needs workspace"
        for name in step.inputs:
            yield from self._read(name)
        for name in (*step.outputs, *([] if step.workspace is None else [step.workspace])):
            yield from self._write(name)

    def _host(self, step: HostCall) -> Iterator[str]:
        region = self.regions.get(step.region)
        if region is None:
            yield f"there is no host region {step.region!r}"
        elif (len(region.inputs), len(region.outputs)) != (len(step.inputs), len(step.outputs)):
            yield "the host region takes other numbers of inputs and outputs"
        for name in step.inputs:
            yield from self._read(name)
        for name in step.outputs:  # sizes that only the result has are bound from it, afterwards
            yield from self._write(name, has_known_size=False)

    def _bind(self, step: BindSymbol) -> Iterator[str]:
        yield from self._read(step.buffer)
        if (step.dim is None) == (step.element is None):
            yield "exactly one of dim and element must be set"
        buffer = self.buffers.get(step.buffer)
        if buffer is not None and step.dim is not None and not 0 <= step.dim < len(buffer.shape):
            yield f"the buffer {step.buffer!r} has no dim {step.dim}"
        if buffer is not None and step.element is not None and (step.element < 0 or not buffer.dtype.is_integer):
            yield f"the buffer {step.buffer!r} has no integer element {step.element}"
        if not 0 <= step.lo <= step.hi:
            yield f"[{step.lo}, {step.hi}] is no range of sizes"
        self.symbols.add(step.symbol)

    def _free(self, name: str) -> Iterator[str]:
        if self._unknown(name):
            yield f"there is no buffer {name!r}"
            return
        kind = self.buffers[name].kind
        if kind not in (BufferKind.INTERMEDIATE, BufferKind.WORKSPACE, BufferKind.OBJECT):
            yield f"a buffer of kind {kind.value} is not the program's to free"
        root = self.root(name)
        if root in self.freed:
            yield f"{name!r} is freed twice"
        self.freed.add(root)

    def _read(self, name: str) -> Iterator[str]:
        if self._unknown(name):
            yield f"there is no buffer {name!r}"
        elif self.root(name) in self.freed:
            yield f"{name!r} is read after it was freed"
        elif self.root(name) not in self.written:
            yield f"{name!r} is read before anything is written to it"

    def _write(self, name: str, has_known_size: bool = True) -> Iterator[str]:
        if self._unknown(name):
            yield f"there is no buffer {name!r}"
            return
        if self.buffers[name].kind in (BufferKind.INPUT, BufferKind.CONSTANT):
            yield f"{name!r} is an input or a constant, which is not written"
        if has_known_size:
            yield from self._sizes(self.buffers[name].shape)
        root = self.root(name)
        if root in self.freed:
            yield f"{name!r} is written after it was freed"
        self.written.add(root)

    def _sizes(self, sizes: Sequence[Dim | Cond]) -> Iterator[str]:
        unbound = sorted({name for size in sizes for name in free_symbols(size)} - self.symbols)
        if unbound:
            yield f"it needs {', '.join(unbound)}, which no step before it binds"

    def _unknown(self, name: str) -> bool:
        return name not in self.buffers
