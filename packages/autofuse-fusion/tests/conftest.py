"""Runs fused graphs on NumPy, in a way that shares no code with the fusion: index arithmetic and the reference."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.checks.asc_graph import asc_graph_findings
from autofuse_ir.dims_eval import evaluate, holds
from autofuse_ir.facts import GuardKind, InputDim, InputElement, ResultDim, ResultElement, SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, FusedNode, HostRegion, SizesNode, ViewNode
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_reference.arrays import dtype_of, numpy_dtype, to_array
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.operators.evaluate import evaluate_operator
from autofuse_symshape.stage import infer

sys.path.insert(0, str(Path(__file__).parent))

from kernels_by_point import run_asc_graph

Array = np.ndarray[Any, Any]
CPU = load_target("cpu")


def bind(facts: SymbolFacts, arrays: Mapping[str, Array], sizes: dict[str, int]) -> None:
    """Add the sizes that ``arrays`` tell."""
    for symbol in facts.symbols:
        for source in symbol.sources:
            match source:
                case InputDim(name, dim) | ResultDim(name, dim) if name in arrays:
                    found = arrays[name].shape[dim]
                case InputElement(name, element) | ResultElement(name, element) if name in arrays:
                    found = int(arrays[name].reshape(-1)[element])
                case _:
                    continue
            assert sizes.setdefault(symbol.name, found) == found
            assert symbol.lo <= found <= symbol.hi


def parts_of(node: FusedNode) -> tuple[FusedNode, ...]:
    """Return the kernels of one launch, which stand in an order that respects their data; other nodes as they are."""
    return node.parts if isinstance(node, FusedAscBackend) else (node,)


def run_fused(fused: FusedGraph, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Run a fused graph; the outputs by their names."""
    values: dict[str, Array] = dict(arrays)
    values |= {constant.name: to_array(constant.data) for constant in fused.constants}
    facts = {fact.name: fact for fact in fused.facts.values}
    sizes: dict[str, int] = {}
    bind(fused.facts, arrays, sizes)
    for guard in fused.facts.guards:
        if guard.kind is GuardKind.ASSERT:
            assert holds(guard.condition, sizes), guard

    def shape(name: str) -> tuple[int, ...]:
        dims = facts[name].shape
        assert dims is not None, name
        return tuple(evaluate(d, sizes) for d in dims)

    for node in (part for whole in fused.nodes for part in parts_of(whole)):
        match node:
            case AscBackend():
                made = run_asc_graph(node.graph, [values[name] for name in node.inputs], sizes)
                for index, name in enumerate(node.outputs):
                    values[name] = made[index].reshape(shape(name))
            case HostRegion():
                inside = {name: values[name] for name in node.inputs}
                for operator in node.operators:
                    given = [None if name is None else inside[name] for name in operator.inputs]
                    results = evaluate_operator(operator, None, given)
                    inside.update(
                        (name, result) for name, result in zip(operator.outputs, results, strict=True) if name
                    )
                values |= {name: inside[name] for name in node.outputs}
                bind(fused.facts, {name: inside[name] for name in node.outputs}, sizes)
            case ViewNode():
                values[node.output] = values[node.input].reshape(shape(node.output))
            case SizesNode():
                listed = [evaluate(element, sizes) for element in node.elements]
                kind = numpy_dtype(facts[node.output].dtype)
                values[node.output] = np.asarray(listed).astype(kind).reshape(shape(node.output))
            case _:
                raise AssertionError(node)
    return {output.name: values[output.value] for output in fused.outputs}


def run_graph(graph: Graph, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Run a graph operator by operator with the reference."""
    values: dict[str, Array] = dict(arrays)
    values |= {constant.name: to_array(constant.data) for constant in graph.constants}
    for node in graph.nodes:
        results = evaluate_operator(node, None, [None if name is None else values[name] for name in node.inputs])
        values |= {name: result for name, result in zip(node.outputs, results, strict=True) if name}
    return {output.name: values[output.value] for output in graph.outputs}


def same(got: Array, want: Array) -> bool:
    """True for the same dtype, shape and bits, but for the payloads of NaN."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind in "biu":
        return bool(np.array_equal(got, want))
    a, b = got.astype(np.float64), want.astype(np.float64)
    nan = np.isnan(a) & np.isnan(b)
    return bool(np.all(nan | ((a == b) & (np.signbit(a) == np.signbit(b)))))


def near(got: Array, want: Array, ulps: int) -> bool:
    """True for the same dtype, shape, NaN and infinities, and numbers within ``ulps`` of the largest one."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind in "biu":
        return bool(np.array_equal(got, want))
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    unit = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[dtype_of(got).name]
    return bool(np.all(np.abs(a[finite] - b[finite]) <= ulps * unit * max(1e-300, np.abs(b[finite]).max(initial=0))))


def interpreted(fused: FusedGraph, arrays: Mapping[str, Array]) -> list[Array]:
    """The outputs of the one kernel that ``fused`` is, by the interpreter of the reference."""
    (kernel,) = fused.nodes
    assert isinstance(kernel, AscBackend)
    sizes: dict[str, int] = {}
    bind(fused.facts, arrays, sizes)
    values = dict(arrays) | {constant.name: to_array(constant.data) for constant in fused.constants}
    return interpret(kernel.graph, [values[name] for name in kernel.inputs], sizes)


class Kit:
    """The functions of this file, for tests that cannot import it."""

    run_asc_graph = staticmethod(run_asc_graph)
    run_fused = staticmethod(run_fused)
    run_graph = staticmethod(run_graph)
    interpreted = staticmethod(interpreted)
    same = staticmethod(same)
    near = staticmethod(near)

    def fuse(self, graph: Graph, **options: Any) -> FusedGraph:
        """Infer shapes and fuse for the CPU."""
        inferred, facts = infer(graph)
        fused = fuse(inferred, facts, CPU, FusionOptions(**options))
        for kernel in self.kernels(fused):
            assert list(asc_graph_findings(kernel.graph)) == []
        return fused

    def check(self, graph: Graph, arrays: Mapping[str, Array], ulps: int = 0, **options: Any) -> FusedGraph:
        """Fuse, run, and compare with the reference (strict unless said otherwise).

        Bit by bit, or to ``ulps`` of the largest finite result where sums take another order.
        """
        fused = self.fuse(graph, **({"numerics": "strict"} | options))
        self.compare(fused, graph, arrays, ulps)
        return fused

    def compare(self, fused: FusedGraph, graph: Graph, arrays: Mapping[str, Array], ulps: int = 0) -> None:
        """Run what ``graph`` became, and compare with the reference."""
        got, want = run_fused(fused, arrays), run_graph(graph, arrays)
        for name, array in want.items():
            agrees = same(got[name], array) if ulps == 0 else near(got[name], array, ulps)
            assert agrees, (name, got[name], array)

    def kernels(self, fused: FusedGraph) -> list[AscBackend]:
        """Return the kernels of a fused graph, those that share a launch one by one."""
        return [part for node in fused.nodes for part in parts_of(node) if isinstance(part, AscBackend)]


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Fuse, run and compare."""
    return Kit()


Check = Callable[..., FusedGraph]
