"""Host code for CANN, with stand-ins for CANN's headers: it compiles, and every entry point answers."""

import os
import shutil
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from ascend_kernels import Emulated, Kernel, build, compile_all, inputs_of, write_sources
from ascend_samples import SAMPLES
from autofuse_ir import dtypes as dt
from autofuse_testkit.fake_cann import INCLUDE, log_of, make_fake_cann

CALLS = Path(__file__).parent / "cann_calls.cpp"
SYSTEM_WORKSPACE = 16 * 1024 * 1024


def doubled() -> Kernel:
    """A kernel whose sizes are dims of its input."""
    kernel = Kernel("doubled", {"z0": "n", "z1": "m"})
    value = kernel.read("x", dt.float32, "z0", "z1")
    kernel.write(kernel.apply("Add", value, value), "y")
    return kernel


def answers(compiler: str, folder: Path, sizes: tuple[int, int]) -> dict[str, str]:
    """Compile the host code of `doubled` with ``compiler`` and return what its entry points say."""
    write_sources(build([doubled()])["doubled"].bundle, folder)
    (folder / "kernel.bin").write_text("127, 69, 76, 70")
    flags = ["-std=c++17", "-O1", "-Wall", "-Werror", "-DAF_WITH_CANN", '-DAF_KERNEL_BIN="kernel.bin"', f"-I{INCLUDE}"]
    parts = [f"doubled_{part}.cpp" for part in ("host", "candidates", "tiling_func", "infer_shape")]
    command = [compiler, *flags, *parts, "af_tiling_solver.cpp", str(CALLS), "-I.", "-o", "calls"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "calls", f"{sizes[0]},{sizes[1]}"], check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        at = next(i for i, word in enumerate(words) if word.isdigit())
        found[" ".join(words[:at])] = " ".join(words[at:])
    return found


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_entry_points_of_graph_engines_compile_and_answer(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    n, m = 500, 64
    found = answers(compiler, tmp_path, (n, m))
    assert found["parse without platform"] == "0"
    assert (found["parse"], found["tile"], found["infer"]) == ("1", "1", "1")
    assert found["tile without compile info"] == "0"
    block_dim, cores, ub, workspace, key = (int(word) for word in found["data"].split())
    assert 1 <= block_dim <= cores == 40, "as many as the platform says"
    assert (found["block_dim"], found["tiling_key"]) == (str(block_dim), str(key))
    assert ub == 188416
    assert int(found["workspace"]) == workspace + SYSTEM_WORKSPACE
    assert found["key without output"] == "0"
    assert found["key"] == f"1 2 {m} {n}"
    assert found["symbols"] == f"1 m: {m}, n: {n}"
    assert found["shape"] == f"2 {n} {m}"
    assert found["binary"] == "4 127 76"
    assert found["without shapes"] == "0 0"


def test_a_launch_for_nothing_is_one_block_that_returns(tmp_path: Path) -> None:
    """Graph engines launch whatever they tiled; tiling functions say that there is nothing to do."""
    found = answers("g++", tmp_path, (0, 64))
    assert found["block_dim"] == "1"
    assert found["data"].startswith("0 ")
    emulated = compile_all(build([doubled()]), tmp_path / "kernel")
    sizes = {"n": 0, "m": 64}
    data = emulated.tiling_data("doubled", sizes, 48)
    arrays = inputs_of(emulated.kernels["doubled"], sizes, np.random.default_rng(0))
    sim.run(emulated.library, "af_doubled", [*arrays, np.zeros((0, 64), np.float32)], tiling=data, workspace=0)


def test_sizes_of_static_kernels_are_compiled_in(tmp_path: Path) -> None:
    """The constant that the host library prints takes the place of the tiling data."""
    built = build([SAMPLES["abs_add"].make()])
    emulated = compile_all(built, tmp_path)
    parts = [f"abs_add_{part}.cpp" for part in ("host", "candidates", "tiling_func", "infer_shape")]
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\nextern "C" const char* GenConstTilingData(const char*, unsigned, unsigned);\n'
        "int main() { std::fputs(GenConstTilingData(nullptr, 0, 0), stdout); }\n"
    )
    command = ["g++", "-std=c++17", *parts, "af_tiling_solver.cpp", "main.cpp", "-o", "constant"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = subprocess.run([tmp_path / "constant"], check=True, capture_output=True, text=True).stdout
    (tmp_path / "constant.h").write_text(text)
    folded = sim.compile(
        tmp_path / "abs_add.cpp",
        "ascend-a2",
        output=tmp_path / "folded.so",
        include_dirs=[tmp_path],
        flags=['-DAF_CONST_TILING_DATA="constant.h"', "-Werror"],
    )
    arrays = inputs_of(built["abs_add"], {}, np.random.default_rng(0))
    data = emulated.tiling_data("abs_add", {}, 48)
    blocks = int.from_bytes(data[:4], "little")
    output = np.zeros((128, 7), np.float32)
    sim.run(folded, "af_abs_add", [*arrays, output], block_dim=blocks, workspace=0, tiling=b"")
    np.testing.assert_array_equal(output, Emulated.run(emulated, "abs_add", arrays)[0].reshape(128, 7))


def test_everything_builds_with_cmake_where_cann_is(tmp_path: Path) -> None:
    """With a stand-in for CANN: the host library, the launch library, and the constant of a static kernel."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    cann = make_fake_cann(tmp_path / "cann")
    environment = {**os.environ, "ASCEND_HOME_PATH": str(cann)}
    for name, kernel in (("abs_add", SAMPLES["abs_add"].make()), ("doubled", doubled())):
        write_sources(build([kernel])[name].bundle, tmp_path / "src")
        source, made = tmp_path / "src" / name, tmp_path / f"build_{name}"
        for command in (["cmake", "-S", source, "-B", made], ["cmake", "--build", made]):
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        assert (made / f"lib{name}_host.so").exists()
        assert (made / f"{name}_launch.so").exists()
        library = subprocess.run(["nm", "-D", made / f"lib{name}_host.so"], check=True, capture_output=True, text=True)
        for symbol in ("TilingFunc", "TilingParse", "InferShape", "GetKernelBin", "AutofuseTiling"):
            assert f" T {symbol}" in library.stdout
    compiled = [line for line in log_of(cann) if " -c " in line]
    assert ["AF_CONST_TILING_DATA" in line for line in compiled] == [True, False]


def test_sizes_may_have_any_name(tmp_path: Path) -> None:
    """Sizes called as what generated code calls its own things."""
    words = ("sizes", "values", "tiling", "t", "block", "workspace", "status", "cores", "hbm_size", "q0_size")
    for first, second in zip(words[::2], words[1::2], strict=True):
        kernel = Kernel(f"named_{first}", {"z0": first, "z1": second})
        kernel.write(kernel.apply("Neg", kernel.read("own", dt.float32, "z0", "z1")), "user")
        built = build([kernel])
        emulated = compile_all(built, tmp_path / first)
        sizes = {first: 3, second: 9}
        arrays = inputs_of(built[f"named_{first}"], sizes, np.random.default_rng(0))
        (found,) = emulated.run(f"named_{first}", arrays, sizes)
        np.testing.assert_array_equal(found, -arrays[0])
