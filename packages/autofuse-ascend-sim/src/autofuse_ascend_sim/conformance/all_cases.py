"""The whole conformance set."""

from collections.abc import Iterator, Sequence

from autofuse_ascend_sim.conformance import elementwise, functions
from autofuse_ascend_sim.conformance.case import Case

FAMILIES = (elementwise, functions)


def all_cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture; count forms run at all `counts`."""
    for family in FAMILIES:
        yield from family.cases(architecture, counts)
