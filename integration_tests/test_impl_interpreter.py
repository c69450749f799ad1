"""Random kernels, executed as they are scheduled, give the bits of the graphs they came from."""

import numpy as np
import pytest
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.errors import ScheduleError
from autofuse_testkit.kernel_cases import KernelCase, bits, implementations, kernel_cases, random_tiles, target_of
from hypothesis import given, settings
from hypothesis import strategies as st

REFUSALS = ("has no instruction for", "stores rows")


@pytest.mark.parametrize(("name", "segment_nodes"), [("cpu", 512), ("cpu", 2), ("ascend-a2", 1), ("ascend-350", 5)])
def test_a_schedule_gives_the_bits_of_its_graph_whatever_its_tiles(name: str, segment_nodes: int) -> None:
    target = target_of(name, segment_nodes)
    scheduled: list[KernelCase] = []

    @settings(max_examples=80, derandomize=True, database=None, deadline=None)
    @given(kernel_cases(), st.integers(0, 1 << 16))
    def check(case: KernelCase, seed: int) -> None:
        wanted = interpret(case.node.graph, case.arrays, case.sizes)
        rng = np.random.default_rng(seed)
        try:
            found = implementations(case, target)
        except ScheduleError as refusal:
            # float64 on an NPU, say; and copies out of local memory write rows
            if name == "cpu" or not any(reason in str(refusal) for reason in REFUSALS):
                raise
            return
        scheduled.append(case)
        for impl in found:
            tiles = random_tiles(impl, case.sizes, rng)
            got = interpret_impl(impl, case.arrays, case.sizes, tiles, seed)
            for a, b in zip(got, wanted, strict=True):
                assert bits(a) == bits(b), (impl.name, tiles)

    check()
    assert len(scheduled) >= 20
