"""The text of Ascend kernels: reviewed, deterministic, compiled by two compilers, made of whitelisted APIs alone."""

import ctypes
import re
import shutil
import subprocess

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from ascend_kernels import TARGETS, Emulated, build, compile_all, field_offset, inputs_of, write_sources
from ascend_samples import SAMPLES
from autofuse_ascend_sim.signatures.table import functions, resources
from autofuse_ir.target import load_target

SHOWN = ("abs_add", "bias_gelu", "masked_softcap")
OURS = re.compile(r"\baf_\w+|\bAF_\w+|\bAfTiling_\w+")
CALLED = re.compile(r"(?<![\w.>])(?:AscendC::)?([A-Z]\w+)\s*(?:<[^;(){}]*>)?\(")
METHODS = re.compile(r"(?:\.|->)(?:template )?([A-Z]\w+)\s*(?:<[^;(){}]*>)?\(")


def bundle_of(name: str, target: str = "ascend-a2"):
    (built,) = build([SAMPLES[name].make()], target).values()
    return built.bundle


@pytest.mark.parametrize("name", SHOWN)
def test_sources_are_what_was_reviewed(name, golden):
    own = [f for f in bundle_of(name).files if f.path.startswith(name)]
    golden("\n".join(f"==== {f.path}\n{f.text}" for f in own), f"{name}.txt")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_same_kernel_gives_the_same_bytes(name):
    assert bundle_of(name) == bundle_of(name)


def test_a2_and_a3_have_the_same_sources():
    for name in SHOWN:
        assert bundle_of(name, "ascend-a2").files == bundle_of(name, "ascend-a3").files


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_kernels_and_host_code_compile_without_a_warning(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    for name in SHOWN:
        write_sources(bundle_of(name), tmp_path)
        flags = ["-Wall", "-Wextra", "-Werror", "-O0", "-Wno-unused-parameter"]
        sim.compile(tmp_path / f"{name}.cpp", "ascend-a2", output=tmp_path / "k.so", compiler=compiler, flags=flags)
        options = [
            "-std=c++17",
            "-O0",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fno-exceptions",
            "-fno-rtti",
            "-fPIC",
            "-shared",
        ]
        hosts = [f"{name}_{part}.cpp" for part in ("host", "candidates", "tiling_func", "infer_shape")]
        subprocess.run([compiler, *options, *hosts, "af_tiling_solver.cpp", "-o", "h.so"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_call_whitelisted_apis_alone(target):
    known, members = whitelist("3510" if target == "ascend-350" else "2201")
    for name in sorted(SAMPLES):
        bundle = bundle_of(name, target)
        texts = [f.text for f in bundle.files if f.path == f"{name}.cpp"]
        texts += [f.text for f in bundle.support_files if f.name.startswith("af_npu_")]
        for text in texts:
            code = re.sub(r"//.*", "", OURS.sub("ours", text))
            assert set(CALLED.findall(METHODS.sub("(", code))) - {"T", "Operator", "To"} - known == set(), name
            assert set(METHODS.findall(code)) - members == set(), name


def whitelist(architecture: str) -> tuple[set[str], set[str]]:
    """Return the functions, types and macros of the table, and the members of its classes."""
    known = {row.name for row in functions(architecture)}
    members = set()
    for kind in ("struct", "class", "macro", "global_function"):
        for row in resources(kind, architecture):
            names = row["name"] if isinstance(row["name"], list) else [row["name"]]
            known |= {name.split("<")[0] for name in names}
            for text in (*row.get("members", ()), *row.get("calls", ())):
                members |= set(re.findall(r"([A-Z]\w+)", text.split("(")[0].split(":")[0]))
    return known, members


def test_host_symbols_have_the_names_and_answers_that_launchers_expect(tmp_path):
    built = build([SAMPLES["bias_gelu"].make(), SAMPLES["abs_add"].make()])
    emulated = compile_all(built, tmp_path)
    host = host_of("bias_gelu", tmp_path)
    data, workspace, blocks = ctypes.create_string_buffer(4096), ctypes.c_uint32(), ctypes.c_uint64()
    assert host.GetTilingDataSize() == built["bias_gelu"].bundle.tiling_bytes
    assert not host.AutofuseIsStaticShape() & 1
    status = host.AutofuseTiling(37, 64, data, ctypes.byref(workspace), ctypes.byref(blocks), 48, 192 * 1024)
    assert (status, workspace.value) == (0, 0)
    assert blocks.value >= 1
    wanted = emulated.tiling_data("bias_gelu", {"m": 37, "n": 64}, 48)
    assert data.raw[: len(wanted)] == wanted
    assert host.FindBestTilingKey(data) == int.from_bytes(wanted[16:20], "little")
    assert host.AutofuseTiling(37, 64, data, None, None, 48, 1024) != 0, "less UB than tiles are sized for"
    static = host_of("abs_add", tmp_path)
    static.GenConstTilingData.restype = ctypes.c_char_p
    assert static.AutofuseIsStaticShape() & 1
    assert static.GetTilingKeyForStatic() == 0
    assert static.GenConstTilingData(None, 48, 0).startswith(b"constexpr AfTiling_abs_add af_abs_add_constant = {")
    assert Emulated.tiling_data(emulated, "abs_add", {}, 48)[16:20] == bytes(4)


def host_of(name: str, folder) -> ctypes.CDLL:
    parts = [f"{name}_{part}.cpp" for part in ("host", "candidates", "tiling_func", "infer_shape")]
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", *parts, "af_tiling_solver.cpp", "-o", f"{name}_host.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / f"{name}_host.so"))


def test_the_kernel_that_takes_its_tiling_by_value_is_the_same(tmp_path):
    """The emulator passes pointers: a wrapper reads the structure from one."""
    built = build([SAMPLES["bias_gelu"].make()])
    emulated = compile_all(built, tmp_path)
    (tmp_path / "wrapped.cpp").write_text(
        '#include "bias_gelu.cpp"\n'
        'extern "C" __global__ __aicore__ void wrapped(GM_ADDR x, GM_ADDR b, GM_ADDR y, GM_ADDR w, GM_ADDR t) {\n'
        "  af_bias_gelu_by_value(x, b, y, w, *reinterpret_cast<AfTiling_bias_gelu*>(t));\n}\n"
    )
    library = sim.compile(tmp_path / "wrapped.cpp", "ascend-a2", output=tmp_path / "w.so", include_dirs=[tmp_path])
    wrapped = Emulated(built, library, emulated.tiling)
    sizes = {"n": 5, "m": 33}
    arrays = inputs_of(built["bias_gelu"], sizes, np.random.default_rng(0))
    by_value, _ = wrapped.launch("bias_gelu", arrays, sizes, entry="wrapped")
    by_pointer = emulated.run("bias_gelu", arrays, sizes)
    np.testing.assert_array_equal(by_value[0], by_pointer[0])


def test_tiling_data_stays_below_its_limit_and_is_aligned():
    for name in sorted(SAMPLES):
        bundle = bundle_of(name)
        assert bundle.tiling_bytes % 8 == 0
        assert bundle.tiling_bytes <= load_target("ascend-a2").limits.tiling_bytes
        assert field_offset(bundle, "tiling_key") == 16


def test_host_code_builds_with_cmake_where_there_is_no_cann(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    write_sources(bundle_of("abs_add"), tmp_path)
    source = tmp_path / "abs_add"
    for command in (
        ["cmake", "-S", source, "-B", source / "b", "-DAF_HOST_ONLY=ON"],
        ["cmake", "--build", source / "b"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    assert list((source / "b").glob("*abs_add_host.so"))
