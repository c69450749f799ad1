from pathlib import Path

import pytest
from autofuse_testkit import CompileAndRun
from autofuse_testkit.compile_and_run import compilers

ECHO = "#include <cstdio>\nint main(int, char** v) { std::printf(\"%s\\n\", v[1]); return v[1][0] == '!'; }\n"


@pytest.mark.parametrize("compiler", compilers("c++"))
def test_a_program_is_compiled_and_its_output_returned(compile_and_run: CompileAndRun, compiler: str) -> None:
    assert compile_and_run(ECHO, ["word"], compiler=compiler) == "word\n"


def test_c_is_compiled_as_c(compile_and_run: CompileAndRun) -> None:
    source = '#include <stdio.h>\nint main(void) { int class = 1; printf("%d", class); return 0; }\n'
    assert compile_and_run(source, language="c") == "1"


def test_equal_programs_are_compiled_once(compile_and_run: CompileAndRun) -> None:
    first = compile_and_run.compile(ECHO)
    stamp = first.stat().st_mtime_ns
    assert compile_and_run.compile(ECHO) == first
    assert first.stat().st_mtime_ns == stamp
    assert compile_and_run.compile(ECHO, flags=["-O2"]) != first


def test_warnings_and_failures_fail_the_test(compile_and_run: CompileAndRun, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="unused"):
        compile_and_run("int main() { int unused = 0; }")
    with pytest.raises(AssertionError, match="ended with 1"):
        compile_and_run(ECHO, ["!"])


def test_headers_are_found(compile_and_run: CompileAndRun, tmp_path: Path) -> None:
    (tmp_path / "answer.h").write_text("constexpr int answer = 0;\n")
    assert compile_and_run('#include "answer.h"\nint main() { return answer; }', include=[tmp_path]) == ""
