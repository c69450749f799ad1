"""What inference says of small graphs: sizes that broadcast, and symbols with their sources."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import any_of, as_dim, const, eq, select, symbol
from autofuse_ir.facts import GuardKind, InputDim, InputElement, ResultDim, ValueFact
from autofuse_ir.tensor_data import TensorData
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer
from inferred import fact, shape, two_inputs

BATCH, S, D, N, M = (symbol(name) for name in ("batch", "s", "d", "n", "m"))


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


def test_calls_are_not_held_to_what_nobody_reads_needs() -> None:
    builder = GraphBuilder("unread")
    x, y = builder.input("x", ("n",), dt.float32), builder.input("y", ("m",), dt.float32)
    total = builder.op("Add", x, y, name="sum")
    unread = builder.op("Exp", total, name="unread")
    kept = builder.op("Neg", x, name="kept")
    _, facts = infer(builder.build(outputs={"z": kept}))
    assert facts.guards == ()
    assert fact(facts, "unread").shape == (select(eq(M, 1), N, M),)
    for outputs in ({"z": kept, "w": unread}, {"z": kept, "w": total}):
        _, facts = infer(builder.build(outputs=outputs))
        assert [guard.operator for guard in facts.guards] == ["sum"], "a result is read by the caller"


def test_what_nobody_reads_is_not_taken_for_granted() -> None:
    """n == m holds where the sum is computed, which it is not."""
    builder = GraphBuilder("unread")
    x, y = builder.input("x", ("n", 2), dt.float32), builder.input("y", ("m", 2), dt.float32)
    builder.op("ConcatV2D", x, y, concat_dim=1, N=2, name="unread")
    _, facts = infer(builder.build(outputs={"z": builder.op("Add", x, y, name="sum")}))
    (guard,) = facts.guards
    assert guard.operator == "sum"
    assert guard.condition == any_of(eq(N, M), eq(M, 1), eq(N, 1))
    assert facts.equalities == ()


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
