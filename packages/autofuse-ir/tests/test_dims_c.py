import shutil
import subprocess
from pathlib import Path

import pytest
from autofuse_ir.dims import INT64_MAX, INT64_MIN, as_dim, const, dim_max, symbol
from autofuse_ir.dims_c import C_PRELUDE, c_cond, c_text
from autofuse_ir.dims_text import parse_cond
from autofuse_ir.errors import IrError


def member(name: str) -> str:
    return f"t->{name}"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x", "t->x"),
        ("0", "0"),
        ("2*x*y - 3*x + 1", "2*t->x*t->y - 3*t->x + 1"),
        ("-x", "-t->x"),
        ("-x*y - 1", "-t->x*t->y - 1"),
        ("x // 3 * y", "t->y*af_floordiv(t->x, 3)"),
        ("(x + y) // 32", "af_floordiv(t->x + t->y, 32)"),
        ("ceildiv(x, 32)", "af_ceildiv(t->x, 32)"),
        ("x % y", "af_mod(t->x, t->y)"),
        ("min(x, y, 8)", "af_min(af_min(t->x, t->y), 8)"),
        ("select(d == 1, s, d)", "t->d == 1 ? t->s : t->d"),
        ("select(d == 1, 0, 1)", "t->d == 1 ? 0LL : 1LL"),
        ("2*select(d == 1, s, d) + 1", "2*(t->d == 1 ? t->s : t->d) + 1"),
        ("select(d == 1, select(s == 1, 2, x), d)", "t->d == 1 ? (t->s == 1 ? 2 : t->x) : t->d"),
        ("min(select(d == 1, s, d), 8)", "af_min(t->d == 1 ? t->s : t->d, 8)"),
        ("2147483647*x", "2147483647*t->x"),
        ("2147483648*x", "2147483648LL*t->x"),
        (str(INT64_MAX), "9223372036854775807LL"),
        (str(INT64_MIN), "(-9223372036854775807LL - 1)"),
        (f"x + {INT64_MIN}", "t->x + (-9223372036854775807LL - 1)"),
    ],
)
def test_sizes_print_with_the_fewest_parentheses(text: str, printed: str) -> None:
    assert c_text(as_dim(text), member) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x == 1", "t->x == 1"),
        ("x < y and x != 3", "t->x < t->y && t->x != 3"),
        ("x == 1 or (x < y and x != 3)", "t->x == 1 || (t->x < t->y && t->x != 3)"),
        ("select(d == 1, s, d) == x", "t->x == (t->d == 1 ? t->s : t->d)"),
        ("true", "1"),
        ("false", "0"),
    ],
)
def test_conditions_print_with_the_fewest_parentheses(text: str, printed: str) -> None:
    assert c_cond(parse_cond(text), member) == printed


def test_the_prelude_defines_what_expressions_call_and_nothing_without_prefix() -> None:
    for name in ("af_floordiv", "af_ceildiv", "af_mod", "af_min", "af_max"):
        assert f"AF_INLINE af_i64 {name}(" in C_PRELUDE
    assert "#include" not in C_PRELUDE


def test_the_prelude_has_no_undefined_behaviour(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    source, program = tmp_path / "prelude.cpp", tmp_path / "prelude"
    least, greatest = "(-9223372036854775807LL - 1)", "9223372036854775807LL"
    facts = [
        f"af_floordiv({least}, -1) == {least}",
        f"af_ceildiv({least}, -1) == {least}",
        f"af_mod({least}, -1) == 0",
        f"af_floordiv({least}, {greatest}) == -2",
        f"af_ceildiv({greatest}, {least}) == 0",
        f"af_mod({greatest}, {least}) == -1",
        "af_floordiv(7, -1) == -7 && af_ceildiv(7, -1) == -7",
        "af_floordiv(7, 0) == 0 && af_ceildiv(7, 0) == 0 && af_mod(7, 0) == 0",
    ]
    checks = "".join(f"  if (!({fact})) return {number};\n" for number, fact in enumerate(facts, 1))
    source.write_text(
        f"typedef long long af_i64;\n{C_PRELUDE}int main() {{\n{checks}  return 0;\n}}\n", encoding="utf-8"
    )
    options = ["-O0", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *options, str(source), "-o", str(program)], check=True)
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, facts[ran.returncode - 1] + ran.stderr


def test_exploding_expressions_are_refused() -> None:
    dim = symbol("x")
    for step in range(60):
        dim = dim_max(2 * dim + step, dim // 3)
    with pytest.raises(IrError, match="too large for one C expression"):
        c_text(dim, member)
    assert c_text(const(1), member) == "1"
