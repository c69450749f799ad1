"""The shape rules: one file a family, one table."""

from autofuse_symshape.rules import elementwise, shape_view
from autofuse_symshape.rules.model import Rule, Shapes

__all__ = ["RULES", "Rule", "Shapes"]

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **shape_view.RULES,
}
"""Shape rules by operator name."""
