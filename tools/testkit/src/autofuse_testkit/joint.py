"""Graphs of several kernels, and what puts those into one launch."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import evolve, frozen
from autofuse.compiler import load_lowered
from autofuse.pipeline import Lowered
from autofuse_codegen.stage import emit, link
from autofuse_fusion.joint import joint_kernel
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend, FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]
APART = FusionOptions(numerics="strict", max_parts=1)
ROW_SIZES = ((0, 5), (5, 0), (1, 1), (2, 3), (64, 9001), (3, 70_000), (700, 33))


def sides(dtype: DType = dt.float32) -> Graph:
    """Rows and columns of one input, each reduced: kernels without an order between them."""
    b = GraphBuilder("sides")
    x = b.input("x", ("n", "m"), dtype)
    return b.build(
        {
            "rows": b.op("ReduceSumD", x, axes=(1,), keep_dims=False),
            "columns": b.op("ReduceSumD", x, axes=(0,), keep_dims=False),
        }
    )


def crossed(dtype: DType = dt.float32) -> Graph:
    """What one kernel reduces along the rows, the next reduces along the columns."""
    b = GraphBuilder("crossed")
    x = b.input("x", ("n", "m", 4), dtype)
    inner = b.op("ReduceSumD", x, axes=(2,), keep_dims=False)
    return b.build({"y": b.op("ReduceSumD", b.op("Mul", inner, inner), axes=(0,), keep_dims=False)})


def chain() -> Graph:
    """Three kernels, each of which waits for the one before; the second one's result is also an output."""
    b = GraphBuilder("chain")
    x = b.input("x", ("n", "m"), dt.float32)
    rows = b.op("SoftmaxV2", x, axes=(1,))
    columns = b.op("SoftmaxV2", rows, axes=(0,))
    again = b.op("SoftmaxV2", columns, axes=(1,))
    return b.build({"columns": columns, "again": b.op("SoftmaxV2", b.op("Neg", again), axes=(0,))})


def diamond() -> Graph:
    """One kernel makes what two read side by side; a fourth one reads both of theirs."""
    b = GraphBuilder("diamond")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("SoftmaxV2", x, axes=(1,))
    left = b.op("ReduceMaxD", y, axes=(0,), keep_dims=True)
    right = b.op("SoftmaxV2", y, axes=(0,))
    return b.build({"z": b.op("SoftmaxV2", b.op("Sub", right, left), axes=(1,))})


GRAPHS: Mapping[str, Callable[[], Graph]] = {f.__name__: f for f in (sides, crossed, chain, diamond)}


@frozen
class Joint:
    """One graph twice: with all kernels apart, and with all of them in one launch."""

    apart: Lowered
    together: Lowered

    @property
    def schedule(self) -> ScheduleResult:
        """The schedule of the only kernel."""
        (found,) = self.together.schedules
        return found


def lowered(graph: Graph, joined: bool, target: str = "cpu", options: FusionOptions = APART) -> Lowered:
    """Run all stages on ``graph``; ``joined``: with all kernels as parts of one."""
    spec = load_target(target)
    inferred, facts = infer(graph)
    fused = fuse(inferred, facts, spec, options)
    if joined:
        fused = all_in_one(fused)
    verify(fused)
    nodes = [node for node in fused.nodes if not hasattr(node, "operators") or isinstance(node, AscBackend)]
    schedules = tuple(schedule(node, fused.facts, spec) for node in nodes)
    for each in schedules:
        verify(each)
    tilings = tuple(tile(each, fused.facts, spec) for each in schedules)
    for model in tilings:
        verify(model)
    bundles = tuple(emit(s, t, fused.facts, spec) for s, t in zip(schedules, tilings, strict=True))
    program = link(fused, bundles, fused.facts, spec)
    verify(program)
    return Lowered(graph, options, inferred, facts, fused, schedules, tilings, bundles, program)


def all_in_one(fused: FusedGraph) -> FusedGraph:
    """Return ``fused``, which holds kernels alone, with one kernel that has them as its parts."""
    parts = [node for node in fused.nodes if isinstance(node, AscBackend)]
    assert len(parts) == len(fused.nodes) > 1
    return evolve(fused, nodes=(joint_kernel("joint", parts, {output.value for output in fused.outputs}),))


def values_for(graph: Graph, sizes: Mapping[str, int], seed: int = 0) -> list[Array]:
    """Return inputs of ``graph``, of both signs and some magnitude."""
    rng = np.random.default_rng(seed)
    found = []
    for value in graph.inputs:
        shape = [sizes.get(str(dim), 0) if str(dim) in sizes else int(str(dim)) for dim in value.shape or ()]
        found.append(np.asarray(rng.normal(0, 3, shape)).astype(numpy_dtype(value.dtype)))
    return found


def runner(made: Lowered, tier: str = "jit") -> Callable[..., list[Array]]:
    """Return a function that runs what ``made`` is and gives a list of arrays."""
    fn = load_lowered(made, load_target("cpu"), tier)

    def run(*arrays: Array) -> list[Array]:
        results = fn(*arrays)
        return [np.asarray(r) for r in (results if isinstance(results, (tuple, list)) else [results])]

    return run


def bits(arrays: list[Array]) -> list[bytes]:
    """Return what the arrays hold, to the bit."""
    return [array.tobytes() for array in arrays]
