"""Scenarios of the original's back end about loops, broadcasts and reductions, on kernels executed as planned.

The original counts candidates and names axes; these tests run what is planned, in buffers of exactly those bytes, and
say where the plan is another one because it is better. Scenarios of views, memory and launches are in
`test_backend_scenarios_storage.py`, those of generated code in `test_backend_scenarios_kernels.py`; the numbers are
those of the original's list.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import ImplGraph, Sync, TileRole
from autofuse_reference.impl_graph.interpret import interpret_impl, traffic_of
from autofuse_testkit.networks import Network, one, softmax_of
from autofuse_testkit.one_kernel import Planned, plan

Array = np.ndarray[Any, Any]
A2 = "ascend-a2"
F32, F16 = dt.float32, dt.float16


def planned(build: Callable[[Network], str], target: str = A2, options: FusionOptions | None = None) -> Planned:
    return plan(one("scenario", build), target, options)


def held(impl: ImplGraph) -> list[str]:
    """The operators that are made before the loop over tiles, in order."""
    nodes = {node.name: node.op for node in impl.nodes}
    return [nodes[name] for phase in impl.phases[:-1] for s in phase.segments for name in s.nodes]


def inner(impl: ImplGraph) -> list[str]:
    """The operators of every tile."""
    nodes = {node.name: node.op for node in impl.nodes}
    return [nodes[name] for s in impl.phases[-1].segments for name in s.nodes]


def test_01_abs_and_add_of_two_axes_are_one_loop() -> None:
    """As the original: fully merged axes, one tile size, one share of a block, and one block. It takes tiles of 440 one
    after the other; here all 896 elements are one tile, which is predicted to be faster."""

    def build(b: Network) -> str:
        return b.op("Add", b.op("Abs", b.input("x", (128, 7), F32)), b.input("y", (128, 7), F32))

    kernel = planned(build)
    (impl,) = kernel.implementations
    assert impl.roots == ("z0z1",)
    assert [variable.role for variable in impl.tile_variables] == [TileRole.LOCAL, TileRole.MULTICORE]
    assert sorted(b.position.value for b in impl.buffers if b.reuses is None) == ["veccalc", "vecin", "vecin", "vecout"]
    choice, _ = kernel.choice({})
    assert (choice.sizes["z0z1t_size"], choice.blocks) == (896, 1)
    kernel.check(kernel.drawn({}), tolerance=0.0)


@pytest.mark.parametrize("size", [95, 96, 97])
def test_03_tails_of_tiles_of_blocks_and_of_both(size: int) -> None:
    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F32), b.input("r", ("m",), F32))

    kernel = planned(build)
    arrays = kernel.drawn({"n": size, "m": 33})
    for impl in kernel.by_template("held"):
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
    (whole,) = kernel.by_template("held")
    assert {"Load", "Maximum", "Broadcast"} <= set(held(whole))
    assert inner(whole).count("Load") == 2
    assert any("Broadcast" in held(impl) for impl in kernel.by_template("held-rows"))
    arrays = kernel.drawn({"n": 20, "m": 32})
    kernel.check(arrays)
    traffic = kernel.traffic(arrays)
    choice, _ = kernel.choice({"n": 20, "m": 32})
    assert sum(traffic.read.values()) == (20 * 32 + 20 + 32 * choice.blocks) * 2


def test_04_a_broadcast_in_a_reduction_is_kept_as_well() -> None:
    """Planned at the size of the original's scenario; run at a smaller one, whose plans are the same."""

    def build(rows: int, columns: int) -> Callable[[Network], str]:
        def summed(b: Network) -> str:
            wide = b.op("Add", b.input("x", (rows, columns, 4), F32), b.input("r", (1, columns, 4), F32))
            return b.op("ReduceSumD", wide, axes=(1,))

        return summed

    kernel, smaller = planned(build(17, 289)), planned(build(5, 73))
    kept = [impl for impl in kernel.implementations if impl.template.endswith("-held")]
    assert kept
    assert all({"Load", "Broadcast"} <= set(held(impl)) for impl in kept if impl.case.split[0] == "z0")
    assert smaller.templates == kernel.templates
    smaller.check(smaller.drawn({}), tolerance=1e-5)


@pytest.mark.parametrize("target", [A2, "ascend-350"])
@pytest.mark.parametrize("dtype", [dt.float16, dt.int8], ids=str)
def test_05_columns_of_narrow_elements_are_spread_whatever_the_tail(target: str, dtype: DType) -> None:
    """The original has a second form for tails of 8 and 16 bits and a test at run time that tells which. Rows start at
    whole blocks here, so that one form serves all tails."""

    def build(b: Network) -> str:
        return b.op("Maximum", b.input("x", ("n", "m"), dtype), b.input("c", ("n", 1), dtype))

    kernel = planned(build, target)
    for columns in (1, 7, 16, 32, 33, 64):
        kernel.check(kernel.drawn({"n": 5, "m": columns}), tolerance=0.0)


def test_06_two_broadcasts_of_different_axes_are_loaded_as_they_are() -> None:
    def build(b: Network) -> str:
        return b.op("Mul", b.input("c", ("n", 1), F32), b.input("r", (1, "m"), F32))

    kernel = planned(build)
    arrays = kernel.drawn({"n": 12, "m": 70})
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
    kernel.check(kernel.drawn({"n": 3, "m": 5, "k": 9}), tolerance=1e-6)


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
    kernel.check(kernel.drawn({"n": 5, "m": 30}), tolerance=0.0)


def test_09_a_wide_row_is_fetched_once_for_few_rows() -> None:
    """4 x 512 K: the original moves the short axis inward at compile time, for static sizes. The order of loops that
    keeps a piece of the row for all four is one of the cases here, at any size."""

    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F16), b.input("r", (1, "m"), F16))

    kernel = planned(build)
    assert kernel.choice({"n": 4, "m": 512 * 1024})[1].template == "held-pieces"
    (impl,) = kernel.by_template("held-pieces")
    arrays = kernel.drawn({"n": 4, "m": 1000})
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
    assert [p.sync for p in kernel.by_template("r-core")[0].phases] == [Sync.ALL, Sync.NONE]
    kernel.check(kernel.drawn({"n": 128, "m": 64}), tolerance=1e-5)
    assert kernel.choice({"n": 4096, "m": 4096})[1].template == "r-core"


def test_11_reductions_of_axes_that_are_not_neighbours() -> None:
    """Rows of ten floats start at multiples of sixteen in the original, of whole blocks of eight here."""
    kernel = planned(lambda b: b.op("ReduceSumD", b.input("x", ("a", "b", "c", 10), F32), axes=(0, 2)))
    assert all(impl.row_multiple % 8 == 0 for impl in kernel.implementations)
    assert {"common", "r-core"} <= {template for template, _ in kernel.templates}
    kernel.check(kernel.drawn({"a": 3, "b": 5, "c": 2}), tolerance=1e-5)


@pytest.mark.parametrize("operators", [1, 3, 4, 9])
def test_12_any_number_of_operators_follows_a_reduction_in_its_kernel(operators: int) -> None:
    """The original cuts the kernel through workspace from the fourth operator on."""

    def build(b: Network) -> str:
        total = b.op("ReduceSumD", b.input("x", ("n", "m"), F32), axes=(0, 1), keep_dims=True)
        for number in range(operators):
            total = b.op(("Abs", "Neg", "Exp", "Tanh")[number % 4], b.op("Mul", total, b.number(0.001)))
        return total

    kernel = planned(build)
    phases = {template: len(kernel.by_template(template)[0].phases) for template, _ in kernel.templates}
    assert phases["all-load"] == 1
    assert phases["r-core"] == 2
    kernel.check(kernel.drawn({"n": 128, "m": 64}), tolerance=1e-5)


def test_13_what_several_reductions_read_is_fetched_once() -> None:
    """A norm's diamond: only the form that keeps whole rows is left in the original; long rows have theirs here."""

    def build(b: Network) -> str:
        x = b.op("Mul", b.input("x", ("n", "m"), F32), b.input("y", ("n", "m"), F32))
        centred = b.op("Sub", x, b.op("ReduceMeanD", x, axes=(1,), keep_dims=True))
        power = b.op("ReduceSumD", b.op("Mul", centred, centred), axes=(1,), keep_dims=True)
        return b.op("Mul", b.op("Mul", centred, power), b.op("ReduceMaxD", x, axes=(1,), keep_dims=True))

    kernel = planned(build)
    arrays = kernel.drawn({"n": 9, "m": 100})
    kernel.check(arrays, tolerance=2e-5)
    assert kernel.choice({"n": 9, "m": 100})[1].template.startswith("all-load")
    assert sum(kernel.traffic(arrays).read.values()) == 2 * 9 * 100 * 4
    assert kernel.choice({"n": 9, "m": 100_000})[1].template != "all-load"


def test_14_softmax_is_one_kernel_for_rows_of_any_length() -> None:
    """The original has one form, with the last axis whole in local memory, and nothing for longer rows."""
    kernel = planned(lambda b: softmax_of(b, b.input("x", ("n", "m"), F32)))
    for impl in kernel.by_template("all-load"):
        assert impl.case.split == ("z0",)
    arrays = kernel.drawn({"n": 9, "m": 100})
    kernel.check(arrays)
    assert sum(kernel.traffic(arrays).read.values()) == arrays["x"].nbytes
    chosen = [kernel.choice({"n": n, "m": m})[1].template for n, m in ((4096, 1000), (4096, 100_000), (3, 1 << 20))]
    assert (chosen[0], chosen[2]) == ("all-load", "r-core")
    assert chosen[1] in ("common", "r-core"), "a block has whole rows either way"


def test_24_what_a_narrow_result_needs_is_not_computed_for_every_element() -> None:
    """2048 x 126: the original computes the narrow operand twice, in two groups, to avoid a broadcast. Here values
    that vary along one axis are made once a block, and each input is fetched once a block."""

    def build(b: Network) -> str:
        row = b.op("Exp", b.input("r", (1, 126), F32))
        return b.op("Add", b.op("Mul", b.input("x", ("n", 126), F32), row), row)

    kernel = planned(build)
    impl = kernel.by_template("held")[0]
    assert "Exp" in held(impl)
    assert "Exp" not in inner(impl)
    arrays = kernel.drawn({"n": 2048})
    choice, _ = kernel.choice({"n": 2048})
    assert sum(kernel.traffic(arrays).read.values()) == arrays["x"].nbytes + choice.blocks * arrays["r"].nbytes
    kernel.check({**arrays, "x": arrays["x"][:40]})
