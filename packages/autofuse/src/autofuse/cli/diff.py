"""``autofuse diff``: fusion regressions between two reports."""

import json
from pathlib import Path

import click
from attrs import asdict

from autofuse.cli.console import terminal
from autofuse.report_diff import Figure, compare_reports, read_report


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(old: Path, new: Path, as_json: bool) -> int:
    """Compare two reports (of `explain --json`, or bundles): exit 1 if kernels or bytes grew."""
    found = compare_reports(read_report(old), read_report(new))
    if as_json:
        click.echo(json.dumps(asdict(found) | {"regression": found.is_regression}, indent=2, sort_keys=True))
        return int(found.is_regression)
    for figure in found.figures:
        _print(f"{figure.name:14} {_number(figure.old)} -> {_number(figure.new)}{_verdict(figure)}")
    for moved in found.moved:
        _print(f"{moved.operator}: {moved.old} -> {moved.new}")
    return int(found.is_regression)


def _print(line: str) -> None:
    terminal().print(line.rstrip(), highlight=False, markup=False, soft_wrap=True)


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _verdict(figure: Figure) -> str:
    if figure.old is None or figure.new is None or figure.old == figure.new:
        return ""
    return "  WORSE" if figure.has_grown else "  better"
