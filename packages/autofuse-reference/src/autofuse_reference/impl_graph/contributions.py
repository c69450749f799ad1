"""What the elements of a reduction have come to, from the first to the last of them."""

import numpy as np

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.impl_graph.accumulators import ReductionPlan
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.nest import Grid
from autofuse_reference.operators.precision import cast, widen
from autofuse_reference.operators.reduction_tree import join_leaves, leaves

INT64 = np.dtype(np.int64)


class Contributions:
    """The elements that one block has given a reduction since its scope was opened, in any order.

    Each element must come exactly once. Only when the scope is closed the elements are joined, by the tree, and the
    value is written; while it is open, its partial results must stay where the plan puts them.
    """

    def __init__(self, kernel: Kernel, plan: ReductionPlan, loops: dict[str, int], block: int) -> None:
        self.kernel = kernel
        self.plan = plan
        self.loops = loops
        self.block = block
        self.leaves = kernel.leaves(plan.node)
        self._keys: list[Array] = []
        self._numbers: list[Array] = []
        self._elements: list[Array] = []
        self._contents: list[Array] = []
        if plan.state is not None:
            memory = kernel.memory_of(plan.state.buffer, plan.node.name)
            memory.write(plan.state, self._state_bytes, np.zeros(1, np.uint8), block)
        if plan.node.name in kernel.placed and not plan.in_workspace:
            kernel.memory(plan.node.name).forget(kernel.placed[plan.node.name])

    @property
    def _state_bytes(self) -> Array:
        return np.arange(self.plan.state_bytes)

    def check_state(self) -> None:
        """Raise a fault when the partial results are lost: poisoned, or overwritten by another value."""
        if self.plan.state is not None:
            memory = self.kernel.memory_of(self.plan.state.buffer, self.plan.node.name)
            memory.read(self.plan.state, self._state_bytes, self.plan.node.name, self.block)

    def places(self, grid: Grid) -> tuple[Array, Array, Array]:
        """Return for each point which result it belongs to, its number among the elements, and the value's element."""
        plan = self.plan
        numbers = plan.nest.numbers(grid, plan.axes)
        if not plan.in_workspace:
            return plan.nest.positions(plan.kept.vectorised), numbers, numbers
        kept = tuple(root for root in plan.nest.reached if root not in plan.axes)
        return plan.nest.numbers(grid, kept), numbers, plan.nest.workspace_elements(plan.node, grid)

    def take(self, keys: Array, numbers: Array, elements: Array, content: Array) -> None:
        """Join ``content`` as elements ``numbers`` of results ``keys``."""
        self._keys.append(keys)
        self._numbers.append(numbers)
        self._elements.append(elements)
        self._contents.append(np.broadcast_to(content, keys.shape))

    def close(self) -> None:
        """Write the value: all elements have come."""
        self.check_state()
        keys, numbers = _joined(self._keys, INT64), _joined(self._numbers, INT64)
        content = _joined(self._contents, numpy_dtype(self.plan.node.dtype))
        order = np.lexsort((numbers, keys))
        keys, numbers, content = keys[order], numbers[order], content[order]
        again = (keys[1:] == keys[:-1]) & (numbers[1:] == numbers[:-1])
        if again.any():
            raise self._fault(f"joins element {numbers[int(np.argmax(again))]} of one result more than once")
        if self.plan.in_workspace:
            self._write_leaves(keys, numbers, _joined(self._elements, INT64)[order], content)
        else:
            self._write_results(keys, content)

    def _write_results(self, keys: Array, content: Array) -> None:
        plan = self.plan
        grid = plan.kept.grid(self.loops)
        results = np.flatnonzero(grid.exists)
        wanted = results.size * plan.count
        if keys.size != wanted:
            found = dict(zip(*np.unique(keys, return_counts=True), strict=True))
            short = next((int(found.get(k, 0)) for k in results if found.get(k, 0) != plan.count), plan.count)
            raise self._fault(f"joins {short} of the {plan.count} elements of a result")
        rows = widen(content, "declared").reshape(results.size, plan.count)
        if plan.node.name in self.kernel.placed:
            value = self.kernel.placed[plan.node.name]
            with np.errstate(all="ignore"):
                joined = join_leaves(plan.node.op, leaves(plan.node.op, rows, plan.tree))
            places = plan.kept.tile_elements(plan.node)[results]
            self.kernel.memory(plan.node.name).write(value, places, cast(joined, plan.node.dtype), self.block)

    def _write_leaves(self, keys: Array, numbers: Array, elements: Array, content: Array) -> None:
        plan, leaf = self.plan, self.plan.tree.leaf
        _, first, counts = np.unique(keys * self.leaves + numbers // leaf, return_index=True, return_counts=True)
        leaf_numbers = numbers[first] // leaf
        sizes = np.minimum(leaf, plan.count - leaf_numbers * leaf)
        if (counts != sizes).any():
            at = int(np.argmax(counts != sizes))
            raise self._fault(
                f"block {self.block} joins {counts[at]} of the {sizes[at]} elements of leaf {leaf_numbers[at]}: leaves "
                "must not be cut"
            )
        value, memory = self.kernel.placed[plan.node.name], self.kernel.memory(plan.node.name)
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            rows = content[first[chosen, None] + np.arange(size)]
            with np.errstate(all="ignore"):
                found = leaves(plan.node.op, widen(rows, "declared"), plan.tree)[:, 0]
            places = elements[first[chosen]] * self.leaves + leaf_numbers[chosen]
            memory.write(value, places, cast(found, plan.node.dtype), self.block)

    def _fault(self, what: str) -> InterpreterFault:
        return self.kernel.fault(what, self.plan.node.name)


def _joined(parts: list[Array], dtype: "np.dtype[np.generic]") -> Array:
    return np.concatenate(parts) if parts else np.empty(0, dtype)
