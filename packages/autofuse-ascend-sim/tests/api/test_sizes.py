"""Host-side size functions give the documented numbers."""

import shutil
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

# call with its shape arguments, expected maximum and minimum; F and H are the sizes of float and half
CALLS = [
    ("GetErfMaxMinTmpSize(shape({1000}), F, false", 3 * 4000, 3 * 256),
    ("GetErfMaxMinTmpSize(shape({10}), F, false", 3 * 256, 3 * 256),
    ("GetErfMaxMinTmpSize(shape({1000}), H, false", 8 * 2000, 8 * 256),
    ("GetSinMaxMinTmpSize(shape({1000}), F, true", 2 * 4000, 2 * 256),
    ("GetSinMaxMinTmpSize(shape({10}), F, false", 3 * 40, 3 * 256),
    ("GetAcoshMaxMinTmpSize(shape({1000}), H, false", 2 * 1000 * 2, 2 * 256),
    ("GetLogMaxMinTmpSize(shape({1000}), F, false", 0, 0),
    ("GetLog2MaxMinTmpSize(shape({1000}), H, false", 4000, 256),
    ("GetSignMaxMinTmpSize(shape({1000}), F, false", 12000, 768),
    ("GetExpMaxMinTmpSize(shape({1000}), F, true", 2 * 4000, 2 * 256),
    ("GetExpMaxMinTmpSize(shape({1000}), H, false", 4 * 4000, 4 * 256),
    ("GetGeluMaxMinTmpSize(shape({1000}), F", 12000, 768),
    ("GetPowerMaxMinTmpSize(shape({1000}), shape({1000}), false, F, false", 4 * 4000 + 256, 4 * 256 + 256),
    ("GetPowerMaxMinTmpSize(shape({1000}), shape({1}), false, F, false", 5 * 4000 + 256, 5 * 256 + 256),
    ("GetPowerMaxMinTmpSize(shape({1000}), shape({1}), true, F, false", 7 * 4000, 7 * 256),
    ("GetPowerMaxMinTmpSize(shape({10}), shape({10}), false, H, false", 14 * 128 + 256, 14 * 128 + 256),
    ("GetCumSumMaxMinTmpSize(shape({17, 16}), F, true, false", 32 * 16 * 4 * 2, 16 * 16 * 4 * 2),
    ("GetCumSumMaxMinTmpSize(shape({17, 16}), H, false, false", 17 * 16 * 4, 17 * 16 * 4),
    ("GetReduceSumMaxMinTmpSize(shape({4, 64}), ge::DT_FLOAT, ReducePattern::AR, true, false", 0, 0),
    ("GetReduceSumMaxMinTmpSize(shape({4, 65}), ge::DT_FLOAT, ReducePattern::AR, true, false", 4 * 64 * 4, 4 * 64 * 4),
    ("GetReduceSumMaxMinTmpSize(shape({8, 12}), ge::DT_FLOAT, ReducePattern::RA, true, false", 4 * 16 * 4, 4 * 16 * 4),
    ("GetReduceMaxMaxMinTmpSize(shape({4, 100}), ge::DT_FLOAT16, ReducePattern::AR, true, false", 128, 128),
    ("GetReduceMaxMaxMinTmpSize(shape({4, 128}), ge::DT_FLOAT16, ReducePattern::AR, true, false", 1024, 1024),
    ("GetReduceMinMaxMinTmpSize(shape({4, 128}), ge::DT_FLOAT, ReducePattern::AR, true, true", 0, 0),
    ("GetReduceProdMaxMinTmpSize(shape({4, 20}), ge::DT_FLOAT, ReducePattern::AR, true, false", 448, 448),
    ("GetReduceProdMaxMinTmpSize(shape({4, 20}), ge::DT_FLOAT, ReducePattern::AR, true, true", 256, 256),
    ("GetReduceAnyMaxMinTmpSize(shape({4, 33}), ge::DT_UINT8, ReducePattern::AR, true, false", 256, 256),
    ("GetSumMaxMinTmpSize(100, F, false", 32, 32),
    ("GetMeanMaxMinTmpSize(100, H, F, false", 32 + 112 * 4, 32 + 112 * 4),
    ("GetSelectMaxMinTmpSize(shape({2, 64}), shape({1}), F, shape({2, 64}), 1, true", 1024, 1024),
    ("GetSelectMaxMinTmpSize(shape({80, 64}), shape({1}), F, shape({80, 96}), 1, false", 15872, 4096 * 2 + 512 + 4096),
    ("GetBroadCastMaxMinTmpSize(platform, shape({1, 16}), shape({8, 16}), F, false", 32, 32),
    ("GetBroadCastMaxMinTmpSize(platform, shape({9, 1}), shape({9, 16}), F, false", 16 * 8 * 4, 8 * 8 * 4),
    ("GetBroadCastMaxMinTmpSize(platform, shape({9, 1}), shape({9, 5}), F, false", 512 + 288, 256 + 256),
]

MAIN = """\
#include <cstdint>
#include <cstdio>
#include "tiling/tiling_api.h"
using namespace AscendC;
static TensorShape shape(std::initializer_list<int64_t> dims) { return TensorShape(std::vector<int64_t>(dims)); }
int main() {
    const uint32_t F = 4, H = 2;
    const platform_ascendc::PlatformAscendC platform;
    uint32_t max = 0, min = 0;
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_the_size_functions_give_the_documented_numbers(tmp_path: Path) -> None:
    lines = "".join(f'    {call}, max, min);\n    printf("%u %u\\n", max, min);\n' for call, _, _ in CALLS)
    (tmp_path / "sizes.cpp").write_text(MAIN + lines + "    static_cast<void>(H);\n}\n")
    program = tmp_path / "sizes"
    command = ["g++", "-std=c++17", "-Wall", "-Werror", f"-I{sim.include_dir()}", "-D__NPU_ARCH__=2201"]
    subprocess.run([*command, str(tmp_path / "sizes.cpp"), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    wrong = [
        f"{call}) gives {line}, not {most} {least}"
        for (call, most, least), line in zip(CALLS, printed, strict=True)
        if line != f"{most} {least}"
    ]
    assert wrong == []
