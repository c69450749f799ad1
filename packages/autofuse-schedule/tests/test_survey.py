"""What targets say that they compute is what the schedule can express."""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS, asc_op
from autofuse_ir.target import load_target
from autofuse_schedule.legalise.survey import SURVEYED, Means, means

TARGETS = ("ascend-a2", "ascend-a3", "ascend-350")


@pytest.mark.parametrize("target", TARGETS)
def test_the_table_of_a_target_is_what_can_be_expressed(target):
    rows = {row.op: row.dtypes for row in load_target(target).support}
    for op in ASC_OPS:
        if op.kind in SURVEYED:
            possible = {d for d in dt.TENSOR_DTYPES if means(op, d, target) is not Means.NONE}
            assert set(rows[op.name]) == possible, op.name


@pytest.mark.parametrize(
    ("op", "dtype", "a2", "a350"),
    [
        ("Add", dt.int64, Means.COMPOSED, Means.INSTRUCTION),
        ("Add", dt.bfloat16, Means.COMPOSED, Means.INSTRUCTION),
        ("FloorDiv", dt.int64, Means.ELEMENTS, Means.ELEMENTS),
        ("Less", dt.float32, Means.INSTRUCTION, Means.INSTRUCTION),
        ("Max", dt.bool_, Means.COMPOSED, Means.COMPOSED),
        ("Exp", dt.float64, Means.NONE, Means.NONE),
    ],
)
def test_chips_have_means_of_their_own(op, dtype, a2, a350):
    rule = asc_op({"Less": "Lt"}.get(op, op))
    assert [means(rule, dtype, target) for target in TARGETS] == [a2, a2, a350]
