"""Tables of kernels keep their figures whole in 80 columns, and words go with numbers."""

import re
from pathlib import Path
from typing import Any

import pytest
from autofuse.cli.console import counted
from autofuse.cli.kernel_table import cycles_text, kernel_table, kib_text
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from rich.console import Console
from rich.table import Table

FIGURES = {"MTE2": "4.52M", "KiB of UB": "184 of 184", "us": "13337.9"}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_names_give_way_and_figures_do_not(width: int) -> None:
    name = "k2_reducemean_sub_mul_rsqrt_and_12_more"
    console = Console(width=width)
    text = render(console, kernel_table(("kernel", *FIGURES), [(name, *FIGURES.values())], width))
    assert max(map(len, text.splitlines())) <= width
    assert all(figure in text for figure in (*FIGURES, *FIGURES.values()))
    assert (name in text) == (width > 70)
    assert "k2_reducemea" in text


def render(console: Console, table: Table) -> str:
    return "\n".join("".join(part.text for part in line) for line in console.render_lines(table))


def test_cycles_are_told_in_three_figures() -> None:
    told = [cycles_text(cycles) for cycles in (0, 7.4, 999, 1000, 9034, 999_499, 999_600, 2.38e6, 4e9, 5e12)]
    assert told == ["0", "7", "999", "1k", "9.03k", "999k", "1000k", "2.38M", "4G", "5000G"]


def test_memory_in_use_is_rounded_up() -> None:
    assert [kib_text(size) for size in (0, 1, 1024, 1025)] == ["0", "1", "1", "2"]


def test_nouns_go_with_their_numbers() -> None:
    assert [counted(n, "launch") for n in (0, 1, 2)] == ["0 launches", "1 launch", "2 launches"]
    assert counted(1, "pair") == "1 pair"


@pytest.mark.parametrize("command", ["explain", "trace"])
def test_an_ascend_table_has_every_figure_in_80_columns(call: Any, tmp_path: Path, command: str) -> None:
    b = GraphBuilder("long")
    b.symbol("n", 1, 10_000, hint=3000)
    x = b.input("x", ("n", 2000), dt.float32)
    for op in ("Exp", "Abs", "Tanh", "Sigmoid", "Relu"):
        x = b.op(op, x)
    model = write(b.build(outputs={"y": x}), tmp_path / "long.json")
    more = ("--timing-only", "-o", tmp_path / "trace.json", "--dim", "n=3000") if command == "trace" else ()
    told = call(command, model, "--target", "ascend-a2", *more)
    assert told.code == 0, told.err
    assert max(len(line) for line in told.out.splitlines() if str(tmp_path) not in line) <= 80
    (row,) = [line for line in told.out.splitlines() if re.match(r"k0_exp_abs_\S+ +\d+\.\d ", line)]
    assert "…" not in row.partition(" ")[2]
    assert "VEC" in told.out
    assert ("head" in told.out) == (command == "explain")  # where a core has one tile, all its cycles are there
