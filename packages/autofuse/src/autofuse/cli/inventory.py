"""``autofuse targets`` and ``autofuse operators``: what is there."""

import click
from autofuse_fusion.lower.table import lowering_of
from autofuse_ir.asc_ops import ASC_OPS
from autofuse_ir.operators import Flag, all_operators
from autofuse_ir.target import load_target, target_names
from autofuse_reference.operators.table import has_meaning
from rich.table import Table

from autofuse.cli.console import terminal


@click.command()
def targets() -> None:
    """List the targets with their cores, memories and vector widths."""
    table = Table()
    for column in ("target", "cores", "local memory", "vector", "description"):
        table.add_column(column, overflow="fold")
    for name in target_names():
        spec = load_target(name)
        memory = f"{spec.local_memory.usable // 1024} KiB {spec.local_memory.name}"
        cores = str(spec.cores) if spec.cores else "this machine's"
        table.add_row(name, cores, memory, f"{spec.vector_bytes} B", spec.description)
    terminal().print(table)


@click.command()
@click.option("--check", is_flag=True, help="Print the holes of the table; exit 1 if a vector operator has no meaning.")
def operators(check: bool) -> int:
    """List the operators by family, with how many of them fuse."""
    if check:
        return _holes()
    table = Table(title=f"{len(all_operators())} operators, {len(ASC_OPS)} AscIR primitives", title_justify="left")
    for column in ("family", "operators", "fuse", "NumPy meaning"):
        table.add_column(column, justify="left" if column == "family" else "right")
    families: dict[str, list[str]] = {}
    for operator in all_operators():
        families.setdefault(operator.family.value, []).append(operator.name)
    for family, names in families.items():
        meanings = sum(has_meaning(n) for n in names)
        table.add_row(family, str(len(names)), str(sum(lowering_of(n) is not None for n in names)), str(meanings))
    terminal().print(table)
    return 0


def _holes() -> int:
    missing = [o.name for o in all_operators() if Flag.VECTOR in o.flags and not has_meaning(o.name)]
    for name in missing:
        click.echo(f"{name}: no NumPy meaning in autofuse-reference")
    if not missing:
        click.echo("no holes")
    return 1 if missing else 0
