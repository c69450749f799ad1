"""Scenarios of the original's back end that are about schedules, on kernels built anew and executed as planned.

The original counts candidates and names axes; these tests run what is planned, in buffers of exactly those bytes, and
say where the plan is another one because it is better. Scenarios of generated code are in
`test_backend_scenarios_kernels.py`; the numbers are those of the original's list.
"""

from collections.abc import Callable, Mapping
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
from autofuse_ir.schedule import ImplGraph, Location, QueuePosition, Sync, TileRole, local_bytes
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.impl_graph.interpret import interpret_impl, traffic_of
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


def values(kernel: Planned, sizes: Mapping[str, int] | None = None) -> dict[str, Array]:
    rng = np.random.default_rng(8)
    found = {}
    for value in kernel.graph.inputs:
        shape = tuple(evaluate(dim, dict(sizes or {})) for dim in value.shape or ())
        drawn = rng.normal(size=shape) if value.dtype.is_float else rng.integers(0, 5, shape)
        found[value.name] = np.asarray(drawn).astype(numpy_dtype(value.dtype))
    return found


def by_template(kernel: Planned, template: str) -> list[ImplGraph]:
    return [impl for impl in kernel.implementations if impl.template == template]


def held(impl: ImplGraph) -> list[str]:
    """The operators that are made before the loop over tiles, in order."""
    nodes = {node.name: node.op for node in impl.nodes}
    return [nodes[name] for phase in impl.phases[:-1] for s in phase.segments for name in s.nodes]


def inner(impl: ImplGraph) -> list[str]:
    """The operators of every tile."""
    nodes = {node.name: node.op for node in impl.nodes}
    return [nodes[name] for s in impl.phases[-1].segments for name in s.nodes]


def test_01_abs_and_add_of_two_axes_are_one_loop() -> None:
    """As the original: fully merged axes, one tile size and one share of a block. It takes tiles of 440 one after the
    other; here two blocks take 448 each, whole vectors, which is predicted to be faster."""

    def build(b: Network) -> str:
        return b.op("Add", b.op("Abs", b.input("x", (128, 7), F32)), b.input("y", (128, 7), F32))

    kernel = planned(build)
    (impl,) = kernel.implementations
    assert impl.roots == ("z0z1",)
    assert [variable.role for variable in impl.tile_variables] == [TileRole.LOCAL, TileRole.MULTICORE]
    assert sorted(b.position.value for b in impl.buffers if b.reuses is None) == ["veccalc", "vecin", "vecin", "vecout"]
    choice, _ = kernel.choice({})
    assert (choice.sizes["z0z1t_size"], choice.blocks) == (448, 2)
    kernel.check(values(kernel), tolerance=0.0)


@pytest.mark.parametrize("size", [95, 96, 97])
def test_03_tails_of_tiles_of_blocks_and_of_both(size: int) -> None:
    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F32), b.input("r", ("m",), F32))

    kernel = planned(build)
    arrays = values(kernel, {"n": size, "m": 33})
    for impl in by_template(kernel, "held"):
        for tile, share in ((10, 3), (32, 2), (48, 1), (13, 8), (size, 1)):
            tiles = {"z0t_size": tile, "z0Tb_size": share}
            (found,) = interpret_impl(impl, list(arrays.values()), {"n": size, "m": 33}, tiles, seed=tile)
            np.testing.assert_array_equal(found, arrays["x"] + arrays["r"])


def test_04_broadcasts_are_made_once_for_the_tiles_that_share_them() -> None:
    """The original has an implementation in which each case keeps the broadcasts that do not vary along its own tile
    axis, decided at compile time. Here the forms with and without kept values compete by memory and predicted time, a
    number in all lanes is kept, too, and where a tile is cut from rows, the column is kept for the pieces of its row.
    """

    def build(b: Network) -> str:
        row = b.op("Maximum", b.input("r", (1, "m"), F16), b.number(0.5, F16))
        total = b.op("Add", b.op("Add", b.input("x", ("n", "m"), F16), row), row)
        return b.op("SelectV2", b.op("Less", total, b.input("c", ("n", 1), F16)), total, b.number(2.0, F16))

    kernel = planned(build)
    (whole,) = by_template(kernel, "held")
    assert {"Load", "Maximum", "Broadcast"} <= set(held(whole))
    assert inner(whole).count("Load") == 2
    assert any("Broadcast" in held(impl) for impl in by_template(kernel, "held-rows"))
    arrays = values(kernel, {"n": 20, "m": 32})
    kernel.check(arrays)
    traffic = kernel.traffic(arrays)
    choice, _ = kernel.choice({"n": 20, "m": 32})
    assert sum(traffic.read.values()) == (20 * 32 + 20 + 32 * choice.blocks) * 2


def test_04_a_broadcast_in_a_reduction_is_kept_as_well() -> None:
    def build(b: Network) -> str:
        wide = b.op("Add", b.input("x", (128, 289, 4), F32), b.input("r", (1, 289, 4), F32))
        return b.op("ReduceSumD", wide, axes=(1,))

    kernel = planned(build)
    kept = [impl for impl in kernel.implementations if impl.template.endswith("-held")]
    assert kept
    assert all({"Load", "Broadcast"} <= set(held(impl)) for impl in kept if impl.case.split[0] == "z0")
    kernel.check(values(kernel), tolerance=1e-5)


@pytest.mark.parametrize("target", [A2, "ascend-350"])
@pytest.mark.parametrize("dtype", [dt.float16, dt.int8], ids=str)
def test_05_columns_of_narrow_elements_are_spread_whatever_the_tail(target: str, dtype: DType) -> None:
    """The original has a second form for tails of 8 and 16 bits and a test at run time that tells which. Rows start at
    whole blocks here, so that one form serves all tails."""

    def build(b: Network) -> str:
        return b.op("Maximum", b.input("x", ("n", "m"), dtype), b.input("c", ("n", 1), dtype))

    kernel = planned(build, target)
    for columns in (1, 7, 16, 32, 33, 64):
        kernel.check(values(kernel, {"n": 5, "m": columns}), tolerance=0.0)


def test_06_two_broadcasts_of_different_axes_are_loaded_as_they_are() -> None:
    def build(b: Network) -> str:
        return b.op("Mul", b.input("c", ("n", 1), F32), b.input("r", (1, "m"), F32))

    kernel = planned(build)
    arrays = values(kernel, {"n": 12, "m": 70})
    kernel.check(arrays, tolerance=0.0)
    choice, _ = kernel.choice({"n": 12, "m": 70})
    assert sum(kernel.traffic(arrays).read.values()) <= (12 * choice.blocks + 70 * choice.blocks) * 4


@pytest.mark.parametrize("axes", ["BAB", "BABAB", "BBB"])
def test_07_a_chain_of_broadcasts_is_as_many_steps_as_it_has_axes(axes: str) -> None:
    """B A B: broadcast, add what is as wide, broadcast. What is as wide already is not spread again."""
    shapes = [(1, 1, "k"), (1, "m", "k"), ("n", "m", "k")]

    def build(b: Network) -> str:
        x = b.input("x", shapes[0], F32)
        step = 0
        for letter in axes:
            if letter == "B" and step < 2:
                step += 1
                x = b.op("Mul", x, b.input(f"w{step}", shapes[step], F32))
            elif letter == "A":
                x = b.op("Abs", x)
        return x

    kernel = planned(build)
    steps = axes.count("B") if axes.count("B") < 2 else 2
    for impl in kernel.implementations:
        assert sum(node.op == "Broadcast" for node in impl.nodes) <= steps
    kernel.check(values(kernel, {"n": 3, "m": 5, "k": 9}), tolerance=1e-6)


def test_08_a_number_is_an_operand_where_operators_take_one() -> None:
    """The original keeps the number's broadcast where one reader (Le, say) takes numbers on the other side only: here
    comparisons are exchanged, and no broadcast is left."""

    def build(b: Network) -> str:
        x, half = b.input("x", ("n", "m"), F32), b.number(0.5)
        below = b.op("LessEqual", half, x)
        return b.op("SelectV2", below, b.op("Add", x, half), b.op("Mul", half, x))

    kernel = planned(build)
    for impl in kernel.implementations:
        assert all(node.op != "Broadcast" for node in impl.nodes)
    kernel.check(values(kernel, {"n": 5, "m": 30}), tolerance=0.0)


def test_09_a_wide_row_is_fetched_once_for_few_rows() -> None:
    """4 x 512 K: the original moves the short axis inward at compile time, for static sizes. The order of loops that
    keeps a piece of the row for all four is one of the cases here, at any size."""

    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F16), b.input("r", (1, "m"), F16))

    kernel = planned(build)
    assert kernel.choice({"n": 4, "m": 512 * 1024})[1].template == "held-pieces"
    (impl,) = by_template(kernel, "held-pieces")
    arrays = values(kernel, {"n": 4, "m": 1000})
    tiles = {"z1t_size": 128, "z0b_size": 4, "z1Tz0Bb_size": 2}
    traffic = traffic_of(impl, list(arrays.values()), {"n": 4, "m": 1000}, tiles)
    assert sum(traffic.read.values()) == (4 + 1) * 1000 * 2
    kernel.check(arrays, tolerance=0.0)


def test_10_a_sum_of_everything_is_one_tile_or_shared_by_all_blocks() -> None:
    """The original prepends an axis of one element for the blocks; a nest without kept axes needs none."""
    kernel = planned(lambda b: b.op("ReduceSumD", b.input("x", ("n", "m"), F32), axes=(0, 1)))
    assert {template for template, _ in kernel.templates} == {"all-load", "r-core"} | {
        template for template, _ in kernel.templates if template == "common"
    }
    assert [p.sync for p in by_template(kernel, "r-core")[0].phases] == [Sync.ALL, Sync.NONE]
    kernel.check(values(kernel, {"n": 128, "m": 64}), tolerance=1e-5)
    assert kernel.choice({"n": 4096, "m": 4096})[1].template == "r-core"


def test_11_reductions_of_axes_that_are_not_neighbours() -> None:
    """Rows of ten floats start at multiples of sixteen in the original, of whole blocks of eight here."""
    kernel = planned(lambda b: b.op("ReduceSumD", b.input("x", ("a", "b", "c", 10), F32), axes=(0, 2)))
    assert all(impl.row_multiple % 8 == 0 for impl in kernel.implementations)
    assert {"common", "r-core"} <= {template for template, _ in kernel.templates}
    kernel.check(values(kernel, {"a": 3, "b": 5, "c": 2}), tolerance=1e-5)


@pytest.mark.parametrize("operators", [1, 3, 4, 9])
def test_12_any_number_of_operators_follows_a_reduction_in_its_kernel(operators: int) -> None:
    """The original cuts the kernel through workspace from the fourth operator on."""

    def build(b: Network) -> str:
        total = b.op("ReduceSumD", b.input("x", ("n", "m"), F32), axes=(0, 1), keep_dims=True)
        for number in range(operators):
            total = b.op(("Abs", "Neg", "Exp", "Tanh")[number % 4], b.op("Mul", total, b.number(0.001)))
        return total

    kernel = planned(build)
    phases = {template: len(by_template(kernel, template)[0].phases) for template, _ in kernel.templates}
    assert phases["all-load"] == 1
    assert phases["r-core"] == 2
    kernel.check(values(kernel, {"n": 128, "m": 64}), tolerance=1e-5)


def test_13_what_several_reductions_read_is_fetched_once() -> None:
    """A norm's diamond: only the form that keeps whole rows is left in the original; long rows have theirs here."""

    def build(b: Network) -> str:
        x = b.op("Mul", b.input("x", ("n", "m"), F32), b.input("y", ("n", "m"), F32))
        centred = b.op("Sub", x, b.op("ReduceMeanD", x, axes=(1,), keep_dims=True))
        power = b.op("ReduceSumD", b.op("Mul", centred, centred), axes=(1,), keep_dims=True)
        return b.op("Mul", b.op("Mul", centred, power), b.op("ReduceMaxD", x, axes=(1,), keep_dims=True))

    kernel = planned(build)
    arrays = values(kernel, {"n": 9, "m": 100})
    kernel.check(arrays, tolerance=2e-5)
    assert kernel.choice({"n": 9, "m": 100})[1].template.startswith("all-load")
    assert sum(kernel.traffic(arrays).read.values()) == 2 * 9 * 100 * 4
    assert kernel.choice({"n": 9, "m": 100_000})[1].template != "all-load"


def test_14_softmax_is_one_kernel_for_rows_of_any_length() -> None:
    """The original has one form, with the last axis whole in local memory, and nothing for longer rows."""
    kernel = planned(lambda b: softmax_of(b, b.input("x", ("n", "m"), F32)))
    for impl in by_template(kernel, "all-load"):
        assert impl.case.split == ("z0",)
    arrays = values(kernel, {"n": 9, "m": 100})
    kernel.check(arrays)
    assert sum(kernel.traffic(arrays).read.values()) == arrays["x"].nbytes
    chosen = [kernel.choice({"n": n, "m": m})[1].template for n, m in ((4096, 1000), (4096, 100_000), (3, 1 << 20))]
    assert chosen == ["all-load", "common", "r-core"]


@pytest.mark.parametrize("dtype", [dt.int64, dt.float16, dt.int8], ids=str)
def test_15_columns_of_one_element_are_joined_in_one_form(dtype: DType) -> None:
    """Two forms in the original, by element size; whole blocks per row here, so that no tail is special."""

    def build(b: Network) -> str:
        return b.op("ConcatV2D", *(b.input(name, ("n", 1), dtype) for name in "xy"), concat_dim=1, N=2)

    kernel = planned(build)
    arrays = values(kernel, {"n": 37})
    kernel.check(arrays, tolerance=0.0)
    assert kernel.traffic(arrays).total == 2 * 2 * 37 * dtype.itemsize


def test_16_a_concat_of_first_dims_moves_each_byte_once_without_workspace() -> None:
    """The original stores each input at its offset. Loads that fetch nothing outside of their data move no more."""

    def build(b: Network) -> str:
        return b.op("ConcatV2D", b.input("x", ("n", "m"), F32), b.input("y", ("k", "m"), F32), concat_dim=0, N=2)

    kernel = planned(build)
    assert kernel.scheduled.workspace_bytes == const(0)
    assert [argument.name for argument in kernel.scheduled.arguments][:2] == ["x", "y"]
    arrays = values(kernel, {"n": 5, "k": 3, "m": 20})
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
    kernel.check(values(kernel, {"n": 5, "m": 70}), tolerance=1e-5)


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
        arrays = values(kernel, sizes)
        kernel.check(arrays, tolerance=1e-5)
        assert kernel.scheduled.workspace_bytes == const(0) or isinstance(kernel.node, AscBackend)
        assert sum(kernel.traffic(arrays).read.values()) == sum(array.nbytes for array in arrays.values())


def test_20_a_gather_of_columns_with_what_reads_it() -> None:
    def build(b: Network) -> str:
        table, index = b.input("t", ("n", "m"), F32), b.input("i", ("k",), dt.int32)
        return b.op("Add", b.op("GatherV2", table, index, b.number(1, dt.int64)), b.input("y", ("n", "k"), F32))

    kernel = planned(build)
    arrays = values(kernel, {"n": 12, "m": 50, "k": 25})
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
    kernel.check(values(kernel, {"n": 7, "m": 9}), tolerance=1e-5)


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
    kernel.check(values(kernel, {"n": 100}))


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
    kernel.check(values(kernel, {"n": 50}), tolerance=4e-3)

    def copy(b: Network) -> str:
        return b.op("SliceD", b.input("x", (9,), F16), offsets=(2,), size=(3,))

    moved = planned(copy)
    assert all(node.op != "Cast" for node in moved.implementations[0].nodes)


def test_24_what_a_narrow_result_needs_is_not_computed_for_every_element() -> None:
    """2048 x 126: the original computes the narrow operand twice, in two groups, to avoid a broadcast. Here values
    that vary along one axis are made once a block, and each input is fetched once a block."""

    def build(b: Network) -> str:
        row = b.op("Exp", b.input("r", (1, 126), F32))
        return b.op("Add", b.op("Mul", b.input("x", ("n", 126), F32), row), row)

    kernel = planned(build)
    impl = by_template(kernel, "held")[0]
    assert "Exp" in held(impl)
    assert "Exp" not in inner(impl)
    arrays = values(kernel, {"n": 2048})
    choice, _ = kernel.choice({"n": 2048})
    assert sum(kernel.traffic(arrays).read.values()) == arrays["x"].nbytes + choice.blocks * arrays["r"].nbytes
    kernel.check({**arrays, "x": arrays["x"][:40]})


def test_25_tiles_fill_local_memory_and_templates_can_be_forced() -> None:
    def build(b: Network) -> str:
        return softmax_of(b, b.input("x", ("n", "m"), F32))

    kernel = planned(build)
    sizes = {"n": 100_000, "m": 1000}
    choice, impl = kernel.choice(sizes)
    used = evaluate(local_bytes(impl.buffers), {**sizes, **choice.sizes})
    assert 0.8 * kernel.target.tile_bytes <= used <= kernel.target.tile_bytes
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
    kernel.check(values(kernel, {"n": 5, "m": 30}))


def test_extra_a_slice_of_a_concat_fetches_the_slice() -> None:
    def build(b: Network) -> str:
        joined = b.op("ConcatD", *(b.input(f"x{k}", (4, 4), F32) for k in range(2)), concat_dim=1, N=2)
        return b.op("Neg", b.op("SliceD", joined, offsets=(0, 2), size=(4, 3)))

    kernel = planned(build)
    arrays = values(kernel)
    kernel.check(arrays, tolerance=0.0)
    assert sum(kernel.traffic(arrays).read.values()) == 4 * 3 * 4
