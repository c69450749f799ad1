"""Conditions over sizes, interned, and the constructors that normalise them.

Differences are reduced, negations pushed to the comparisons, operands flattened and sorted.
"""

from math import gcd
from operator import attrgetter
from typing import Any, ClassVar, Literal, NoReturn, Self, TypeAlias, assert_never

from autofuse_ir.dims_atoms import Node, intern
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN, Dim, Monomial, Term, polynomial, term_key

Relation: TypeAlias = Literal["==", "!=", "<=", "<"]


class Cond(Node):
    """A truth value that depends on sizes. One of `AnyCond`; ``str()`` gives its text form."""

    __slots__ = ()

    @property
    def is_constant(self) -> bool:
        """Whether the condition is `TRUE` or `FALSE`."""
        return self is TRUE or self is FALSE

    @property
    def constant_value(self) -> bool | None:
        """``True``, ``False``, or ``None`` where it depends on symbols."""
        return (self is TRUE) if self.is_constant else None

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition over symbols has no truth value; use dims_eval.holds() or .constant_value")

    def __str__(self) -> str:
        from autofuse_ir.dims_text import text_or_excerpt  # noqa: PLC0415 (text is built on conditions)

        return text_or_excerpt(self)

    def __repr__(self) -> str:
        return f"Cond({str(self)!r})"


_RELATION_RANK: dict[Relation, int] = {"==": 10, "<=": 11, "<": 12, "!=": 13}


class Compare(Cond):
    """``left relation right``, with every term on the side where its coefficient is positive."""

    __slots__ = ("left", "relation", "right")
    __match_args__ = ("relation", "left", "right")
    relation: Relation
    left: Dim
    right: Dim

    def __new__(cls, relation: Relation, left: Dim, right: Dim) -> Self:
        """Intern the comparison as given."""
        key = (_RELATION_RANK[relation], f"{left.label()}{relation}{right.label()}")
        node: Self = intern(cls, key, (left, right), relation=relation, left=left, right=right)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.relation, self.left, self.right)


class Junction(Cond):
    """Several conditions joined by one connective."""

    __slots__ = ("operands",)
    __match_args__ = ("operands",)
    rank: ClassVar[int]
    operands: tuple[Cond, ...]

    def __new__(cls, operands: tuple[Cond, ...]) -> Self:
        """Intern the junction as given."""
        key = (cls.rank, f"{cls.__name__}({','.join([cond.key[1] for cond in operands])})")
        node: Self = intern(cls, key, operands, operands=operands)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operands,)


class AllOf(Junction):
    """Holds where every operand holds."""

    __slots__ = ()
    rank = 14


class AnyOf(Junction):
    """Holds where some operand holds."""

    __slots__ = ()
    rank = 15


AnyCond: TypeAlias = Compare | AllOf | AnyOf

TRUE: Cond = AllOf(())
"""Holds always: all of no conditions."""
FALSE: Cond = AnyOf(())
"""Holds never: any of no conditions."""


def equal(left: Dim, right: Dim) -> Cond:
    """``left == right``."""
    return _equality("==", left, right)


def unequal(left: Dim, right: Dim) -> Cond:
    """``left != right``."""
    return _equality("!=", left, right)


def at_most(left: Dim, right: Dim) -> Cond:
    """``left <= right``."""
    return _order(left, right, 0)


def below(left: Dim, right: Dim) -> Cond:
    """``left < right``."""
    return _order(left, right, 1)


def _difference(left: Dim, right: Dim) -> tuple[list[Term], int]:
    """The terms of ``left - right`` in order, coefficients not limited to int64, and its constant."""
    totals: dict[Monomial, int] = dict(left.terms)
    for monomial, factor in right.terms:
        totals[monomial] = totals.get(monomial, 0) - factor
    offset = totals.pop((), 0)
    return sorted([term for term in totals.items() if term[1]], key=term_key), offset


def _sides(terms: list[Term]) -> tuple[Dim, Dim]:
    """``terms`` compared with zero, with each on the side where it is positive, or at least an int64."""
    left: list[Term] = []
    right: list[Term] = []
    for monomial, factor in terms:
        if 0 < factor <= INT64_MAX or factor == INT64_MIN:
            left.append((monomial, factor))
        else:
            right.append((monomial, -factor))
    return polynomial(left), polynomial(right)


def _equality(relation: Relation, left: Dim, right: Dim) -> Cond:
    terms, offset = _difference(left, right)
    if not terms:
        return TRUE if (offset == 0) == (relation == "==") else FALSE
    common = gcd(*[factor for _, factor in terms])
    if offset % common:
        return FALSE if relation == "==" else TRUE
    if terms[0][1] < 0:
        common = -common
    reduced = [(monomial, factor // common) for monomial, factor in terms]
    reduced.append(((), offset // common))
    return Compare(relation, *_sides(reduced))


def _order(left: Dim, right: Dim, slack: int) -> Cond:
    """``left - right + slack <= 0``: over integers ``a < b`` and ``a + 1 <= b`` are one condition."""
    terms, offset = _difference(left, right)
    offset += slack
    if not terms:
        return TRUE if offset <= 0 else FALSE
    common = gcd(*[factor for _, factor in terms])
    reduced = [(monomial, factor // common) for monomial, factor in terms]
    offset = -(-offset // common)  # g*p + k <= 0 holds where p <= floor(-k/g), that is p + ceil(k/g) <= 0
    # a + 1 <= b reads better as a < b, and a < INT64_MIN can be written in no other way.
    strict = (offset == 1 and any(factor > 0 for _, factor in reduced)) or offset == 1 - INT64_MIN
    if strict:
        offset -= 1
    reduced.append(((), offset))
    return Compare("<" if strict else "<=", *_sides(reduced))


def negate(cond: Cond) -> Cond:
    """The condition that holds where ``cond`` does not."""
    done: dict[Cond, Cond] = {}
    # Children first on an explicit stack: shared operands are negated once, and depth costs no recursion.
    stack = [cond]
    while stack:
        top: AnyCond = stack[-1]  # type: ignore[assignment]
        if top in done:
            stack.pop()
            continue
        match top:
            case Compare("==", left, right):
                done[top] = Compare("!=", left, right)
            case Compare("!=", left, right):
                done[top] = Compare("==", left, right)
            case Compare("<=", left, right):
                done[top] = below(right, left)
            case Compare("<", left, right):
                done[top] = at_most(right, left)
            case AllOf(operands) | AnyOf(operands):
                missing = [operand for operand in operands if operand not in done]
                if missing:
                    stack.extend(missing)
                    continue
                flipped = tuple([done[operand] for operand in operands])
                done[top] = any_of(*flipped) if isinstance(top, AllOf) else all_of(*flipped)
            case Compare():
                raise AssertionError(top.relation)
            case never:
                assert_never(never)
    return done[cond]


def all_of(*conds: Cond) -> Cond:
    """Holds where every one of ``conds`` holds; `TRUE` for none."""
    return _junction(AllOf, TRUE, FALSE, conds)


def any_of(*conds: Cond) -> Cond:
    """Holds where some one of ``conds`` holds; `FALSE` for none."""
    return _junction(AnyOf, FALSE, TRUE, conds)


def _junction(kind: type[AllOf] | type[AnyOf], neutral: Cond, absorbing: Cond, conds: tuple[Cond, ...]) -> Cond:
    kept: dict[Cond, None] = {}
    for cond in conds:
        for operand in cond.operands if isinstance(cond, kind) else (cond,):
            if operand is absorbing:
                return absorbing
            if operand is not neutral:
                kept[operand] = None
    if any(isinstance(operand, Compare) and negate(operand) in kept for operand in kept):
        return absorbing
    ordered = tuple(sorted(kept, key=attrgetter("key")))
    if not ordered:
        return neutral
    return ordered[0] if len(ordered) == 1 else kind(ordered)
