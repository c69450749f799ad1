"""The oracle: does a condition on sizes hold in every run? Yes, no or unknown, with the fact that says so.

It knows the ranges of symbols and whatever the program asserts: a run that gets past the asserts satisfies them, so
later questions may build on them. Hints are never used. Facts only grow, so a "yes" or "no" stays one.
"""

from collections import ChainMap
from collections.abc import MutableMapping
from enum import Enum

from attrs import frozen
from autofuse_ir.dims import AllOf, AnyOf, Compare, Cond, Dim, Select, negate
from autofuse_ir.dims_eval import decided
from autofuse_ir.dims_walk import as_node, children_first
from autofuse_ir.errors import IrError

from autofuse_symshape.bounds import Ranges, holds_by_bounds, narrowed
from autofuse_symshape.equalities import Equalities
from autofuse_symshape.rewrite import rewrite

_MAX_SPLITS = 4
"""Most choices (``select``) that one question is split on."""


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


@frozen
class _Case:
    """What holds in one branch of a proof: conditions, and ranges narrowed by them."""

    true: tuple[Cond, ...]
    ranges: MutableMapping[str, tuple[int, int]]


class Oracle:
    """Facts about symbols, and answers from them."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges: dict[str, tuple[int, int]] = {}
        self.equalities = Equalities()
        self._true: dict[Cond, None] = {}
        self._clauses: dict[Cond, list[AnyOf]] = {}
        self._answers: dict[Cond, Answer] = {}
        for name, (lo, hi) in ranges.items():
            self.declare(name, lo, hi)

    def declare(self, name: str, lo: int, hi: int) -> None:
        """Add symbol ``name`` with an inclusive range. Of two equal symbols the one declared later is replaced."""
        self.ranges[name] = (lo, hi)
        self.equalities.rank(name)

    def assume(self, cond: Cond) -> None:
        """Take ``cond`` for true from here on (the program asserts it)."""
        cond = self.equalities.normal_cond(cond)
        self._answers = {asked: answer for asked, answer in self._answers.items() if answer is not UNKNOWN}
        node = as_node(cond)
        if isinstance(node, AllOf):
            for operand in node.operands:
                self.assume(operand)
            return
        self._note(cond)
        if isinstance(node, Compare):
            narrowed(self.ranges, node)
            if node.relation == "==" and self.equalities.learn(node.left, node.right):
                known, self._true, self._clauses = self._true, {}, {}
                for old in known:
                    self._note(self.equalities.normal_cond(old))

    def ask(self, cond: Cond) -> Answer:
        """Answer whether ``cond`` holds in every run."""
        answer = self._answers.get(cond)
        if answer is None:
            everywhere = _Case((), self.ranges)
            answer = self._answers[cond] = self._decide(self.equalities.normal_cond(cond), everywhere, _MAX_SPLITS)
        return answer

    def holds(self, cond: Cond) -> bool:
        """Whether ``cond`` is known to hold in every run."""
        return self.ask(cond).verdict is Verdict.YES

    def fails(self, cond: Cond) -> bool:
        """Whether ``cond`` is known to fail in every run."""
        return self.ask(cond).verdict is Verdict.NO

    def normal(self, dim: Dim) -> Dim:
        """``dim`` without the symbols that known equalities eliminate."""
        return self.equalities.normal(dim)

    def _note(self, cond: Cond) -> None:
        if cond.is_constant:
            return
        self._true[cond] = None
        node = as_node(cond)
        if isinstance(node, AnyOf):
            for operand in node.operands:
                self._clauses.setdefault(operand, []).append(node)

    def _is_true(self, cond: Cond, case: _Case) -> bool:
        return cond in self._true or cond in case.true

    def _is_false(self, cond: Cond, case: _Case) -> bool:
        return decided(cond, case.ranges) is False or self._is_true(negate(cond), case)

    def _decide(self, cond: Cond, case: _Case, splits: int) -> Answer:
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

    def _subsuming(self, goal: AnyOf, case: _Case) -> AnyOf | None:
        """Return an asserted clause of which every alternative is one of the goal's, or impossible."""
        alternatives = set(goal.operands)
        for operand in goal.operands:
            for clause in self._clauses.get(operand, ()):
                if all(each in alternatives or self._is_false(each, case) for each in clause.operands):
                    return clause
        return None

    def _split(self, cond: Cond, case: _Case, splits: int) -> Answer:
        """Decide by cases on the condition of a choice inside ``cond``, the innermost first."""
        choice: Cond | None = next((node.cond for node in children_first(cond) if isinstance(node, Select)), None)
        if splits == 0 or choice is None:
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

    def _decide_under(self, branch: Cond, cond: Cond, case: _Case, splits: int) -> Answer:
        ranges = ChainMap({}, case.ranges)
        local = Equalities()
        node = as_node(branch)
        for fact in node.operands if isinstance(node, AllOf) else (branch,):
            compare = as_node(fact)
            if isinstance(compare, Compare):
                narrowed(ranges, compare)
                if compare.relation == "==":
                    local.learn(compare.left, compare.right)
        try:
            chosen = local.normal_cond(decide_choices(cond, branch))
        except IrError:  # dividing by zero in this branch: it has no value here
            return UNKNOWN
        return self._decide(chosen, _Case((*case.true, branch), ranges), splits - 1)


def decide_choices(cond: Cond, case: Cond) -> Cond:
    """``cond`` with every choice on ``case``, or on its negation, made."""
    opposite = negate(case)

    def choose(dim: Dim) -> Dim:
        atom = dim.atom
        if isinstance(atom, Select):
            if atom.cond == case:
                return atom.if_true
            if atom.cond == opposite:
                return atom.if_false
        return dim

    return rewrite(cond, choose)
