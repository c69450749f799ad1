"""The parser of the text form of sizes (grammar in `autofuse_ir.dims_text`).

A closed grammar, never Python's own: text from a file cannot run anything. Operators are reduced on explicit stacks,
so that nesting is limited by a rule with a message and not by the interpreter.
"""

import re
from collections.abc import Callable
from json import loads
from typing import Final, TypeAlias

from autofuse_ir import dims_choose, dims_conds, dims_divide
from autofuse_ir.dims_atoms import MAX_DEPTH, symbol
from autofuse_ir.dims_conds import FALSE, TRUE, Cond
from autofuse_ir.dims_polynomial import Dim, const
from autofuse_ir.errors import IrError

MAX_TEXT = 65536
"""Most characters the parser reads."""
MAX_PARENTHESES = 2 * MAX_DEPTH + 16
"""Most open parentheses at once: the deepest size takes two for each operation."""

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[0-9]+)
      | (?P<word>[A-Za-z_][A-Za-z0-9_.]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark>//|==|!=|<=|>=|[-+*%<>(),])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)

# int stands for a literal that no operator has touched yet: 9223372036854775808 is legal after a minus.
Value: TypeAlias = Dim | Cond | int

_BINDING: Final = {
    "or": 1,
    "and": 2,
    "not": 3,
    "==": 4,
    "!=": 4,
    "<=": 4,
    "<": 4,
    ">=": 4,
    ">": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "//": 6,
    "%": 6,
    "negative": 7,
}
_ARITHMETIC: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "//": dims_divide.floordiv,
    "%": dims_divide.mod,
}
_RELATIONS: Final[dict[str, Callable[[Dim, Dim], Cond]]] = {
    "==": dims_conds.equal,
    "!=": dims_conds.unequal,
    "<=": dims_conds.at_most,
    "<": dims_conds.below,
    ">=": lambda left, right: dims_conds.at_most(right, left),
    ">": lambda left, right: dims_conds.below(right, left),
}
_JUNCTIONS: Final[dict[str, Callable[..., Cond]]] = {"and": dims_conds.all_of, "or": dims_conds.any_of}
_TWO_OPERANDS: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "floordiv": dims_divide.floordiv,
    "ceildiv": dims_divide.ceildiv,
    "mod": dims_divide.mod,
}
_MANY_OPERANDS: Final[dict[str, Callable[[tuple[Dim, ...]], Dim]]] = {
    "min": dims_choose.least,
    "max": dims_choose.greatest,
}
_FUNCTIONS: Final = frozenset((*_TWO_OPERANDS, *_MANY_OPERANDS, "select"))


def parse_dim(text: str) -> Dim:
    """The size ``text`` describes; raises `IrError` with the position where it is malformed."""
    parser = _Parser(text)
    return parser.dim(parser.parse(), 0)


def parse_cond(text: str) -> Cond:
    """The condition ``text`` describes; raises `IrError` with the position where it is malformed."""
    parser = _Parser(text)
    return parser.cond(parser.parse(), 0)


class _Parser:
    """One reading of one text: a stack of values, and a stack of operators and open parentheses with positions."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise IrError(f"a size expression of {len(text)} characters", fix=f"the limit is {MAX_TEXT} characters")
        self.text = text
        self.position = 0
        self.values: list[Value] = []
        self.operators: list[tuple[str, int]] = []
        self.open: list[tuple[str, int]] = []  # (function name or "", how many values were there before)

    def error(self, what: str, position: int) -> IrError:
        excerpt = self.text[max(0, position - 20) : position + 20]
        return IrError(
            what,
            where=f"size expression, column {position + 1}, near {excerpt!r}",
            fix="sizes look like '2*n + 1', 'ceildiv(n, 32)' or 'select(n == 1, m, n)'",
        )

    def dim(self, value: Value, position: int) -> Dim:
        if isinstance(value, int):
            try:
                return const(value)
            except IrError as error:
                raise self.error(error.what, position) from None
        if isinstance(value, Cond):
            raise self.error("a condition stands where a size is expected", position)
        return value

    def cond(self, value: Value, position: int) -> Cond:
        if not isinstance(value, Cond):
            raise self.error("a size stands where a condition is expected", position)
        return value

    def next_token(self) -> tuple[str, str, int]:
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            rest = self.text[self.position :]
            at = self.position + len(rest) - len(rest.lstrip())
            raise self.error(f"unexpected character {self.text[at]!r}", at)
        self.position = match.end()
        return match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)

    def parse(self) -> Value:
        while True:
            self.read_operand()
            if self.read_operators():
                return self.values.pop()

    def read_operand(self) -> None:
        """Read prefix operators, opening parentheses and one value."""
        while True:
            kind, token, at = self.next_token()
            if kind == "number":
                if len(token) > 19:
                    raise self.error(f"{token[:24]}... does not fit into int64", at)
                self.values.append(int(token))
            elif kind == "string":
                self.values.append(symbol(self.unquoted(token, at)))
            elif kind == "word" and token in _FUNCTIONS:
                kind, mark, mark_at = self.next_token()
                if mark != "(" or kind != "mark":
                    raise self.error(f"{token} is a function and takes parentheses; quote it to name a symbol", mark_at)
                self.push_open(token, at)
                continue
            elif kind == "word" and token == "not":
                self.operators.append((token, at))
                continue
            elif kind == "word" and token in ("true", "false"):
                self.values.append(TRUE if token == "true" else FALSE)
            elif kind == "word" and token not in _BINDING:
                self.values.append(symbol(token))
            elif token == "-" and kind == "mark":
                self.operators.append(("negative", at))
                continue
            elif token == "(" and kind == "mark":
                self.push_open("", at)
                continue
            else:
                found = "the end" if kind == "end" else repr(token)
                raise self.error(f"a size or condition is expected, not {found}", at)
            return

    def unquoted(self, token: str, at: int) -> str:
        try:
            name = loads(token)
        except ValueError:
            raise self.error("a quoted name with a malformed escape", at) from None
        if not isinstance(name, str) or not name:
            raise self.error("an empty name", at)
        return name

    def push_open(self, function: str, at: int) -> None:
        if len(self.open) >= MAX_PARENTHESES:
            raise self.error(f"more than {MAX_PARENTHESES} open parentheses", at)
        self.open.append((function, len(self.values)))
        self.operators.append(("(", at))

    def read_operators(self) -> bool:
        """Read closing parentheses up to the next infix operator or comma; true at the end of the text."""
        while True:
            kind, token, at = self.next_token()
            if kind == "end":
                self.reduce_above(0)
                if self.operators:
                    raise self.error("a parenthesis is never closed", self.operators[-1][1])
                return True
            if token == ")" and kind == "mark":
                self.close(at)
                continue
            if token == "," and kind == "mark":
                self.reduce_above(0)
                if not self.open or not self.open[-1][0]:
                    raise self.error("a comma outside a function's parentheses", at)
                return False
            binding = _BINDING.get(token) if kind in ("mark", "word") else None
            if binding is None or token in ("not", "negative"):
                raise self.error(f"an operator is expected, not {token[:24]!r}", at)
            # A chain of one connective waits until its end, to be joined in one step.
            self.reduce_above(binding if token in _JUNCTIONS else binding - 1)
            self.operators.append((token, at))
            return False

    def close(self, at: int) -> None:
        self.reduce_above(0)
        if not self.open:
            raise self.error("a parenthesis is closed that was never opened", at)
        function, below = self.open.pop()
        _, opened_at = self.operators.pop()
        if function:
            arguments = self.values[below:]
            del self.values[below:]
            self.values.append(self.call(function, arguments, opened_at))

    def call(self, function: str, arguments: list[Value], at: int) -> Dim:
        wanted = 3 if function == "select" else 2 if function in _TWO_OPERANDS else len(arguments)
        if len(arguments) != wanted:
            raise self.error(f"{function} takes {wanted} arguments, not {len(arguments)}", at)
        try:
            if function == "select":
                cond, if_true, if_false = arguments
                return dims_choose.select(self.cond(cond, at), self.dim(if_true, at), self.dim(if_false, at))
            dims = [self.dim(argument, at) for argument in arguments]
            if function in _TWO_OPERANDS:
                return _TWO_OPERANDS[function](*dims)
            return _MANY_OPERANDS[function](tuple(dims))
        except IrError as error:
            raise error if error.where.startswith("size expression") else self.error(error.what, at) from error

    def reduce_above(self, binding: int) -> None:
        """Apply the operators on the stack that bind tighter than ``binding``, down to the last parenthesis."""
        while self.operators:
            operator, at = self.operators[-1]
            if operator == "(" or _BINDING[operator] <= binding:
                return
            self.operators.pop()
            try:
                self.apply(operator, at)
            except IrError as error:
                raise error if error.where.startswith("size expression") else self.error(error.what, at) from error

    def apply(self, operator: str, at: int) -> None:
        right = self.values.pop()
        if operator == "negative":
            self.values.append(-right if isinstance(right, int) else -self.dim(right, at))
        elif operator == "not":
            self.values.append(dims_conds.negate(self.cond(right, at)))
        else:
            left = self.values.pop()
            if operator in _JUNCTIONS:
                joined = [self.cond(right, at), self.cond(left, at)]
                while self.operators and self.operators[-1][0] == operator:
                    joined.append(self.cond(self.values.pop(), self.operators.pop()[1]))
                self.values.append(_JUNCTIONS[operator](*joined))
            elif operator in _RELATIONS:
                self.values.append(_RELATIONS[operator](self.dim(left, at), self.dim(right, at)))
            else:
                self.values.append(_ARITHMETIC[operator](self.dim(left, at), self.dim(right, at)))
