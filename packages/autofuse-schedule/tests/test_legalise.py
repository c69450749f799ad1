"""Operators and types that a vector core lacks, in terms of what it has."""

import math

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.legalise.casts import NATIVE as CASTS
from autofuse_schedule.legalise.graph import Legalise
from autofuse_schedule.legalise.rules import NATIVE
from autofuse_schedule.legalise.writer import convert, round_to
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=200)
MOVES = ("Data", "Output", "Load", "Store", "Scalar")


def graph_of(op, *dtypes, constant=None):
    b = AscGraphBuilder("k", {"z0": "n"})
    values = [b.load(b.input(f"x{i}", d), ("n",), ("z0",)) for i, d in enumerate(dtypes)]
    if constant is not None:
        values.append(b.scalar(constant, dtypes[0]))
    b.store(b.op(op, *values), "y", ("n",), ("z0",))
    return b.build()


def cast_of(source, to):
    b = AscGraphBuilder("k", {"z0": "n"})
    b.store(b.cast(b.load(b.input("x", source), ("n",), ("z0",)), to), "y", ("n",), ("z0",))
    return b.build()


def is_native(graph):
    types = {n.name: n.dtype for n in graph.nodes}
    for node in graph.nodes:
        if node.op in MOVES:
            continue
        source = types[node.inputs[1] if node.op == "Select" else node.inputs[0]]
        if node.op == "Cast":
            known = dt.uint8 if source == dt.bool_ else source
            if (known, node.dtype) not in CASTS:
                return False
        elif source not in NATIVE[node.op]:
            return False
    return True


def test_what_the_chip_has_is_left_as_it_is():
    graph = graph_of("Add", dt.float32, dt.float32)
    assert Legalise("a2")(graph) is graph


@pytest.mark.parametrize(
    ("op", "dtypes"),
    [
        ("Add", (dt.bfloat16, dt.bfloat16)),
        ("Mul", (dt.int8, dt.int8)),
        ("Sub", (dt.uint8, dt.uint8)),
        ("Lt", (dt.int32, dt.int32)),
        ("Ne", (dt.bool_, dt.bool_)),
        ("Sign", (dt.float16,)),
        ("LogicalXor", (dt.bool_, dt.bool_)),
        ("BitwiseXor", (dt.int64, dt.int64)),
        ("Select", (dt.bool_, dt.int8, dt.int8)),
        ("Floor", (dt.float16,)),
    ],
)
def test_what_is_composed_has_instructions_and_the_same_bits(op, dtypes):
    graph = graph_of(op, *dtypes)
    found = Legalise("a2")(graph)
    assert is_native(found)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 256, 400).astype(np.uint8).astype(numpy_dtype(d)) for d in dtypes]
    (before,), (after,) = (interpret(g, arrays, {"n": 400}) for g in (graph, found))
    assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("source", [d for d in dt.TENSOR_DTYPES if d.bits <= 32], ids=lambda d: d.text)
@pytest.mark.parametrize(
    "to", [dt.float32, dt.float16, dt.int8, dt.uint8, dt.int16, dt.int32, dt.bool_], ids=lambda d: d.text
)
def test_casts_are_chains_of_conversions_with_the_same_result(source, to):
    graph = cast_of(source, to)
    try:
        found = Legalise("a2")(graph)
    except ScheduleError:
        assert source in (dt.uint16, dt.uint32)
        return
    assert is_native(found)
    rng = np.random.default_rng(1)
    if dt.float16 in (source, to):
        scale = 100  # nothing overflows
    else:
        scale = 40_000
    values = rng.normal(size=300) * rng.choice([1, 100, scale], 300)
    given_ = (
        values.astype(numpy_dtype(source)) if source.is_float else values.astype(np.int64).astype(numpy_dtype(source))
    )
    (before,), (after,) = (interpret(g, [given_], {"n": 300}) for g in (graph, found))
    assert before.tobytes() == after.tobytes()


def test_what_cannot_be_composed_is_refused_by_name():
    with pytest.raises(ScheduleError, match=r"no instruction for TruncDiv\(int32, int32\) -> int32"):
        Legalise("ascend-a2")(graph_of("TruncDiv", dt.int32, dt.int32))


def test_shifts_are_by_constants_alone():
    assert is_native(Legalise("a2")(graph_of("LeftShift", dt.int32, constant=3)))
    with pytest.raises(ScheduleError):
        Legalise("a2")(graph_of("LeftShift", dt.int32, dt.int32))


@LAW
@given(st.floats(allow_nan=False))
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=lambda d: d.text)
def test_constants_are_rounded_once_as_numpy_does(dtype, value):
    with np.errstate(over="ignore"):
        wanted = float(numpy_dtype(dtype).type(value))
    found = round_to(value, dtype)
    assert (found, math.copysign(1.0, found)) == (wanted, math.copysign(1.0, wanted))


@LAW
@given(st.integers(-(2**40), 2**40))
def test_integer_constants_wrap_and_floats_saturate(value):
    assert convert(value, dt.int8) == int(np.array(value).astype(np.int8))
    assert convert(float(value), dt.int8) == max(-128, min(127, value))
    assert convert(math.nan, dt.int32) == 0
