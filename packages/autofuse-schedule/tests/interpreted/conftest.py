"""Kernels with reductions, scans and gathers, and what runs their schedules in the interpreter.

Modules beside this one build them.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks import verify
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule
from autofuse_testkit.kernel_cases import random_tiles

sys.path.insert(0, str(Path(__file__).parent))

import reduction_kernels
import scan_kernels
import wide_kernels
from drawn_kernels import random_kernel, random_scans
from kernel_builder import Kernel

KERNELS = (*reduction_kernels.KERNELS, *scan_kernels.KERNELS, *wide_kernels.KERNELS)


@frozen
class Case:
    """A kernel with the facts about its arguments."""

    node: AscBackend
    facts: SymbolFacts

    @property
    def graph(self) -> AscGraph:
        """The kernel's graph."""
        return self.node.graph

    def scheduled(self, target: str) -> ScheduleResult:
        """Return its verified schedule."""
        result = schedule(self.node, self.facts, load_target(target), holds=True)
        verify(result)
        return result

    def arrays(self, sizes: Mapping[str, int], seed: int) -> list[Any]:
        """Return content for the inputs."""
        rng = np.random.default_rng(seed)
        found = []
        for name in self.node.inputs:
            fact = next(value for value in self.facts.values if value.name == name)
            shape = tuple(evaluate(dim, sizes) for dim in fact.shape or ())
            if fact.dtype.is_float:
                found.append(rng.normal(size=shape).astype(numpy_dtype(fact.dtype)))
            else:
                found.append(rng.integers(0, 7, shape).astype(numpy_dtype(fact.dtype)))
        return found

    def check(self, impl: ImplGraph, sizes: Mapping[str, int], seed: int) -> None:
        """Run ``impl`` with random tiles: it must give the bits of the graph."""
        arrays = self.arrays(sizes, seed)
        wanted = interpret(self.graph, arrays, sizes)
        tiles = random_tiles(impl, sizes, np.random.default_rng(seed))
        got = interpret_impl(impl, arrays, sizes, tiles, seed)
        for a, b in zip(got, wanted, strict=True):
            assert a.tobytes() == b.tobytes(), (impl.name, dict(sizes), tiles)


def case_of(kernel: Kernel) -> Case:
    """Return the backend node of ``kernel`` with facts from its accesses."""
    graph = kernel.build()
    by_name = {node.name: node for node in graph.nodes}
    shapes = {node.inputs[0]: node.access.memory for node in graph.nodes if node.op == "Load"}
    outputs = [node for node in graph.nodes if node.op == "Output"]
    shapes |= {node.name: by_name[node.inputs[0]].access.memory for node in outputs}
    values = tuple(ValueFact(name, by_name[name].dtype, shape) for name, shape in shapes.items())
    symbols = sorted({s for axis in graph.axes for s in free_symbols(axis.size)})
    found = tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim(values[0].name, 0),)) for s in symbols)
    inputs = tuple(node.name for node in graph.nodes if node.op == "Data")
    node = AscBackend(graph.name, inputs, tuple(node.name for node in outputs), graph, ())
    return Case(node, SymbolFacts(found, values))


@pytest.fixture
def cases() -> Mapping[str, Callable[[], Case]]:
    """The kernels by name."""
    return {build.__name__: lambda build=build: case_of(build()) for build in KERNELS}


@pytest.fixture
def random_case() -> Callable[[int], Case]:
    """Return the random kernel of a seed."""
    return lambda seed: case_of(random_kernel(seed))


@pytest.fixture
def random_scans_case() -> Callable[[int], Case]:
    """Return the random kernel with scans of a seed."""
    return lambda seed: case_of(random_scans(seed))


@pytest.fixture
def kernel_case(cases: Mapping[str, Callable[[], Case]], name: str) -> Case:
    """The kernel called ``name``."""
    return cases[name]()
