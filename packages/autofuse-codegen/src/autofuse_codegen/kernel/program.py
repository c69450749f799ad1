"""Kernel programs: what a generated function does, as typed statements over typed expressions.

A kernel program is made once per target from a schedule and printed by an emitter; it decides nothing about fusion.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim


@frozen
class Name:
    """A variable."""

    text: str


@frozen
class Integer:
    """An integer literal."""

    value: int


@frozen
class Literal:
    """A literal of some element type, already spelled for the target language."""

    text: str


@frozen
class Size:
    """A symbolic size; its symbols are printed by the emitter's naming."""

    dim: Dim


@frozen
class Binary:
    """``left operator right``."""

    operator: str
    left: Expression
    right: Expression


@frozen
class Call:
    """``function<templates>(arguments)``."""

    function: str
    arguments: tuple[Expression, ...]
    templates: tuple[str, ...] = ()


@frozen
class Member:
    """``of.name``, or ``of->name`` where ``of`` is a pointer."""

    of: Expression
    name: str
    through_pointer: bool = False


@frozen
class Element:
    """``of[index]``."""

    of: Expression
    index: Expression


Expression: TypeAlias = Name | Integer | Literal | Size | Binary | Call | Member | Element


@frozen
class Declare:
    """``const type name = value;``"""

    type: str
    name: str
    value: Expression


@frozen
class Table:
    """``const type name[] = {values};``"""

    type: str
    name: str
    values: tuple[Expression, ...]


@frozen
class Variable:
    """``type name(arguments);``, a variable whose methods change it; ``constructor`` calls its type."""

    name: str
    constructor: Call


@frozen
class Evaluate:
    """An expression for its effect."""

    value: Expression


@frozen
class Comment:
    """A line of comment."""

    text: str


@frozen
class For:
    """``for (name = first; name < end; name += step) body``."""

    name: str
    first: Expression
    end: Expression
    step: Expression
    body: tuple[Statement, ...]


@frozen
class If:
    """``if (condition) body``."""

    condition: Expression
    body: tuple[Statement, ...]


class Walk(Enum):
    """How strips follow one another, by the function of the strip headers that runs them."""

    PLAIN = "af_walk_strips"
    BACK = "af_walk_back"
    """From the last strip to the first."""
    REDUCED = "af_walk_reduced"
    """The body gives each state one value a strip."""
    ROUNDS = "af_walk_rounds"
    """As REDUCED, with the states in registers for whole rounds of strips."""


@frozen
class State:
    """A reduction's state: the body of its strips calls it ``parameter``, what stands around them ``variable``."""

    parameter: str
    variable: str


@frozen
class Strips:
    """Walk ``count`` elements of the innermost axis in strips of ``lanes``, the rest as one tail.

    ``body`` reads the position of its strip as ``index`` and moves data through ``access``. ``streamed`` is the pointer
    whose alignment decides where strips that bypass the cache start, None where nothing is stored.
    """

    index: str
    access: str
    count: Expression
    lanes: str
    body: tuple[Statement, ...]
    streamed: Expression | None
    walk: Walk = Walk.PLAIN
    states: tuple[State, ...] = ()


@frozen
class Scope:
    """Statements whose declarations end with them."""

    body: tuple[Statement, ...]


Statement: TypeAlias = Declare | Table | Variable | Evaluate | Comment | For | If | Strips | Scope


@frozen
class Function:
    """A generated function of one tiling case: ``body`` runs for one ``block``."""

    name: str
    comment: tuple[str, ...]
    body: tuple[Statement, ...]
