"""Clean-up passes: what each does, and the laws of all: pure, idempotent, the same meaning bit by bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.passes.casts import SkipWideningCasts, is_embedding
from autofuse_fusion.passes.common_subexpressions import MergeCommonSubexpressions
from autofuse_fusion.passes.constant_folding import FoldConstants
from autofuse_fusion.passes.dead_code import DropDeadCode
from autofuse_fusion.passes.identities import DropIdentities
from autofuse_fusion.passes.known_contents import FoldKnownContents
from autofuse_fusion.passes.pipeline import clean_up, steps
from autofuse_fusion.passes.repeated_constants import ReadOneOfEqualRows
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype, to_tensor_data
from autofuse_reference.operators.precision import cast
from autofuse_symshape.stage import infer
from hypothesis import given, settings
from hypothesis import strategies as st

SPECIAL = np.asarray([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-41, 3e38], np.float32)


def const(b: GraphBuilder, value: Any, kind: str = "f4") -> str:
    return b.constant(to_tensor_data(np.asarray(value, kind)))


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_operators_nobody_reads_are_dropped() -> None:
    b = GraphBuilder("dead")
    x = b.input("x", ("n",), dt.float32)
    b.op("Exp", x)
    graph = DropDeadCode()(b.build(outputs={"y": b.op("Abs", x)}))
    assert ops(graph) == ["Abs"]


def test_equal_expressions_are_computed_once_but_attributes_of_other_types_differ() -> None:
    b = GraphBuilder("cse")
    x = b.input("x", ("n",), dt.float32)
    first, second = b.op("Muls", x, value=1.0), b.op("Muls", x, value=-0.0)
    third, fourth = b.op("Muls", x, value=0.0), b.op("Muls", x, value=1.0)
    graph = b.build(outputs={"a": b.op("AddN", first, second, third, fourth, N=4)})
    merged = MergeCommonSubexpressions()(graph)
    assert ops(merged) == ["Muls", "Muls", "Muls", "AddN"]
    assert merged.nodes[-1].inputs == (first, second, third, first)


def test_random_operators_are_never_merged() -> None:
    b = GraphBuilder("random")
    shape = const(b, [3], "i8")
    drawn = [b.op("RandomUniform", shape, dtype=dt.float32) for _ in range(2)]
    graph = b.build(outputs={"y": b.op("Sub", *drawn)})
    assert MergeCommonSubexpressions()(graph) is graph


def test_constants_are_folded_but_do_not_grow() -> None:
    b = GraphBuilder("fold")
    x = b.input("x", ("n",), dt.float32)
    small = b.op("Exp", const(b, [1.0, 2.0]))
    large = b.op("Expand", const(b, 1.0), const(b, [1 << 20], "i8"))
    zero = b.op("Div", const(b, 1, "i4"), const(b, 0, "i4"))
    graph = b.build(outputs={"a": small, "b": large, "c": zero, "d": x})
    folded = FoldConstants()(graph)
    assert ops(folded) == ["Expand", "Div"]
    data = next(c.data for c in folded.constants if c.name == small)
    assert np.array_equal(np.frombuffer(data.raw, "f4"), np.exp(np.asarray([1, 2], "f4")))


def test_known_shape_arithmetic_becomes_a_constant() -> None:
    b = GraphBuilder("shape")
    x = b.input("x", ("n", 3), dt.float32)
    static, dynamic = b.op("Shape", x, start=1), b.op("Shape", x)
    graph, facts = infer(b.build(outputs={"s": static, "d": dynamic}))
    folded = FoldKnownContents(facts)(graph)
    assert [constant.name for constant in folded.constants] == [static]
    assert ops(folded) == ["Shape"]


KEPT = ("Add", 0.0), ("Mul", 0.0), ("Sub", -0.0), ("Maximum", 0.0)
GONE = ("Add", -0.0), ("Mul", 1.0), ("Sub", 0.0), ("Div", 1.0), ("RealDiv", 1.0)


@pytest.mark.parametrize(("op", "value", "gone"), [(*k, False) for k in KEPT] + [(*g, True) for g in GONE])
def test_float_rules_keep_every_bit(kit, op: str, value: float, gone: bool) -> None:
    b = GraphBuilder("neutral")
    x = b.input("x", ("n",), dt.float32)
    graph = b.build(outputs={"y": b.op(op, x, const(b, value))})
    inferred, facts = infer(graph)
    assert (ops(DropIdentities(facts)(inferred)) == []) is gone
    kit.check(graph, {"x": SPECIAL})


def test_a_neutral_constant_that_widens_is_no_identity() -> None:
    b = GraphBuilder("widen")
    x = b.input("x", ("n",), dt.float32)
    graph, facts = infer(b.build(outputs={"y": b.op("Mul", x, const(b, np.ones((2, 1))))}))
    assert DropIdentities(facts)(graph) is graph


@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16, dt.float64, dt.int8, dt.bool_], ids=str)
def test_of_equal_rows_one_is_read_by_those_that_broadcast(kit, dtype: DType) -> None:
    b = GraphBuilder("rows")
    x = b.input("x", (4, 3), dtype)
    rows = b.constant(to_tensor_data(np.tile(np.asarray([1, 0, 1]).astype(numpy_dtype(dtype)), (4, 1))))
    graph = b.build(outputs={"y": b.op("Equal", x, rows), "z": b.op("ConcatD", x, rows, concat_dim=0, N=2)})
    inferred, facts = infer(graph)
    read = ReadOneOfEqualRows(facts)(inferred)
    assert [c.data.shape for c in read.constants] == [(4, 3), (1, 3)]
    assert [node.inputs[1] for node in read.nodes] == [read.constants[1].name, rows]
    kit.check(graph, {"x": np.ones((4, 3), numpy_dtype(dtype))})


@pytest.mark.parametrize("source", dt.TENSOR_DTYPES, ids=str)
@pytest.mark.parametrize("middle", dt.TENSOR_DTYPES, ids=str)
def test_skipped_casts_give_the_same_for_every_target(source: DType, middle: DType) -> None:
    """The table of embeddings is right: going through the wider type changes nothing, whatever comes behind."""
    if not is_embedding(source, middle):
        return
    raw = np.asarray([0, 1, 3, -1, -7, 100, 1e9, -3e9, np.inf, np.nan, 2**31, 65519.9, 0.3, -0.0, 1e-7])
    values = cast(raw, source) if source.is_float else cast(np.nan_to_num(raw, posinf=9e18), source)
    if source.is_integer:
        info = np.iinfo(numpy_dtype(source))
        values = np.concatenate([values, np.asarray([info.min, info.max, info.max - 1], values.dtype)])
    for target in dt.TENSOR_DTYPES:
        direct, through = cast(values, target), cast(cast(values, middle), target)
        assert direct.tobytes() == through.tobytes() or np.array_equal(
            direct.astype("f8"), through.astype("f8"), equal_nan=True
        ), target


def test_cast_there_and_back_disappears(kit) -> None:
    b = GraphBuilder("casts")
    x = b.input("x", ("n",), dt.float16)
    wide = b.op("Cast", x, dst_type=dt.float32.ascend_code)
    back = b.op("Cast", wide, dst_type=dt.float16.ascend_code)
    graph, facts = infer(b.build(outputs={"y": b.op("Exp", back)}))
    assert ops(SkipWideningCasts(facts)(graph)) == ["Cast", "Cast", "Exp"]
    assert ops(clean_up(graph, facts)) == ["Exp"]
    narrowing = b.op("Cast", b.op("Cast", x, dst_type=dt.int8.ascend_code), dst_type=dt.float16.ascend_code)
    kept, facts = infer(b.build(outputs={"y": narrowing}))
    assert ops(clean_up(kept, facts)) == ["Cast", "Cast"]


def untidy(seed: int) -> Graph:
    """A graph with something for every pass."""
    draw = np.random.default_rng(seed)
    b = GraphBuilder("untidy")
    values = [b.input("x", ("n", 3), dt.float32), b.input("z", ("n", 3), dt.float32)]
    ones, zero = const(b, np.ones(3)), const(b, 0.0)
    choices: list[Callable[[str], str]] = [
        lambda v: b.op("Identity", v),
        lambda v: b.op("Mul", v, ones),
        lambda v: b.op("Sub", v, zero),
        lambda v: b.op("Add", v, b.op("Exp", const(b, [1.0, 2.0, 3.0]))),
        lambda v: b.op("Exp", v),
        lambda v: b.op("Reshape", v, b.op("Shape", values[0])),
        lambda v: b.op("Cast", b.op("Cast", v, dst_type=dt.float64.ascend_code), dst_type=0),
        lambda v: b.op("Add", v, values[int(draw.integers(len(values)))]),
    ]
    for _ in range(int(draw.integers(2, 14))):
        source = values[int(draw.integers(len(values)))]
        values.append(choices[int(draw.integers(len(choices)))](source))
    return b.build(outputs={"y": values[-1], "w": values[int(draw.integers(len(values)))]})


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_every_pass_is_pure_idempotent_and_keeps_the_meaning(kit, seed: int) -> None:
    graph, facts = infer(untidy(seed))
    x = np.resize(SPECIAL, (4, 3))
    arrays = {"x": x, "z": x[::-1].copy()}
    want = kit.run_graph(graph, arrays)
    for step in steps(facts):
        before = graph
        after = step.run(graph)
        assert before == graph
        assert step.run(after) is after, step
        assert step.run(graph) == after
        got = kit.run_graph(after, arrays)
        assert all(kit.same(got[name], want[name]) for name in want), step
        graph = after
