"""The shape rules: one file a family, one table."""

from autofuse_symshape.rules import (
    concat_split_pad,
    elementwise,
    gather_scatter,
    host,
    matmul,
    norm_loss,
    others,
    reduce,
    reshape,
    resize,
    shape_view,
    slices,
    windows,
)
from autofuse_symshape.rules.model import Rule, Shapes

__all__ = ["DECLARED", "RULES", "Rule", "Shapes"]

RULES: dict[str, Rule] = {
    **others.RULES,  # in-place operators with checks of their own are below, and win
    **elementwise.RULES,
    **norm_loss.RULES,
    **reduce.RULES,
    **shape_view.RULES,
    **reshape.RULES,
    **slices.RULES,
    **concat_split_pad.RULES,
    **gather_scatter.RULES,
    **matmul.RULES,
    **windows.RULES,
    **resize.RULES,
    **host.RULES,
}
"""Shape rules by operator name."""

DECLARED: tuple[str, ...] = (
    "ConcatFromSequence",
    "HostCall",
    "If",
    "Loop",
    "Optional",
    "OptionalGetElement",
    "Scan",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
)
"""Operators whose results only the front end can describe: sub-graphs, sequences and foreign operators."""
