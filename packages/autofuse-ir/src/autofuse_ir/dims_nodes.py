"""The nodes of symbolic sizes: polynomials (`Dim`), the atoms they are made of, and conditions (`Cond`).

A `Dim` is a sum of integer multiples of products of atoms; an atom is a symbol or an operation a polynomial cannot
express (division, remainder, minimum, maximum, choice). Atoms and conditions are *interned*: two that are written
alike are one object. Equality is therefore shallow, and a size that shares sub-expressions many times over costs no
more to compare than a small one.

The classes here store what they are given. Use the constructors in `autofuse_ir.dims`, which normalise.
"""

import re
import threading
from collections.abc import Iterable
from hashlib import blake2b
from json import dumps
from operator import attrgetter, index
from typing import Any, ClassVar, Literal, NoReturn, Self, SupportsIndex, TypeAlias
from weakref import WeakValueDictionary

from autofuse_ir.errors import IrError

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
MAX_DEPTH = 200
"""Most operations that may stand inside one another."""
MAX_DEGREE = 64
"""Most factors in a product: the 64th power of anything but 0, 1 and -1 exceeds int64."""
MAX_TERMS = 4096
"""Most terms in one polynomial; an expanded product past this is a mistake or an attack."""
MAX_NAME = 1024
"""Most characters in a symbol's name."""

_LONGEST_LABEL = 120
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
RESERVED_WORDS = frozenset(
    ("and", "ceildiv", "false", "floordiv", "max", "min", "mod", "not", "or", "select", "true"),
)

SortKey: TypeAlias = tuple[int, str]
Monomial: TypeAlias = "tuple[Atom, ...]"
Term: TypeAlias = "tuple[Monomial, int]"
Relation: TypeAlias = Literal["==", "!=", "<=", "<"]


def quoted_name(name: str) -> str:
    """``name`` as the text form writes it: bare where it is an identifier, else in double quotes with escapes."""
    return name if _IDENTIFIER.match(name) and name not in RESERVED_WORDS else dumps(name)


class Node:
    """An interned, immutable atom or condition.

    ``key`` orders nodes of every kind, the same way in every process; ``depth`` counts the operations that stand
    inside one another and ``weight`` the words its text would take with every shared part written out.
    """

    __slots__ = ("__weakref__", "depth", "key", "weight")
    key: SortKey
    depth: int
    weight: int

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def sort_key(self) -> SortKey:
        """A key that orders nodes totally and deterministically."""
        return self.key


# The table changes nothing one can observe except identity, which is what makes equality shallow. Weak, so that sizes
# no longer in use are freed; locked, so that two threads never make two nodes of one key.
_TABLE: "WeakValueDictionary[SortKey, Node]" = WeakValueDictionary()
_LOCK = threading.Lock()


def _intern(cls: type[Node], key: SortKey, parts: "tuple[Dim | Cond, ...]", **fields: object) -> Any:
    rank, label = key
    if len(label) > _LONGEST_LABEL:
        # A digest keeps keys short where sharing would make the written form exponentially long.
        label = label[:24] + "#" + blake2b(label.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        key = (rank, label)
    node = _TABLE.get(key)
    if node is not None:
        return node
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise IrError(
            f"a size nests more than {MAX_DEPTH} operations",
            where=label[:24] + "...",
            fix="name an intermediate size with a symbol of its own",
        )
    with _LOCK:
        node = _TABLE.get(key)
        if node is None:
            node = object.__new__(cls)
            object.__setattr__(node, "key", key)
            object.__setattr__(node, "depth", depth)
            object.__setattr__(node, "weight", 1 + sum(part.weight for part in parts))
            for name, value in fields.items():
                object.__setattr__(node, name, value)
            _TABLE[key] = node
    return node


class Atom(Node):
    """What a polynomial cannot take apart. One of `AnyAtom`."""

    __slots__ = ()

    @property
    def dim(self) -> "Dim":
        """The polynomial that is this atom alone."""
        return _dim((((self,), 1),))


class Symbol(Atom):
    """A named integer, known at run time."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Self:
        """Intern the symbol; raises `IrError` when the name is empty or too long."""
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            raise IrError(f"a symbol's name must be a string of 1 to {MAX_NAME} characters, not {str(name)[:40]!r}")
        node: Self = _intern(cls, (0, quoted_name(name)), (), name=name)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)


class Binary(Atom):
    """An operation on two sizes."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    rank: ClassVar[int]
    left: "Dim"
    right: "Dim"

    def __new__(cls, left: "Dim", right: "Dim") -> Self:
        """Intern the operation as given."""
        key = (cls.rank, f"{cls.__name__}({left.label()},{right.label()})")
        node: Self = _intern(cls, key, (left, right), left=left, right=right)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.left, self.right)


class FloorDiv(Binary):
    """``left / right`` rounded towards minus infinity."""

    __slots__ = ()
    rank = 1


class CeilDiv(Binary):
    """``left / right`` rounded towards plus infinity."""

    __slots__ = ()
    rank = 2


class Mod(Binary):
    """``left - right * (left // right)``: the remainder, with the divisor's sign."""

    __slots__ = ()
    rank = 3


class Extremum(Atom):
    """The least or the greatest of two sizes or more."""

    __slots__ = ("operands",)
    __match_args__ = ("operands",)
    rank: ClassVar[int]
    operands: "tuple[Dim, ...]"

    def __new__(cls, operands: "tuple[Dim, ...]") -> Self:
        """Intern the operation as given."""
        key = (cls.rank, f"{cls.__name__}({','.join([dim.label() for dim in operands])})")
        node: Self = _intern(cls, key, operands, operands=operands)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.operands,)


class Min(Extremum):
    """The least operand."""

    __slots__ = ()
    rank = 4


class Max(Extremum):
    """The greatest operand."""

    __slots__ = ()
    rank = 5


class Select(Atom):
    """``if_true`` where ``cond`` holds, else ``if_false``; the arm not chosen is not evaluated."""

    __slots__ = ("cond", "if_false", "if_true")
    __match_args__ = ("cond", "if_true", "if_false")
    cond: "Cond"
    if_true: "Dim"
    if_false: "Dim"

    def __new__(cls, cond: "Cond", if_true: "Dim", if_false: "Dim") -> Self:
        """Intern the choice as given."""
        key = (6, f"Select({cond.key[1]},{if_true.label()},{if_false.label()})")
        node: Self = _intern(cls, key, (cond, if_true, if_false), cond=cond, if_true=if_true, if_false=if_false)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cond, self.if_true, self.if_false)


AnyAtom: TypeAlias = Symbol | FloorDiv | CeilDiv | Mod | Min | Max | Select


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
        from autofuse_ir.dims_text import text_or_excerpt

        return text_or_excerpt(self)

    def __repr__(self) -> str:
        return f"Cond({str(self)!r})"


_RELATION_RANK: dict[Relation, int] = {"==": 10, "<=": 11, "<": 12, "!=": 13}


class Compare(Cond):
    """``left relation right``, with every term on the side where its coefficient is positive."""

    __slots__ = ("left", "relation", "right")
    __match_args__ = ("relation", "left", "right")
    relation: Relation
    left: "Dim"
    right: "Dim"

    def __new__(cls, relation: Relation, left: "Dim", right: "Dim") -> Self:
        """Intern the comparison as given."""
        key = (_RELATION_RANK[relation], f"{left.label()}{relation}{right.label()}")
        node: Self = _intern(cls, key, (left, right), relation=relation, left=left, right=right)
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
        node: Self = _intern(cls, key, operands, operands=operands)
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

_atom_key = attrgetter("key")


def _term_key(term: Term) -> tuple[int, list[SortKey]]:
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
    __array_ufunc__ = None  # NumPy integers on the left leave the operation to us
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
    def atom(self) -> AnyAtom | None:
        """The atom this size consists of, or ``None`` where there is more (or less) to it."""
        terms = self.terms
        if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1:
            atom: Any = terms[0][0][0]
            found: AnyAtom = atom
            return found
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

    def sort_key(self) -> tuple[tuple[int, list[SortKey], int], ...]:
        """A key that orders sizes totally and deterministically."""
        return tuple([(*_term_key(term), term[1]) for term in self.terms])

    def __str__(self) -> str:
        from autofuse_ir.dims_text import text_or_excerpt

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
        from autofuse_ir.dims_divide import floordiv

        right = _operand(other)
        return NotImplemented if right is None else floordiv(self, right)

    def __rfloordiv__(self, other: SupportsIndex) -> "Dim":
        left = _operand(other)
        return NotImplemented if left is None else left // self

    def __mod__(self, other: "Dim | SupportsIndex") -> "Dim":
        from autofuse_ir.dims_divide import mod

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


def const(value: SupportsIndex) -> Dim:
    """The size that is always ``value``; raises `IrError` outside int64."""
    number = index(value)
    if not INT64_MIN <= number <= INT64_MAX:
        raise IrError(f"{number} does not fit into int64", fix="sizes are signed 64-bit integers")
    return _dim((((), number),)) if number else _ZERO


_ZERO = _dim(())


def symbol(name: str) -> Dim:
    """The size called ``name``: any non-empty string, quoted in text where it is not an identifier."""
    return Symbol(name).dim


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
        if not INT64_MIN <= new <= INT64_MAX:
            raise _coefficient_overflow(new)
    return _dim(terms)


def polynomial(terms: Iterable[Term]) -> Dim:
    """The sum of ``terms`` (sorted monomials), in normal form; raises `IrError` when a coefficient leaves int64."""
    return _sum_of((), tuple(terms))


def _sum_of(left: tuple[Term, ...], right: tuple[Term, ...]) -> Dim:
    totals = dict(left)
    for monomial, factor in right:
        totals[monomial] = totals.get(monomial, 0) + factor
    return _ordered(totals)


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
        if not INT64_MIN <= factor <= INT64_MAX:
            raise _coefficient_overflow(factor)
    if len(terms) > 1:
        terms.sort(key=_term_key)
        if len(terms) > MAX_TERMS:
            raise _too_many_terms()
    if terms and len(terms[0][0]) > MAX_DEGREE:
        raise IrError(f"a size multiplies more than {MAX_DEGREE} factors", fix="split the product with a symbol")
    return _dim(tuple(terms))


def _coefficient_overflow(factor: int) -> IrError:
    return IrError(f"the coefficient {factor} does not fit into int64", fix="sizes are signed 64-bit integers")


def _too_many_terms() -> IrError:
    return IrError(f"a size expands to more than {MAX_TERMS} terms", fix="name a factor with a symbol of its own")
