"""What a program asserts about sizes: conditions, looked up as they stand, by an alternative, or by a symbol."""

from autofuse_ir.dims import AnyOf, Cond, free_symbols
from autofuse_ir.dims_walk import as_node


class Asserted:
    """Conditions that hold in every run that gets past them."""

    def __init__(self) -> None:
        self._true: dict[Cond, None] = {}
        self._clauses: dict[Cond, list[AnyOf]] = {}
        self._mentions: dict[str, dict[Cond, None]] = {}

    def __contains__(self, cond: Cond) -> bool:
        return cond in self._true

    def add(self, cond: Cond) -> None:
        """Add a condition that is no conjunction."""
        if cond.is_constant:
            return
        self._true[cond] = None
        for name in free_symbols(cond):
            self._mentions.setdefault(name, {})[cond] = None
        node = as_node(cond)
        if isinstance(node, AnyOf):
            for operand in node.operands:
                self._clauses.setdefault(operand, []).append(node)

    def clauses_with(self, alternative: Cond) -> tuple[AnyOf, ...]:
        """Return the disjunctions of which ``alternative`` is one operand."""
        return tuple(self._clauses.get(alternative, ()))

    def take_mentions(self, symbol: str) -> tuple[Cond, ...]:
        """Return the conditions that speak of ``symbol``, once: they are to be added again without it."""
        return tuple(self._mentions.pop(symbol, ()))
