"""Proofs by cases: what one branch of a choice on sizes adds to what is known."""

from collections import ChainMap
from collections.abc import MutableMapping

from attrs import frozen
from autofuse_ir.dims import AllOf, Compare, Cond, Dim, Select, negate
from autofuse_ir.dims_walk import as_node

from autofuse_symshape.bounds import narrowed
from autofuse_symshape.equalities import Equalities
from autofuse_symshape.rewrite import rewrite


@frozen
class Case:
    """What holds in one branch of a proof: conditions, and ranges narrowed by them."""

    true: tuple[Cond, ...]
    ranges: MutableMapping[str, tuple[int, int]]

    def under(self, branch: Cond) -> tuple["Case", Equalities]:
        """Return the case in which ``branch`` holds, too, and the equalities that it adds."""
        ranges = ChainMap({}, self.ranges)
        equalities = Equalities()
        node = as_node(branch)
        for fact in node.operands if isinstance(node, AllOf) else (branch,):
            compare = as_node(fact)
            if isinstance(compare, Compare):
                narrowed(ranges, compare)
                if compare.relation == "==":
                    equalities.learn(compare.left, compare.right)
        return Case((*self.true, branch), ranges), equalities


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
