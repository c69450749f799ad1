"""What one launch knows: nodes, sizes, places of values, and all memory."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dependence import dependences
from autofuse_ir.dims import Dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.loops import walked_roots
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import Buffer, ImplGraph, Location, Placement

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.asc_graph.scalars import scalar_value
from autofuse_reference.impl_graph.arguments import Arguments
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.memory import Memory, Value
from autofuse_reference.impl_graph.nest import Nest
from autofuse_reference.impl_graph.traffic import Traffic

LARGEST_INT32 = 2**31 - 1


class Kernel:
    """One launch of ``impl``: its tables, global memory and workspace, and the local memory of the current block."""

    def __init__(self, impl: ImplGraph, inputs: Sequence[Array], sizes: Mapping[str, int]) -> None:
        self.impl = impl
        self._sizes = sizes
        self.nodes = {n.name: n for n in impl.nodes}
        self.dependence = dependences(impl.nodes)
        self.extent = {a.name: self.size(a.size) for a in impl.axes}
        self.scalars = {n.name: scalar_value(n, sizes) for n in impl.nodes if n.op in ("Scalar", "IndexExpr")}
        self.phase_of = {n: i for i, p in enumerate(impl.phases) for s in p.segments for n in s.nodes}
        self.location = {b.name: b.location for b in impl.buffers}
        numbers = {n.name: i for i, n in enumerate(impl.nodes)}
        self.placed = {
            p.node: Value(p.node, numbers[p.node], p.buffer, numpy_dtype(self.nodes[p.node].dtype))
            for p in impl.placements
            if p.buffer is not None
        }
        self._check_index_width()
        self._check_widths()
        self.arguments = Arguments(impl, inputs, self.size)
        self.traffic = Traffic()
        self.workspace = Memory(impl.name, self._buffers(Location.WORKSPACE), self.size)
        self.local = self.new_local()
        self.layouts = tuple(self._layout(number) for number in range(len(impl.phases)))

    def new_local(self) -> Memory:
        """Return the local memory that a block starts with."""
        return Memory(self.impl.name, self._buffers(Location.LOCAL), self.size)

    def size(self, dim: Dim) -> int:
        """Return the value of ``dim``."""
        return evaluate(dim, self._sizes)

    def nest(self, phase: int, loops: tuple[str, ...], vectorised: tuple[str, ...]) -> Nest:
        """Return the places of values in tiles of phase number ``phase`` that ``vectorised`` axes walk."""
        return Nest(self.impl, loops, vectorised, self.layouts[phase], self.extent, self.size)

    def memory(self, name: str) -> Memory:
        """Return the memory in which the value of node ``name`` lies."""
        return self.memory_of(self.placed[name].buffer, name)

    def memory_of(self, buffer: str, node: str) -> Memory:
        """Return the memory of ``buffer``; a fault of ``node`` when there is none."""
        if buffer not in self.location:
            raise self.fault("has no such buffer", node, buffer)
        return self.workspace if self.location[buffer] is Location.WORKSPACE else self.local

    def in_workspace(self, name: str) -> bool:
        """True when the value of node ``name`` lies in workspace."""
        return name in self.placed and self.location.get(self.placed[name].buffer) is Location.WORKSPACE

    def leaves(self, node: AscNode) -> int:
        """Return the number of leaves of one result of reduction ``node``."""
        return -(-prod(self.extent[axis] for axis in reduced_axes(node)) // tree_of(node).leaf)

    def accumulator(self, node: AscNode) -> Placement | None:
        """Return where the partial results of reduction or scan ``node`` live; None where the plan does not say."""
        return next((p for p in self.impl.accumulators if p.node == node.name), None)

    def partial_results(self, node: AscNode, buffer: str) -> Value:
        """Return the partial results of reduction ``node`` as bytes in ``buffer``."""
        number = len(self.impl.nodes) + next(i for i, n in enumerate(self.impl.nodes) if n.name == node.name)
        return Value(f"the partial results of {node.name}", number, buffer, np.dtype(np.uint8))

    def fault(self, what: str, node: str, buffer: str = "") -> InterpreterFault:
        """Return the fault ``what`` of ``node``."""
        return InterpreterFault(what, kernel=self.impl.name, node=node, buffer=buffer)

    def walked_roots(self, axis: str) -> frozenset[str]:
        """Return the roots whose index depends on that of ``axis``."""
        return walked_roots(axis, self.impl.axes, self.impl.roots)

    def _layout(self, phase: int) -> tuple[str, ...]:
        """The vectorised axes of a phase in the order of the roots they walk."""
        found = dict.fromkeys(axis for segment in self.impl.phases[phase].segments for axis in segment.axes)
        order = {axis.name: i for i, axis in enumerate(self.impl.axes)}
        roots = self.impl.roots

        def place(axis: str) -> tuple[int, int]:
            return min((roots.index(root) for root in self.walked_roots(axis)), default=len(roots)), order[axis]

        return tuple(sorted(found, key=place))

    def _buffers(self, location: Location) -> tuple[Buffer, ...]:
        return tuple(b for b in self.impl.buffers if b.location is location)

    def _check_index_width(self) -> None:
        if self.impl.index_bits != 32:
            return
        for node in self.impl.nodes:
            if node.access is not None:
                count = int(np.prod([self.size(d) for d in node.access.memory], dtype=np.float64))
                if count > LARGEST_INT32:
                    raise self.fault(f"{count} elements do not fit the 32 bits of the plan", node.name)

    def _check_widths(self) -> None:
        """Only reductions are narrower than what they read: of other values one point would win."""
        for node in self.impl.nodes:
            for source in (self.nodes[name] for name in node.inputs if node.op not in REDUCTIONS):
                if source.op == "Data" or node.op == "Output":
                    continue
                for root, own, read in zip(self.impl.roots, node.repeats, source.repeats, strict=True):
                    if own == const(1) != read:
                        raise self.fault(
                            f"reads {source.name}, which varies along {root}, and does not itself", node.name
                        )
