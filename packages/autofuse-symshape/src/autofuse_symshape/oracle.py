"""The oracle: does a condition on sizes hold in every run? Yes, no or unknown, with the fact that says so.

It knows the ranges of symbols and whatever the program asserts: a run that gets past the asserts satisfies them, so
later questions may build on them. Hints are never used. Facts only grow, so a "yes" or "no" stays one.
"""

from enum import Enum

from attrs import frozen
from autofuse_ir.dims import (
    AllOf,
    AnyOf,
    Compare,
    Cond,
    Dim,
    Max,
    Min,
    Mod,
    Select,
    Symbol,
    const,
    dim_max,
    dim_min,
    ge,
    le,
    negate,
)
from autofuse_ir.dims_eval import bounds, decided
from autofuse_ir.dims_walk import as_node, children_first
from autofuse_ir.errors import IrError

from autofuse_symshape.asserted import Asserted
from autofuse_symshape.bounds import Ranges, holds_by_bounds, narrowed
from autofuse_symshape.cases import Case, decide_choices
from autofuse_symshape.divisions import has_division, without_exact_divisions
from autofuse_symshape.equalities import Equalities
from autofuse_symshape.rewrite import compared, rewrite, unchanged

_MAX_SPLITS = 4
"""Most choices (``select``) that one question is split on."""
_LONGEST_SPLIT = 1000
"""Most words of a question that is decided by cases: longer ones take longer than a guard is worth."""
_MAX_ALGEBRA_TERMS = 12
"""Most terms of a comparison that sympy is asked about."""


class Verdict(Enum):
    """What the oracle says."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@frozen
class Answer:
    """A verdict and the fact it rests on ("" for unknown)."""

    verdict: Verdict
    fact: str = ""


UNKNOWN = Answer(Verdict.UNKNOWN)


class Oracle:
    """Facts about symbols, and answers from them."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges: dict[str, tuple[int, int]] = {}
        self.equalities = Equalities()
        self._asserted = Asserted()
        self._answers: dict[Cond, Answer] = {}
        self._unknown: set[Cond] = set()
        self._normal: dict[Dim, Dim] = {}
        self._exact: dict[tuple[Dim, Dim], None] = {}
        for name, (lo, hi) in ranges.items():
            self.declare(name, lo, hi)

    def declare(self, name: str, lo: int, hi: int) -> None:
        """Add symbol ``name`` with an inclusive range. Of two equal symbols the one declared later is replaced."""
        self.ranges[name] = (lo, hi)
        self.equalities.rank(name)

    def assume(self, cond: Cond) -> None:
        """Take ``cond`` for true from here on (the program asserts it)."""
        cond = self.equalities.normal_cond(cond)
        self._unknown.clear()
        self._normal.clear()
        node = as_node(cond)
        if isinstance(node, AllOf):
            for operand in node.operands:
                self.assume(operand)
            return
        self._asserted.add(cond)
        if isinstance(node, Compare):
            narrowed(self.ranges, node)
            if node.relation == "==":
                self._note_division(node)
                eliminated = self.equalities.learn(node.left, node.right)
                # What speaks of the symbol is noted again without it, so that look-ups keep finding it.
                for old in self._asserted.take_mentions(eliminated) if eliminated is not None else ():
                    self._asserted.add(self.equalities.normal_cond(old))

    def ask(self, cond: Cond) -> Answer:
        """Answer whether ``cond`` holds in every run."""
        answer = self._answers.get(cond)
        if answer is not None:
            return answer
        if cond in self._unknown:
            return UNKNOWN
        answer = self._decide(self._normal_cond(cond), Case((), self.ranges), _MAX_SPLITS)
        if answer.verdict is Verdict.UNKNOWN:
            self._unknown.add(cond)
        else:
            self._answers[cond] = answer
        return answer

    def holds(self, cond: Cond) -> bool:
        """Whether ``cond`` is known to hold in every run."""
        return self.ask(cond).verdict is Verdict.YES

    def fails(self, cond: Cond) -> bool:
        """Whether ``cond`` is known to fail in every run."""
        return self.ask(cond).verdict is Verdict.NO

    def normal(self, dim: Dim) -> Dim:
        """``dim`` without the symbols that known equalities eliminate, and without divisions known to be exact."""
        if dim.depth <= 1 and not self.equalities.replaced:  # symbols and constants alone
            return dim
        known = self._normal.get(dim)
        if known is None:
            known = rewrite(self.equalities.normal(dim), self._decided_by_ranges)
            if self._exact and has_division(known):
                known = without_exact_divisions(known, self._divides)
            self._normal[dim] = known
        return known

    def _decided_by_ranges(self, dim: Dim) -> Dim:
        """What an operation is in every run, where its bounds or those of its operands say so."""
        atom = dim.atom
        if atom is None or isinstance(atom, Symbol):
            return dim
        if isinstance(atom, Select):
            choice = self._known_choice(atom.cond)
            return dim if choice is None else atom.if_true if choice else atom.if_false
        low, high = bounds(dim, self.ranges)
        if low == high:
            return const(low)
        if isinstance(atom, Min | Max):
            return self._without_dominated(atom)
        return dim

    def _known_choice(self, cond: Cond) -> bool | None:
        if cond in self._asserted:
            return True
        return False if negate(cond) in self._asserted else decided(cond, self.ranges)

    def _without_dominated(self, atom: Min | Max) -> Dim:
        """The extremum without operands that another one is never behind."""
        order, combine = (le, dim_min) if isinstance(atom, Min) else (ge, dim_max)
        kept: list[Dim] = []
        for operand in atom.operands:
            if any(self._known_choice(order(other, operand)) for other in kept):
                continue
            kept = [other for other in kept if not self._known_choice(order(operand, other))]
            kept.append(operand)
        return combine(*kept)

    def _normal_cond(self, cond: Cond) -> Cond:
        cond = self.equalities.normal_cond(cond)
        if cond.depth <= 2:  # comparisons of symbols and constants, and their junctions
            return cond
        rule = self._without_divisions if self._exact else unchanged
        try:
            return rewrite(cond, self._decided_by_ranges, rule)
        except IrError:  # an operation that a known equality leaves without a value
            return cond

    def _without_divisions(self, cond: Cond) -> Cond:
        node = as_node(cond)
        if not isinstance(node, Compare) or not (has_division(node.left) or has_division(node.right)):
            return cond
        return compared(node.relation, self.normal(node.left), self.normal(node.right))

    def _divides(self, divisor: Dim, dividend: Dim) -> bool:
        return (divisor, dividend) in self._exact

    def _note_division(self, fact: Compare) -> None:
        """Note ``mod(p, d) == 0``."""
        difference = fact.left - fact.right
        atom = difference.atom or (-difference).atom
        if isinstance(atom, Mod):
            self._exact[atom.right, atom.left] = None

    def _is_true(self, cond: Cond, case: Case) -> bool:
        return cond in self._asserted or cond in case.true

    def _is_false(self, cond: Cond, case: Case) -> bool:
        return decided(cond, case.ranges) is False or self._is_true(negate(cond), case)

    def _decide(self, cond: Cond, case: Case, splits: int) -> Answer:
        if cond.is_constant:
            return Answer(Verdict.YES if cond.constant_value else Verdict.NO, "arithmetic")
        if self._is_true(cond, case):
            return Answer(Verdict.YES, f"asserted: {cond}")
        if self._is_true(negate(cond), case):
            return Answer(Verdict.NO, f"asserted: {negate(cond)}")
        by_range = decided(cond, case.ranges)
        if by_range is not None:
            return Answer(Verdict.YES if by_range else Verdict.NO, "ranges")
        node = as_node(cond)
        if not isinstance(node, AllOf | AnyOf):
            by_bounds = holds_by_bounds(node, case.ranges) if isinstance(node, Compare) else None
            if by_bounds is not None:
                return Answer(Verdict.YES if by_bounds else Verdict.NO, "bounds")
            by_algebra = self._by_algebra(node, case) if isinstance(node, Compare) else None
            if by_algebra is not None:
                return Answer(Verdict.YES if by_algebra else Verdict.NO, "algebra")
            return self._split(cond, case, splits)
        answers = [self._decide(operand, case, 0) for operand in node.operands]
        decisive, other = (Verdict.NO, Verdict.YES) if isinstance(node, AllOf) else (Verdict.YES, Verdict.NO)
        for answer in answers:
            if answer.verdict is decisive:
                return answer
        if all(answer.verdict is other for answer in answers):
            return answers[0]
        known = self._subsuming(node, case) if isinstance(node, AnyOf) else None
        return Answer(Verdict.YES, f"asserted: {known}") if known is not None else self._split(cond, case, splits)

    def _by_algebra(self, cond: Compare, case: Case) -> bool | None:
        """The answer of sympy, asked only for what factoring can help with: short polynomials with a power."""
        terms = (*cond.left.terms, *cond.right.terms)
        has_power = any(len(set(monomial)) < len(monomial) for monomial, _ in terms)
        if not has_power or len(terms) > _MAX_ALGEBRA_TERMS:
            return None
        from autofuse_symshape import prove  # noqa: PLC0415 (importing sympy takes a second)

        return prove.holds(cond, case.ranges)

    def _subsuming(self, goal: AnyOf, case: Case) -> AnyOf | None:
        """Return an asserted clause of which every alternative is one of the goal's, or impossible."""
        alternatives = set(goal.operands)
        for operand in goal.operands:
            for clause in self._asserted.clauses_with(operand):
                if all(each in alternatives or self._is_false(each, case) for each in clause.operands):
                    return clause
        return None

    def _split(self, cond: Cond, case: Case, splits: int) -> Answer:
        """Decide by cases on the condition of a choice inside ``cond``, the innermost first."""
        choice: Cond | None = next((node.cond for node in children_first(cond) if isinstance(node, Select)), None)
        if splits == 0 or choice is None or cond.weight > _LONGEST_SPLIT:
            return UNKNOWN
        found: Answer | None = None
        for branch in (choice, negate(choice)):
            if self._is_false(branch, case):
                continue
            answer = self._decide_under(branch, cond, case, splits)
            if answer.verdict is Verdict.UNKNOWN or (found is not None and found.verdict is not answer.verdict):
                return UNKNOWN
            found = answer
        return found or UNKNOWN

    def _decide_under(self, branch: Cond, cond: Cond, case: Case, splits: int) -> Answer:
        narrower, equalities = case.under(branch)
        try:
            chosen = equalities.normal_cond(decide_choices(cond, branch))
        except IrError:  # dividing by zero in this branch: it has no value here
            return UNKNOWN
        return self._decide(chosen, narrower, splits - 1)
