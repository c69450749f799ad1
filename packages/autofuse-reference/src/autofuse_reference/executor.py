"""Runs Programs on NumPy: the tier that needs no compiler."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from autofuse_ir.dims_eval import evaluate, holds
from autofuse_ir.graph import Payload
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
    ProgramRegion,
    Step,
    WriteSizes,
)

from autofuse_reference.arrays import numpy_dtype, to_array
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import EvaluationError


class HostBackend(Protocol):
    """What runs host regions (the runtime's protocol, by structure)."""

    def compile(self, region: ProgramRegion, payloads: Mapping[str, Payload]) -> Callable[[list[Any]], Sequence[Any]]:
        """Return a callable from the values of ``region.inputs`` to those of ``region.outputs``."""
        ...


class ProgramExecutor:
    """Executes one program; kernels by their AscGraphs, host regions by ``hosts``."""

    tier = "interpreter"

    def __init__(self, program: Program, hosts: Mapping[str, HostBackend]) -> None:
        self.program = program
        self._buffers = {b.name: b for b in program.buffers}
        self._kernels = {k.name: k for k in program.kernels}
        self._constants = {c.name: to_array(c.data) for c in program.constants}
        payloads = {p.name: p for p in program.payloads}
        self._regions = {r.name: _backend(r, hosts).compile(r, payloads) for r in program.regions}

    def __call__(self, values: Sequence[object], symbols: dict[str, int]) -> Sequence[object]:
        """Return one value for each output; ``values`` follow the inputs, ``symbols`` are bound and checked."""
        sizes = dict(symbols)
        variant = next(v for v in self.program.variants if holds(v.condition, sizes))
        memory: dict[str, Any] = dict(self._constants)
        memory.update(zip((v.name for v in self.program.inputs), values, strict=True))
        for step in variant.steps:
            self._step(step, memory, sizes)
        return tuple(self._result(o.value, memory, sizes) for o in self.program.outputs)

    def _step(self, step: Step, memory: dict[str, Any], sizes: dict[str, int]) -> None:
        match step:
            case KernelCall(kernel, inputs, outputs, _):
                found = self._kernels[kernel]
                graph = found.graphs[0]
                results = interpret(graph, [memory[i] for i in inputs], sizes)
                for name, result in zip(outputs, results, strict=True):
                    memory[name] = np.ascontiguousarray(result).reshape(self._shape(name, sizes))
            case HostCall(region, inputs, outputs):
                results = list(self._regions[region]([memory[i] for i in inputs]))
                memory.update(zip(outputs, results, strict=True))
            case Alias(source, output):
                memory[output] = np.asarray(memory[source]).reshape(self._shape(output, sizes))
            case Copy(source, output):
                memory[output] = np.array(memory[source]).reshape(self._shape(output, sizes))
            case WriteSizes(output, elements):
                buffer = self._buffers[output]
                numbers = [evaluate(e, sizes) for e in elements]
                memory[output] = np.array(numbers, numpy_dtype(buffer.dtype)).reshape(self._shape(output, sizes))
            case BindSymbol():
                self._bind(step, memory, sizes)
            case AssertGuard(guard):
                if not holds(guard.condition, sizes):
                    raise EvaluationError(guard.message, where=f"{self.program.name}, {guard.operator}")
            case Free(buffer_name):
                memory.pop(buffer_name, None)

    def _bind(self, step: BindSymbol, memory: Mapping[str, Any], sizes: dict[str, int]) -> None:
        array = np.asarray(memory[step.buffer])
        value = array.shape[step.dim] if step.dim is not None else int(array.reshape(-1)[step.element or 0])
        if not step.lo <= value <= step.hi or sizes.get(step.symbol, value) != value:
            raise EvaluationError(
                f"size {step.symbol} is {value}, expected {sizes.get(step.symbol, f'{step.lo}..{step.hi}')}",
                where=f"{self.program.name}, value {step.buffer}",
            )
        sizes[step.symbol] = value

    def _result(self, name: str, memory: Mapping[str, Any], sizes: Mapping[str, int]) -> Any:
        """The value of an output; views written through another buffer take the output's own shape."""
        if name in memory:
            return memory[name]
        for view in self.program.buffers:
            if view.alias_of == name and view.name in memory:
                return np.asarray(memory[view.name]).reshape(self._shape(name, sizes))
        raise EvaluationError(f"nothing made the output {name!r}", where=self.program.name)

    def _shape(self, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
        buffer: ProgramBuffer = self._buffers[name]
        if buffer.kind is BufferKind.OBJECT:
            raise EvaluationError(f"{name!r} has no shape of ours", where=self.program.name)
        return tuple(evaluate(d, sizes) for d in buffer.shape)


def _backend(region: ProgramRegion, hosts: Mapping[str, HostBackend]) -> HostBackend:
    if region.backend not in hosts:
        operators = ", ".join(sorted({o.op for o in region.operators}))
        raise EvaluationError(
            f"the operators {operators} need the host backend {region.backend!r}, which is not installed",
            where=f"host region {region.name}",
            fix="install the package that brings it (onnxruntime: autofuse-onnx[onnx])",
        )
    return hosts[region.backend]
