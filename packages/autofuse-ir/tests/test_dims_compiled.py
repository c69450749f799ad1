"""Symbolic sizes as C text and as bytecode, compiled: both compute what evaluation does."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autofuse_ir.dims import INT64_MIN
from autofuse_ir.dims_bytecode import Op, compile_cond, compile_dim, stack_depth
from autofuse_ir.dims_c import C_PRELUDE, c_cond, c_text
from autofuse_ir.dims_eval import evaluate, holds
from dims_recipes import (
    INDEX,
    NAMES,
    bindings,
    built_or_none,
    conditions,
    edge_bindings,
    edge_recipes,
    outcome,
    recipes,
)
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    found: list[Any] = []

    @settings(derandomize=True, database=None, deadline=None, max_examples=count)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


INTERPRETER = """
static af_i64 af_run(const af_i64* code, af_i64 words, const af_i64* values, af_i64* stack) {
  af_i64 top = 0;
  for (af_i64 at = 0; at < words;) {
    af_i64 op = code[at++];
    af_i64 y = top > 0 ? stack[top - 1] : 0, x = top > 1 ? stack[top - 2] : 0;
    switch (op) {
      case CONST: stack[top++] = code[at++]; continue;
      case SYM: stack[top++] = values[code[at++]]; continue;
      case JZ: --top; at = y ? at + 1 : code[at]; continue;
      case JMP: at = code[at]; continue;
      case NEG: stack[top - 1] = -y; continue;
      case NOT: stack[top - 1] = !y; continue;
      case ADD: x = x + y; break;
      case SUB: x = x - y; break;
      case MUL: x = x * y; break;
      case FLOORDIV: x = af_floordiv(x, y); break;
      case CEILDIV: x = af_ceildiv(x, y); break;
      case MOD: x = af_mod(x, y); break;
      case MIN: x = af_min(x, y); break;
      case MAX: x = af_max(x, y); break;
      case EQ: x = x == y; break;
      case NE: x = x != y; break;
      case LE: x = x <= y; break;
      case LT: x = x < y; break;
      case AND: x = x && y; break;
      case OR: x = x || y; break;
    }
    stack[--top - 1] = x;
  }
  return stack[0];
}
"""


@pytest.mark.parametrize(
    "command",
    [
        ["gcc", "-xc", "-std=c99", "-pedantic-errors"],
        ["g++", "-xc++", "-std=c++17", "-fsanitize=undefined", "-fno-sanitize-recover=all"],
    ],
    ids=["c99", "c++17"],
)
def test_compiled_expressions_and_bytecode_compute_what_evaluation_does(command: list[str], tmp_path: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    sizes = [dim for dim in map(built_or_none, drawn(recipes, 100) + drawn(edge_recipes, 80)) if dim is not None]
    truths = [cond for cond in map(built_or_none, drawn(conditions, 40)) if cond is not None]
    points = drawn(bindings, 6) + drawn(edge_bindings, 6)
    name_of = {name: f"v[{position}]" for name, position in INDEX.items()}.__getitem__
    cases: list[tuple[str, tuple[int, ...], Callable[[dict[str, int]], int]]] = [
        (c_text(dim, name_of), compile_dim(dim, INDEX), lambda at, dim=dim: evaluate(dim, at)) for dim in sizes
    ]
    cases += [
        (c_cond(cond, name_of), compile_cond(cond, INDEX), lambda at, cond=cond: holds(cond, at)) for cond in truths
    ]

    functions, checks, count = "", "", 0
    for number, (text, code, value_at) in enumerate(cases):
        words = ", ".join(literal(word) for word in code)
        functions += f"static af_i64 f{number}(const af_i64* v) {{ (void)v; return {text}; }}\n"
        functions += f"static const af_i64 c{number}[] = {{{words}}};\n"
        for point in points:
            expected = outcome(lambda value_at=value_at, point=point: value_at(point))
            if isinstance(expected, int):
                values = ", ".join(literal(point[name]) for name in NAMES)
                checks += f"  {{ const af_i64 v[] = {{{values}}};\n"
                checks += f"    check({number}, f{number}(v), {literal(expected)});\n"
                checks += f"    af_i64 stack[{stack_depth(code)}];\n"
                checks += f"    check({number}, af_run(c{number}, {len(code)}, v, stack), {literal(expected)}); }}\n"
                count += 1
    assert count > 1000
    source = "#include <stdio.h>\ntypedef long long af_i64;\n" + C_PRELUDE
    source += "enum {" + ", ".join(f"{op.name} = {op.value}" for op in Op) + "};\n" + INTERPRETER
    source += "static int wrong = 0;\nstatic void check(int number, af_i64 got, af_i64 expected) {\n"
    source += '  if (got != expected) { wrong = 1; printf("%d: %lld, not %lld\\n", number, got, expected); }\n}\n'
    source += f"{functions}int main(void) {{\n{checks}  return wrong;\n}}\n"
    file, program = tmp_path / "sizes.source", tmp_path / "sizes"
    file.write_text(source, encoding="utf-8")
    options = ["-O0", "-Wall", "-Wextra", "-Wno-unused", "-Wno-bool-compare", "-Werror"]
    built = subprocess.run(
        [*command, *options, str(file), "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[:4000]
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    lines = [f"{line}  {cases[int(line.split(':')[0])][0]}" for line in ran.stdout.splitlines()[:10]]
    assert ran.returncode == 0, "\n".join(lines) + ran.stderr[:2000]


def literal(value: int) -> str:
    return "(-9223372036854775807LL - 1)" if value == INT64_MIN else f"{value}LL"
