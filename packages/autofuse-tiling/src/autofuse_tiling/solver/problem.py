"""What the solver is given and what it answers.

A :class:`Problem` is one tiling case. Its expressions read ``values``: the symbols in their order, then the variables
in theirs; :meth:`Problem.index` maps names to positions. What each part means: ALGORITHM.md.
"""

from enum import IntEnum

from attrs import frozen

from autofuse_tiling.solver.bytecode import Expression, Kind, flaw
from autofuse_tiling.solver.errors import TilingError

MOST_VARIABLES = 16
MOST_CONSTRAINTS = 16
MOST_PIPES = 16


class Group(IntEnum):
    """What a variable or a constraint is about; the numbers are those of ``AfTilingGroup``."""

    LOCAL = 0
    BLOCK = 1


class Status(IntEnum):
    """Result of a solve; the numbers are those of ``AfTilingStatus``."""

    SOLVED = 0
    BAD_MODEL = 1
    BOUNDS = 2  # an upper bound lies under its lower bound
    LOCAL_MEMORY = 3  # even the smallest tiles break a local constraint
    BLOCKS = 4  # even the most iterations per block break a block constraint


@frozen
class Variable:
    """A size to choose: ``lower <= name <= upper``, a multiple of ``alignment`` or equal to ``upper``.

    ``priority`` 0 is the most important and shrunk last; equal priorities shrink in lockstep.
    """

    name: str
    lower: Expression
    upper: Expression
    alignment: int = 1
    priority: int = 0
    group: Group = Group.LOCAL


@frozen
class Constraint:
    """``usage <= limit``; a local one reads no block variable."""

    name: str
    usage: Expression
    limit: Expression
    group: Group = Group.LOCAL


@frozen
class Pipe:
    """Predicted time of one pipe in the busiest block, in the caller's unit."""

    name: str
    cost: Expression


@frozen
class Problem:
    """Variables, constraints and the cost ``head + max(pipes)`` of one tiling case."""

    symbols: tuple[str, ...]
    variables: tuple[Variable, ...]
    constraints: tuple[Constraint, ...]
    head: Expression
    pipes: tuple[Pipe, ...]

    def __attrs_post_init__(self) -> None:
        flaws = [f"{name}: {text}" for name, text in self._flaws()]
        if flaws:
            raise TilingError("; ".join(flaws), where="tiling problem", fix="correct the named expressions")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values, in the order in which expressions count them."""
        return self.symbols + tuple(variable.name for variable in self.variables)

    def index(self) -> dict[str, int]:
        """Return the position of every symbol and variable in ``values``."""
        return {name: at for at, name in enumerate(self.names)}

    def expressions(self) -> tuple[tuple[str, Expression, Kind], ...]:
        """Return every expression with its name and the kind it must have, in the order of the bytecode."""
        bounds = [
            (f"{word} bound of {variable.name}", expression, Kind.INTEGER)
            for variable in self.variables
            for word, expression in (("lower", variable.lower), ("upper", variable.upper))
        ]
        limits = [
            (f"{word} of {constraint.name}", expression, Kind.INTEGER)
            for constraint in self.constraints
            for word, expression in (("usage", constraint.usage), ("limit", constraint.limit))
        ]
        costs = [(f"pipe {pipe.name}", pipe.cost, Kind.REAL) for pipe in self.pipes]
        return (*bounds, *limits, ("head", self.head, Kind.REAL), *costs)

    def _flaws(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        counts = (
            ("variables", len(self.variables), MOST_VARIABLES),
            ("constraints", len(self.constraints), MOST_CONSTRAINTS),
            ("pipes", len(self.pipes), MOST_PIPES),
        )
        found += [(what, f"{count} of at most {most}") for what, count, most in counts if count > most]
        if len(set(self.names)) != len(self.names):
            found.append(("names", "a name is used twice"))
        found += [(v.name, f"alignment {v.alignment} is under 1") for v in self.variables if v.alignment < 1]
        for name, expression, kind in self.expressions():
            text = flaw(expression, len(self.names))
            if expression.kind is not kind:
                text = f"is of kind {expression.kind.value}, not {kind.value}"
            if text is not None:
                found.append((name, text))
        return found


@frozen
class Outcome:
    """Answer of the solver.

    ``tiles`` are the variables of case ``model``, in their order (empty unless solved); ``cost`` the predicted time;
    ``blocks`` the usage of the first block constraint (1 where there is none). ``where`` names the variable (BOUNDS) or
    constraint (LOCAL_MEMORY, BLOCKS) by index. ``evaluations`` counts requests for usages or costs over all cases.
    """

    status: Status
    where: int
    model: int
    tiles: tuple[int, ...]
    cost: float
    blocks: int
    evaluations: int


@frozen
class Ranked:
    """A tiling that the solver compared with others: variables of case ``model``, its cost, and its blocks."""

    model: int
    tiles: tuple[int, ...]
    cost: float
    blocks: int
