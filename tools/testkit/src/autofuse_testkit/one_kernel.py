"""A network of one kernel, scheduled for a target, and run as its plans say: bits, bytes and templates to look at.

Needs the packages, unlike the rest of the plug-in.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.checks import verify
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, ViewNode
from autofuse_ir.graph import Graph
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import TargetSpec, load_target
from autofuse_ir.tiling import TilingModel
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_reference.impl_graph.groups import Chosen, interpret_schedule
from autofuse_reference.impl_graph.interpret import interpret_impl, traffic_of
from autofuse_reference.impl_graph.traffic import Traffic
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.evaluate import Choice, choose, choose_groups
from autofuse_tiling.stage import tile

from autofuse_testkit.joint import all_in_one
from autofuse_testkit.kernel_cases import random_tiles
from autofuse_testkit.networks import drawn_inputs

Array = np.ndarray[Any, Any]


@frozen
class Planned:
    """One kernel: its network, how it is scheduled, and what its tiles are chosen by."""

    graph: Graph
    facts: SymbolFacts
    node: AscBackend | FusedAscBackend
    target: TargetSpec
    scheduled: ScheduleResult
    model: TilingModel

    @property
    def implementations(self) -> tuple[ImplGraph, ...]:
        """All implementations of all groups."""
        return tuple(i for a in self.scheduled.alternatives for g in a.groups for i in g.implementations)

    @property
    def templates(self) -> list[tuple[str, str]]:
        """Template and case of each implementation, in order."""
        return [(impl.template, impl.case.name) for impl in self.implementations]

    def by_template(self, template: str) -> list[ImplGraph]:
        """Return the implementations that a template made."""
        return [impl for impl in self.implementations if impl.template == template]

    def drawn(self, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return arguments for ``sizes``, always the same."""
        return drawn_inputs(self.graph, sizes, np.random.default_rng(8))

    def sizes(self, values: Mapping[str, Array]) -> dict[str, int]:
        """Return the size symbols that the arguments have."""
        sizes: dict[str, int] = {}
        for value in self.graph.inputs:
            for dim, actual in zip(value.shape or (), values[value.name].shape, strict=True):
                if str(dim) in free_symbols(dim):
                    sizes[str(dim)] = actual
        for value in self.graph.inputs:
            assert math.prod(evaluate(dim, sizes) for dim in value.shape or ()) == values[value.name].size
        return sizes

    def choice(self, sizes: Mapping[str, int]) -> tuple[Choice, ImplGraph]:
        """Return what the tiling function picks, for a kernel of one group."""
        found = choose(self.model, {s: sizes[s] for s in self.model.symbols}, self.target.cores or 8)
        return found, next(impl for impl in self.implementations if impl.name == found.implementation)

    def traffic(self, values: Mapping[str, Array]) -> Traffic:
        """Return the bytes that the picked implementation moves."""
        sizes = self.sizes(values)
        found, impl = self.choice(sizes)
        return traffic_of(impl, [values[name] for name in self.node.inputs], sizes, found.sizes)

    def wanted(self, values: Mapping[str, Array]) -> list[Array]:
        """Return what the reference makes of ``values``."""
        reference = GraphInterpreter(self.graph, {fact.name: fact.dtype for fact in self.facts.values})
        return list(reference.outputs(dict(values)).values())

    def check(self, values: Mapping[str, Array], tolerance: float = 2e-6) -> None:
        """Run what is picked, and, in a kernel of one group, each implementation with tiles drawn at random."""
        wanted, sizes = self.wanted(values), self.sizes(values)
        inputs = [values[name] for name in self.node.inputs]
        cores = self.target.cores or 8
        picked = choose_groups(self.model, {s: sizes[s] for s in self.model.symbols}, cores)
        chosen = {name: Chosen(each.implementation, each.sizes) for name, each in picked.items()}
        _compare(interpret_schedule(self.scheduled, inputs, sizes, chosen), wanted, tolerance)
        if isinstance(self.node, AscBackend):
            for seed, impl in enumerate(self.implementations):
                tiles = random_tiles(impl, sizes, np.random.default_rng(seed))
                _compare(interpret_impl(impl, inputs, sizes, tiles, seed), wanted, tolerance)


def plan(
    graph: Graph, target_name: str, options: FusionOptions | None = None, *, holds: bool = True, joined: bool = False
) -> Planned:
    """Return the one kernel that ``graph`` becomes on a target, verified; ``joined``: its kernels in one launch."""
    target = load_target(target_name)
    inferred, facts = infer(graph)
    fused = fuse(inferred, facts, target, options or FusionOptions())
    if joined:
        fused = all_in_one(fused)
    (node,) = (node for node in fused.nodes if not isinstance(node, ViewNode))
    assert isinstance(node, AscBackend | FusedAscBackend), node
    scheduled = schedule(node, fused.facts, target, holds=holds)
    verify(scheduled)
    return Planned(inferred, facts, node, target, scheduled, tile(scheduled, fused.facts, target))


def _compare(found: list[Array], wanted: list[Array], tolerance: float) -> None:
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(
            np.asarray(got, np.float64).reshape(want.shape),
            np.asarray(want, np.float64),
            rtol=tolerance,
            atol=tolerance,
        )
