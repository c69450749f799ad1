"""`Dim`: a symbolic size, as a polynomial with int64 coefficients over atoms, in normal form.

Atoms are in `autofuse_ir.dims_atoms`; here they are opaque but for the key that orders them.
"""

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter, index
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias

from autofuse_ir.errors import IrError

if TYPE_CHECKING:
    from autofuse_ir.dims_atoms import AnyAtom, Atom, SortKey

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
MAX_DEGREE = 64
"""Most factors in a product: the 64th power of anything but 0, 1 and -1 exceeds int64."""
MAX_TERMS = 1024
"""Most terms in one polynomial; an expanded product past this is a mistake or an attack."""

Monomial: TypeAlias = "tuple[Atom, ...]"
Term: TypeAlias = "tuple[Monomial, int]"

_atom_key = attrgetter("key")


def term_key(term: Term) -> "tuple[int, list[SortKey]]":
    """What terms are ordered by: highest degree first, then their atoms."""
    monomial = term[0]
    return -len(monomial), [atom.key for atom in monomial]


class Dim:
    """A symbolic size: a polynomial with int64 coefficients over atoms, in normal form.

    ``terms`` holds (monomial, coefficient) pairs, highest degree first, without zero coefficients; a monomial is the
    sorted tuple of its atoms, one entry per power. Equality is structural, and a constant equals the ``int`` it holds.
    ``+ - * // %`` take a `Dim` or an integer on either side; ``//`` and ``%`` round as Python's do.
    """

    __slots__ = ("terms",)
    __match_args__ = ("terms",)
    terms: tuple[Term, ...]

    def __init__(self) -> None:
        raise TypeError("make sizes with const(), symbol() or as_dim()")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("Dim is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("Dim is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return polynomial, (self.terms,)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self is other or self.terms == other.terms
        if isinstance(other, int):
            return self.constant_value == other
        return NotImplemented

    def __hash__(self) -> int:
        value = self.constant_value
        return hash(self.terms) if value is None else hash(value)

    def __bool__(self) -> NoReturn:
        raise TypeError("a symbolic size has no truth value; compare it, or use .constant_value")

    @property
    def is_constant(self) -> bool:
        """Whether the size depends on no symbol."""
        return self.constant_value is not None

    @property
    def constant_value(self) -> int | None:
        """The integer this size is, or ``None`` where it depends on symbols."""
        terms = self.terms
        if not terms:
            return 0
        return terms[0][1] if not terms[0][0] else None

    @property
    def offset(self) -> int:
        """The constant term."""
        terms = self.terms
        return terms[-1][1] if terms and not terms[-1][0] else 0

    @property
    def atom(self) -> "AnyAtom | None":
        """The atom this size consists of, or ``None`` where there is more (or less) to it."""
        terms = self.terms
        if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1:
            atom: Any = terms[0][0][0]
            return atom  # type: ignore[no-any-return] # Atom's subclasses are AnyAtom, which mypy cannot know
        return None

    @property
    def depth(self) -> int:
        """How many operations stand inside one another."""
        return max([atom.depth for monomial, _ in self.terms for atom in monomial], default=0)

    @property
    def weight(self) -> int:
        """How many words the text form takes with every shared part written out."""
        return sum([1 + sum([atom.weight for atom in monomial]) for monomial, _ in self.terms])

    def label(self) -> str:
        """A short string that is the same for equal sizes only."""
        parts = ["*".join([str(factor), *[atom.key[1] for atom in monomial]]) for monomial, factor in self.terms]
        return "+".join(parts)

    def sort_key(self) -> "tuple[tuple[int, list[SortKey], int], ...]":
        """A key that orders sizes totally and deterministically."""
        # Zero sorts with the other constants, behind everything that depends on symbols.
        return tuple([(*term_key(term), term[1]) for term in self.terms or (((), 0),)])

    def __str__(self) -> str:
        from autofuse_ir.dims_text import text_or_excerpt  # noqa: PLC0415 (text is built on sizes)

        return text_or_excerpt(self)

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    def __add__(self, other: "Dim | SupportsIndex") -> "Dim":
        right = _operand(other)
        if right is None:
            return NotImplemented
        if not right.terms:
            return self
        if not self.terms:
            return right
        return _sum_of(self.terms, right.terms)

    __radd__ = __add__

    def __neg__(self) -> "Dim":
        return scaled(self, -1)

    def __pos__(self) -> "Dim":
        return self

    def __sub__(self, other: "Dim | SupportsIndex") -> "Dim":
        right = _operand(other)
        if right is None:
            return NotImplemented
        # Negated without the range check: -INT64_MIN may well cancel.
        return _sum_of(self.terms, tuple([(monomial, -factor) for monomial, factor in right.terms]))

    def __rsub__(self, other: SupportsIndex) -> "Dim":
        left = _operand(other)
        return NotImplemented if left is None else left - self

    def __mul__(self, other: "Dim | SupportsIndex") -> "Dim":
        right = _operand(other)
        if right is None:
            return NotImplemented
        factor = right.constant_value
        if factor is not None:
            return scaled(self, factor)
        factor = self.constant_value
        if factor is not None:
            return scaled(right, factor)
        return _product_of(self, right)

    __rmul__ = __mul__

    def __floordiv__(self, other: "Dim | SupportsIndex") -> "Dim":
        from autofuse_ir.dims_divide import floordiv  # noqa: PLC0415 (division is built on sizes)

        right = _operand(other)
        return NotImplemented if right is None else floordiv(self, right)

    def __rfloordiv__(self, other: SupportsIndex) -> "Dim":
        left = _operand(other)
        return NotImplemented if left is None else left // self

    def __mod__(self, other: "Dim | SupportsIndex") -> "Dim":
        from autofuse_ir.dims_divide import mod  # noqa: PLC0415 (division is built on sizes)

        right = _operand(other)
        return NotImplemented if right is None else mod(self, right)

    def __rmod__(self, other: SupportsIndex) -> "Dim":
        left = _operand(other)
        return NotImplemented if left is None else left % self


_new = object.__new__
_set_terms = Dim.__dict__["terms"].__set__


def _dim(terms: tuple[Term, ...]) -> Dim:
    made = _new(Dim)
    _set_terms(made, terms)
    return made


def single(atom: "Atom") -> Dim:
    """The polynomial that is ``atom`` alone."""
    return _dim((((atom,), 1),))


def const(value: SupportsIndex) -> Dim:
    """The size that is always ``value``; raises `IrError` outside int64."""
    number = index(value)
    if not INT64_MIN <= number <= INT64_MAX:
        raise IrError(f"{number} does not fit into int64", fix="sizes are signed 64-bit integers")
    return _dim((((), number),)) if number else _ZERO


_ZERO = _dim(())


def _operand(value: "Dim | SupportsIndex") -> Dim | None:
    if isinstance(value, Dim):
        return value
    try:
        return const(value)
    except TypeError:
        return None


def scaled(dim: Dim, factor: int) -> Dim:
    """``factor * dim``; raises `IrError` when a coefficient leaves int64."""
    if factor == 1:
        return dim
    if factor == 0:
        return _ZERO
    terms = tuple([(monomial, factor * old) for monomial, old in dim.terms])
    for _, new in terms:
        _int64_coefficient(new)
    return _dim(terms)


def polynomial(terms: Iterable[Term]) -> Dim:
    """The sum of ``terms`` (sorted monomials), in normal form; raises `IrError` when a coefficient leaves int64."""
    return _sum_of((), tuple(terms))


def _sum_of(left: tuple[Term, ...], right: tuple[Term, ...]) -> Dim:
    if len(right) == 1 and len(left) > 2:
        return _with_term(left, right[0])
    totals = dict(left)
    for monomial, factor in right:
        totals[monomial] = totals.get(monomial, 0) + factor
    return _ordered(totals)


def _with_term(terms: tuple[Term, ...], added: Term) -> Dim:
    """A long sum and one term: found by comparison, placed by bisection, so that growing sums stay cheap."""
    monomial, factor = added
    for place, (known, old) in enumerate(terms):
        if known == monomial:
            new = _int64_coefficient(old + factor)
            return _dim((*terms[:place], *(((monomial, new),) if new else ()), *terms[place + 1 :]))
    if len(terms) == MAX_TERMS:
        raise _too_many_terms()
    _int64_coefficient(factor)
    place = bisect_left(terms, term_key(added), key=term_key)
    return _dim((*terms[:place], added, *terms[place:]))


def _product_of(left: Dim, right: Dim) -> Dim:
    if len(left.terms) * len(right.terms) > MAX_TERMS * 16:
        raise _too_many_terms()
    totals: dict[Monomial, int] = {}
    for monomial, factor in left.terms:
        for other, by in right.terms:
            merged = tuple(sorted(monomial + other, key=_atom_key)) if monomial and other else monomial or other
            totals[merged] = totals.get(merged, 0) + factor * by
    return _ordered(totals)


def _ordered(totals: dict[Monomial, int]) -> Dim:
    terms = [term for term in totals.items() if term[1]]
    for _, factor in terms:
        _int64_coefficient(factor)
    if len(terms) > 1:
        terms.sort(key=term_key)
        if len(terms) > MAX_TERMS:
            raise _too_many_terms()
    if terms and len(terms[0][0]) > MAX_DEGREE:
        raise IrError(f"a size multiplies more than {MAX_DEGREE} factors", fix="split the product with a symbol")
    return _dim(tuple(terms))


def _int64_coefficient(factor: int) -> int:
    if INT64_MIN <= factor <= INT64_MAX:
        return factor
    raise IrError(f"the coefficient {factor} does not fit into int64", fix="sizes are signed 64-bit integers")


def _too_many_terms() -> IrError:
    return IrError(f"a size expands to more than {MAX_TERMS} terms", fix="name a factor with a symbol of its own")
