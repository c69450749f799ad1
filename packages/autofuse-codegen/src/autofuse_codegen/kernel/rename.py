"""Other names for the variables of statements, and what statements are apart from them."""

from collections.abc import Callable
from typing import assert_never

from attrs import evolve

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

Rename = Callable[[str], str]
"""Returns the new name of a variable; called in the order in which names stand."""


def renamed(statement: Statement, rename: Rename) -> Statement:
    """Return ``statement`` with every name that it reads or declares, but those of strips and states, changed."""
    match statement:
        case Declare(_, name, value):
            return evolve(statement, value=_expression(value, rename), name=rename(name))
        case Variable(name, constructor):
            arguments = tuple(_expression(argument, rename) for argument in constructor.arguments)
            return evolve(statement, constructor=evolve(constructor, arguments=arguments), name=rename(name))
        case Table(_, name, values):
            return evolve(statement, values=tuple(_expression(value, rename) for value in values), name=rename(name))
        case Evaluate(value):
            return evolve(statement, value=_expression(value, rename))
        case Comment():
            return statement
        case For(name, first, end, step, body):
            first, end, step = (_expression(part, rename) for part in (first, end, step))
            return evolve(statement, first=first, end=end, step=step, name=rename(name), body=_body(body, rename))
        case If(condition, body):
            return evolve(statement, condition=_expression(condition, rename), body=_body(body, rename))
        case Scope(body):
            return evolve(statement, body=_body(body, rename))
        case Strips(count=count, body=body, streamed=streamed):
            count = _expression(count, rename)
            streamed = None if streamed is None else _expression(streamed, rename)
            return evolve(statement, count=count, streamed=streamed, body=_body(body, rename))
        case _:
            assert_never(statement)


def _body(body: tuple[Statement, ...], rename: Rename) -> tuple[Statement, ...]:
    return tuple(renamed(statement, rename) for statement in body)


def _expression(node: Expression, rename: Rename) -> Expression:
    match node:
        case Name(text):
            return Name(rename(text))
        case Binary(_, left, right):
            return evolve(node, left=_expression(left, rename), right=_expression(right, rename))
        case Element(of, index):
            return Element(_expression(of, rename), _expression(index, rename))
        case Member(of, _, _):
            return evolve(node, of=_expression(of, rename))
        case Call(arguments=arguments):
            return evolve(node, arguments=tuple(_expression(argument, rename) for argument in arguments))
        case Integer() | Literal() | Size():
            return node
        case _:
            assert_never(node)
