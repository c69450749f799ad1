"""``autofuse operators``: what there is, with the element types that each target computes on."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum

import click
from autofuse_fusion.lower.table import REINTERPRETED, VIEWS, lowering_of
from autofuse_fusion.lower.views.table import VIEW_LOWERINGS
from autofuse_ir.asc_ops import ASC_OPS, NOT_EVALUATED, AscOp
from autofuse_ir.dtypes import TENSOR_DTYPES, DType
from autofuse_ir.operators import Family, Flag, Operator, all_operators
from autofuse_ir.target import TargetKind, TargetSpec, load_target, target_names
from autofuse_reference.operators.table import has_meaning
from autofuse_schedule.legalise.survey import SURVEYED, Means, means
from autofuse_symshape.rules import DECLARED, RULES
from rich.table import Table

from autofuse.cli.console import terminal
from autofuse.errors import DriverError

_WHOLE_NUMBERS = {
    "i8-64": tuple(f"i{bits}" for bits in (8, 16, 32, 64)),
    "u8-64": tuple(f"u{bits}" for bits in (8, 16, 32, 64)),
}
"""Names for all integers of one kind, so that a row stays short."""

_SIZES = ("Shape", "Size", "GatherShapes")
"""Operators that make sizes only."""


class Fuses(Enum):
    """Whether kernels compute an operator."""

    YES = "yes"
    IN_SOME_FORMS = "in some forms; else it runs in a host region"
    """Such as a product of a matrix and a vector."""
    NO = "no: it runs in a host region"


def fuses(operator: Operator) -> Fuses:
    """Return in what forms kernels compute ``operator``; what only makes sizes or renames needs none, and counts."""
    if operator.has(Flag.VECTOR):
        return Fuses.YES
    has_form = lowering_of(operator.name) is not None or operator.name in VIEW_LOWERINGS
    return Fuses.IN_SOME_FORMS if has_form else Fuses.NO


@click.command()
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Print what vector operators lack, and where; exit 1 if there is any.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--target", "target_name", metavar="NAME", help="How an Ascend target computes primitives.")
def operators(name: str | None, check: bool, as_json: bool, target_name: str | None) -> int:
    """List the operators by family with how many of them fuse, and the element types of each target.

    Models hold operators; fusing turns them into AscIR primitives, and each target computes some of those on some
    element types. With NAME, only that operator or primitive; with the name of a family, its operators.
    """
    if check:
        return _check()
    known = [o for o in all_operators() if name in (None, o.name, o.family.value)]
    # What is not evaluated (arguments, constants) has the types of what uses it.
    primitives = [o for o in ASC_OPS if name in (None, o.name) and o.name not in NOT_EVALUATED]
    if name is not None and not known and not primitives:
        names = dict.fromkeys((*(o.name for o in all_operators()), *(o.name for o in ASC_OPS)))
        alike = [n for n in names if name.lower() in n.lower()][:8] or get_close_matches(name, names, 5)
        near = f"near it: {', '.join(alike)}" if alike else "`autofuse operators --json` lists all"
        raise DriverError(f"there is no operator {name!r}", where="operators", fix=near)
    if target_name is not None:
        return _show_means(primitives, load_target(target_name), as_json)
    targets = tuple(load_target(each) for each in target_names())
    if as_json:
        click.echo(json.dumps(_facts(known, primitives, targets), indent=2, sort_keys=True))
        return 0
    if name is None:
        _show_families()
    elif name in {family.value for family in Family}:
        _show_family(known)
    else:
        for operator in known:
            _show_operator(operator)
    if primitives:
        _show_primitives(primitives, targets)
    return 0


def dtypes_on(op: AscOp, target: TargetSpec) -> tuple[DType, ...]:
    """Return the element types on which ``target`` computes primitive ``op``; those it converts first are among them.

    A target that says nothing about a primitive computes it on all types that the primitive is defined on.
    """
    stated = next((row.dtypes for row in target.support if row.op == op.name), TENSOR_DTYPES)
    return tuple(dtype for dtype in TENSOR_DTYPES if dtype in stated and op.computes_on(dtype))


def means_of(op: AscOp, target: TargetSpec) -> dict[Means, tuple[DType, ...]]:
    """Return the element types of primitive ``op`` by how ``target`` computes them."""
    found: dict[Means, tuple[DType, ...]] = {}
    for dtype in TENSOR_DTYPES:
        if op.computes_on(dtype):
            way = means(op, dtype, target.name)
            found[way] = (*found.get(way, ()), dtype)
    return found


def _show_means(primitives: list[AscOp], target: TargetSpec, as_json: bool) -> int:
    if target.kind is not TargetKind.ASCEND:
        raise DriverError(
            f"{target.name} computes every primitive on every element type that it is defined on",
            where="operators --target",
            fix="leave out --target to see them",
        )
    surveyed = [op for op in primitives if op.kind in SURVEYED]
    if as_json:
        facts = {
            op.name: {way.value: [d.name for d in ds] for way, ds in means_of(op, target).items()} for op in surveyed
        }
        click.echo(json.dumps(facts, indent=2, sort_keys=True))
        return 0
    rows: dict[tuple[str, ...], list[str]] = {}
    for op in surveyed:
        found = means_of(op, target)
        rows.setdefault(tuple(_short(found.get(way, ())) for way in Means), []).append(op.name)
    table = Table(title=f"how {target.name} computes AscIR primitives", title_justify="left", show_lines=True)
    for column in ("primitives", *(way.value for way in Means)):
        table.add_column(column, overflow="fold")
    table.caption = "composed: of several instructions, with the same result; none: fusion leaves it to the host"
    table.caption_justify = "left"
    for cells, names in rows.items():
        table.add_row(" ".join(names), *cells)
    terminal().print(table)
    return 0


def _short(dtypes: Iterable[DType]) -> str:
    names = [dtype.text for dtype in dtypes]
    for short, members in _WHOLE_NUMBERS.items():
        if all(member in names for member in members):
            names[names.index(members[0])] = short
            names = [name for name in names if name not in members]
    return " ".join(names) or "-"


def _show_families() -> None:
    count = len(all_operators())
    table = Table(title=f"{count} operators of models, {len(ASC_OPS)} AscIR primitives", title_justify="left")
    for column in ("family", "operators", "fuse", "in some forms", "NumPy meaning"):
        table.add_column(column, justify="left" if column == "family" else "right")
    families: dict[str, list[Operator]] = {}
    for operator in all_operators():
        families.setdefault(operator.family.value, []).append(operator)
    for family, members in families.items():
        ways = [fuses(operator) for operator in members]
        meanings = sum(has_meaning(operator.name) for operator in members)
        table.add_row(
            family, *map(str, (len(members), ways.count(Fuses.YES), ways.count(Fuses.IN_SOME_FORMS), meanings))
        )
    terminal().print(table)


def _show_family(members: list[Operator]) -> None:
    marks = {Fuses.YES: "", Fuses.IN_SOME_FORMS: "  (fuses in some forms)", Fuses.NO: "  (host)"}
    for operator in members:
        inputs = ", ".join(param.name for param in operator.inputs)
        terminal().print(f"{operator.name}({inputs}){marks[fuses(operator)]}", highlight=False, markup=False)


def _show_primitives(primitives: list[AscOp], targets: tuple[TargetSpec, ...]) -> None:
    rows: dict[tuple[str, ...], list[str]] = {}
    for op in primitives:
        rows.setdefault(tuple(_short(dtypes_on(op, target)) for target in targets), []).append(op.name)
    table = Table(title="element types of AscIR primitives, by target", title_justify="left", show_lines=True)
    for column in ("primitives", *(target.name for target in targets)):
        table.add_column(column, overflow="fold")
    table.caption = "b8 is bool, i and u are integers, f and bf floats, with their bits; i8-64 is all four sizes"
    table.caption_justify = "left"
    for cells, names in rows.items():
        table.add_row(" ".join(names), *cells)
    terminal().print(table)


def _show_operator(operator: Operator) -> None:
    for fact, text in (
        (operator.name, operator.meaning),
        ("family", operator.family.value),
        ("inputs", ", ".join(param.name for param in operator.inputs) or "none"),
        ("outputs", ", ".join(result.name for result in operator.outputs) or "none"),
        ("attributes", ", ".join(spec.name for spec in operator.attrs) or "none"),
        ("fuses", fuses(operator).value),
        ("NumPy meaning", "yes" if has_meaning(operator.name) else "no"),
    ):
        terminal().print(f"{fact:14} {text}".rstrip(), highlight=False, markup=False)


def _facts(
    known: list[Operator], primitives: list[AscOp], targets: tuple[TargetSpec, ...]
) -> dict[str, dict[str, object]]:
    return {
        "operators": {
            o.name: {
                "family": o.family.value,
                "fuses": fuses(o).name.lower().replace("_", "-"),
                "numpy_meaning": has_meaning(o.name),
            }
            for o in known
        },
        "primitives": {
            op.name: {target.name: [dtype.name for dtype in dtypes_on(op, target)] for target in targets}
            for op in primitives
        },
    }


def holes(table: Iterable[Operator]) -> tuple[tuple[str, str], ...]:
    """Return the columns of vector operators of ``table`` that are empty: operator, and what it lacks and where."""
    found = []
    for operator in table:
        columns = (
            ("a NumPy meaning in autofuse-reference", has_meaning(operator.name)),
            ("a shape rule in autofuse-symshape", operator.name in RULES or operator.name in DECLARED),
            ("a lowering in autofuse-fusion", _is_lowered(operator.name)),
        )
        if operator.has(Flag.VECTOR):
            found += [(operator.name, column) for column, is_filled in columns if not is_filled]
    return tuple(found)


def _is_lowered(name: str) -> bool:
    """True for what has a lowering or needs none: it renames elements, or makes sizes that the program knows."""
    return lowering_of(name) is not None or name in VIEW_LOWERINGS | dict.fromkeys((*VIEWS, *REINTERPRETED, *_SIZES))


def _check() -> int:
    missing = holes(all_operators())
    for name, column in missing:
        click.echo(f"{name} lacks {column}")
    if not missing:
        click.echo("no holes")
    return 1 if missing else 0
