"""The headers as files: freestanding, closed under their first lines, compiled everywhere, and as api.toml says."""

import re
import tomllib

import pytest

PROLOGUE = """
#define USE(e) [[maybe_unused]] auto AF_USED = e
extern "C" void use(float *p, af_i64 n, af_u32 *status) {
  (void)p, (void)n, (void)status;
  [[maybe_unused]] const af_vec<float, 8> x{}, y{}, z{};
  [[maybe_unused]] const af_vec<af_i32, 8> i{}, j{};
  [[maybe_unused]] const af_vec<bool, 8> b{};
  [[maybe_unused]] const af_vec<af_f16, 8> h{};
  [[maybe_unused]] const af_mask<4, 8> m{};
"""


def functions(include_dir) -> list[dict[str, str]]:
    return tomllib.loads((include_dir / "api.toml").read_text())["function"]


def test_no_header_includes_another_file(include_dir, all_headers) -> None:
    for name in all_headers:
        assert not re.search(r"^\s*#\s*(include|pragma once|import)", (include_dir / name).read_text(), re.MULTILINE), (
            name
        )


def test_dependencies_exist_and_have_no_cycle(all_headers, header_closure) -> None:
    for name in all_headers:
        pasted = header_closure([name])
        assert pasted[-1] == name
        assert set(pasted) <= set(all_headers)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_each_header_compiles_with_its_closure_alone(
    include_dir, all_headers, paste_headers, compile_source, compiler
) -> None:
    for name in all_headers:
        compile_source(
            f"alone_{name[:-2]}", paste_headers([name]), compiler=compiler, link=False, more=["-fsyntax-only"]
        )


def test_the_catalogue_names_functions_where_they_are(include_dir) -> None:
    for entry in functions(include_dir):
        text = (include_dir / entry["header"]).read_text()
        name = re.escape(entry["name"])
        assert re.search(
            rf"AF_(?:INLINE|ONCE) [^;{{}}()]*\b{name}\(|^AF_[A-Z_0-9]+\({name}\b|^struct {name} |> struct {name} ",
            text,
            re.M,
        ), entry


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_every_example_of_the_catalogue_compiles_with_its_own_header_only(
    include_dir, paste_headers, compile_source, compiler
) -> None:
    by_header: dict[str, list[str]] = {}
    for entry in functions(include_dir):
        by_header.setdefault(entry["header"], []).append(entry["example"])
    for header, examples in by_header.items():
        body = "\n".join(f"  (void)({example});" for example in examples)
        source = paste_headers([header]) + PROLOGUE + body + "\n}\n"
        compile_source(f"example_{header[:-2]}", source, compiler=compiler, link=False, more=["-fsyntax-only"])


@pytest.mark.parametrize("march", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_math_compiles_for_every_level_of_the_instruction_set(math_source, compile_source, march, on_x86) -> None:
    if not on_x86:
        pytest.skip("these levels are names of x86 instruction sets")
    compile_source("math_levels", math_source, march=march, link=False, more=["-O1"])
