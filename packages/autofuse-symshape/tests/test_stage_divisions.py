"""Sizes that inputs tell as multiples, divisions, and slices."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import symbol
from autofuse_ir.facts import Divisible, InputDim
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer
from inferred import shape

N = symbol("n")


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


def test_a_rolled_tensor_keeps_its_size(as_constant: Any) -> None:
    """Where it is cut is a remainder by the size; exporters write a roll as the two slices on either side, joined."""
    builder = GraphBuilder("rolled")
    x = builder.input("x", ("n", 4), dt.float32)

    def numbers(value: int) -> str:
        return builder.constant(as_constant(np.asarray([value])))

    size = builder.op("StridedSliceV3", builder.op("Shape", x, dtype=dt.int64.ascend_code), numbers(0), numbers(1))
    cut = builder.op("FloorMod", numbers(2), size)
    axis, end = numbers(0), numbers(2**31 - 1)
    parts = (
        builder.op("StridedSliceV3", x, cut, end, axis),
        builder.op("StridedSliceV3", x, numbers(0), cut, axis),
    )
    builder.op("ConcatV2D", *parts, concat_dim=0, name="y")
    _, facts = infer(builder.build(outputs={"y": "y"}))
    assert shape(facts, "y") == ["n", "4"]
    assert [str(guard.condition) for guard in facts.guards] == ["n != 0"]
    assert facts.guards[0].message == "n is 0, by which integers are divided"


@pytest.mark.parametrize("operator", ["FloorMod", "FloorDiv"])
def test_a_division_that_no_shape_needs_is_not_asked_for(operator: str, as_constant: Any) -> None:
    builder = GraphBuilder("divided")
    x = builder.input("x", ("n",), dt.float32)
    size = builder.op("Shape", x, dtype=dt.int64.ascend_code)
    _, facts = infer(
        builder.build(outputs={"y": builder.op(operator, builder.constant(as_constant(np.array(2))), size)})
    )
    assert not facts.guards
