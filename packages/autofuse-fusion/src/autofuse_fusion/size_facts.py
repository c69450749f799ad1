"""What is known about sizes over their whole range, and what they come to at the hints."""

from autofuse_ir.dims import Dim, const, eq, ge, le
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.errors import IrError
from autofuse_ir.facts import GuardKind, SymbolFacts
from autofuse_symshape.oracle import Oracle


class SizeFacts:
    """Legality asks ``equal`` and ``is_one``, true over all ranges and never at a hint only; profit asks ``hint``."""

    def __init__(self, facts: SymbolFacts) -> None:
        self._hints = {s.name: s.hint for s in facts.symbols}
        self.oracle = Oracle({})
        for symbol in facts.symbols:
            self.oracle.declare(symbol.name, symbol.lo, symbol.hi)
        for cond in facts.equalities:
            self.oracle.assume(cond)
        for guard in facts.guards:
            # Kernels run behind the asserts of the program; a missed expect runs other kernels.
            if guard.kind is GuardKind.ASSERT:
                self.oracle.assume(guard.condition)
        self._equal: dict[tuple[Dim, Dim], bool] = {}
        self._at_hints: dict[Dim, int] = {}

    def equal(self, a: Dim, b: Dim) -> bool:
        """True when ``a == b`` in every run."""
        if a == b:
            return True
        if a.is_constant and b.is_constant:
            return False
        key = (a, b)
        known = self._equal.get(key)
        if known is None:
            known = self._equal[key] = self.oracle.holds(eq(a, b))
        return known

    def fits_int32(self, dim: Dim) -> bool:
        """True when ``dim`` is a 32-bit integer in every run."""
        return self.oracle.holds(le(dim, 2**31 - 1)) and self.oracle.holds(ge(dim, -(2**31)))

    def is_one(self, dim: Dim) -> bool:
        """True when ``dim`` is 1 in every run."""
        return self.equal(dim, const(1))

    def hint(self, dim: Dim) -> int:
        """Return the value of ``dim`` at the hints; 1 where it has none there."""
        value = self._at_hints.get(dim)
        if value is None:
            try:
                value = max(evaluate(dim, self._hints), 0)
            except IrError:
                value = 1
            self._at_hints[dim] = value
        return value
