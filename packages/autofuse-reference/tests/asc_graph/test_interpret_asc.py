"""HintGraphs on whole arrays: access maps, scalars, broadcasts and precision, against plain NumPy."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dims import Dim, const, eq, select, symbol
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import EvaluationError
from hypothesis import given, settings
from hypothesis import strategies as st

F = dt.float32


def load_only(memory: tuple[Any, ...], at: tuple[Any, ...], rows: int, columns: int) -> Any:
    b = AscGraphBuilder("k", {"z0": rows, "z1": columns})
    value = b.load(b.input("x", F), memory, at)
    for axis, repeat in zip(("z0", "z1"), next(n for n in b.build().nodes if n.name == value).repeats, strict=True):
        if repeat == const(1) and b.axes[axis] != 1:
            value = b.broadcast(value, axis)
    b.store(value, "y", (rows, columns), ("z0", "z1"))
    return b.build()


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(
    st.integers(0, 5), st.integers(0, 5), st.permutations(("z0", "z1", None)), st.lists(st.integers(-2, 3), min_size=3)
)
def test_a_load_reads_offset_plus_step_times_index(
    rows: int, columns: int, order: list[str | None], steps: list[int]
) -> None:
    extent = {"z0": rows, "z1": columns, None: 1}
    offsets = [max(0, -s) * max(0, extent[a] - 1) + 1 for a, s in zip(order, steps, strict=False)]
    memory = tuple(o + max(0, s) * max(0, extent[a] - 1) + 1 for a, s, o in zip(order, steps, offsets, strict=False))
    at = tuple((a, s if a else 0, o) for a, s, o in zip(order, steps, offsets, strict=False))
    x = np.arange(np.prod(memory), dtype=np.float32).reshape(memory)
    (y,) = interpret(load_only(memory, at, rows, columns), [x], {})
    wanted = np.zeros((rows, columns), np.float32)
    for i in range(rows):
        for j in range(columns):
            index = {"z0": i, "z1": j, None: 0}
            wanted[i, j] = x[tuple(o + s * index[a] for a, s, o in zip(order, steps, offsets, strict=False))]
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("d", [1, 4])
def test_sizes_decide_whether_a_load_repeats(d: int) -> None:
    given_size, n = symbol("d"), symbol("n")
    step = select(eq(given_size, 1), const(0), const(1))
    b = AscGraphBuilder("k", {"z0": "n"})
    b.store(b.load(b.input("x", F), (given_size,), (("z0", step, 0),)), "y", (n,), ("z0",))
    x = np.arange(d, dtype=np.float32)
    (y,) = interpret(b.build(), [x], {"d": d, "n": 4})
    np.testing.assert_array_equal(y, np.broadcast_to(x, (4,)))


def test_a_store_may_permute_flip_and_write_a_part() -> None:
    b = AscGraphBuilder("k", {"z0": 2, "z1": 3})
    x = b.load(b.input("x", F), (2, 3), ("z0", "z1"))
    b.store(x, "y", (3, 2), (("z1", -1, 2), "z0"))
    x_array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(interpret(b.build(), [x_array], {})[0], x_array.T[::-1])


def test_two_stores_fill_one_output_and_a_hole_is_an_error() -> None:
    b = AscGraphBuilder("k", {"z0": 3})
    x = b.load(b.input("x", F), (3,), ("z0",))
    b.store(x, "y", (6,), (("z0", 1, 0),))
    hole = b.build()
    b.store(b.op("Neg", x), "rest", (6,), (("z0", 1, 3),))
    both = b.build()
    joined = tuple(evolve(n, attrs=hole.nodes[-1].attrs) if n.op == "Output" else n for n in both.nodes)
    array = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(
        interpret(evolve(both, nodes=joined), [array], {})[0], np.concatenate([array, -array])
    )
    with pytest.raises(EvaluationError, match="output 0 has 6 elements, but 3 are written"):
        interpret(hole, [array], {})


@pytest.mark.parametrize(("offset", "reached"), [(1, 4), (-1, -1)])
def test_an_index_outside_of_its_dim_is_an_error(offset: int, reached: int) -> None:
    graph = load_only((4,), (("z1", 1, offset),), 1, 4)
    with pytest.raises(EvaluationError, match=f"Load reaches element {reached} of a dim of 4"):
        interpret(graph, [np.zeros(4, np.float32)], {})


def test_arrays_of_another_dtype_size_or_number_are_errors() -> None:
    graph = load_only((4,), ("z1",), 1, 4)
    with pytest.raises(EvaluationError, match="dtype float64, but float32 is expected"):
        interpret(graph, [np.zeros(4)], {})
    with pytest.raises(EvaluationError, match=r"shape \[4\], but the array has shape \[5\]"):
        interpret(graph, [np.zeros(5, np.float32)], {})
    with pytest.raises(EvaluationError, match="no array is given"):
        interpret(graph, [], {})


def test_strided_arrays_are_read_by_value() -> None:
    graph = load_only((2, 3), ("z0", "z1"), 2, 3)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[::-2, ::2]
    np.testing.assert_array_equal(interpret(graph, [x], {})[0], x)


def scalar_graph(value: float, dtype: dt.DType) -> Any:
    b = AscGraphBuilder("k", {"z0": 2})
    b.store(b.broadcast(b.scalar(value, dtype), "z0"), "y", (2,), ("z0",))
    return b.build()


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (300, dt.uint8, 44),
        (-1, dt.uint64, 2**64 - 1),
        (2**63, dt.int64, -(2**63)),
        (0.1, dt.float16, np.float16(0.1)),
        (1e39, dt.float32, np.inf),
        (-0.0, dt.float64, -0.0),
        (True, dt.bool_, True),
    ],
)
def test_constants_take_the_dtype_of_their_node(value: float, dtype: dt.DType, wanted: Any) -> None:
    (y,) = interpret(scalar_graph(value, dtype), [], {})
    assert y.tolist() == [wanted, wanted]
    assert np.signbit(y.astype(np.float64)).tolist() == [np.signbit(np.float64(wanted))] * 2


def test_sizes_are_values_and_casts_convert() -> None:
    n: Dim = symbol("n")
    b = AscGraphBuilder("k", {"z0": "n"})
    x = b.load(b.input("x", F), (n,), ("z0",))
    b.store(b.op("Div", x, b.broadcast(b.cast(b.size(3 * n, dt.int8), F), "z0")), "y", (n,), ("z0",))
    x_array = np.arange(50, dtype=np.float32)
    (y,) = interpret(b.build(), [x_array], {"n": 50})
    np.testing.assert_array_equal(y, x_array / np.float32(np.int64(150).astype(np.int8)))


def test_float64_precision_rounds_nothing() -> None:
    b = AscGraphBuilder("k", {"z0": 3})
    x = b.load(b.input("x", dt.float16), (3,), ("z0",))
    b.store(b.op("Sub", b.op("Exp", x), b.op("Mul", x, x)), "y", (3,), ("z0",))
    x_array = np.array([0.1, 1.5, -3.25], np.float16)
    wide = x_array.astype(np.float64)
    exact, declared = np.exp(wide) - wide * wide, interpret(b.build(), [x_array], {})[0]
    np.testing.assert_array_equal(interpret(b.build(), [x_array], {}, "float64")[0], exact)
    np.testing.assert_array_equal(interpret(b.build(), [wide], {}, "float64")[0], exact)
    assert declared.dtype == np.float16
    assert (declared != exact).any()
