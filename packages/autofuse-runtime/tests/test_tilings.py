"""What launchers of Ascend kernels make of a tiling function's answer."""

import ctypes
import subprocess
from pathlib import Path

import pytest
from autofuse_ir.dims import const
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_runtime.errors import RuntimeInputError
from autofuse_runtime.launchers.tilings import Decision, Tilings, compile_tilings, files_of, sources_of, write_sources
from autofuse_runtime.toolchain import find_toolchain

SOURCE = """#include <cstring>
extern "C" int af_k_tiling(const long long* sizes, long long cores, void* tiling) {
  if (sizes[0] < 0 || sizes[0] > 9) return sizes[0] < 0 ? -3 : sizes[0] == 10 ? 3 : sizes[0] == 11 ? -2 : 77;
  unsigned fields[6] = {static_cast<unsigned>(sizes[0] * cores), 0, 0, 0, static_cast<unsigned>(sizes[1]), 0};
  std::memcpy(tiling, fields, sizeof(fields));
  return 0;
}
"""


def bundle() -> KernelBundle:
    files = (
        SourceFile("k_tiling_func.cpp", FileRole.TILING_FUNCTION, SOURCE, ""),
        SourceFile("af_tiling_solver.cpp", FileRole.SUPPORT, "int af_nothing;\n", ""),
        SourceFile("k_host.cpp", FileRole.SUPPORT, "#error not for the launcher\n", ""),
    )
    return KernelBundle("k", "ascend-a2", (), ("n", "m"), "af_k", "af_k_tiling", 24, const(0), files, (), (), (), ())


@pytest.fixture(scope="module")
def tilings(tmp_path_factory: pytest.TempPathFactory) -> Tilings:
    folder: Path = tmp_path_factory.mktemp("tilings")
    write_sources(sources_of([bundle()]), folder)
    compile_tilings(folder, [bundle()], find_toolchain(), folder / "tiling.so")
    return Tilings(ctypes.CDLL(str(folder / "tiling.so")), "ascend-a2", 4)


def test_blocks_and_key_are_read_from_the_tiling_data(tilings: Tilings) -> None:
    decision = tilings.decide(bundle(), {"n": 3, "m": 5})
    assert decision == Decision(decision.data, block_dim=12, tiling_key=5)
    assert len(decision.data) == 24


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (-1, "a size is negative"),
        (10, "no tile fits the local memory"),
        (11, "the workspace takes 4,294,967,296 bytes or more, and the field for its size has 32 bits"),
        (12, "its tiling function returned 77"),
    ],
)
def test_an_answer_that_is_no_tiling_says_why(size: int, reason: str, tilings: Tilings) -> None:
    with pytest.raises(RuntimeInputError, match=reason) as error:
        tilings.decide(bundle(), {"n": size, "m": 1})
    assert f"n = {size}, m = 1" in str(error.value)
    assert "ascend-a2" in str(error.value)


def test_host_code_for_cann_is_not_compiled_by_launchers(tmp_path: Path) -> None:
    assert files_of([bundle(), bundle()], FileRole.SUPPORT) == ["af_tiling_solver.cpp", "k_host.cpp"]
    write_sources(sources_of([bundle()]), tmp_path)
    compile_tilings(tmp_path, [bundle()], find_toolchain(), tmp_path / "tiling.so")
    symbols = subprocess.run(["nm", "-D", tmp_path / "tiling.so"], capture_output=True, text=True, check=True).stdout
    assert "af_k_tiling" in symbols
