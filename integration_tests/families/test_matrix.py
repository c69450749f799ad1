"""Every vector operator at ranks 0 to 6, for every element type, at sizes 0, 1, 2, odd, prime and large, contiguous and
strided: generated from the operator table, compiled once with all dims symbolic, against the operators' NumPy meaning.

The default run takes one rank and one type of every other operator, others for the next one; ``--whole-matrix`` a third
of all combinations: every rank and every type of each operator, and of three operators of a family all combinations.
"""

from collections.abc import Callable
from functools import cache

import pytest
from autofuse.compiler import chosen_options
from autofuse_ir.fused_graph import HostRegion
from autofuse_ir.operators import Family, Operator
from autofuse_testkit.compiled_together import CompiledTogether
from autofuse_testkit.operator_matrix.call import Case
from autofuse_testkit.operator_matrix.check import faults_of
from autofuse_testkit.operator_matrix.table import OPERATORS, cases_of, slice_of


def operators(config: pytest.Config) -> tuple[Operator, ...]:
    return OPERATORS if config.getoption("--whole-matrix") else OPERATORS[::2]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = operators(metafunc.config)
    metafunc.parametrize("op", chosen, ids=[op.name for op in chosen])


@pytest.fixture(scope="module")
def cases(pytestconfig: pytest.Config) -> Callable[[Operator], tuple[Case, ...]]:
    """Returns the cases of an operator."""
    whole = pytestconfig.getoption("--whole-matrix")
    return cache(lambda op: tuple(cases_of(op)) if whole else (slice_of(op),))


@pytest.fixture(scope="module")
def library(
    cases: Callable[[Operator], tuple[Case, ...]], pytestconfig: pytest.Config
) -> Callable[[Family], CompiledTogether]:
    """Returns the library of a family: one for each, as one for all would be made before the first test starts."""
    chosen = operators(pytestconfig)

    @cache
    def build(family: Family) -> CompiledTogether:
        together = CompiledTogether(chosen_options(numerics="strict"), flags=("-O1",))
        for case in (case for op in chosen if op.family is family for case in cases(op)):
            together.add(case.name, case.graph)
        return together

    return build


def test_an_operator_computes_what_it_means_in_kernels_at_every_size(
    op: Operator,
    cases: Callable[[Operator], tuple[Case, ...]],
    library: Callable[[Family], CompiledTogether],
) -> None:
    together = library(op.family)
    for turn, case in enumerate(cases(op)):
        function = together[case.name]
        assert not [node for node in function.lowered.fused.nodes if isinstance(node, HostRegion)], case.name
        assert list(faults_of(case, function, turn)) == []
