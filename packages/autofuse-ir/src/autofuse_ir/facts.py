"""``autofuse.facts``: what is known about sizes, and the symbolic shape and content of every value."""

from enum import Enum
from typing import TypeAlias

from attrs import frozen

from autofuse_ir.dims import Cond, Dim
from autofuse_ir.dtypes import DType


@frozen
class InputDim:
    """A symbol bound from dim ``dim`` of input ``input`` at call time."""

    input: str
    dim: int


@frozen
class InputElement:
    """A symbol bound from element ``element`` (row-major) of the content of integer input ``input``."""

    input: str
    element: int


@frozen
class ResultDim:
    """An unbacked symbol, bound from dim ``dim`` of ``value`` once the host step that makes it has run."""

    value: str
    dim: int


@frozen
class ResultElement:
    """An unbacked symbol, bound from element ``element`` of integer ``value`` once the host step has made it."""

    value: str
    element: int


SymbolSource: TypeAlias = InputDim | InputElement | ResultDim | ResultElement


@frozen
class SymbolFact:
    """Range (inclusive), hint and source of a symbol. All sources of one symbol must agree at run time.

    ``sources`` is empty for a symbol the user fixed or that a derived relation eliminates.
    """

    name: str
    lo: int
    hi: int
    hint: int
    sources: tuple[SymbolSource, ...]


@frozen
class Divisible:
    """``dim`` is a multiple of ``divisor`` over the whole declared range."""

    dim: Dim
    divisor: int


class GuardKind(Enum):
    """``assert``: a miss is the user's error. ``expect``: a miss takes a more general precompiled variant."""

    ASSERT = "assert"
    EXPECT = "expect"


@frozen
class Guard:
    """A relation that could not be proved over the declared ranges and is checked at run time.

    ``operator`` is the node that needs it, ``message`` what to tell the user when it does not hold.
    """

    kind: GuardKind
    condition: Cond
    operator: str
    message: str


@frozen
class ValueFact:
    """Type, shape and, for shape arithmetic, the symbolic content of a value (row-major elements)."""

    name: str
    dtype: DType
    shape: tuple[Dim, ...] | None
    content: tuple[Dim, ...] | None = None


@frozen
class SymbolFacts:
    """Everything known about sizes.

    ``equalities`` are conditions that hold over the whole range (beyond what the ranges say).
    """

    symbols: tuple[SymbolFact, ...]
    values: tuple[ValueFact, ...]
    guards: tuple[Guard, ...] = ()
    equalities: tuple[Cond, ...] = ()
    divisible: tuple[Divisible, ...] = ()
