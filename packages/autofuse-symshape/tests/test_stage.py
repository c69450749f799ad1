"""What inference says of small graphs: sizes, symbols with their sources, guards, and errors."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import any_of, as_dim, const, eq, select, symbol
from autofuse_ir.facts import Divisible, GuardKind, InputDim, InputElement, ResultDim, SymbolFacts, ValueFact
from autofuse_ir.graph import Graph, Node, Value
from autofuse_ir.tensor_data import TensorData
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer

BATCH, S, D, N, M = (symbol(name) for name in ("batch", "s", "d", "n", "m"))


def fact(facts: SymbolFacts, name: str) -> ValueFact:
    return next(value for value in facts.values if value.name == name)


def shape(facts: SymbolFacts, name: str) -> list[str]:
    dims = fact(facts, name).shape
    assert dims is not None
    return [str(dim) for dim in dims]


def two_inputs(op: str, a: tuple[Any, ...], b: tuple[Any, ...], **attrs: Any) -> Graph:
    builder = GraphBuilder("two")
    x, y = builder.input("x", a, dt.float32), builder.input("y", b, dt.float32)
    return builder.build(outputs={"z": builder.op(op, x, y, name="z", **attrs)})


# -- broadcasting


def test_a_missing_dim_broadcasts_without_a_guard() -> None:
    builder = GraphBuilder("bias_gelu")
    builder.symbol("batch", 0, 512)
    x = builder.input("x", ("batch", 768), dt.float32)
    bias = builder.input("bias", (768,), dt.float32)
    total = builder.op("Add", x, bias, name="sum")
    graph = builder.build(outputs={"y": builder.op("GeluV2", total, name="y")})
    same, facts = infer(graph)
    assert same is graph
    assert fact(facts, "sum") == ValueFact("sum", dt.float32, (BATCH, const(768)))
    assert fact(facts, "y").shape == (BATCH, const(768))
    assert facts.guards == ()
    (found,) = facts.symbols
    assert (found.name, found.lo, found.hi, found.hint) == ("batch", 0, 512, 512)
    assert found.sources == (InputDim("x", 0),)


def test_two_unknown_dims_give_one_assert_and_a_choice() -> None:
    _, facts = infer(two_inputs("Add", ("batch", "s"), ("d",)))
    assert fact(facts, "z").shape == (BATCH, select(eq(D, 1), S, D))
    (guard,) = facts.guards
    assert guard.condition == any_of(eq(D, S), eq(D, 1), eq(S, 1))
    assert guard.kind is GuardKind.ASSERT
    assert guard.operator == "z"
    assert "broadcast" in guard.message


def test_broadcasting_does_not_depend_on_the_order_of_operands() -> None:
    _, one = infer(two_inputs("Add", ("n",), ("m",)))
    _, other = infer(two_inputs("Add", ("m",), ("n",)))
    assert fact(one, "z").shape == fact(other, "z").shape
    assert [guard.condition for guard in one.guards] == [guard.condition for guard in other.guards]


@pytest.mark.parametrize(("d", "s"), [(1, 2), (2, 1), (3, 3), (0, 1), (1, 0), (0, 0)])
def test_one_inference_serves_every_pair_of_sizes_that_broadcasts(d: int, s: int, check_node: Any) -> None:
    x, y = np.zeros((2, s), np.float32), np.zeros(d, np.float32)
    check_node("Add", {}, [x, y], [x + y])


def test_sizes_of_one_name_are_equal() -> None:
    _, facts = infer(two_inputs("Add", ("n", "m"), ("n", "m")))
    assert fact(facts, "z").shape == (N, M)
    assert facts.guards == ()
    assert facts.symbols[0].sources == (InputDim("x", 0), InputDim("y", 0))


def test_a_size_that_cannot_be_1_needs_no_choice() -> None:
    _, facts = infer(two_inputs("Add", ("n",), (7,)))
    assert fact(facts, "z").shape == (const(7),)
    assert [guard.condition for guard in facts.guards] == [any_of(eq(N, 1), eq(N, 7))]


def test_a_relation_is_asserted_once() -> None:
    builder = GraphBuilder("chain")
    x, bias = builder.input("x", ("n", "s"), dt.float32), builder.input("bias", ("d",), dt.float32)
    y = builder.op("Add", x, bias)
    for operand in (bias, x, y, bias):
        y = builder.op("Mul", y, operand)
    _, facts = infer(builder.build(outputs={"y": y}))
    assert shape(facts, y) == ["n", "select(d == 1, s, d)"]
    assert len(facts.guards) == 1


def test_a_later_stronger_guard_replaces_an_earlier_one() -> None:
    builder = GraphBuilder("both")
    x, y = builder.input("x", ("n",), dt.float32), builder.input("y", ("m",), dt.float32)
    builder.op("Add", x, y, name="sum")
    graph = builder.build(outputs={"z": builder.op("MatMul", x, y, name="z")})
    _, facts = infer(graph)
    assert [guard.condition for guard in facts.guards] == [eq(M, N)]
    assert facts.equalities == (eq(M, N),)
    assert shape(facts, "sum") == ["n"]


# -- symbols


def test_a_fixed_size_is_a_constant_in_shapes() -> None:
    builder = GraphBuilder("fixed")
    builder.symbol("n", 5, 5)
    x = builder.input("x", ("n", "m"), dt.float32)
    _, facts = infer(builder.build(outputs={"y": builder.op("Relu", x, name="y")}))
    assert shape(facts, "y") == ["5", "m"]
    assert facts.symbols[0].sources == (InputDim("x", 0),)


def test_an_input_dim_that_is_an_expression_is_checked() -> None:
    builder = GraphBuilder("even")
    x = builder.input("x", ("n", "2*n"), dt.float32)
    _, facts = infer(builder.build(outputs={"y": builder.op("Relu", x, name="y")}))
    (guard,) = facts.guards
    assert guard.operator == "x"
    assert guard.condition == eq(symbol("x.dim1"), as_dim("2*n"))
    assert shape(facts, "y") == ["n", "2*n"]


def test_elements_of_a_run_time_shape_become_symbols(check_node: Any) -> None:
    x = np.zeros((4, 6), np.float32)
    for target in ([2, 12], [-1, 3], [0, -1], [24, 1]):
        facts = check_node("Reshape", {}, [x, np.asarray(target)], [x.reshape([t or 4 for t in target])], static=[1])
        sources = [source for found in facts.symbols for source in found.sources]
        assert [source for source in sources if isinstance(source, InputElement)] == [
            InputElement("x1", 0),
            InputElement("x1", 1),
        ]


def test_elements_become_symbols_only_where_a_shape_needs_them() -> None:
    builder = GraphBuilder("ids")
    table, ids = builder.input("table", ("n", 4), dt.float32), builder.input("ids", (3,), dt.int64)
    axis = builder.op("Identity", ids)
    zero = builder.input("axis", (), dt.int64)
    graph = builder.build(outputs={"y": builder.op("GatherV2", table, axis, zero, name="y")})
    _, facts = infer(graph, {"axis": _scalar(0)})
    assert [found.name for found in facts.symbols] == ["n", "axis.0"]
    assert shape(facts, "y") == ["3", "4"]


def _scalar(value: int) -> Any:
    return TensorData(dt.int64, (), value.to_bytes(8, "little", signed=True))


def test_an_element_is_followed_from_the_input_through_arithmetic() -> None:
    builder = GraphBuilder("computed")
    x, k = builder.input("x", ("n",), dt.float32), builder.input("k", (1,), dt.int64)
    twice = builder.op("Add", k, k)
    graph = builder.build(outputs={"y": builder.op("Tile", x, twice, name="y")})
    _, facts = infer(graph)
    assert fact(facts, "y").shape == (N * symbol("k.0") * 2,)
    assert fact(facts, twice).content == (symbol("k.0") * 2,)


def test_a_value_given_when_compiling_is_a_constant_and_is_checked_at_run_time(as_constant: Any) -> None:
    builder = GraphBuilder("axes")
    x, axes = builder.input("x", ("n", "m"), dt.float32), builder.input("axes", (1,), dt.int64)
    graph = builder.build(outputs={"y": builder.op("ReduceSum", x, axes, name="y", keep_dims=True)})
    _, facts = infer(graph, {"axes": as_constant(np.asarray([1]))})
    assert shape(facts, "y") == ["n", "1"]
    assert [str(guard.condition) for guard in facts.guards] == ["axes.0 == 1"]
    assert fact(facts, "axes").content == (const(1),)


def test_values_for_unknown_inputs_are_refused(as_constant: Any) -> None:
    with pytest.raises(ShapeError, match=r"axes.*does not have as inputs"):
        infer(two_inputs("Add", ("n",), ("n",)), {"axes": as_constant(np.asarray([1]))})
    with pytest.raises(ShapeError, match="dtype"):
        infer(two_inputs("Add", ("n",), ("n",)), {"x": as_constant(np.asarray([1]))})


def test_a_data_dependent_size_is_a_bounded_symbol_and_shapes_go_on() -> None:
    builder = GraphBuilder("nonzero")
    x = builder.input("x", ("n", "m"), dt.float32)
    places = builder.op("NonZero", x, name="places")
    rows = builder.op("TransposeD", places, perm=(1, 0))
    graph = builder.build(outputs={"y": builder.op("Cast", rows, name="y", dst_type=0)})
    _, facts = infer(graph)
    count = symbol("places.dim1")
    assert fact(facts, "y").shape == (count, const(2))
    assert facts.symbols[-1].sources == (ResultDim("places", 1),)
    assert [str(cond) for cond in facts.equalities] == ["places.dim1 <= m*n"]


# -- declarations


def host(declared: tuple[Any, ...] | None, dtype: dt.DType = dt.float32) -> Graph:
    builder = GraphBuilder("host")
    x = builder.input("x", ("n", 4), dt.float32)
    builder.declare(Value("h", dtype, None if declared is None else tuple(as_dim(dim) for dim in declared)))
    builder.node(Node("call", "HostCall", (x,), ("h",)))
    return builder.build(outputs={"y": builder.op("Relu", "h", name="y")})


def test_a_foreign_operator_has_the_declared_shape_with_unbacked_symbols() -> None:
    _, facts = infer(host(("n", 4, "unknown")))
    assert shape(facts, "y") == ["n", "4", "h.dim2"]
    assert facts.symbols[-1].sources == (ResultDim("h", 2),)


def test_an_unknown_rank_stays_unknown() -> None:
    _, facts = infer(host(None))
    assert fact(facts, "y").shape is None
    assert fact(facts, "y").dtype == dt.float32


def test_a_declaration_refines_and_is_asserted_where_it_is_not_proved() -> None:
    builder = GraphBuilder("declared")
    x = builder.input("x", ("n", "m"), dt.float32)
    builder.declare(Value("y", dt.float32, (const(8), symbol("other"))))
    _, facts = infer(builder.build(outputs={"y": builder.op("Relu", x, name="y")}))
    assert [str(guard.condition) for guard in facts.guards] == ["n == 8"]
    assert shape(facts, "y") == ["8", "m"]


def test_a_declaration_that_contradicts_is_an_error_naming_the_operator() -> None:
    builder = GraphBuilder("declared")
    x = builder.input("x", (3,), dt.float32)
    builder.declare(Value("y", dt.float32, (const(4),)))
    with pytest.raises(ShapeError, match=r"(?s)Relu.*declared as 4"):
        infer(builder.build(outputs={"y": builder.op("Relu", x, name="y")}))


# -- errors


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (two_inputs("Add", (3,), (4,)), ["Add", "node 'z'", "graph two", "[3] and [4]"]),
        (two_inputs("MatMul", ("n", 3), (4, 5)), ["MatMul", "[n, 3]", "[4, 5]", "3 and 4 differ"]),
        (two_inputs("ConcatD", (2, 3), (2, 3, 1), concat_dim=0), ["ConcatD", "[2, 3], [2, 3, 1]", "rank"]),
        (two_inputs("ConcatD", (2, 3), (2, 4), concat_dim=0), ["differ on axis 1"]),
        (two_inputs("ConcatD", (2, 3), (2, 3), concat_dim=2), ["concat_dim 2 is outside -2..1"]),
    ],
)
def test_a_contradiction_is_an_error_with_operator_source_and_shapes(graph: Graph, words: list[str]) -> None:
    with pytest.raises(ShapeError) as raised:
        infer(graph)
    text = str(raised.value)
    assert all(word in text for word in words), text
    assert raised.value.fix


UNFIT: tuple[tuple[str, dict[str, Any], tuple[Any, ...], str], ...] = (
    ("Cumsum", {}, (2,), "axis 2 is outside -2..1"),
    ("Cumprod", {}, (-3,), "axis -3 is outside -2..1"),
    ("ReverseV2", {}, ([2, 0],), "axis 2 is outside -2..1"),
    ("ReverseV2", {}, ([0, -2],), "name an axis twice"),
    ("Roll", {"shifts": (1,), "dims": (2,)}, (), "dims 2 is outside -2..1"),
    ("Roll", {"shifts": (1, 2), "dims": (1,)}, (), "2 shifts for 1 dims"),
    ("ReverseSequence", {"seq_dim": 2}, ([1],), "seq_dim and batch_dim 2 is outside"),
    ("ReverseSequence", {"seq_dim": 1, "batch_dim": 1}, ([1],), "name an axis twice"),
    ("PadV3", {"mode": "bounce"}, ([0, 0, 1, 1],), "padding mode is 'bounce'"),
    ("PadV3", {}, ([0, 0, -2, -2],), "cut more than 3"),
    ("PadV3", {}, ([0, 0, -4, 5],), "cut more than 3"),
    ("Add", {}, (1,), "must have one dtype"),
    ("Relu", {"slope": 1.0}, (), "unknown attribute 'slope'"),
    ("SplitD", {"num_split": 1}, (), "attribute 'split_dim' is missing"),
    ("Relu", {}, (1,), "2 inputs do not fit"),
)
"""Operators on 2 x 3 floats, their attributes and other inputs (integers), and what is wrong with them."""


@pytest.mark.parametrize(("op", "attrs", "others", "words"), UNFIT)
def test_what_an_operator_cannot_do_is_an_error(
    op: str, attrs: dict[str, Any], others: tuple[Any, ...], words: str, as_constant: Any
) -> None:
    builder = GraphBuilder("unfit")
    x = builder.input("x", (2, 3), dt.float32)
    constants = [builder.constant(as_constant(np.asarray(other))) for other in others]
    graph = builder.build(outputs={"y": builder.op(op, x, *constants, **attrs)})
    with pytest.raises(ShapeError, match=words) as raised:
        infer(graph)
    assert op in raised.value.where
    assert "graph unfit" in raised.value.where


def test_sums_and_products_are_of_numbers() -> None:
    for op in ("ReduceSumD", "ReduceProdD"):
        builder = GraphBuilder("truths")
        x = builder.input("x", ("n",), dt.bool_)
        with pytest.raises(ShapeError, match="input 'x' is bool"):
            infer(builder.build(outputs={"y": builder.op(op, x, axes=(0,))}))


@pytest.mark.parametrize(("op", "axis"), [("Cumsum", 0), ("Cumsum", -1), ("ReverseV2", [0])])
def test_a_tensor_of_rank_0_is_walked_as_a_vector_of_one(op: str, axis: Any, as_constant: Any) -> None:
    builder = GraphBuilder("one")
    x, where = builder.input("x", (), dt.float32), builder.constant(as_constant(np.asarray(axis)))
    _, facts = infer(builder.build(outputs={"y": builder.op(op, x, where, name="y")}))
    assert shape(facts, "y") == []


def test_an_impossible_reshape_is_an_error(as_constant: Any) -> None:
    builder = GraphBuilder("reshape")
    x = builder.input("x", (3, 5), dt.float32)
    target = builder.constant(as_constant(np.asarray([2, -1])))
    with pytest.raises(ShapeError, match=r"Reshape.*\[3, 5\] does not reshape to \[2, -1\]"):
        infer(builder.build(outputs={"y": builder.op("Reshape", x, target)}))


def test_a_range_that_excludes_every_size_is_an_error() -> None:
    builder = GraphBuilder("ranges")
    builder.symbol("n", 2, 3)
    builder.symbol("m", 5, 9)
    x, y = builder.input("x", ("n",), dt.float32), builder.input("y", ("m",), dt.float32)
    with pytest.raises(ShapeError, match="do not broadcast"):
        infer(builder.build(outputs={"y": builder.op("Add", x, y)}))


# -- sizes that inputs tell as multiples


def test_a_dim_that_is_a_multiple_of_a_size_tells_it() -> None:
    builder = GraphBuilder("multiples")
    builder.symbol("s0", 1, 8, hint=2)
    x, y = builder.input("x", ("4*s0",), dt.float32), builder.input("y", ("8*s0 + 1", "s0 + n", "n"), dt.float32)
    graph, facts = infer(builder.build(outputs={"a": builder.op("Abs", x, name="a"), "b": builder.op("Abs", y)}))
    (symbol_fact,) = [s for s in facts.symbols if s.name == "x.dim0"]
    assert (symbol_fact.lo, symbol_fact.hi, symbol_fact.hint) == (4, 32, 8)
    assert symbol_fact.sources == (InputDim("x", 0),)
    assert shape(facts, "a") == ["x.dim0"]
    (exact,) = [guard for guard in facts.guards if guard.operator == "x"]
    assert exact.message == "dim 0 of input 'x' must be 4*s0"
    assert [str(dim) for dim in graph.inputs[1].shape or ()] == ["8*(x.dim0 // 4) + 1", "n + x.dim0 // 4", "n"]
    assert {s.name for s in graph.symbols} == {"x.dim0", "n"}


def test_multiples_that_some_dim_or_a_fixed_value_explains_stay() -> None:
    for lo, others in ((0, ("s0",)), (3, ())):
        builder = GraphBuilder("multiples")
        builder.symbol("s0", lo, 3)
        x = builder.input("x", ("4*s0", *others), dt.float32)
        graph = builder.build(outputs={"y": builder.op("Abs", x)})
        assert infer(graph)[0] is graph


def test_attributes_follow_a_size_that_a_multiple_tells() -> None:
    builder = GraphBuilder("multiples")
    x = builder.input("x", ("2*s0 + 2",), dt.float32)
    graph = builder.build(outputs={"y": builder.op("SliceD", x, offsets=(1,), size=(2 * symbol("s0"),), name="y")})
    _, facts = infer(graph)
    assert shape(facts, "y") == ["x.dim0 - 2"]


def test_a_size_that_no_dim_tells_alone_is_an_error() -> None:
    builder = GraphBuilder("product")
    x = builder.input("x", ("n*m",), dt.float32)
    with pytest.raises(ShapeError, match="no input gives m itself"):
        infer(builder.build(outputs={"y": builder.op("Abs", x)}))


# -- reshapes and divisions


def test_an_inferred_dim_is_divided_symbolically(as_constant: Any) -> None:
    builder = GraphBuilder("heads")
    x = builder.input("x", ("b", "s", 768), dt.float32)
    split = builder.op("Reshape", x, builder.constant(as_constant(np.asarray([0, 0, 12, -1]))), name="split")
    flat = builder.op("Reshape", split, builder.constant(as_constant(np.asarray([-1, 768]))), name="flat")
    _, facts = infer(builder.build(outputs={"y": flat}))
    assert shape(facts, "split") == ["b", "s", "12", "64"]
    assert shape(facts, "flat") == ["b*s", "768"]
    assert facts.guards == ()


def test_a_size_that_must_divide_is_asserted_and_stated_as_a_fact(as_constant: Any) -> None:
    builder = GraphBuilder("groups")
    x = builder.input("x", ("n",), dt.float32)
    groups = builder.op("Reshape", x, builder.constant(as_constant(np.asarray([-1, 8]))), name="groups")
    back = builder.op("Reshape", groups, builder.constant(as_constant(np.asarray([-1]))), name="back")
    _, facts = infer(builder.build(outputs={"y": builder.op("Add", back, x, name="y")}))
    assert shape(facts, "groups") == ["n // 8", "8"]
    assert shape(facts, "y") == ["n"]
    assert [str(guard.condition) for guard in facts.guards] == ["mod(n, 8) == 0"]
    assert facts.divisible == (Divisible(N, 8),)


def test_slices_are_clamped(as_constant: Any) -> None:
    builder = GraphBuilder("slices")
    x = builder.input("x", ("n",), dt.float32)
    zero = builder.constant(as_constant(np.asarray([0])))
    found = {}
    for begin, end in ((0, 5), (1, 2**63 - 1), (-3, 2**63 - 1), (0, -1), (-(2**63), 2**63 - 1)):
        bounds = [builder.constant(as_constant(np.asarray([each]))) for each in (begin, end)]
        found[begin, end] = builder.op("StridedSliceV3", x, *bounds, zero)
    _, facts = infer(builder.build(outputs={"y": found[0, 5]}))
    texts = [shape(facts, name)[0] for name in found.values()]
    assert texts == ["min(n, 5)", "max(n - 1, 0)", "min(n, 3)", "max(n - 1, 0)", "n"]
    assert facts.guards == ()


def test_nested_slices_are_one_clamp(as_constant: Any) -> None:
    builder = GraphBuilder("slices")
    y = builder.input("x", ("n",), dt.float32)
    begin, end = (builder.constant(as_constant(np.asarray([each]))) for each in (1, 2**63 - 1))
    for _ in range(300):
        y = builder.op("StridedSliceV3", y, begin, end)
    _, facts = infer(builder.build(outputs={"y": y}))
    assert shape(facts, y) == ["max(n - 300, 0)"]
