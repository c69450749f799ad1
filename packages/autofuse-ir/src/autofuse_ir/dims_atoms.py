"""The atoms of symbolic sizes, and how they are interned.

An atom is a symbol or an operation a polynomial cannot express: division, remainder, minimum, maximum, choice. Atoms
and conditions are *interned*: two that are written alike are one object. Equality is therefore shallow, and a size
that shares sub-expressions many times over costs no more to compare than a small one.

The classes here store what they are given. Use the constructors in `autofuse_ir.dims`, which normalise.
"""

import re
import threading
from hashlib import blake2b
from json import dumps
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias
from weakref import WeakValueDictionary

from autofuse_ir.dims_polynomial import Dim, single
from autofuse_ir.errors import IrError

if TYPE_CHECKING:
    from autofuse_ir.dims_conds import Cond

MAX_DEPTH = 200
"""Most operations that may stand inside one another."""
MAX_NAME = 1024
"""Most characters in a symbol's name."""

_LONGEST_LABEL = 120
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
RESERVED_WORDS = frozenset(
    ("and", "ceildiv", "false", "floordiv", "max", "min", "mod", "not", "or", "select", "true"),
)

SortKey: TypeAlias = tuple[int, str]


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


def intern(cls: type[Node], key: SortKey, parts: "tuple[Dim | Cond, ...]", **fields: object) -> Any:
    """The one node of ``cls`` called ``key``, made of ``fields`` where there is none yet.

    ``key`` must name the class and every part; raises `IrError` past `MAX_DEPTH`.
    """
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
    def dim(self) -> Dim:
        """The polynomial that is this atom alone."""
        return single(self)


class Symbol(Atom):
    """A named integer, known at run time."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Self:
        """Intern the symbol; raises `IrError` when the name is empty or too long."""
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            raise IrError(f"a symbol's name must be a string of 1 to {MAX_NAME} characters, not {str(name)[:40]!r}")
        node: Self = intern(cls, (0, quoted_name(name)), (), name=name)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)


class Binary(Atom):
    """An operation on two sizes."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    rank: ClassVar[int]
    left: Dim
    right: Dim

    def __new__(cls, left: Dim, right: Dim) -> Self:
        """Intern the operation as given."""
        key = (cls.rank, f"{cls.__name__}({left.label()},{right.label()})")
        node: Self = intern(cls, key, (left, right), left=left, right=right)
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
    operands: tuple[Dim, ...]

    def __new__(cls, operands: tuple[Dim, ...]) -> Self:
        """Intern the operation as given."""
        key = (cls.rank, f"{cls.__name__}({','.join([dim.label() for dim in operands])})")
        node: Self = intern(cls, key, operands, operands=operands)
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
    if_true: Dim
    if_false: Dim

    def __new__(cls, cond: "Cond", if_true: Dim, if_false: Dim) -> Self:
        """Intern the choice as given."""
        key = (6, f"Select({cond.key[1]},{if_true.label()},{if_false.label()})")
        node: Self = intern(cls, key, (cond, if_true, if_false), cond=cond, if_true=if_true, if_false=if_false)
        return node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cond, self.if_true, self.if_false)


AnyAtom: TypeAlias = Symbol | FloorDiv | CeilDiv | Mod | Min | Max | Select


def symbol(name: str) -> Dim:
    """The size called ``name``: any non-empty string, quoted in text where it is not an identifier."""
    return Symbol(name).dim
