"""The bounds by which results are judged are those that the CPU kernels are tested against."""

import tomllib
from importlib.resources import files

from autofuse_ir.asc_ops import ASC_OPS, AscKind
from autofuse_ir.dtypes import dtype_named, float32
from autofuse_reference.target_math import CORRECTLY_ROUNDED, target_math

EXACT = {
    *("Abs", "Neg", "Sign", "Reciprocal", "Floor", "Ceil", "Trunc", "Round", "Add", "Sub", "Mul", "Div"),
    *("FloorDiv", "Mod", "Fmod", "Minimum", "Maximum", "Select", "Cast"),
}
"""Operators on floats whose one result is that of IEEE 754 or NumPy, to the bit."""


def operator_of(function: str) -> str:
    return "Ln" if function == "log" else function.capitalize()


def test_the_table_says_what_the_headers_promise() -> None:
    text = files("autofuse_codegen").joinpath("targets", "cpu", "include", "math_bounds.toml").read_text()
    promised = {(operator_of(row["function"]), row["dtype"]): row["max_ulp"] for row in tomllib.loads(text)["bound"]}
    stated = {
        (bound.operator, dtype): target_math("cpu").max_ulp(bound.operator, dtype_named(dtype))
        for bound in target_math("cpu").bounds
        for dtype in ("float32", "float64")
    }
    assert stated == promised


def test_every_float_operator_is_exact_or_has_a_bound() -> None:
    bounded = {bound.operator for bound in target_math("cpu").bounds}
    on_floats = {
        op.name
        for op in ASC_OPS
        if op.kind is AscKind.ELEMENTWISE and op.dtypes in ("all", "number", "float") and op.result.value != "bool"
    }
    assert on_floats - bounded == EXACT
    for target in ("cpu", "interpreter"):
        assert all(target_math(target).max_ulp(name, float32) == CORRECTLY_ROUNDED for name in EXACT)
