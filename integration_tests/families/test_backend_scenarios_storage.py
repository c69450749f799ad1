"""Scenarios of the original's back end about views, memory, launches and templates, on kernels executed as planned.

Their numbers are those of the original's list; `test_backend_scenarios_schedule.py` says what is compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import Location, QueuePosition, TileRole, local_bytes
from autofuse_ir.target import load_target
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.force import only_template
from autofuse_symshape.stage import infer
from autofuse_testkit.joint import chain
from autofuse_testkit.networks import Network, one, softmax_of
from autofuse_testkit.one_kernel import Planned, plan

Array = np.ndarray[Any, Any]
A2 = "ascend-a2"
F32, F16 = dt.float32, dt.float16


def planned(build: Callable[[Network], str], target: str = A2, options: FusionOptions | None = None) -> Planned:
    return plan(one("scenario", build), target, options)


@pytest.mark.parametrize("dtype", [dt.int64, dt.float16, dt.int8], ids=str)
def test_15_columns_of_one_element_are_joined_in_one_form(dtype: DType) -> None:
    """Two forms in the original, by element size; whole blocks per row here, so that no tail is special."""

    def build(b: Network) -> str:
        return b.op("ConcatV2D", *(b.input(name, ("n", 1), dtype) for name in "xy"), concat_dim=1, N=2)

    kernel = planned(build)
    arrays = kernel.drawn({"n": 37})
    kernel.check(arrays, tolerance=0.0)
    assert kernel.traffic(arrays).total == 2 * 2 * 37 * dtype.itemsize


def test_16_a_concat_of_first_dims_moves_each_byte_once_without_workspace() -> None:
    """The original stores each input at its offset. Loads that fetch nothing outside of their data move no more."""

    def build(b: Network) -> str:
        return b.op("ConcatV2D", b.input("x", ("n", "m"), F32), b.input("y", ("k", "m"), F32), concat_dim=0, N=2)

    kernel = planned(build)
    assert kernel.scheduled.workspace_bytes == const(0)
    assert [argument.name for argument in kernel.scheduled.arguments][:2] == ["x", "y"]
    arrays = kernel.drawn({"n": 5, "k": 3, "m": 20})
    kernel.check(arrays, tolerance=0.0)
    assert kernel.traffic(arrays).total == 2 * 8 * 20 * 4


WIDTHS = (412, 1, 6, 6, 6, 6, 16, 16, 33, 16, 32, 32, 5, 7, 32, 1, 2, 3, 16, 1, 222)


@pytest.mark.parametrize(("target", "kernels"), [(A2, 4), ("ascend-350", 2), ("cpu", 1)])
def test_17_many_parts_are_grouped_by_what_a_kernel_takes(target: str, kernels: int) -> None:
    """Seven groups by alignment in the original. Alignment does not matter here, so that inputs are the only limit."""

    def build(b: Network) -> str:
        parts = [b.input(f"x{k}", ("n", width), F16) for k, width in enumerate(WIDTHS)]
        return b.op("ConcatV2D", *parts, concat_dim=1, N=len(parts))

    inferred, facts = infer(one("grouped", build))
    spec = load_target(target)
    fused = fuse(inferred, facts, spec, FusionOptions())
    nodes = [node for node in fused.nodes if isinstance(node, AscBackend | FusedAscBackend)]
    assert len(nodes) == len(fused.nodes) == kernels
    assert all(len(node.inputs) <= spec.limits.inputs for node in nodes)


def test_18_a_pack_of_reductions_is_computed() -> None:
    """The original refuses it. Reductions and pack share a launch, the rows between them stay in workspace."""

    def build(b: Network) -> str:
        x, y = (b.input(name, ("n", "m"), F32) for name in "xy")
        return b.op("Pack", b.op("ReduceSumD", x, axes=(1,)), b.op("ReduceMaxD", y, axes=(1,)), axis=1, N=2)

    kernel = planned(build)
    kernel.check(kernel.drawn({"n": 5, "m": 70}), tolerance=1e-5)


def test_19_transposes_are_folded_into_their_readers() -> None:
    """The original weighs keeping one against folding it; several, or one with a reduction, it folds. Here all are
    folded: nothing is materialised."""

    def build(b: Network) -> str:
        x, y = b.input("x", (6, 3, 4, 5), F32), b.input("y", (4, 5, 6, 3), F32)
        return b.op("Mul", x, b.op("TransposeD", y, perm=(2, 3, 0, 1)))

    def reduced(b: Network) -> str:
        x = b.op("TransposeD", b.input("x", ("n", "m"), F32), perm=(1, 0))
        return b.op("ReduceSumD", b.op("Mul", x, x), axes=(1,))

    for kernel, sizes in ((planned(build), {}), (planned(reduced), {"n": 9, "m": 20})):
        arrays = kernel.drawn(sizes)
        kernel.check(arrays, tolerance=1e-5)
        assert kernel.scheduled.workspace_bytes == const(0) or isinstance(kernel.node, AscBackend)
        assert sum(kernel.traffic(arrays).read.values()) == sum(array.nbytes for array in arrays.values())


def test_20_a_gather_of_columns_with_what_reads_it() -> None:
    def build(b: Network) -> str:
        table, index = b.input("t", ("n", "m"), F32), b.input("i", ("k",), dt.int32)
        return b.op("Add", b.op("GatherV2", table, index, b.number(1, dt.int64)), b.input("y", ("n", "k"), F32))

    kernel = planned(build)
    arrays = kernel.drawn({"n": 12, "m": 50, "k": 25})
    kernel.check(arrays, tolerance=0.0)
    choice, _ = kernel.choice({"n": 12, "m": 50, "k": 25})
    read = sum(kernel.traffic(arrays).read.values())
    assert read <= 12 * 25 * 4 * 2 + 25 * 4 * max(choice.blocks, 12), "the table is never fetched as a whole"


def test_21_chained_groups_share_a_launch_and_their_workspace() -> None:
    """Three groups, each after the one before; what is an output, too, is read from there, as in the original."""
    kernel = plan(chain(), A2, FusionOptions(max_parts=1), joined=True)
    assert isinstance(kernel.node, FusedAscBackend)
    groups = kernel.scheduled.alternatives[0].groups
    assert len(groups) >= 3
    assert all(group.after for group in groups[1:])
    assert len(kernel.scheduled.internals) < len(groups), "one of the values between groups is an output"
    kernel.check(kernel.drawn({"n": 7, "m": 9}), tolerance=1e-5)


def test_22_buffers_are_taken_over_in_place_and_scratch_is_shared() -> None:
    def build(b: Network) -> str:
        x = b.input("x", ("n",), F32)
        for number in range(6):
            x = b.op("Sigmoid", b.op("Mul", x, b.input(f"x{number}", ("n",), F32)))
        return x

    kernel = planned(build)
    (impl,) = kernel.implementations
    values_made = sum(node.op in ("Mul", "Sigmoid") for node in impl.nodes)
    own = [b for b in impl.buffers if b.reuses is None and b.location is Location.LOCAL]
    vector = [b for b in own if b.position is QueuePosition.VECCALC and b.name != "scratch"]
    assert values_made == 12
    assert len(vector) <= 2
    assert sum(b.name == "scratch" for b in own) <= 1
    kernel.check(kernel.drawn({"n": 100}))


def test_22_nothing_takes_over_what_a_reduction_still_reads() -> None:
    kernel = planned(lambda b: softmax_of(b, b.input("x", ("n", "m"), F32)))
    for impl in kernel.implementations:
        segments = [s for phase in impl.phases for s in phase.segments]
        place = {p.node: p.buffer for p in impl.placements}
        roots = {b.name: b.reuses for b in impl.buffers}
        made = {name: at for at, s in enumerate(segments) for name in s.nodes}
        for node in impl.nodes:
            for source in node.inputs if reduced_axes(node) else ():
                takers = [n for n, buffer in place.items() if buffer and roots.get(buffer) == place[source]]
                assert all(made[taker] >= made[node.name] for taker in takers)


def test_23_half_precision_is_computed_in_single_and_rounded_at_the_end() -> None:
    def build(b: Network) -> str:
        x, y = b.input("x", ("n",), F16), b.input("y", ("n",), dt.bfloat16)
        wide = b.op("Cast", y, dst_type=1)
        return b.op("Exp", b.op("Mul", b.op("Add", x, wide), b.op("Sub", x, wide)))

    kernel = planned(build, options=FusionOptions(numerics="auto"))
    casts = [node for node in kernel.implementations[0].nodes if node.op == "Cast"]
    assert sum(node.dtype == F16 for node in casts) <= 2, "the result, and the user's own cast"
    kernel.check(kernel.drawn({"n": 50}), tolerance=4e-3)

    def copy(b: Network) -> str:
        return b.op("SliceD", b.input("x", (9,), F16), offsets=(2,), size=(3,))

    moved = planned(copy)
    assert all(node.op != "Cast" for node in moved.implementations[0].nodes)


def test_25_tiles_fill_local_memory_and_templates_can_be_forced() -> None:
    def build(b: Network) -> str:
        return softmax_of(b, b.input("x", ("n", "m"), F32))

    kernel = planned(build)
    sizes = {"n": 100_000, "m": 1000}
    choice, impl = kernel.choice(sizes)
    used = evaluate(local_bytes(impl.buffers), {**sizes, **choice.sizes})
    # Five rows of the six that would fit: the first tile, which nothing overlaps, is there sooner.
    assert 0.75 * kernel.target.tile_bytes <= used <= kernel.target.tile_bytes
    assert choice.blocks == kernel.target.cores
    forced = only_template(kernel.scheduled, "r-core")
    assert {i.template for a in forced.alternatives for g in a.groups for i in g.implementations} == {"r-core"}
    with pytest.raises(ScheduleError, match="its templates are"):
        only_template(kernel.scheduled, "no such template")


def test_25_rows_of_tiles_are_whole_vectors_or_the_whole_axis() -> None:
    kernel = planned(lambda b: b.op("Abs", b.input("x", ("n",), F32)))
    for size in (1, 3, 40, 63, 64, 1000, 40 * 20_000):
        choice, impl = kernel.choice({"n": size})
        (tile,) = (v for v in impl.tile_variables if v.role is TileRole.LOCAL)
        assert choice.sizes[tile.name] % 64 == 0 or choice.sizes[tile.name] == size


def test_extra_a_cast_comes_before_the_broadcast_of_what_it_casts() -> None:
    def build(b: Network) -> str:
        row = b.op("Cast", b.input("r", (1, "m"), F16), dst_type=0)
        return b.op("Add", b.input("x", ("n", "m"), F32), row)

    kernel = planned(build)
    for impl in kernel.implementations:
        nodes = {node.name: node for node in impl.nodes}
        for node in impl.nodes:
            if node.op == "Cast":
                assert nodes[node.inputs[0]].op == "Load"
    kernel.check(kernel.drawn({"n": 5, "m": 30}))


def test_extra_a_slice_of_a_concat_fetches_the_slice() -> None:
    def build(b: Network) -> str:
        joined = b.op("ConcatD", *(b.input(f"x{k}", (4, 4), F32) for k in range(2)), concat_dim=1, N=2)
        return b.op("Neg", b.op("SliceD", joined, offsets=(0, 2), size=(4, 3)))

    kernel = planned(build)
    arrays = kernel.drawn({})
    kernel.check(arrays, tolerance=0.0)
    assert sum(kernel.traffic(arrays).read.values()) == 4 * 3 * 4
