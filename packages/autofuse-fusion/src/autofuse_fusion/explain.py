"""Why pairs of nodes that share a tensor were not fused."""

from collections.abc import Sequence

from autofuse_ir.fused_graph import Refusal

from autofuse_fusion.solve import Solver
from autofuse_fusion.values import Values


def refusals_of(solver: Solver, things: Sequence[object], values: Values) -> tuple[Refusal, ...]:
    """Return the refusals."""
    return ()
