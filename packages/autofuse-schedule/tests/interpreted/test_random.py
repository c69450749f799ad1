"""Random kernels with reductions and scans, executed as planned, give the bits of their graphs in every template."""

import pytest
from autofuse_schedule.force import only_template, template_names
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SETTINGS = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
POINTS = st.tuples(*[st.sampled_from((0, 1, 2, 3, 5))] * 3) | st.sampled_from([(2, 70, 2), (70, 2, 2), (3, 2, 67)])


@pytest.mark.parametrize("target", ["cpu", "ascend-a2", "ascend-350"])
@SETTINGS
@given(seed=st.integers(0, 1 << 30), point=POINTS)
def test_random_reductions_give_the_bits_of_their_graphs(random_case, target, seed, point):
    check(random_case(seed), target, point, seed)


@pytest.mark.parametrize("target", ["cpu", "ascend-a2", "ascend-350"])
@SETTINGS
@given(seed=st.integers(0, 1 << 30), point=POINTS)
def test_random_scans_give_the_bits_of_their_graphs(random_scans_case, target, seed, point):
    check(random_scans_case(seed), target, point, seed)


def check(case, target, point, seed):
    result = case.scheduled(target)
    sizes = dict(zip(("n", "m", "k"), point, strict=True))
    for template in template_names(result):
        for impl in only_template(result, template).alternatives[0].groups[0].implementations:
            case.check(impl, {symbol: sizes[symbol] for symbol in result.symbols}, seed)
