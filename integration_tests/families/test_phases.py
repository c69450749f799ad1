"""Kernels that reduce along different axes of the same rows: one goes on with what the other has at hand.

A softmax along one axis of [n, a, b], then along the other, is one launch. Rows that local memory holds never leave it
between the two; for others the same launch has the kernels one by one. The sizes of a call decide.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse.compiler import load_lowered
from autofuse.pipeline import Lowered
from autofuse.report import report_of
from autofuse_codegen.stage import emit, link
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_ir.kernel_memory import Memory, source_of
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.impl_graph.groups import Chosen, interpret_schedule
from autofuse_schedule.force import only_alternative
from autofuse_testkit.joint import APART, bits, lowered, values_for
from autofuse_testkit.one_kernel import plan
from autofuse_tiling.evaluate import decide
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]
STRICT = FusionOptions(numerics="strict")
SMALL = ((0, 3, 5), (3, 0, 4), (2, 3, 0), (1, 1, 1), (2, 2, 2), (3, 5, 7), (17, 1, 2))
SIZES = (*SMALL, (2, 33, 16), (41, 17, 19), (7, 64, 65))
LONG = {"cpu": (2, 1500, 1501), "ascend-a2": (2, 300, 301)}
"""Rows that local memory does not hold."""


def two_softmaxes(dtype: DType = dt.float32) -> Graph:
    b = GraphBuilder("two_softmaxes")
    x = b.input("x", ("n", "a", "b"), dtype)
    return b.build({"y": b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(2,))})


def three_softmaxes() -> Graph:
    """A chain, whose middle value is also an output."""
    b = GraphBuilder("three_softmaxes")
    x = b.input("x", ("n", "a", "b"), dt.float32)
    middle = b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(2,))
    return b.build({"y": b.op("SoftmaxV2", b.op("Neg", middle), axes=(1,)), "middle": middle})


def _normalised(b: GraphBuilder, x: str, axes: tuple[int, ...]) -> str:
    centred = b.op("Sub", x, b.op("ReduceMeanD", x, axes=axes, keep_dims=True))
    variance = b.op("ReduceMeanD", b.op("Mul", centred, centred), axes=axes, keep_dims=True)
    return b.op("Mul", centred, b.op("Rsqrt", b.op("Adds", variance, value=1e-3)))


def group_then_layer_norm() -> Graph:
    """Normalised within each of a groups, then across all of them."""
    b = GraphBuilder("group_then_layer_norm")
    x = b.input("x", ("n", "a", "b"), dt.float32)
    weight = b.input("weight", ("b",), dt.float32)
    return b.build({"y": _normalised(b, b.op("Mul", _normalised(b, x, (2,)), weight), (1, 2))})


def mean_then_softmax() -> Graph:
    """The mean along a, then a softmax of what is left."""
    b = GraphBuilder("mean_then_softmax")
    x = b.input("x", ("n", "a", "b"), dt.float32)
    bias = b.input("bias", ("b",), dt.float32)
    mean = b.op("ReduceMeanD", x, axes=(1,), keep_dims=False)
    return b.build({"y": b.op("SoftmaxV2", b.op("Add", mean, bias), axes=(1,))})


def scaled_rows() -> Graph:
    """What is summed along a scales rows along b."""
    b = GraphBuilder("scaled_rows")
    x, w = b.input("x", ("n", "a"), dt.float32), b.input("w", ("n", "b"), dt.float32)
    norm = b.op("ReduceSumD", b.op("Mul", x, x), axes=(1,), keep_dims=True)
    return b.build({"y": b.op("Mul", w, b.op("Rsqrt", b.op("Adds", norm, value=1.0)))})


GRAPHS: Mapping[str, Callable[[], Graph]] = {
    f.__name__: f for f in (two_softmaxes, group_then_layer_norm, mean_then_softmax, scaled_rows)
}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    autofuse.set_num_threads(1)


def remade(made: Lowered, result: ScheduleResult, target: str) -> Lowered:
    spec = load_target(target)
    verify(result)
    model = tile(result, made.fused.facts, spec)
    bundle = emit(result, model, made.fused.facts, spec)
    program = link(made.fused, (bundle,), made.fused.facts, spec)
    return evolve(made, schedules=(result,), tilings=(model,), bundles=(bundle,), program=program)


def arrays_of(results: object) -> list[Array]:
    return [np.asarray(each) for each in (results if isinstance(results, (tuple, list)) else [results])]


def arguments(graph: Graph, sizes: tuple[int, int, int]) -> tuple[list[Array], dict[str, int]]:
    named = dict(zip("nab", sizes, strict=True))
    return values_for(graph, named), named


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
@pytest.mark.parametrize("name", GRAPHS)
def test_what_passes_is_neither_written_nor_read_where_rows_stay(name: str, target: str) -> None:
    planned = plan(GRAPHS[name](), target)
    assert [alternative.name for alternative in planned.scheduled.alternatives] == ["phases", "general"]
    phases, general = planned.scheduled.alternatives
    assert (len(phases.groups), len(general.groups)) == (1, 2)
    arguments_ = [node for i in phases.groups[0].implementations for node in i.nodes if node.op in ("Data", "Output")]
    assert {source.memory for node in arguments_ if (source := source_of(node))} == {Memory.ARGUMENT}
    only = evolve(planned, scheduled=only_alternative(planned.scheduled, "phases"))
    only = evolve(only, model=tile(only.scheduled, planned.facts, planned.target))
    given, _ = arguments(planned.graph, (6, 24, 40))
    values = {value.name: array for value, array in zip(planned.graph.inputs, given, strict=True)}
    traffic = only.traffic(values)
    assert sum(traffic.written.values()) == sum(array.nbytes for array in only.wanted(values))
    again = {n.name for i in only.implementations for n in i.nodes if n.attr("resident", False)}
    fetched = sum(count for node, count in traffic.read.items() if node not in again)
    rows = max(array.nbytes for array in given)
    if target == "ascend-a2":
        assert not again
        assert fetched < rows + sum(array.nbytes for array in given), "rows are fetched once"
    only.check(values)
    planned.check(values)


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
@pytest.mark.parametrize("make", [*GRAPHS.values(), three_softmaxes])
def test_plans_of_every_alternative_give_the_same_bits(make: Callable[[], Graph], target: str) -> None:
    """The interpreter runs both, at sizes of 0, 1, odd and prime ones."""
    made = lowered(make(), False, target, STRICT) if make is not three_softmaxes else lowered(make(), True, target)
    (result,) = made.schedules
    for sizes in SMALL:
        given, named = arguments(made.source, sizes)
        known = {symbol: named[symbol] for symbol in result.symbols}
        found = []
        for alternative in result.alternatives:
            only = only_alternative(result, alternative.name)
            choice = decide(tile(only, made.fused.facts, load_target(target)), known, 8)
            chosen = {group: Chosen(each.implementation, each.sizes) for group, each in choice.groups.items()}
            found.append(bits(interpret_schedule(only, given, known, chosen, seed=sum(sizes))))
        assert found[0] == found[1], sizes


@pytest.mark.parametrize(("name", "target"), [("two_softmaxes", "cpu"), ("group_then_layer_norm", "ascend-a2")])
def test_compiled_alternatives_give_the_bits_of_kernels_on_their_own(name: str, target: str) -> None:
    """One compilation for all sizes; phases forced, too. Rows that do not fit run one kernel after the other."""
    autofuse.set_num_threads(2)
    graph = GRAPHS[name]()
    made = lowered(graph, False, target, STRICT)
    (result,) = made.schedules
    spec = load_target(target)
    apart = load_lowered(lowered(graph, False, target, APART), spec)
    chosen = load_lowered(made, spec)
    phases = remade(made, only_alternative(result, "phases"), target)
    forced = load_lowered(phases, spec)
    ran = set()
    for sizes in (*SIZES, LONG[target]):
        given, named = arguments(made.source, sizes)
        wanted = bits(arrays_of(apart(*given)))
        known = {symbol: named[symbol] for symbol in result.symbols}
        assert bits(arrays_of(chosen(*given))) == wanted, sizes
        ran.add(decide(made.tilings[0], known, spec.cores or 2).alternative)
        if sizes == LONG[target]:
            with pytest.raises(TilingError, match="local memory"):
                decide(phases.tilings[0], known, spec.cores or 2)
        else:
            assert bits(arrays_of(forced(*given))) == wanted, sizes
    assert ran == {"phases", "general"}


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float64], ids=str)
def test_types_that_are_computed_in_others_are_rounded_where_they_pass(dtype: DType) -> None:
    made = lowered(two_softmaxes(dtype), False, "cpu", STRICT)
    (result,) = made.schedules
    assert len(result.alternatives) == 2
    apart = load_lowered(lowered(two_softmaxes(dtype), False, "cpu", APART), load_target("cpu"), "interpreter")
    for sizes in SMALL[3:]:
        given, named = arguments(made.source, sizes)
        only = only_alternative(result, "phases")
        choice = decide(tile(only, made.fused.facts, load_target("cpu")), named, 2)
        chosen = {group: Chosen(each.implementation, each.sizes) for group, each in choice.groups.items()}
        assert bits(interpret_schedule(only, given, named, chosen)) == bits(arrays_of(apart(*given)))


def test_reports_count_bytes_both_ways() -> None:
    """One after the other, each softmax reads and writes all of it; rows that are kept are not moved in between."""
    report = report_of(lowered(two_softmaxes(), False, "cpu", STRICT))
    sizes = {"n": 3, "a": 5, "b": 7}
    tensor = 3 * 5 * 7 * 4
    assert evaluate(report.bytes_moved, sizes) == 4 * tensor
    assert evaluate(report.bytes_with_rows_kept, sizes) == 2 * tensor
    moved = report.as_data()["bytes_moved"]
    assert moved["after"]["formula"] != moved["after_with_rows_kept"]["formula"]
    (kernel,) = report.as_data()["kernels"]
    assert kernel["bytes_with_rows_kept"]["formula"] == moved["after_with_rows_kept"]["formula"]
    middle = report_of(lowered(three_softmaxes(), True, "cpu"))
    assert evaluate(middle.bytes_with_rows_kept, sizes) == 3 * tensor, (
        "the middle is a result, which nobody reads again"
    )
    apart = report_of(lowered(two_softmaxes(), False, "cpu", APART))
    assert apart.bytes_with_rows_kept == apart.bytes_moved


def test_parts_whose_axes_nobody_counts_together_run_one_by_one() -> None:
    """The largest of each row, and slices of it that share nothing but the rows: 500^8 points have no number."""
    b = GraphBuilder("many_axes")
    x = b.input("x", ("n", 500), dt.float32)
    top = b.op("ReduceMaxD", x, axes=(1,), keep_dims=True)
    outputs = {}
    for k in range(7):
        y = b.input(f"y{k}", ("n", 500 + k), dt.float32)
        outputs[f"z{k}"] = b.op("SoftmaxV2", b.op("Add", y, top), axes=(1,))
    made = lowered(b.build(outputs), False, "cpu", STRICT)
    assert sum(len(result.arguments) for result in made.schedules) >= 15
    run = load_lowered(made, load_target("cpu"), "interpreter")
    given, _ = arguments(made.source, (3, 1, 1))
    for got, y in zip(arrays_of(run(*given)), given[1:], strict=True):
        shifted = y + given[0].max(1, keepdims=True)
        e = np.exp(shifted - shifted.max(1, keepdims=True))
        np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-5)
