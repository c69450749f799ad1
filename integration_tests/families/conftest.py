"""What the tests of operator families share."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse_fusion.options import FusionOptions
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer

Array = np.ndarray[Any, Any]


@frozen
class Fused:
    """A graph through all stages: what it became, and a check of what it computes."""

    graph: Graph
    fused: FusedGraph
    check: Callable[..., None]

    @property
    def kernels(self) -> tuple[AscBackend | FusedAscBackend, ...]:
        """The launches."""
        return tuple(node for node in self.fused.nodes if isinstance(node, AscBackend | FusedAscBackend))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The operators that run on the host."""
        regions = (node for node in self.fused.nodes if isinstance(node, HostRegion))
        return tuple(operator.op for region in regions for operator in region.operators)

    @property
    def primitives(self) -> list[str]:
        """The AscIR operators of the only kernel, in order."""
        (kernel,) = self.kernels
        assert isinstance(kernel, AscBackend)
        return [node.op for node in kernel.graph.nodes]

    def count(self, op: str) -> int:
        """How often the only kernel holds ``op``."""
        return self.primitives.count(op)


@pytest.fixture
def fuse_and_check() -> Callable[..., Fused]:
    """Returns what a graph becomes; its ``check(name=shape or array)`` runs it and compares with the reference."""

    def run(graph: Graph, options: FusionOptions | None = None, numerics: str | None = None) -> Fused:
        target = chosen_target("cpu")
        lowered = lower_graph(graph, target, chosen_options(options, numerics))
        fn = load_lowered(lowered, target, "interpreter")
        inferred, facts = infer(graph)
        reference = GraphInterpreter(inferred, {fact.name: fact.dtype for fact in facts.values})

        def check(tolerance: float = 1e-5, **given: tuple[int, ...] | Array) -> None:
            values = arguments(graph, given)
            results = fn(*values.values())
            listed = results if isinstance(results, tuple) else (results,)
            for got, (name, want) in zip(listed, reference.outputs(values).items(), strict=True):
                assert got.shape == want.shape, name
                np.testing.assert_allclose(
                    np.asarray(got, np.float64), np.asarray(want, np.float64), rtol=tolerance, atol=tolerance
                )

        return Fused(graph, lowered.fused, check)

    return run


def arguments(graph: Graph, given: Mapping[str, tuple[int, ...] | Array]) -> dict[str, Array]:
    """Arrays for all inputs: those given, and random ones of the shapes given."""
    rng = np.random.default_rng(5)
    found: dict[str, Array] = {}
    for value in graph.inputs:
        each = given[value.name]
        if isinstance(each, tuple):
            drawn = rng.standard_normal(each) if value.dtype.is_float else rng.integers(0, 3, each)
            found[value.name] = np.asarray(drawn).astype(numpy_dtype(value.dtype))
        else:
            found[value.name] = each
    return found
