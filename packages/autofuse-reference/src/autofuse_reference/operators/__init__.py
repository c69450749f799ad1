"""The meaning of every operator on NumPy."""

from autofuse_reference.operators.evaluate import evaluate_operator
from autofuse_reference.operators.precision import Precision, cast
from autofuse_reference.operators.table import has_meaning

__all__ = ["Precision", "cast", "evaluate_operator", "has_meaning"]
