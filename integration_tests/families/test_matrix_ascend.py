"""Every vector operator as it is scheduled for Ascend, executed as planned in buffers of exactly those bytes: a rank of
its own for each operator, sizes 0, 1, 2, odd, prime and hundreds.

The default run takes every sixteenth operator on one target and the next on the other; ``--whole-matrix`` all on both.
"""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.fused_graph import HostRegion, Reason
from autofuse_ir.operators import Operator
from autofuse_testkit.operator_matrix.check import faults_of
from autofuse_testkit.operator_matrix.table import OPERATORS, case_of, form_of, types_of
from autofuse_testkit.planned import planned

TARGETS = ("ascend-a2", "ascend-350")
PREFERRED = (dt.float32, dt.int32, dt.bool_)
LARGE = 400
NEEDS_OTHER_TYPES = {
    "Cast": "casts to float64 and wide unsigned integers",
    **dict.fromkeys(("BNTrainingUpdate", "BNTrainingUpdateV3"), "divides in float64"),
}
"""Operators that a host may run here: they have element types inside that the chips' kernels do not hold."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    step = 1 if metafunc.config.getoption("--whole-matrix") else 16
    chosen = [(op, target) for k, target in enumerate(TARGETS) for op in OPERATORS[k % step :: step]]
    metafunc.parametrize(("op", "target"), chosen, ids=[f"{op.name}-{target}" for op, target in chosen])


def test_an_operator_computes_what_it_means_as_planned(op: Operator, target: str) -> None:
    form, number = form_of(op), OPERATORS.index(op)
    ranks, types = range(form.least, form.most + 1), types_of(op)
    dtype = next((preferred for preferred in PREFERRED if preferred in types), types[0])
    case = case_of(op, ranks[5 * number % len(ranks)], dtype, number)
    model = planned(case.graph, target)
    reasons = [reason for node in model.fused.nodes if isinstance(node, HostRegion) for reason in node.reasons]
    assert all(each.reason is Reason.DTYPE_NOT_SUPPORTED for each in reasons)
    assert not reasons or op.name in NEEDS_OTHER_TYPES
    assert list(faults_of(case, model.function, number, LARGE, ("contiguous",))) == []
