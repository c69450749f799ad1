"""Contents followed through shape arithmetic are what NumPy computes from the actual sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.operators import has_operator
from autofuse_reference.arrays import to_array
from autofuse_reference.operators import evaluate_operator
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer
from autofuse_symshape.values import KERNELS
from hypothesis import given
from hypothesis import strategies as st

INT, FLOAT, BOOL = dt.int64.ascend_code, dt.float32.ascend_code, dt.bool_.ascend_code

BINARY = ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum")
COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")


class Steps:
    """Shape arithmetic on ``x: [n, m, 3]``, grown step by step; every value is a vector of small integers."""

    def __init__(self, draw: Any, as_constant: Callable[[Any], Any]) -> None:
        self.draw, self.as_constant = draw, as_constant
        self.builder = GraphBuilder("steps")
        x = self.builder.input("x", ("n", "m", 3), dt.float32)
        self.lengths = {self.builder.op("Shape", x, dtype=INT): 3, self.constant([2, -1, 5]): 3}

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        return self.builder.constant(self.as_constant(np.asarray(values, dtype)))

    def pick(self) -> str:
        return str(self.draw(st.sampled_from(list(self.lengths))))

    def pair(self) -> tuple[str, str, int]:
        a = self.pick()
        b = self.draw(st.sampled_from([name for name, n in self.lengths.items() if n == self.lengths[a]]))
        return a, b, self.lengths[a]

    def grow(self) -> None:
        step = self.draw(
            st.sampled_from(("binary", "divide", "compare", "select", "join", "cut", "take", "scale", "reduce"))
        )
        getattr(self, f"_{step}")()

    def _binary(self) -> None:
        a, b, n = self.pair()
        self.lengths[self.builder.op(self.draw(st.sampled_from(BINARY)), a, b)] = n

    def _divide(self) -> None:
        a = self.pick()
        op = self.draw(st.sampled_from(("FloorDiv", "FloorMod", "Div", "Mod")))
        by = self.constant(self.draw(st.sampled_from((2, 3, 4, -2))))
        self.lengths[self.builder.op(op, a, by)] = self.lengths[a]

    def _compare(self) -> None:
        a, b, n = self.pair()
        truth = self.builder.op(self.draw(st.sampled_from(COMPARISONS)), a, b)
        if self.draw(st.booleans()):
            truth = self.builder.op("LogicalNot", truth)
        self.lengths[self.builder.op("Cast", truth, dst_type=INT)] = n

    def _select(self) -> None:
        a, b, n = self.pair()
        truth = self.builder.op("Less", b, a)
        other = self.builder.op("LogicalOr", truth, self.builder.op("Equal", a, self.constant(3)))
        self.lengths[self.builder.op("SelectV2", other, a, b)] = n

    def _join(self) -> None:
        a, b = self.pick(), self.pick()
        if self.lengths[a] + self.lengths[b] <= 8:
            name = self.builder.op("ConcatV2D", a, b, concat_dim=0, N=2)
            self.lengths[name] = self.lengths[a] + self.lengths[b]

    def _cut(self) -> None:
        a = self.pick()
        begin = self.draw(st.integers(0, self.lengths[a] - 1))
        end = self.draw(st.integers(begin + 1, self.lengths[a]))
        name = self.builder.op("StridedSliceV2", a, self.constant([begin]), self.constant([end]))
        self.lengths[name] = end - begin

    def _take(self) -> None:
        a = self.pick()
        places = self.draw(st.lists(st.integers(-self.lengths[a], self.lengths[a] - 1), min_size=1, max_size=4))
        name = self.builder.op("GatherV2", a, self.constant(places), self.constant(0), negative_index_support=True)
        self.lengths[name] = len(places)

    def _scale(self) -> None:
        a = self.pick()
        wide = self.builder.op("Cast", a, dst_type=FLOAT)
        scale = self.constant(self.draw(st.sampled_from((0.5, 2.0, 1.5, 0.25, 3.0))), np.float32)
        scaled = self.builder.op(self.draw(st.sampled_from(("Mul", "RealDiv"))), wide, scale)
        whole = self.builder.op(self.draw(st.sampled_from(("Floor", "Ceil", "Trunc"))), scaled)
        self.lengths[self.builder.op("Cast", whole, dst_type=INT)] = self.lengths[a]

    def _reduce(self) -> None:
        a = self.pick()
        op = self.draw(st.sampled_from(("ReduceSumD", "ReduceProdD", "ReduceMaxD", "ReduceMinD")))
        self.lengths[self.builder.op(op, a, axes=(0,), keep_dims=True)] = 1


@st.composite
def graphs(draw: Any, as_constant: Callable[[Any], Any]) -> Any:
    steps = Steps(draw, as_constant)
    for _ in range(draw(st.integers(1, 7))):
        steps.grow()
    last = list(steps.lengths)[-1]
    # Somebody needs the content as a shape, so that arithmetic in floats may be guarded.
    steps.builder.op("Fill", last, steps.constant(0.0, np.float32), name="filled")
    return steps.builder.build(outputs={"y": "filled"})


@given(data=st.data(), n=st.integers(0, 9), m=st.integers(0, 9))
def test_contents_are_what_numpy_computes(data: Any, n: int, m: int, as_constant: Any, check_facts: Any) -> None:
    graph = data.draw(graphs(as_constant))
    arrays = {constant.name: to_array(constant.data) for constant in graph.constants}
    arrays["x"] = np.zeros((n, m, 3), np.float32)
    for node in graph.nodes[:-1]:
        results = evaluate_operator(node, None, [None if x is None else arrays[x] for x in node.inputs])
        arrays.update(zip(node.outputs, results, strict=True))
    facts = _inferred(graph)
    if facts is not None:
        check_facts(_without_guards(facts), arrays)


def _inferred(graph: Any) -> SymbolFacts | None:
    try:
        return infer(graph)[1]
    except ShapeError:  # a size that is negative for all n and m
        return None


def _without_guards(facts: SymbolFacts) -> SymbolFacts:
    return SymbolFacts(facts.symbols, facts.values)


def follow(op: str, attrs: dict[str, Any], *inputs: Any, as_constant: Any) -> list[Any]:
    """The contents of a node of constants, as integers."""
    builder = GraphBuilder("constants")
    names = [None if x is None else builder.constant(as_constant(np.asarray(x))) for x in inputs]
    outputs = builder.op_outputs(op, *names, outputs=attrs.pop("outputs", 1), **attrs)
    _, facts = infer(builder.build(outputs={"y": outputs[0]}))
    contents = [value.content for value in facts.values if value.name in outputs]
    return [None if content is None else [dim.constant_value for dim in content] for content in contents]


V = np.asarray([[1, 2, 3], [4, 5, 6]], np.int64)
INDEX = np.int64

CONSTANT_CASES: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("Identity", {}, [V]),
    ("Neg", {}, [V]),
    ("Abs", {}, [-V]),
    ("Sign", {}, [V - 3]),
    ("Square", {}, [V]),
    ("Relu", {}, [V - 3]),
    ("Adds", {"value": 2.0}, [V]),
    ("Muls", {"value": 3.0}, [V]),
    ("AddN", {"N": 3}, [V, V, V[0]]),
    ("Pow", {}, [V, np.asarray(2, INDEX)]),
    ("TruncateDiv", {}, [V - 4, np.asarray(3, INDEX)]),
    ("TruncateMod", {}, [V - 4, np.asarray(3, INDEX)]),
    ("Clip", {}, [V, np.asarray(5, INDEX), np.asarray(3, INDEX)]),
    ("ClipByValue", {}, [V, np.asarray(5, INDEX), np.asarray(3, INDEX)]),
    ("LogicalAnd", {}, [V > 2, V < 5]),
    ("LogicalXor", {}, [V > 2, V < 5]),
    ("Shape", {"dtype": 9, "start": 1}, [V]),
    ("Shape", {"dtype": 9, "start": 2, "end": 1}, [V]),
    ("Size", {"dtype": 9}, [V]),
    ("GatherShapes", {"axes": ((0, 1), (1, 0)), "dtype": 9}, [V, V[0]]),
    ("Reshape", {}, [V, np.asarray([3, -1], INDEX)]),
    ("Squeeze", {}, [V[:1]]),
    ("ExpandDims", {}, [V, np.asarray(1, INDEX)]),
    ("FlattenV2", {"axis": 0}, [V]),
    ("Fill", {}, [np.asarray([2, 2], INDEX), np.asarray(7, INDEX)]),
    ("ZerosLike", {}, [V]),
    ("OnesLike", {}, [V]),
    ("Expand", {}, [V[:, :1], np.asarray([2, 2, 3], INDEX)]),
    ("BroadcastTo", {}, [V[0], np.asarray([2, 3], INDEX)]),
    ("Tile", {}, [V, np.asarray([2, 1, 2], INDEX)]),
    ("TransposeD", {"perm": (1, 0)}, [V]),
    ("Concat", {"N": 2}, [np.asarray(1, INDEX), V, V[:, :1]]),
    ("Pack", {"axis": 1, "N": 2}, [V, V]),
    ("Unpack", {"axis": 1, "num": 3, "outputs": 3}, [V]),
    ("SplitD", {"split_dim": 1, "num_split": 3, "outputs": 3}, [V]),
    ("SplitV", {"num_split": 2, "outputs": 2}, [V, np.asarray([2, -1], INDEX), np.asarray(1, INDEX)]),
    ("GatherV2", {"negative_index_support": True}, [V, np.asarray([[2, -1]], INDEX), np.asarray(1, INDEX)]),
    ("GatherElements", {"dim": 1, "negative_index_support": True}, [V, np.asarray([[2, -1], [0, 1]], INDEX)]),
    ("GatherNd", {}, [V, np.asarray([[1, 2], [0, 0]], INDEX)]),
    ("Slice", {}, [V, np.asarray([0, 1], INDEX), np.asarray([-1, 2], INDEX)]),
    (
        "StridedSliceV3",
        {},
        [V, np.asarray([-1], INDEX), np.asarray([-99], INDEX), np.asarray([1], INDEX), np.asarray([-2], INDEX)],
    ),
    ("StridedSlice", {"shrink_axis_mask": 1}, [V, *[np.asarray(each, INDEX) for each in ([-1, 0], [0, 2], [1, 1])]]),
    ("Range", {}, [np.asarray(7, INDEX), np.asarray(0, INDEX), np.asarray(-3, INDEX)]),
    ("ScatterND", {}, [V[0], np.asarray([[2], [-3]], INDEX), np.asarray([8, 9], INDEX)]),
    ("TensorScatterUpdate", {}, [V, np.asarray([[1]], INDEX), np.asarray([[8, 9, 7]], INDEX)]),
    ("ReduceSum", {"keep_dims": False}, [V, np.asarray([0], INDEX)]),
    ("ReduceProd", {"noop_with_empty_axes": False}, [V]),
    ("Cumsum", {"exclusive": True}, [V[0], np.asarray(0, INDEX)]),
    ("Cumprod", {"reverse": True}, [V[0], np.asarray(0, INDEX)]),
    ("Cast", {"dst_type": dt.int32.ascend_code}, [np.asarray([1.5, -1.5, 7.0], np.float32)]),
    ("Cast", {"dst_type": BOOL}, [V - 3]),
]


@pytest.mark.parametrize(("op", "attrs", "inputs"), CONSTANT_CASES, ids=[case[0] for case in CONSTANT_CASES])
def test_contents_of_constants_are_those_of_the_reference(
    op: str, attrs: dict[str, Any], inputs: list[Any], as_constant: Any
) -> None:
    expected = evaluate_operator(op, {k: v for k, v in attrs.items() if k != "outputs"}, inputs)
    found = follow(op, dict(attrs), *inputs, as_constant=as_constant)
    assert found == [[int(each) for each in result.reshape(-1)] for result in expected]


def test_float_kernels_round_as_numpy_does(as_constant: Any) -> None:
    numbers = np.asarray([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.25, 3.75], np.float32)
    for op in ("Floor", "Ceil", "Trunc", "Rint"):
        builder = GraphBuilder("rounds")
        rounded = builder.op(op, builder.constant(as_constant(numbers)))
        graph = builder.build(outputs={"y": builder.op("Cast", rounded, name="y", dst_type=INT)})
        (content,) = [value.content for value in infer(graph)[1].values if value.name == "y"]
        assert content is not None
        (expected,) = evaluate_operator(op, {}, [numbers])
        assert [dim.constant_value for dim in content] == [int(each) for each in expected]


def test_a_size_beyond_the_mantissa_is_guarded_only_where_a_shape_needs_it(as_constant: Any) -> None:
    def graph(needed: bool) -> Any:
        builder = GraphBuilder("half")
        x = builder.input("x", ("n",), dt.float32)
        wide = builder.op("Cast", builder.op("Shape", x, dtype=INT), dst_type=FLOAT)
        half = builder.op("Cast", builder.op("Floor", builder.op("Muls", wide, value=0.5)), dst_type=INT, name="half")
        if needed:
            half = builder.op("Fill", half, builder.constant(as_constant(np.float32(0))), name="y")
        return builder.build(outputs={"y": half})

    _, facts = infer(graph(needed=True))
    assert [str(guard.condition) for guard in facts.guards] == ["n <= 16777216"]
    assert [str(value.shape[0]) for value in facts.values if value.name == "y" and value.shape] == ["n // 2"]
    _, facts = infer(graph(needed=False))
    assert facts.guards == ()


def test_every_kernel_is_an_operator_of_the_table() -> None:
    assert all(has_operator(name) for name in KERNELS)
