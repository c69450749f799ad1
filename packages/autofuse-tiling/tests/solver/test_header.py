import shutil
import subprocess
from pathlib import Path

import pytest
from autofuse_tiling.solver import native as native_module
from autofuse_tiling.solver.encode import HEADER, header_text

COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]
STRICT = ("-Wpedantic", "-Wshadow", "-ffreestanding", "-nostdinc", "-nostdinc++")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("optimisation", ["-O0", "-O3"])
def test_the_header_needs_no_system_header_exception_rtti_or_library(
    compiler: str, optimisation: str, tmp_path: Path
) -> None:
    (tmp_path / HEADER).write_text(header_text(), encoding="utf-8")
    source = tmp_path / "all.cpp"
    source.write_text(
        '#include "af_tiling_solver.h"\n#include "af_tiling_solver.h"\n'
        'extern "C" int run(const AfModel* m, af_i64* v, AfTilingMemo* memo, AfOutcome* o) {\n'
        "  return af_check_model(m) ? af_solve_memo(m, 1, v, memo, o) : -1;\n}\n",
        encoding="utf-8",
    )
    flags = [*native_module.FLAGS, *STRICT, optimisation]
    command = [compiler, *flags, "-c", "-o", str(tmp_path / "all.o"), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    if shutil.which("nm"):
        undefined = subprocess.run(["nm", "-u", str(tmp_path / "all.o")], capture_output=True, text=True, check=True)
        names = set(undefined.stdout.replace(" U ", " ").split())
        assert names <= {"memcpy", "memset"}, names


def test_the_header_includes_nothing() -> None:
    assert "#include" not in header_text()


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("extra", ["-fsanitize=undefined"])
def test_no_solve_has_undefined_behaviour(compiler: str, extra: str, tmp_path: Path) -> None:
    """A stand-alone program, since a sanitiser cannot be loaded into Python: extreme values through every operator."""
    (tmp_path / HEADER).write_text(header_text(), encoding="utf-8")
    (tmp_path / "main.cpp").write_text(_EXTREMES, encoding="utf-8")
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", extra, "-fno-sanitize-recover=all"]
    command = [compiler, *flags, "-o", str(tmp_path / "main"), str(tmp_path / "main.cpp")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cannot find" in built.stderr or "no such file" in built.stderr.lower():
        pytest.skip(f"{compiler} has no sanitiser library on this machine")
    assert built.returncode == 0, built.stderr
    result = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_solver_can_be_compiled_once_for_many_kernels(compiler: str, tmp_path: Path) -> None:
    (tmp_path / HEADER).write_text(header_text(), encoding="utf-8")
    include = '#include "af_tiling_solver.h"\n'
    sources = {
        "solver.cpp": "#define AF_TILING_SOLVER_DEFINE\n" + include,
        "kernel.cpp": "#define AF_TILING_SOLVER_EXTERN\n" + _EXTREMES,
        "other.cpp": "#define AF_TILING_SOLVER_EXTERN\n" + include,
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [compiler, *native_module.FLAGS, "-o", str(tmp_path / "run"), *[str(tmp_path / name) for name in sources]]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([str(tmp_path / "run")], check=False).returncode == 0


# Solves rows over extreme sizes, cores, capacities, bounds and alignments.
_EXTREMES = """#include "af_tiling_solver.h"
static void evaluate(const AfModel*, af_i32 ask, const af_i64* v, af_i64* i, double* r) {
  const af_i64 tiles = af_size_ceildiv(v[0], v[4]);
  if (ask == AF_TILING_LOCAL_BOUNDS) i[0] = v[3], i[1] = v[0];
  if (ask == AF_TILING_BLOCK_BOUNDS) i[2] = v[3], i[3] = tiles;
  if (ask == AF_TILING_LOCAL_USAGE) i[0] = af_size_sub(af_size_mul(v[4], v[2]), v[3]), i[1] = v[2];
  if (ask == AF_TILING_BLOCK_USAGE) i[2] = af_size_add(af_size_ceildiv(tiles, v[5]), v[3]), i[3] = v[1];
  if (ask == AF_TILING_COST) r[0] = 1.0, r[1] = static_cast<double>(af_size_mul(v[4], v[5]));
}
static volatile af_i64 sink;
int main() {
  const af_i64 extremes[] = {AF_I64_MIN, AF_I64_MIN + 1, -1, 0, 1, 2, 7, 2147483647LL, AF_TILING_HUGE, AF_I64_MAX};
  const af_i32 groups[] = {AF_TILING_LOCAL, AF_TILING_BLOCK};
  const af_i64 alignments[] = {1LL, 8LL, AF_TILING_HUGE, AF_I64_MAX};
  for (af_i64 alignment : alignments) {
    const AfVariable variables[] = {{AF_TILING_LOCAL, 0, alignment}, {AF_TILING_BLOCK, 0, 1}};
    const AfModel model = {variables, groups, evaluate, nullptr, 4, 2, 2, 1};
    if (!af_check_model(&model)) return 1;
    for (af_i64 a : extremes) for (af_i64 b : extremes) {
      sink = af_size_add(a, b), sink = af_size_sub(a, b), sink = af_size_mul(a, b);
      sink = af_size_mod(a, b), sink = af_size_floordiv(a, b), sink = af_size_ceildiv(a, b);
      for (af_i64 c : extremes) for (af_i64 d : extremes) {
        af_i64 values[6] = {a, b, c, d, 0, 0};
        AfOutcome outcome;
        af_solve(&model, 1, values, &outcome);
      }
    }
  }
  return 0;
}
"""
