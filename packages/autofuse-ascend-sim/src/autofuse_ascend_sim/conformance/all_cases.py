"""The whole conformance set."""

from collections.abc import Iterator, Sequence

from autofuse_ascend_sim.conformance import (
    casts,
    comparisons,
    copies,
    elementwise,
    functions,
    gathers,
    layouts,
    limits,
    logic,
    moves,
    reductions,
    registers,
    strided,
)
from autofuse_ascend_sim.conformance.case import Case

FAMILIES = (
    elementwise,
    casts,
    comparisons,
    reductions,
    moves,
    gathers,
    layouts,
    copies,
    strided,
    registers,
    functions,
    logic,
    limits,
)


def all_cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture; count forms run at all `counts`."""
    for family in FAMILIES:
        yield from family.cases(architecture, counts)
