"""One graph on every path that computes it: unfused, and fused under two numerics by interpreter and by compiler."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from autofuse import plugins
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse_fusion.options import FusionOptions
from autofuse_ir.errors import AutofuseError
from autofuse_ir.fused_graph import HostRegion
from autofuse_ir.graph import Graph
from autofuse_reference.run import run

from autofuse_testkit.networks import Network

Array = np.ndarray[Any, Any]
NUMERICS = ("strict", "auto")
TIERS = ("interpreter", "jit")


@dataclass(frozen=True)
class EveryPath:
    """`paths` computes the outputs of `graph`, by the name of the way; those that were compiled are also `compiled`."""

    graph: Graph
    paths: Mapping[str, Callable[..., Any]]
    compiled: Mapping[str, Any]

    def check(self, arrays: tuple[Any, ...], *wanted: Any, tolerance: float = 0.0) -> None:
        """Assert that every path returns `wanted`: shape, dtype, and values.

        Without tolerance bit by bit but for what NaNs look like, so that 0.0 is not -0.0.
        """
        for name, path in self.paths.items():
            results = _as_tuple(path(*arrays))
            assert len(results) == len(wanted), name
            for number, (found, want) in enumerate(zip(results, wanted, strict=True)):
                same(found, np.asarray(want), tolerance, f"output {number}, {name}")
        for name, function in self.compiled.items():
            assert function.stats.compiles == 1, name

    def refuse(self, arrays: tuple[Any, ...], words: str) -> None:
        """Assert that every path raises an `AutofuseError` of one line that says `words` (a regular expression)."""
        for name, path in self.paths.items():
            with pytest.raises(AutofuseError, match=words) as caught:
                path(*arrays)
            assert "\n" not in caught.value.what, name
            assert caught.value.where, name
            assert caught.value.exit_code == 2, name

    @property
    def kernels(self) -> tuple[int, ...]:
        """Kernels of the fused programs, strict and auto."""
        return tuple(function.report.launches for function in self.compiled.values())

    @property
    def host_operators(self) -> tuple[str, ...]:
        """Operators that the fused programs leave to a host backend."""
        found = [
            operator.op
            for function in self.compiled.values()
            for node in function.lowered.fused.nodes
            if isinstance(node, HostRegion)
            for operator in node.operators
        ]
        return tuple(dict.fromkeys(found))


def every_path(define: Callable[[Network], Mapping[str, str]] | Graph) -> EveryPath:
    """Return every path through the graph, or through the one that `define` builds (outputs by name)."""
    if isinstance(define, Graph):
        graph = define
    else:
        network = Network("report")
        graph = network.build(outputs=define(network))
    target = chosen_target("cpu")
    paths: dict[str, Callable[..., Any]] = {"unfused": partial(_unfused, graph)}
    compiled: dict[str, Any] = {}
    for numerics in NUMERICS:
        lowered = lower_graph(graph, target, chosen_options(FusionOptions(), numerics=numerics))
        for tier in TIERS:
            function = load_lowered(lowered, target, tier)
            paths[f"{numerics}, {tier}"] = function
            if tier == "jit":
                compiled[numerics] = function
    return EveryPath(graph, paths, compiled)


def _unfused(graph: Graph, *arrays: Any) -> tuple[Any, ...]:
    return tuple(run(graph, arrays, hosts=plugins.hosts()))


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def same(found: Any, wanted: Array, tolerance: float, name: str) -> None:
    """Assert that `found` is `wanted`, NaN for NaN; a relative and absolute tolerance of 0 also compares signs."""
    got = np.asarray(found)
    assert got.dtype == wanted.dtype, f"{name}: {got.dtype} is not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{name}: {got.shape} is not {wanted.shape}"
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted, err_msg=name)
        return
    # bfloat16 is of kind V: through float64, which holds every value of every float type
    wide, want = got.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_allclose(wide, want, rtol=tolerance, atol=tolerance, equal_nan=True, err_msg=name)
    if not tolerance:
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(wide)[numbers], np.signbit(want)[numbers], err_msg=name)
