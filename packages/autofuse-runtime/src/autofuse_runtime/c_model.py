"""A program as C functions: the whole model where every step is ours, else one function for each kernel."""

import re
from importlib.resources import files

from autofuse_ir.abi import header_text
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, const
from autofuse_ir.dims_c import C_PRELUDE, c_cond, c_text
from autofuse_ir.program import (
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
    Step,
    Variant,
    WriteSizes,
)

from autofuse_runtime.buffers import BufferTable, buffer_table, last_uses
from autofuse_runtime.plan import entry_guards

_PARAMETERS = "const AfHost* host, const af_i64* sizes, const void* const* inputs, void* const* outputs"

LONGEST_STEM = 120
"""Characters of a program's name that go into file names and C identifiers."""


def model_header() -> str:
    """Return the text of ``af_model.h``, which the generated functions include."""
    return (files("autofuse_runtime") / "c_abi" / "af_model.h").read_text(encoding="utf-8")


def file_stem(program: Program) -> str:
    """Return the program's name as a file name and C identifier, cut where file systems do not take longer ones."""
    stem = re.sub(r"[^A-Za-z0-9_]+", "_", program.name)[:LONGEST_STEM].strip("_") or "program"
    stem = f"p{stem}" if stem[0].isdigit() else stem
    return f"{stem}_model" if f"af_{stem}" in _taken(program) else stem


def _taken(program: Program) -> frozenset[str]:
    """Names of the library's own types, tables and functions."""
    headers = re.findall(r"\baf_\w+", "\n".join((header_text(), model_header(), C_PRELUDE)))
    tables = ["af_library", "af_kernels", *(f"af_kernel_{number}" for number in range(len(program.kernels)))]
    entries = (name for kernel in program.kernels for name in (kernel.launch, kernel.tiling))
    return frozenset((*headers, *tables, *entries))


def whole_model_obstacle(program: Program) -> str | None:
    """Return why the program cannot be one C function, None where it can."""
    for variant in program.variants:
        for step in variant.steps:
            if isinstance(step, HostCall):
                return f"it has host steps ({step.region})"
            if isinstance(step, BindSymbol | AssertGuard):
                return "it has sizes that are only known half-way"
    if any(buffer.kind is BufferKind.OBJECT or buffer.dtype.is_opaque for buffer in program.buffers):
        return "it has values that are no tensors"
    return None


def model_signature(program: Program) -> str:
    """Return the declaration of the whole model's C function, without the semicolon."""
    return f"int af_{file_stem(program)}({_PARAMETERS}, const void* const* constants, AfStatus* status)"


def kernel_signature(program: Program, number: int) -> str:
    """Return the declaration of the C function of kernel ``number``, without the semicolon."""
    return f"int af_{file_stem(program)}_kernel_{number}({_PARAMETERS}, AfStatus* status)"


def model_source(program: Program) -> str:
    """Return C++ text with the functions that ``include/<name>.h`` declares; it follows the table of kernels."""
    parts = ["", '#include "af_model.h"', "", C_PRELUDE]
    if whole_model_obstacle(program) is None:
        parts += _Model(program).lines()
    else:
        for number, kernel in enumerate(program.kernels):
            parts += _kernel_function(program, number, kernel)
    return "\n".join(parts) + "\n"


def _kernel_function(program: Program, number: int, kernel: ProgramKernel) -> list[str]:
    slots = {name: position for position, name in enumerate(kernel.symbols)}
    outputs = sum(argument.is_output for argument in kernel.arguments)
    inputs = len(kernel.arguments) - outputs
    sources = ", ".join(f"{{const_cast<void*>(inputs[{k}]), nullptr}}" for k in range(inputs)) or "{}"
    targets = ", ".join(f"{{outputs[{k}], nullptr}}" for k in range(outputs)) or "{}"
    workspace = c_text(kernel.workspace_bytes, lambda name: f"sizes[{slots[name]}]")
    return [
        f"// {comment_text(kernel.name)}",
        f"AF_EXPORT {kernel_signature(program, number)} {{",
        f"  const AfBuffer in[] = {{{sources}}}, out[] = {{{targets}}};",
        "  (void)inputs, (void)outputs;",
        f"  return af_launch(&af_kernel_{number}, host, sizes, in, out, {workspace}, status);",
        "}",
        "",
    ]


class _Model:
    """Writes the whole model: a function with the steps, and one around it that gives memory back."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.table: BufferTable = buffer_table(program)
        self.slots = {fact.name: slot for slot, fact in enumerate(program.symbols)}
        self.inputs = {value.name: k for k, value in enumerate(program.inputs)}
        self.constants = {constant.name: k for k, constant in enumerate(program.constants)}
        owned = (BufferKind.INTERMEDIATE, BufferKind.OUTPUT)
        roots = sorted(set(self.table.roots))
        arena = [root for root in roots if self.table.buffers[root].kind in owned and root not in self.table.owners]
        self.memory = {root: k for k, root in enumerate(arena)}

    def lines(self) -> list[str]:
        stem = file_stem(self.program)
        arguments = "host, sizes, inputs, outputs, constants, status"
        count = max(1, len(self.memory))
        lines = [
            f"static int af_steps({_PARAMETERS}, const void* const* constants, AfStatus* status, void** memory) {{",
            "  (void)host, (void)sizes, (void)inputs, (void)outputs, (void)constants, (void)status, (void)memory;",
            "  int failed = AF_DONE;",
        ]
        lines += [f"  if ({check}) return AF_SIZES_REFUSED;" for check in self._checks()]
        for variant in self.program.variants:
            lines += self._variant(variant)
        return [
            *lines,
            "  return AF_SIZES_REFUSED;",
            "}",
            "",
            f"// The model {stem}.",
            f"AF_EXPORT {model_signature(self.program)} {{",
            f"  void* memory[{count}] = {{}};",
            f"  const int result = af_steps({arguments}, memory);",
            f"  for (int k = 0; k < {count}; ++k) af_drop(host, &memory[k]);",
            "  return result;",
            "}",
        ]

    def _name(self, symbol: str) -> str:
        return f"sizes[{self.slots[symbol]}]"

    def _dim(self, dim: Dim) -> str:
        return f"({c_text(dim, self._name)})"

    def _checks(self) -> list[str]:
        checks = []
        for fact in self.program.symbols:
            value = self._name(fact.name)
            checks.append(f"{value} < {self._dim(const(fact.lo))} || {value} > {self._dim(const(fact.hi))}")
        return checks + [f"!({c_cond(guard.condition, self._name)})" for guard in entry_guards(self.program)]

    def _bytes(self, buffer: ProgramBuffer) -> str:
        return " * ".join([str(buffer.dtype.itemsize), *[self._dim(dim) for dim in buffer.shape]])

    def _data(self, name: str) -> str:
        root = self.table.root(name)
        buffer = self.table.buffers[root]
        if root in self.table.owners:
            return f"outputs[{self.table.owners[root]}]"
        if buffer.kind is BufferKind.INPUT:
            return f"const_cast<void*>(inputs[{self.inputs[buffer.name]}])"
        if buffer.kind is BufferKind.CONSTANT:
            return f"const_cast<void*>(constants[{self.constants[buffer.name]}])"
        return f"memory[{self.memory[root]}]"

    def _variant(self, variant: Variant) -> list[str]:
        steps = tuple(step for step in variant.steps if not isinstance(step, Free))
        frees = last_uses(self.program, self.table, steps)
        lines = [f"  if ({c_cond(variant.condition, self._name)}) {{"]
        for position, step in enumerate(steps):
            lines += [f"    {line}" for line in self._step(step)]
            dead = [self.memory[root] for root in frees.get(position, ()) if root in self.memory]
            lines += [f"    af_drop(host, &memory[{k}]);" for k in dead]
        for position, output in enumerate(self.program.outputs):
            buffer = self.table.buffers[self.table.numbers[output.value]]
            if self.table.owners.get(self.table.root(output.value)) != position:
                source = self._data(output.value)
                lines.append(f"    af_copy_bytes(outputs[{position}], {source}, {self._bytes(buffer)});")
        return [*lines, "    return AF_DONE;", "  }"]

    def _made(self, name: str) -> list[str]:
        root = self.table.root(name)
        if root not in self.memory:
            return []
        size = self._bytes(self.table.buffers[self.table.numbers[name]])
        return [f"if ((failed = af_reserve(host, &memory[{self.memory[root]}], {size}))) return failed;"]

    def _step(self, step: Step) -> list[str]:
        match step:
            case KernelCall():
                return self._launch(step)
            case Copy():
                buffer = self.table.buffers[self.table.numbers[step.output]]
                move = f"af_copy_bytes({self._data(step.output)}, {self._data(step.input)}, {self._bytes(buffer)});"
                return [*self._made(step.output), move]
            case WriteSizes():
                kind = {8: "af_i64", 4: "int", 2: "short", 1: "signed char"}[
                    self.table.buffers[self.table.numbers[step.output]].dtype.itemsize
                ]
                target = f"static_cast<{kind}*>({self._data(step.output)})"
                stores = [
                    f"{target}[{k}] = static_cast<{kind}>({self._dim(dim)});" for k, dim in enumerate(step.elements)
                ]
                return [*self._made(step.output), *stores]
            case _:
                return []

    def _launch(self, step: KernelCall) -> list[str]:
        number = [kernel.name for kernel in self.program.kernels].index(step.kernel)
        kernel = self.program.kernels[number]
        outputs = [self.table.buffers[self.table.numbers[name]] for name in step.outputs]
        sources = ", ".join(f"{{{self._data(name)}, nullptr}}" for name in step.inputs) or "{}"
        targets = ", ".join(f"{{{self._data(name)}, nullptr}}" for name in step.outputs)
        values = ", ".join(self._name(name) for name in kernel.symbols) or "0"
        is_needed = " || ".join(f"{self._bytes(buffer)} != 0" for buffer in outputs)
        workspace = self._dim(kernel.workspace_bytes)
        return [
            *[line for name in step.outputs for line in self._made(name)],
            f"if ({is_needed}) {{  // {comment_text(step.kernel)}",
            f"  const af_i64 kernel_sizes[] = {{{values}}};",
            f"  const AfBuffer in[] = {{{sources}}};",
            f"  const AfBuffer out[] = {{{targets}}};",
            f"  failed = af_launch(&af_kernel_{number}, host, kernel_sizes, in, out, {workspace}, status);",
            "  if (failed) return failed;",
            "}",
        ]
