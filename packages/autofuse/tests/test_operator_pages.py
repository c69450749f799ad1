"""The tables of ``docs/reference/ascend_operators.md`` are those that the stages work by."""

from pathlib import Path

import pytest
from autofuse.cli.operators import means_of
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS
from autofuse_ir.target import load_target
from autofuse_reference.target_math import CORRECTLY_ROUNDED, target_math
from autofuse_schedule.legalise.survey import SURVEYED, Means

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "ascend_operators.md"
TARGETS = ("ascend-a2", "ascend-350")


def means_table(target: str) -> str:
    """Rows of primitives that are computed alike."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for op in ASC_OPS:
        if op.kind in SURVEYED:
            found = means_of(op, load_target(target))
            cells = tuple(" ".join(d.text for d in found.get(way, ())) or "-" for way in Means)
            rows.setdefault(cells, []).append(op.name)
    lines = [f"| {' | '.join(('primitives', *(way.value for way in Means)))} |", "| --- " * 5 + "|"]
    return "\n".join([*lines, *(f"| {' '.join(names)} | {' | '.join(cells)} |" for cells, names in rows.items())])


def bounds_table() -> str:
    """Operators that are not rounded correctly, by bound."""
    math = target_math("ascend-a2")
    rows: dict[float, list[str]] = {}
    for bound in math.bounds:
        if bound.float32 > CORRECTLY_ROUNDED:
            rows.setdefault(bound.float32, []).append(bound.operator)
    lines = ["| operators | ULP of float32 | of float16 |", "| --- | --- | --- |"]
    for ulp, names in sorted(rows.items()):
        lines.append(f"| {' '.join(sorted(names))} | {ulp:g} | {math.max_ulp(names[0], dt.float16):.4g} |")
    return "\n".join(lines)


@pytest.mark.parametrize("target", TARGETS)
def test_the_page_says_what_computes_each_primitive(target: str) -> None:
    assert means_table(target) in PAGE.read_text(encoding="utf-8")


def test_the_page_says_how_exact_functions_are() -> None:
    assert bounds_table() in PAGE.read_text(encoding="utf-8")
    ours, other = target_math("ascend-a2").bounds, target_math("ascend-350").bounds
    assert ours == other, "one table for all chips"
