"""The clean-up passes in the order they run, and why each stands where it stands."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Graph

from autofuse_fusion.passes.casts import SkipWideningCasts
from autofuse_fusion.passes.common_subexpressions import MergeCommonSubexpressions
from autofuse_fusion.passes.constant_folding import FoldConstants
from autofuse_fusion.passes.dead_code import DropDeadCode
from autofuse_fusion.passes.identities import DropIdentities
from autofuse_fusion.passes.known_contents import FoldKnownContents
from autofuse_fusion.passes.repeated_constants import ReadOneOfEqualRows

Pass: TypeAlias = Callable[[Graph], Graph]


@frozen
class Step:
    """A pass and why it stands where it stands."""

    run: Pass
    why: str


def steps(facts: SymbolFacts) -> tuple[Step, ...]:
    """Return the clean-up pipeline of a graph with ``facts``."""
    return (
        Step(DropDeadCode(), "nothing below looks at what nobody reads"),
        Step(FoldKnownContents(facts), "shape arithmetic is the bulk of exported graphs, and constants feed the rest"),
        Step(FoldConstants(), "neutral constants show up as constants"),
        Step(ReadOneOfEqualRows(facts), "a constant that is one number everywhere shows up as that number"),
        Step(SkipWideningCasts(facts), "a cast there and back becomes a cast to its own type"),
        Step(DropIdentities(facts), "which is an identity"),
        Step(MergeCommonSubexpressions(), "identities in between no longer hide equal expressions"),
        Step(DropDeadCode(), "what the others left behind"),
    )


def clean_up(graph: Graph, facts: SymbolFacts) -> Graph:
    """Return ``graph`` with the same meaning and less in it."""
    for step in steps(facts):
        graph = step.run(graph)
    return graph
