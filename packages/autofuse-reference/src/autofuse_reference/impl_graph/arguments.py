"""Global memory of a kernel: its inputs, and outputs of which every element must be written, once."""

from collections.abc import Callable, Sequence

import numpy as np
from attrs import define
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.schedule import ImplGraph

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.errors import EvaluationError
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.memory import NOBODY, POISON


@define(eq=False)
class _Output:
    """One output: its elements, and the iteration and block that wrote each (``NOBODY``: none did)."""

    name: str
    shape: tuple[int, ...]
    content: Array
    iteration: Array
    block: Array


class Arguments:
    """Inputs and outputs by index, as flat row-major arrays."""

    def __init__(self, impl: ImplGraph, inputs: Sequence[Array], size: Callable[[Dim], int]) -> None:
        self.kernel = impl.name
        nodes = {n.name: n for n in impl.nodes}
        self._inputs: dict[str, Array] = {}
        self._outputs: dict[int, _Output] = {}
        self._index: dict[str, int] = {}
        for node in impl.nodes:
            if node.op == "Load" and node.access is not None:
                shape = tuple(map(size, node.access.memory))
                self._inputs[node.name] = _input(impl.name, nodes[node.inputs[0]], inputs, shape)
            elif node.op == "Output":
                store = nodes[node.inputs[0]]
                assert store.access is not None
                number = node.argument_index
                self._index[store.name] = number
                if number not in self._outputs:
                    self._outputs[number] = _output(node, tuple(map(size, store.access.memory)))

    def memory(self, node: AscNode) -> Array:
        """Return the flat data that Load ``node`` reads."""
        return self._inputs[node.name]

    def store(self, node: AscNode, elements: Array, content: Array, iteration: Array, block: int, again: bool) -> None:
        """Write ``content`` at flat ``elements``, each in iteration number ``iteration`` of the nest.

        ``again``: other iterations write the same elements, because the value does not vary along all axes. They must
        write the same bits.
        """
        output = self._outputs[self._index[node.name]]
        written = np.broadcast_to(content, elements.shape)
        before = output.iteration[elements]
        twice = (before != NOBODY) & ((before != iteration) | (not again))
        if again:
            same = _bits(output.content[elements]) == _bits(np.ascontiguousarray(written))
            twice |= (before != NOBODY) & ~same.reshape(elements.size, -1).all(axis=1)
        output.iteration[elements] = iteration
        twice |= output.iteration[elements] != iteration  # two iterations of one strip
        if twice.any():
            at = int(np.argmax(twice))
            raise InterpreterFault(
                f"blocks {output.block[elements[at]]} and {block} both write element {elements[at]} of {output.name}",
                kernel=self.kernel,
                node=node.name,
                offset=int(elements[at]),
            )
        output.content[elements] = written
        output.block[elements] = block

    def results(self) -> list[Array]:
        """Return the outputs by index, in the shapes their Stores name; a fault where an element is missing."""
        for number in sorted(self._outputs):
            output = self._outputs[number]
            missing = output.iteration == NOBODY
            if missing.any():
                at = int(np.argmax(missing))
                raise InterpreterFault(
                    f"nobody wrote element {at} of {output.name} ({int(missing.sum())} of {missing.size} are missing)",
                    kernel=self.kernel,
                    node=output.name,
                    offset=at,
                )
        return [self._outputs[k].content.reshape(self._outputs[k].shape) for k in sorted(self._outputs)]


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def _input(kernel: str, data: AscNode, inputs: Sequence[Array], shape: tuple[int, ...]) -> Array:
    number = data.argument_index
    if number >= len(inputs):
        raise EvaluationError(f"input {number} is missing, {len(inputs)} arrays are given", where=f"kernel {kernel}")
    array = np.asarray(inputs[number])
    if array.dtype != numpy_dtype(data.dtype):
        raise EvaluationError(
            f"input {number} has dtype {array.dtype}, but {data.dtype.name} is expected", where=f"kernel {kernel}"
        )
    if array.size != int(np.prod(shape, dtype=np.int64)):
        raise EvaluationError(
            f"input {number} has shape {list(array.shape)}, but {list(shape)} is read", where=f"kernel {kernel}"
        )
    return np.ascontiguousarray(array).reshape(-1)


def _output(node: AscNode, shape: tuple[int, ...]) -> _Output:
    count = int(np.prod(shape, dtype=np.int64))
    dtype = numpy_dtype(node.dtype)
    content = np.full(count * dtype.itemsize, POISON, np.uint8).view(dtype)
    return _Output(node.name, shape, content, np.full(count, NOBODY), np.full(count, NOBODY))
