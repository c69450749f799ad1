"""Operators and types that a vector core lacks, in terms of what it has."""

import math

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_ops import ASC_OPS, AscKind, AscResult
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.legalise.chips import chip_of
from autofuse_schedule.legalise.graph import Legalise
from autofuse_schedule.legalise.writer import convert, round_to
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=200)
MOVES = ("Data", "Output", "Load", "Store", "Scalar")
CHIPS = ("ascend-a2", "ascend-350")
INTEGERS = tuple(d for d in dt.TENSOR_DTYPES if d.is_integer)
CASTABLE = tuple(d for d in dt.TENSOR_DTYPES if d != dt.float64)
DIVISIONS = ("TruncDiv", "FloorDiv", "Mod", "Fmod")
OPERATORS = {op.name: op for op in ASC_OPS if op.kind is AscKind.ELEMENTWISE and op.name != "Cast"}
ON_INTEGERS = tuple(name for name, op in OPERATORS.items() if op.dtypes in ("integer", "number", "bits", "all"))


def graph_of(op, *dtypes, constant=None, left=None):
    b = AscGraphBuilder("k", {"z0": "n"})
    values = [] if left is None else [b.scalar(left, dtypes[0])]
    values += [b.load(b.input(f"x{i}", d), ("n",), ("z0",)) for i, d in enumerate(dtypes)]
    if constant is not None:
        values.append(b.scalar(constant, dtypes[0]))
    b.store(b.op(op, *values), "y", ("n",), ("z0",))
    return b.build()


def cast_of(source, to):
    b = AscGraphBuilder("k", {"z0": "n"})
    b.store(b.cast(b.load(b.input("x", source), ("n",), ("z0",)), to), "y", ("n",), ("z0",))
    return b.build()


def is_native(graph, target):
    """True where each node is a short sequence of instructions, or says that the emitter composes it."""
    chip = chip_of(target)
    nodes = {n.name: n for n in graph.nodes}
    for node in graph.nodes:
        if node.op in MOVES or node.attr("composed") is not None:
            continue
        source = nodes[node.inputs[-1]].dtype
        known = dt.uint8 if source == dt.bool_ else source
        has_form = chip.converts(known, node.dtype) if node.op == "Cast" else chip.computes(node.op, source)
        by_tensor = node.op in ("LeftShift", "RightShift") and nodes[node.inputs[1]].op != "Scalar"
        if not has_form or (by_tensor and not chip.shifts_by_tensors):
            return False
    return True


def values_of(dtype, rng, count=400):
    if dtype == dt.bool_:
        return rng.integers(0, 2, count).astype(bool)
    if dtype.is_integer:
        kind = np.iinfo(numpy_dtype(dtype))
        wide = rng.integers(kind.min, kind.max, count, numpy_dtype(dtype), endpoint=True)
        # Of every length, the limits, and equal ones.
        short = wide >> rng.integers(0, dtype.bits, count).astype(wide.dtype)
        short[:6] = [kind.min, kind.max, 0, 1, kind.max, kind.min]
        return short
    scale = 2.0 ** rng.uniform(-3, 15 if dtype == dt.float16 else 70, count)
    values = rng.normal(size=count) * scale
    values[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**15, -(2.0**15), 0.5]
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(numpy_dtype(dtype))


def operands(op, dtypes, rng):
    arrays = [values_of(d, rng) for d in dtypes]
    if dtypes[-1].is_integer and op in DIVISIONS:
        arrays[-1] = np.where(arrays[-1] == 0, arrays[-1].dtype.type(3), arrays[-1])
    if dtypes[-1].is_integer and op == "Pow":
        arrays[-1] = np.where(arrays[-1] < 0, ~arrays[-1], arrays[-1])
    return arrays


def check(graph, target, arrays):
    found = Legalise(target)(graph)
    assert is_native(found, target)
    (before,), (after,) = (interpret(g, arrays, {"n": arrays[0].size}) for g in (graph, found))
    assert before.tobytes() == after.tobytes()


def test_what_the_chip_has_is_left_as_it_is():
    graph = graph_of("Add", dt.float32, dt.float32)
    assert Legalise("ascend-a2")(graph) is graph


def test_each_chip_uses_what_it_has():
    graph = graph_of("Mul", dt.int64, dt.int64)
    assert Legalise("ascend-350")(graph) is graph
    composed = [n.attr("composed") for n in Legalise("ascend-a2")(graph).nodes if n.op == "Mul"]
    assert composed == ["pieces"]


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.text)
def test_integer_operators_have_instructions_and_the_same_bits(dtype, target):
    rng = np.random.default_rng(0)
    for op in ON_INTEGERS:
        rule = OPERATORS[op]
        dtypes = (dt.bool_, dtype, dtype) if rule.result is AscResult.SECOND else (dtype,) * rule.arity
        check(graph_of(op, *dtypes), target, operands(op, dtypes, rng))


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.text)
def test_numbers_may_stand_on_either_side(dtype, target):
    rng = np.random.default_rng(1)
    for op in ON_INTEGERS:
        if OPERATORS[op].arity == 2:
            check(
                graph_of(op, dtype, constant=3),
                target,
                operands(op, (dtype,), rng) if op != "Pow" else [values_of(dtype, rng)],
            )
            check(graph_of(op, dtype, left=5), target, operands(op, (dtype,), rng))


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.text)
@pytest.mark.parametrize("amount", [-1, 0, 1, 7, 8, 31, 63, 64, 200])
def test_shifts_beyond_the_width_leave_zeros_or_the_sign(dtype, amount, target):
    if not np.iinfo(numpy_dtype(dtype)).min <= amount <= np.iinfo(numpy_dtype(dtype)).max:
        amount %= 100
    rng = np.random.default_rng(2)
    for op in ("LeftShift", "RightShift"):
        check(graph_of(op, dtype, constant=amount), target, [values_of(dtype, rng)])


@pytest.mark.parametrize(
    ("op", "dtypes"),
    [
        ("Add", (dt.bfloat16, dt.bfloat16)),
        ("Ne", (dt.bool_, dt.bool_)),
        ("Sign", (dt.float16,)),
        ("LogicalXor", (dt.bool_, dt.bool_)),
        ("Floor", (dt.float16,)),
        ("FloorDiv", (dt.float32, dt.float32)),
        ("FloorDiv", (dt.bfloat16, dt.bfloat16)),
        ("Mod", (dt.float32, dt.float32)),
        ("Select", (dt.bool_, dt.bool_, dt.bool_)),
    ],
)
@pytest.mark.parametrize("target", CHIPS)
def test_what_is_composed_of_exact_operators_has_the_same_bits(op, dtypes, target):
    rng = np.random.default_rng(0)
    arrays = [values_of(d, rng) for d in dtypes]
    if op in DIVISIONS:  # what overflows has no quotient
        arrays = [np.where(np.isfinite(a.astype(np.float32)), a, a.dtype.type(1)).astype(a.dtype) for a in arrays]
        arrays = [(a.astype(np.float32) % np.float32(1000)).astype(a.dtype) for a in arrays]
    graph = graph_of(op, *dtypes)
    found = Legalise(target)(graph)
    assert is_native(found, target)
    (before,), (after,) = (interpret(g, arrays, {"n": arrays[0].size}) for g in (graph, found))
    same = before.view(f"u{before.dtype.itemsize}") == after.view(f"u{after.dtype.itemsize}")
    if before.dtype.kind in "fV":
        same |= np.isnan(before.astype(np.float32)) & np.isnan(after.astype(np.float32))
    assert same.all()


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("source", CASTABLE, ids=lambda d: d.text)
def test_casts_are_chains_of_conversions_with_the_same_result(source, target):
    rng = np.random.default_rng(1)
    for to in CASTABLE:
        if to != source:
            check(cast_of(source, to), target, [values_of(source, rng, 3000)])


@pytest.mark.parametrize("target", CHIPS)
def test_float64_is_refused_by_name(target):
    for op, rule in OPERATORS.items():
        if rule.dtypes in ("float", "number", "all"):
            dtypes = (
                (dt.bool_, dt.float64, dt.float64) if rule.result is AscResult.SECOND else (dt.float64,) * rule.arity
            )
            with pytest.raises(ScheduleError, match=rf"{target} has no instruction for {op}\(.*float64"):
                Legalise(target)(graph_of(op, *dtypes))
    with pytest.raises(ScheduleError, match=rf"{target} has no instruction for Add\(float64, float64\) -> float64"):
        Legalise(target)(graph_of("Add", dt.float64, dt.float64))
    with pytest.raises(ScheduleError, match=r"Cast\(float32\) -> float64"):
        Legalise(target)(cast_of(dt.float32, dt.float64))


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
