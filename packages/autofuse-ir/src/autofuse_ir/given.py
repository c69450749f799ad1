"""What a stage checks of its arguments before it begins: that they are of their kinds, and belong together.

Stages are called by other tool-chains, too: an artefact in the place of another would end somewhere inside.
"""

from autofuse_ir.errors import IrError

Kinds = type | tuple[type, ...]


def check_kinds(stage: str, **given: tuple[object, Kinds]) -> None:
    """Raise ``IrError`` for the first argument of ``stage`` that is of another kind; ``given``: (value, kinds)."""
    for name, (value, kinds) in given.items():
        if isinstance(value, kinds):
            continue
        wanted = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise IrError(f"{name} is a {type(value).__name__}", where=stage, fix=f"give {wanted}")


def check_same(stage: str, what: str, **given: str) -> None:
    """Raise ``IrError`` where arguments of ``stage`` say different things of ``what`` (a kernel, a target)."""
    (first, named), *others = given.items()
    for name, other in others:
        if other != named:
            raise IrError(
                f"{first} is of {what} {named!r}, {name} of {what} {other!r}",
                where=stage,
                fix=f"give those of one {what}",
            )
