"""The shipped targets: what they can hold and do, each number with its unit and source."""

import re

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS, AscKind, asc_op
from autofuse_ir.errors import IrError
from autofuse_ir.target import ANY_OPERATOR, OperatorCost, TargetKind, load_target, parse_target, target_names

NAMES = ("ascend-350", "ascend-a2", "ascend-a3", "cpu")
ASCEND = NAMES[:3]
FLOATS = {d for d in dt.TENSOR_DTYPES if d.is_float}
INTEGERS = {d for d in dt.TENSOR_DTYPES if d.is_integer}


def cost(target, op, dtype):
    return next((row.per_element, row.per_call) for row in target.costs if (row.op, row.dtype) == (op, dtype))


def dtypes(target, op):
    return next(set(row.dtypes) for row in target.support if row.op == op)


def test_the_four_targets_ship():
    assert target_names() == NAMES
    for name in NAMES:
        assert load_target(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_number_says_where_it_comes_from(name):
    target = load_target(name)
    for row in (*target.quantities, *target.costs, *target.support, target.local_memory):
        assert row.source, row
    for row in target.quantities:
        assert row.unit, row
    for row in (*target.quantities, *target.costs):
        says_stand_in = re.search("estimate|no public figure|not in the original's table|taken to share", row.source)
        assert row.known is (says_stand_in is None), row


@pytest.mark.parametrize("name", ASCEND)
def test_every_computing_operator_has_a_row_on_ascend(name):
    """An operator without a row takes every dtype, which no Ascend chip does."""
    rows = {row.op for row in load_target(name).support}
    computing = {op.name for op in ASC_OPS if op.kind not in (AscKind.DATA, AscKind.SCALAR)}
    assert rows == computing


@pytest.mark.parametrize(
    ("op", "left_out"),
    [
        ("Eq", set()),
        ("Exp", INTEGERS | {dt.bool_}),
        ("Add", {dt.bool_}),
        ("BitwiseAnd", FLOATS),
        ("LogicalAnd", FLOATS | INTEGERS),
        ("LeftShift", FLOATS | {dt.bool_}),
    ],
)
def test_operators_say_what_they_compute_on(op, left_out):
    assert {d for d in dt.TENSOR_DTYPES if asc_op(op).computes_on(d)} == set(dt.TENSOR_DTYPES) - left_out
    assert not asc_op(op).computes_on(dt.opaque)


@pytest.mark.parametrize("name", ASCEND)
def test_dtypes_of_a_target_are_among_those_of_the_operator(name):
    target = load_target(name)
    for op in ASC_OPS:
        if op.kind not in (AscKind.DATA, AscKind.SCALAR):
            assert all(op.computes_on(d) for d in dtypes(target, op.name)), op.name
        assert dt.float64 not in {d for row in target.support for d in row.dtypes}


def test_numbers_of_the_a2_are_those_of_its_sources():
    a2 = load_target("ascend-a2")
    assert a2.kind is TargetKind.ASCEND
    assert (a2.cores, a2.vector_bytes, a2.block_bytes, a2.cache_line_bytes) == (48, 256, 32, 512)
    assert (a2.local_memory.bytes, a2.local_memory.usable) == (196608, 188416)
    assert (a2.limits.queues, a2.limits.inputs, a2.limits.segment_nodes) == (4, 8, 1)
    assert a2.limits.arguments == 63
    assert cost(a2, "Add", dt.float16) == (0.0103, 22.2)
    assert cost(a2, "Add", dt.float32) == (0.0206, 23.2)
    assert cost(a2, "Pow", dt.float16) == (0.6647, 2516.5)
    assert {dt.int16, dt.int32, dt.float16, dt.float32} <= dtypes(a2, "Add")
    assert dt.int64 in dtypes(a2, "Add")  # by halves
    assert dt.float64 not in dtypes(a2, "Add")
    assert dtypes(a2, "Exp") == {dt.float16, dt.float32, dt.bfloat16}
    assert dt.int32 in dtypes(a2, "TruncDiv")  # by way of float
    assert dt.float32 not in dtypes(a2, "TruncDiv")
    assert a2.quantity("copy_block_bytes_max") == 2_097_151
    assert a2.quantity("copy_blocks_max") == 4095
    assert a2.quantity("repeats_max") == 255
    assert a2.quantity("bytes_per_cycle_read") == pytest.approx(9.9074 + 15.896 / 48, rel=1e-5)
    assert a2.computes_in(dt.bfloat16) == dt.float32
    assert a2.computes_in(dt.float16) == dt.float16


def test_the_a3_has_the_architecture_of_the_a2():
    a2, a3 = load_target("ascend-a2"), load_target("ascend-a3")
    assert (a3.support, a3.limits, a3.local_memory) == (a2.support, a2.limits, a2.local_memory)
    assert [(c.op, c.dtype, c.per_element) for c in a3.costs] == [(c.op, c.dtype, c.per_element) for c in a2.costs]


def test_numbers_of_the_350_are_those_of_its_sources():
    atlas = load_target("ascend-350")
    assert (atlas.local_memory.bytes, atlas.local_memory.usable) == (262144, 253952)
    assert (atlas.limits.queues, atlas.limits.inputs) == (14, 14)
    assert (atlas.limits.segment_nodes, atlas.limits.segment_values) == (1, 4)
    assert atlas.cache_line_bytes == 128
    assert dt.bfloat16 in dtypes(atlas, "Add")
    assert atlas.quantity("load_cycles") == 160.0


def test_cpu_takes_every_dtype_and_widens_16_bit_floats():
    cpu = load_target("cpu")
    assert cpu.kind is TargetKind.CPU
    assert cpu.support == ()
    assert (cpu.computes_in(dt.float16), cpu.computes_in(dt.float64)) == (dt.float32, dt.float64)


def test_unknown_names_are_errors_that_list_what_there_is():
    with pytest.raises(IrError, match="there is no target 'gpu'") as caught:
        load_target("gpu")
    assert "ascend-a2" in caught.value.fix
    with pytest.raises(IrError, match="no quantity 'weight'"):
        load_target("cpu").quantity("weight")
    with pytest.raises(IrError, match="there is no target"):
        load_target("../targets/cpu")


@pytest.mark.parametrize(
    "text",
    ["", "name = 1 2", 'name = "x"', 'name = "x"\nkind = "toaster"\ndescription = ""\n'],
)
def test_a_malformed_description_is_an_error(text):
    with pytest.raises(IrError, match="malformed"):
        parse_target(text)


def test_a_cost_is_that_of_the_operator_and_dtype_else_of_the_operator_else_of_any():
    rows = (
        OperatorCost(ANY_OPERATOR, dt.float32, 4.0, 0.0),
        OperatorCost("Exp", dt.float32, 2.0, 0.0),
        OperatorCost("Exp", dt.float16, 1.0, 0.0),
    )
    target = evolve(load_target("cpu"), costs=rows)
    assert target.cost_of("Exp", dt.float16).per_element == 1.0
    assert target.cost_of("Exp", dt.float64).per_element == 2.0
    assert target.cost_of("Add", dt.float16).per_element == 4.0
    with pytest.raises(IrError, match="no cost for Add"):
        evolve(target, costs=rows[1:]).cost_of("Add", dt.float16)


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_of_ascir_has_a_cost_on_every_target(name):
    target = load_target(name)
    for op in ASC_OPS:
        assert target.cost_of(op.name, dt.float32).per_element >= 0
