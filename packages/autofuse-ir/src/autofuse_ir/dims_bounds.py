"""Interval arithmetic on sizes: between which values a size lies when its symbols lie in given ranges.

Each part is bounded on its own, so ``x - x // 1`` style correlations are not seen: the interval may be wider than the
truth, never narrower. It speaks of evaluations that succeed: those that overflow or divide by zero have no value.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol
from autofuse_ir.dims_conds import AllOf, AnyOf, Compare, Cond
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN, Dim
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, signed_terms
from autofuse_ir.errors import IrError

Interval: TypeAlias = tuple[int, int]
ANY: Interval = (INT64_MIN, INT64_MAX)
_FALSE: Interval = (0, 0)
_TRUE: Interval = (1, 1)
_UNDECIDED: Interval = (0, 1)


def bounds(dim: Dim, ranges: Mapping[str, Interval]) -> Interval:
    """The least and the greatest value ``dim`` can have, both inclusive, saturated at int64.

    A symbol without a range may be any int64. Raises `IrError` for an empty range.
    """
    return _sum_bounds(dim, _node_bounds(dim, ranges))


def decided(cond: Cond, ranges: Mapping[str, Interval]) -> bool | None:
    """Whether ``cond`` holds for all (``True``) or no (``False``) values in ``ranges``; ``None`` where unknown."""
    low, high = _node_bounds(cond, ranges)[as_node(cond)]
    return bool(low) if low == high else None


def _saturated(low: int, high: int) -> Interval:
    return min(max(low, INT64_MIN), INT64_MAX), min(max(high, INT64_MIN), INT64_MAX)


def _hull(values: Iterable[int]) -> Interval:
    listed = list(values)
    return _saturated(min(listed), max(listed))


def _node_bounds(root: Dim | Cond, ranges: Mapping[str, Interval]) -> dict[AnyNode, Interval]:
    known: dict[AnyNode, Interval] = {}
    for node in children_first(root):
        known[node] = _bounds_of(node, known, ranges)
    return known


def _sum_bounds(dim: Dim, known: Mapping[AnyNode, Interval]) -> Interval:
    low = high = 0
    for is_subtracted, factor, atoms in signed_terms(dim):
        least = most = -factor if is_subtracted else factor
        for atom in dict.fromkeys(atoms):
            a, b = _power(known[atom], atoms.count(atom))
            corners = (least * a, least * b, most * a, most * b)
            least, most = min(corners), max(corners)
        low, high = low + least, high + most
    return _saturated(low, high)


def _power(interval: Interval, exponent: int) -> Interval:
    low, high = interval[0] ** exponent, interval[1] ** exponent
    if exponent % 2:
        return low, high
    return (0 if interval[0] <= 0 <= interval[1] else min(low, high)), max(low, high)


def _bounds_of(node: AnyNode, known: Mapping[AnyNode, Interval], ranges: Mapping[str, Interval]) -> Interval:
    match node:
        case Symbol(name):
            low, high = ranges.get(name, ANY)
            if low > high:
                raise IrError(f"the range {low}..{high} is empty", where=str(node.dim), fix="give low <= high")
            return _saturated(low, high)
        case FloorDiv(left, right) | CeilDiv(left, right):
            return _quotient(isinstance(node, CeilDiv), _sum_bounds(left, known), _sum_bounds(right, known))
        case Mod(left, right):
            return _remainder(_sum_bounds(left, known), _sum_bounds(right, known))
        case Min(operands) | Max(operands):
            pick = min if isinstance(node, Min) else max
            intervals = [_sum_bounds(operand, known) for operand in operands]
            return pick([low for low, _ in intervals]), pick([high for _, high in intervals])
        case Select(cond, if_true, if_false):
            low, high = known[as_node(cond)]
            arms = [if_true] * high + [if_false] * (1 - low)
            intervals = [_sum_bounds(arm, known) for arm in arms]
            return min([low for low, _ in intervals]), max([high for _, high in intervals])
        case Compare(relation, left, right):
            return _compared(relation, left, right, known)
        case AllOf(conds):
            truths = [known[as_node(cond)] for cond in conds]
            return min([low for low, _ in truths], default=1), min([high for _, high in truths], default=1)
        case AnyOf(conds):
            truths = [known[as_node(cond)] for cond in conds]
            return max([low for low, _ in truths], default=0), max([high for _, high in truths], default=0)
        case never:
            assert_never(never)


def _compared(relation: str, left: Dim, right: Dim, known: Mapping[AnyNode, Interval]) -> Interval:
    # The sides share no term, so bounding them apart loses nothing against bounding their difference.
    (a, b), (c, d) = _sum_bounds(left, known), _sum_bounds(right, known)
    match relation:
        case "==" | "!=":
            equal = _FALSE if b < c or d < a else _TRUE if a == b == c == d else _UNDECIDED
            return equal if relation == "==" else (1 - equal[1], 1 - equal[0])
        case "<=":
            return _TRUE if b <= c else _FALSE if d < a else _UNDECIDED
        case _:
            return _TRUE if b < c else _FALSE if d <= a else _UNDECIDED


def _divisors(interval: Interval) -> list[int]:
    """The extreme divisors other than zero, on each side of it."""
    low, high = interval
    negative = [low, min(high, -1)] if low < 0 else []
    positive = [max(low, 1), high] if high > 0 else []
    return negative + positive


def _quotient(rounds_up: bool, left: Interval, right: Interval) -> Interval:
    divisors = _divisors(right)
    if not divisors:
        return ANY  # always a division by zero: no value, so anything is true of it
    if rounds_up:
        return _hull([-(-dividend // divisor) for dividend in left for divisor in divisors])
    return _hull([dividend // divisor for dividend in left for divisor in divisors])


def _remainder(left: Interval, right: Interval) -> Interval:
    divisors = _divisors(right)
    if not divisors:
        return ANY
    low, high = min(0, right[0] + 1), max(0, right[1] - 1)
    # A dividend of the divisor's sign is never made larger.
    if left[0] >= 0 and right[0] >= 0:
        high = min(high, left[1])
    if left[1] <= 0 and right[1] <= 0:
        low = max(low, left[0])
    if left[0] >= 0 and left[1] < min([d for d in divisors if d > 0], default=0) and right[0] >= 0:
        return left
    return low, high
