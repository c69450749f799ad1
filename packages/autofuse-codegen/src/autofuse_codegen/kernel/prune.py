"""Drop declarations that nothing reads.

before   const af_i64 z0 = z0T * z0t_size + z0t;      after   (nothing, where z0 is not read below)
"""

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
    Member,
    Name,
    Scope,
    Statement,
    Strips,
    Table,
    Variable,
)


def prune(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return ``body`` without declarations of names that are never read; expressions of declarations are pure."""
    return _prune(body, set())


def _prune(body: tuple[Statement, ...], read: set[str]) -> tuple[Statement, ...]:
    """Walk backwards; ``read`` collects the names that what follows reads."""
    kept: list[Statement] = []
    for statement in reversed(body):
        match statement:
            case Declare(_, name, value) | Variable(name, value):
                if name not in read:
                    continue
                _note(value, read)
                kept.append(statement)
            case Table(_, name, values):
                if name not in read:
                    continue
                for value in values:
                    _note(value, read)
                kept.append(statement)
            case Evaluate(value):
                _note(value, read)
                kept.append(statement)
            case For(_, first, end, step, inner):
                kept.append(evolve(statement, body=_inside(inner, read)))
                for part in (first, end, step):
                    _note(part, read)
            case If(condition, inner):
                kept.append(evolve(statement, body=_inside(inner, read)))
                _note(condition, read)
            case Strips(_, _, count, _, inner, streamed, _, states):
                kept.append(evolve(statement, body=_inside(inner, read)))
                _note(count, read)
                read |= {state.variable for state in states}
                if streamed is not None:
                    _note(streamed, read)
            case Scope(inner):
                kept.append(evolve(statement, body=_inside(inner, read)))
            case Comment():
                kept.append(statement)
    return tuple(reversed(kept))


def _inside(body: tuple[Statement, ...], read: set[str]) -> tuple[Statement, ...]:
    """Prune a nested body: what is declared in it is read in it alone, since nothing after it sees the name."""
    inner: set[str] = set()
    pruned = _prune(body, inner)
    read |= inner
    return pruned


def _note(node: Expression, read: set[str]) -> None:
    match node:
        case Name(text):
            read.add(text)
        case Binary(_, left, right) | Element(left, right):
            _note(left, read)
            _note(right, read)
        case Call(function, arguments, _):
            read.add(function.partition(".")[0])  # the variable of a method
            for argument in arguments:
                _note(argument, read)
        case Member(of, _, _):
            _note(of, read)
        case _:
            return
