"""Random kernels with reductions, executed as planned, give the bits of their graphs in every template."""

import pytest
from autofuse_schedule.force import only_template, template_names
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

POINTS = st.tuples(*[st.sampled_from((0, 1, 2, 3, 5))] * 3) | st.sampled_from([(2, 70, 2), (70, 2, 2), (3, 2, 67)])


@pytest.mark.parametrize("target", ["cpu", "ascend-a2", "ascend-350"])
@settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 1 << 30), point=POINTS)
def test_random_reductions_give_the_bits_of_their_graphs(random_case, target, seed, point):
    case = random_case(seed)
    result = case.scheduled(target)
    sizes = dict(zip(("n", "m", "k"), point, strict=True))
    for template in template_names(result):
        for impl in only_template(result, template).alternatives[0].groups[0].implementations:
            case.check(impl, {symbol: sizes[symbol] for symbol in result.symbols}, seed)
