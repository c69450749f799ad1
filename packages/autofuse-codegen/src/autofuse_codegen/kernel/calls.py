"""Which functions a kernel program calls to make values."""

from collections.abc import Iterator
from typing import assert_never

from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Comment,
    Declare,
    Element,
    Evaluate,
    Expression,
    For,
    If,
    Integer,
    Literal,
    Member,
    Name,
    Scope,
    Size,
    Statement,
    Strips,
    Table,
    Variable,
)


def calls(body: tuple[Statement, ...]) -> Iterator[str]:
    """Yield the functions that declared and evaluated expressions of ``body`` call, as often as they do.

    Bounds and conditions of loops are left out: they are arithmetic of sizes, which every kernel can do.
    """
    for statement in body:
        match statement:
            case Declare(_, _, value) | Evaluate(value) | Variable(_, value):
                yield from _calls(value)
            case Table(values=values):
                for value in values:
                    yield from _calls(value)
            case Strips(walk=walk, body=inner):
                yield walk.value
                yield from calls(inner)
            case For(body=inner) | If(body=inner) | Scope(body=inner):
                yield from calls(inner)
            case Comment():
                pass
            case _:
                assert_never(statement)


def _calls(node: Expression) -> Iterator[str]:
    match node:
        case Call(function, arguments, _):
            yield function
            for argument in arguments:
                yield from _calls(argument)
        case Binary(_, left, right) | Element(left, right):
            yield from _calls(left)
            yield from _calls(right)
        case Member(of, _, _):
            yield from _calls(of)
        case Name() | Integer() | Literal() | Size():
            pass
        case _:
            assert_never(node)
