"""Pieces of a row whose strips differ in names alone: one loop over them, which finds what each has in tables.

[0, a): y = f(x0)    [a, b): y = f(x1)    [b, count): y = f(x2)

for piece in 0, 1, 2:    [from[piece], to[piece]): y = f(rows[piece])
"""

from collections.abc import Iterable, Mapping

from attrs import frozen

from autofuse_codegen.kernel.names import Names
from autofuse_codegen.kernel.program import (
    Call,
    Declare,
    Element,
    For,
    Integer,
    Name,
    Statement,
    Strips,
    Table,
    Variable,
)
from autofuse_codegen.kernel.rename import Rename, renamed

NUMBER = "piece"
"""The number of a piece among those of its form."""


@frozen
class Form:
    """Strips apart from what they call their variables, which are numbered.

    ``types`` are those of the variables from outside that have one; of others from outside, ``fixed`` has the name.
    """

    strips: Statement
    types: tuple[str | None, ...]
    fixed: tuple[str | None, ...]


Forms = Mapping[Form, list[tuple[str, ...]]]
"""The variables of each piece, by its form."""


def forms_of(pieces: tuple[Strips, ...], outside: Mapping[str, str]) -> Forms:
    """Return the forms of ``pieces``; ``outside`` are the types of variables that tables can hold."""
    found: dict[Form, list[tuple[str, ...]]] = {}
    for piece in pieces:
        numbers: dict[str, int] = {}

        def numbered(name: str, numbers: dict[str, int] = numbers) -> str:
            return str(numbers.setdefault(name, len(numbers)))

        strips = renamed(piece, numbered)
        own = {statement.name for statement in piece.body if isinstance(statement, (Declare, Variable, Table))}
        types = tuple(None if name in own else outside.get(name) for name in numbers)
        fixed = tuple(None if name in own or name in outside else name for name in numbers)
        found.setdefault(Form(strips, types, fixed), []).append(tuple(numbers))
    return found


def types_of(before: Iterable[Statement]) -> dict[str, str]:
    """Return the types of the variables that ``before`` declares, where they can be told."""
    found: dict[str, str] = {}
    for statement in before:
        match statement:
            case Declare("auto", name, Call("af_splat", _, (kind, lanes))):
                found[name] = f"af_vec<{kind}, {lanes}>"
            case Declare(kind, name, _) if not kind.startswith("auto"):
                found[name] = kind
            case _:
                pass
    return found


def looped(forms: Forms, names: Names) -> tuple[Statement, ...]:
    """Return the strips of every form: once where it is that of one piece, else in a loop over its pieces."""
    written: list[Statement] = []
    for place, (form, pieces) in enumerate(forms.items()):
        own = list(pieces[0])
        if len(pieces) == 1:
            written.append(renamed(form.strips, _taking(own)))
            continue
        inside: list[Statement] = []
        for number, kind in enumerate(form.types):
            variables = tuple(piece[number] for piece in pieces)
            if kind is None or len(set(variables)) == 1:
                continue
            first = own[number]
            table = names.of(f"of pieces {place} {first}", f"{first}_of")
            own[number] = names.of(f"of a piece {place} {first}", f"{NUMBER}_{first}")
            written.append(Table(kind, table, tuple(map(Name, variables))))
            inside.append(Declare(kind, own[number], Element(Name(table), Name(NUMBER))))
        inside.append(renamed(form.strips, _taking(own)))
        written.append(For(NUMBER, Integer(0), Integer(len(pieces)), Integer(1), tuple(inside)))
    return tuple(written)


def _taking(names: list[str]) -> Rename:
    """Return what gives a variable its name by its number."""
    return lambda number: names[int(number)]
