"""Declarations of values, and what inference refuses."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import as_dim, const, symbol
from autofuse_ir.facts import ResultDim
from autofuse_ir.graph import Graph, Node, Value
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer
from inferred import fact, shape, two_inputs


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
