"""Runs Programs on NumPy: the tier that needs no compiler."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, assert_never

import numpy as np
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate, free_symbols, holds
from autofuse_ir.dtypes import bfloat16
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
    ProgramKernel,
    ProgramRegion,
    Step,
    WriteSizes,
    root_of,
)
from autofuse_ir.tensor_data import TensorData

from autofuse_reference.arrays import Array, numpy_dtype, to_array
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import EvaluationError, StatusError

KernelRunner: TypeAlias = Callable[[ProgramKernel, Sequence[Array], Mapping[str, int]], Sequence[Array]]
"""Runs one kernel on its inputs, for those sizes, and returns its outputs."""

POISON = 0xCB
"""What the bytes of freed buffers become."""


class HostBackend(Protocol):
    """What runs host regions (the runtime's protocol, by structure)."""

    def compile(
        self,
        region: ProgramRegion,
        payloads: Mapping[str, Payload],
        constants: Mapping[str, TensorData] | None = None,
    ) -> Callable[[list[Any]], Sequence[Any]]:
        """Return a callable from the values of ``region.inputs`` to those of ``region.outputs``."""
        ...


class ProgramExecutor:
    """Executes one program; kernels by their AscGraphs, host regions by ``hosts``.

    With ``poison`` the bytes of freed buffers that the program made itself are overwritten, so that whoever still holds
    a view of them computes nonsense instead of being lucky. Uses of a freed buffer by name are errors either way.
    ``run_kernel`` runs kernels elsewhere, such as on an emulated chip; ``tier`` is what statistics call that.
    """

    def __init__(
        self,
        program: Program,
        hosts: Mapping[str, HostBackend],
        poison: bool = False,
        run_kernel: KernelRunner | None = None,
        tier: str = "interpreter",
    ) -> None:
        self.program = program
        self.poison = poison
        self.run_kernel = run_kernel
        self.tier = tier
        self.buffers = {b.name: b for b in program.buffers}
        self.roots = {b.name: root_of(b.name, self.buffers) for b in program.buffers}
        self.kernels = {k.name: k for k in program.kernels}
        self.constants = {c.name: to_array(c.data) for c in program.constants}
        payloads = {p.name: p for p in program.payloads}
        constants = {c.name: c.data for c in program.constants}
        self.regions = {r.name: _backend(r, hosts).compile(r, payloads, constants) for r in program.regions}

    def __call__(self, values: Sequence[object], symbols: dict[str, int]) -> Sequence[object]:
        """Return one value for each output; ``values`` follow the inputs, ``symbols`` are bound and checked."""
        return _Call(self, values, symbols).results()


class _Call:
    """One call: values by the name of the buffer that owns the bytes."""

    def __init__(self, executor: ProgramExecutor, values: Sequence[object], symbols: Mapping[str, int]) -> None:
        self.executor = executor
        self.program = executor.program
        self.sizes = dict(symbols)
        self.memory: dict[str, Any] = dict(executor.constants)
        self.memory.update(zip((v.name for v in self.program.inputs), values, strict=True))
        self.freed: set[str] = set()
        self.made_here: set[str] = set()

    def results(self) -> Sequence[object]:
        """Run the first variant whose condition holds."""
        variant = next(v for v in self.program.variants if holds(v.condition, self.sizes))
        for step in variant.steps:
            self._step(step)
        return tuple(self._read(o.value) for o in self.program.outputs)

    def _step(self, step: Step) -> None:
        match step:
            case KernelCall(kernel, inputs, outputs, _):
                self._kernel(kernel, inputs, outputs)
            case HostCall(region, inputs, outputs):
                self._host(region, inputs, outputs)
            case Alias(source, output):
                if self.executor.roots[source] != self.executor.roots[output]:
                    raise self._error(f"{output!r} is no view of {source!r}, but the program makes it one")
                self._read(source)
            case Copy(source, output):
                self._write(output, np.array(self._read(source)))
            case WriteSizes(output, elements):
                numbers = [evaluate(e, self.sizes) for e in elements]
                self._write(output, np.array(numbers, numpy_dtype(self.executor.buffers[output].dtype)))
            case BindSymbol():
                self._bind(step)
            case AssertGuard(guard):
                if not holds(guard.condition, self.sizes):
                    raise EvaluationError(
                        guard.message, where=f"running {self.program.name}, operator {guard.operator}"
                    )
            case Free(name):
                self._free(name)
            case never:
                assert_never(never)

    def _kernel(self, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        kernel = self.executor.kernels[name]
        shapes = [tuple([evaluate(dim, self.sizes) for dim in self.executor.buffers[o].shape]) for o in outputs]
        if all(0 in shape for shape in shapes):  # compiled programs do not launch it either: nothing is read
            for output, shape in zip(outputs, shapes, strict=True):
                self._write(output, np.zeros(shape, numpy_dtype(self.executor.buffers[output].dtype)))
            return
        try:
            results = self._results(kernel, [self._bits(i) for i in inputs])
        except StatusError as error:
            told = [message.message for message in kernel.status_messages if message.bit == error.status]
            where = f"running {self.program.name}, kernel {name}"
            raise StatusError(error.status, told[0] if told else "", where=where) from error
        except EvaluationError as error:
            where = f"running {self.program.name}, {error.where or f'kernel {name}'}"
            raise EvaluationError(error.what, where=where, fix=error.fix) from error
        for output, result in zip(outputs, results, strict=True):
            self._write(output, result)

    def _results(self, kernel: ProgramKernel, inputs: list[Any]) -> list[Array]:
        """Evaluate the graphs of ``kernel`` in order and return its outputs."""
        if self.executor.run_kernel is not None:
            return list(self.executor.run_kernel(kernel, inputs, self.sizes))
        if not kernel.calls:
            return interpret(kernel.graphs[0], inputs, self.sizes)
        names = [argument.name for argument in kernel.arguments if not argument.is_output]
        values = dict(zip(names, inputs, strict=True))
        for graph, call in zip(kernel.graphs, kernel.calls, strict=True):
            made = interpret(graph, [values[name] for name in call.inputs], self.sizes)
            values.update(zip(call.outputs, made, strict=True))
        return [values[argument.name] for argument in kernel.arguments if argument.is_output]

    def _bits(self, name: str) -> Any:
        """A value as kernels read it: bfloat16 may arrive as the 16-bit integers that hold its bits."""
        value = self._read(name)
        if self.executor.buffers[name].dtype == bfloat16 and getattr(value, "dtype", None) == np.uint16:
            return value.view(numpy_dtype(bfloat16))
        return value

    def _host(self, region: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        given = [self._read(i) for i in inputs]
        results = list(self.executor.regions[region](given))
        if len(results) != len(outputs):
            raise self._error(f"host region {region} gave {len(results)} results, {len(outputs)} are expected")
        for output, result in zip(outputs, results, strict=True):
            buffer = self.executor.buffers[output]
            if buffer.kind is not BufferKind.OBJECT:
                self._check_host_result(buffer, result)
            self._put(output, self._apart(result, given))

    def _apart(self, result: Any, given: Sequence[Any]) -> Any:
        """Hosts may return views of what they are given; these must outlive it, so poison must not reach them."""
        is_view = isinstance(result, np.ndarray) and any(_share(result, value) for value in given)
        return np.array(result) if self.executor.poison and is_view else result

    def _check_host_result(self, buffer: ProgramBuffer, result: object) -> None:
        array = np.asarray(result)
        if array.dtype != numpy_dtype(buffer.dtype):
            raise self._error(
                f"a host operator made value {buffer.name!r} of dtype {array.dtype}, {buffer.dtype.name} is expected"
            )
        if array.ndim != len(buffer.shape):
            raise self._error(
                f"a host operator made value {buffer.name!r} with {array.ndim} dims, {len(buffer.shape)} are expected"
            )
        for axis, (found, dim) in enumerate(zip(array.shape, buffer.shape, strict=True)):
            if self._is_known(dim) and evaluate(dim, self.sizes) != found:
                raise self._error(
                    f"a host operator made value {buffer.name!r} with {found} at dim {axis}, but {dim} is expected"
                )

    def _is_known(self, dim: Dim) -> bool:
        return all(symbol in self.sizes for symbol in free_symbols(dim))

    def _bind(self, step: BindSymbol) -> None:
        array = np.asarray(self._read(step.buffer))
        if step.dim is not None:
            value = array.shape[step.dim]
        else:
            element = step.element or 0
            if element >= array.size:
                raise self._error(
                    f"size {step.symbol} is element {element} of value {step.buffer!r}, which has {array.size}"
                )
            value = int(array.reshape(-1)[element])
        if not step.lo <= value <= step.hi:
            raise self._error(
                f"size {step.symbol} became {value} in value {step.buffer!r}, outside its range {step.lo}..{step.hi}",
                f"compile with a wider range for {step.symbol}",
            )
        if self.sizes.get(step.symbol, value) != value:
            raise self._error(
                f"size {step.symbol} is {self.sizes[step.symbol]}, but {value} in value {step.buffer!r}",
                "give inputs whose sizes fit together",
            )
        self.sizes[step.symbol] = value

    def _free(self, name: str) -> None:
        root = self.executor.roots[name]
        value = self.memory.pop(root, None)
        self.freed.add(root)
        if self.executor.poison and root in self.made_here and isinstance(value, np.ndarray):
            value.reshape(-1).view(np.uint8)[...] = POISON

    def _write(self, name: str, value: Array) -> None:
        """Put a value that this call allocated into the memory of ``name``."""
        self._put(name, value)
        self.made_here.add(self.executor.roots[name])

    def _put(self, name: str, value: Any) -> None:
        root = self.executor.roots[name]
        self.freed.discard(root)
        self.made_here.discard(root)
        self.memory[root] = value

    def _read(self, name: str) -> Any:
        """Return the value of ``name``: the bytes of its owner under its own shape and dtype."""
        root = self.executor.roots[name]
        if root not in self.memory:
            why = "was freed" if root in self.freed else "was not made"
            raise self._error(f"value {name!r} is used, but its memory {why} before")
        value = self.memory[root]
        buffer = self.executor.buffers[name]
        if (
            buffer.kind is BufferKind.OBJECT
            or not isinstance(value, np.ndarray)
            or not all(self._is_known(dim) for dim in buffer.shape)
        ):
            return value
        owner, dtype = self.executor.buffers[root].dtype, numpy_dtype(buffer.dtype)
        if owner != buffer.dtype and value.dtype != dtype and value.dtype.itemsize == dtype.itemsize:
            value = value.view(dtype)
        shape = tuple(evaluate(dim, self.sizes) for dim in buffer.shape)
        if value.shape == shape:
            return value
        if value.size != int(np.prod(shape, dtype=np.int64)):
            raise self._error(f"value {name!r} of shape {list(shape)} is a view of {list(value.shape)}")
        return value.reshape(shape)

    def _error(self, what: str, fix: str = "report this with the program and the sizes") -> EvaluationError:
        return EvaluationError(what, where=f"running {self.program.name}", fix=fix)


def _share(array: Array, value: object) -> bool:
    return isinstance(value, np.ndarray) and np.may_share_memory(array, value)


def _backend(region: ProgramRegion, hosts: Mapping[str, HostBackend]) -> HostBackend:
    if region.backend not in hosts:
        operators = ", ".join(sorted({o.op for o in region.operators}))
        raise EvaluationError(
            f"the operators {operators} need the host backend {region.backend!r}, which is not installed",
            where=f"host region {region.name}",
            fix="install the package that brings it (onnxruntime: autofuse-onnx[onnx])",
        )
    return hosts[region.backend]
