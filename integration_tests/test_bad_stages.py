"""Stages called by hand with artefacts in each other's places: one error that names the argument, or results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_codegen.stage import emit, link
from autofuse_fusion.stage import fuse
from autofuse_ir.dtypes import float32, int32
from autofuse_ir.errors import AutofuseError
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_reference.run import run
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_testkit.networks import Network
from autofuse_tiling.stage import tile

CPU, A2 = load_target("cpu"), load_target("ascend-a2")


def staged(graph: Graph, target: Any = CPU) -> dict[str, Any]:
    """Everything the stages make of ``graph``."""
    inferred, facts = infer(graph)
    fused = fuse(inferred, facts, target)
    node = fused.nodes[0]
    scheduled = schedule(node, fused.facts, target)
    tiled = tile(scheduled, fused.facts, target)
    bundle = emit(scheduled, tiled, fused.facts, target)
    return {
        **{"graph": graph, "facts": facts, "fused": fused, "fused_facts": fused.facts, "node": node},
        **{"scheduled": scheduled, "tiled": tiled, "bundles": (bundle,), "target": target},
        "program": link(fused, (bundle,), fused.facts, target),
    }


def sums() -> Graph:
    b = Network("sums")
    return b.build({"y": b.op("ReduceSumD", b.op("Exp", b.input("x", ("n", "m"), float32)), axes=(1,))})


def negated() -> Graph:
    b = Network("negated")
    return b.build({"y": b.op("Neg", b.input("q", ("k",), int32))})


STAGES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "infer": (infer, ("graph",)),
    "fuse": (fuse, ("graph", "facts", "target")),
    "schedule": (schedule, ("node", "fused_facts", "target")),
    "tile": (tile, ("scheduled", "fused_facts", "target")),
    "emit": (emit, ("scheduled", "tiled", "fused_facts", "target")),
    "link": (link, ("fused", "bundles", "fused_facts", "target")),
    "run": (run, ("graph", "arrays")),
}


@pytest.mark.parametrize("stage", STAGES)
def test_artefacts_in_each_others_places_are_refused(stage: str) -> None:
    call, names = STAGES[stage]
    right = staged(sums()) | {"arrays": {"x": np.zeros((2, 3), np.float32)}}
    others: list[Any] = [*right.values(), None, 3, "cpu", object()]
    for place, name in enumerate(names):
        if name == "arrays":
            continue
        for other in others:
            if isinstance(other, type(right[name])) or (stage == "run" and other is right["program"]):
                continue
            arguments = [right[each] for each in names]
            arguments[place] = other
            with pytest.raises(AutofuseError) as caught:
                call(*arguments)
            assert caught.value.fix, caught.value


def test_artefacts_of_different_kernels_or_targets_are_refused() -> None:
    mine, other, device = staged(sums()), staged(negated()), staged(sums(), A2)
    with pytest.raises(AutofuseError, match="the facts say nothing of value 'x'"):
        schedule(mine["node"], other["fused_facts"], CPU)
    with pytest.raises(AutofuseError, match="tiling_model of kernel"):
        emit(mine["scheduled"], other["tiled"], mine["fused_facts"], CPU)
    with pytest.raises(AutofuseError, match="tiling_model of target 'ascend-a2'"):
        emit(mine["scheduled"], device["tiled"], mine["fused_facts"], CPU)
    with pytest.raises(AutofuseError, match="target of target 'ascend-a2'"):
        tile(mine["scheduled"], mine["fused_facts"], A2)
    with pytest.raises(AutofuseError, match="target of target 'ascend-a2'"):
        link(mine["fused"], mine["bundles"], mine["fused_facts"], A2)
