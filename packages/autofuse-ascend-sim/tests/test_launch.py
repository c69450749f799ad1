import shutil
import struct
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from autofuse_ascend_sim.lines import lines_of
from autofuse_ascend_sim.outcome import raise_failure
from autofuse_ascend_sim.toolchain import host_program

CASES = Path(__file__).parent / "cases"
ADD_KERNEL = Path(sim.__file__).parent / "examples" / "add.cpp"
STRICT = ["-Werror", "-Wextra", "-Wno-unused-parameter"]
COMPILERS = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"))
    for name in ("g++", "clang++")
]


def line_of(name, marker):
    """Line of the marker in the kernel `name` of faults.cpp."""
    text = (CASES / "faults.cpp").read_text()
    start = text.index(f" {name}(")
    return text[: text.index(marker, start)].count("\n") + 1


def compile_text(tmp_path, text, soc="ascend-a2", **options):
    source = tmp_path / "kernel.cpp"
    source.write_text('#include "kernel_operator.h"\nusing namespace AscendC;\n' + text)
    return sim.compile(source, soc, **options)


def tiling(total, blocks, tile):
    per_block = -(-total // blocks // 8) * 8
    return struct.pack("III", total, per_block, tile)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("soc", sim.soc_names())
def test_a_double_buffered_add_is_right_on_every_soc_with_both_compilers(soc, compiler):
    library = sim.compile(ADD_KERNEL, soc, compiler=compiler, flags=STRICT)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 10_000)).astype(np.float32)
    z = np.zeros_like(x)
    report = sim.run(library, "add", [x, y, z], tiling(10_000, 8, 512), 8, 0)
    np.testing.assert_array_equal(z, x + y)
    assert (report.loaded_bytes, report.stored_bytes) == (80_000, 40_000)
    assert report.ub_high_water == 6 * 2048


def test_the_run_time_builds_without_warnings():
    program = host_program()
    assert program.with_suffix(".warnings").read_text() == ""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang++ is not installed")
def test_the_run_time_compiles_without_warnings_with_clang_too():
    sources = sorted(str(path) for path in (Path(sim.__file__).parent / "runtime").glob("*.cpp"))
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-D__NPU_ARCH__=3510", f"-I{sim.include_dir()}"]
    done = subprocess.run(["clang++", *flags, "-fsyntax-only", *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_and_estimates_do_not_depend_on_host_threads(add_library, threads):
    x, y, z = np.ones(4096, np.float32), np.full(4096, 2, np.float32), np.zeros(4096, np.float32)
    report = sim.run(add_library, "add", [x, y, z], tiling(4096, 8, 128), 8, 0, threads=threads)
    one = sim.run(add_library, "add", [x, y, z], tiling(4096, 8, 128), 8, 0, threads=1)
    assert (z == 3).all()
    assert (report.cycles, report.stall_cycles) == (one.cycles, one.stall_cycles)


def test_a_missing_entry_lists_the_kernels_of_the_library(add_library):
    with pytest.raises(sim.EntryError, match=r"no kernel 'sub'; it exports add "):
        sim.run(add_library, "sub", [])


def test_a_kernel_that_does_not_compile_is_one_paragraph_with_its_line(tmp_path):
    with pytest.raises(sim.CompileError, match=r"kernel\.cpp:3: .*undeclared|kernel\.cpp:3: .*not declared") as caught:
        compile_text(tmp_path, 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { Nothing(x); }\n')
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("soc", "statement", "message"),
    [
        ("ascend-a2", "LocalTensor<int64_t> a; Add(a, a, a, 8);", "AscendC::Add: this element type is not supported"),
        ("ascend-a2", "LocalTensor<bfloat16_t> a; Exp(a, a, 8);", "AscendC::Exp: this element type is not supported"),
        ("ascend-350", "LocalTensor<bfloat16_t> a; Div(a, a, a, 8);", "AscendC::Div: this element type is not"),
        (
            "ascend-a3",
            "LocalTensor<half> a; LocalTensor<bfloat16_t> b; Cast(b, a, RoundMode::CAST_RINT, 8);",
            "no conv",
        ),
        ("ascend-a2", "PipeBarrier<PIPE_S>();", "AscendC::PipeBarrier: PIPE_S is not allowed"),
        ("ascend-a2", "LocalTensor<float> a; TopK(a, a);", "AscendC::TopK is not covered by autofuse-ascend-sim"),
    ],
)
def test_what_a_soc_does_not_have_is_a_compile_error_at_the_kernel_line(tmp_path, compiler, soc, statement, message):
    with pytest.raises(sim.CompileError) as caught:
        compile_text(tmp_path, f'extern "C" __global__ void k(GM_ADDR) {{\n{statement}\n}}', soc, compiler=compiler)
    assert message in str(caught.value)
    assert "kernel.cpp:4: " in str(caught.value)
    assert soc in str(caught.value)


def test_a_hang_is_stopped_and_names_block_and_line(faults):
    with pytest.raises(sim.HangError, match="did not end in time") as caught:
        sim.run(faults, "hangs_in_block_2", [np.zeros(8, np.float32)], None, 3, timeout=2)
    assert caught.value.block == 2
    assert caught.value.place.line == line_of("hangs_in_block_2", "// HANG")


def test_a_signal_told_to_lie_in_another_kernel_has_no_line_of_its_own(faults):
    listed = subprocess.run(["nm", "-D", str(faults.path)], capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(" T prints"))
    facts = {"kind": "timeout", "message": "", "block": "2", "site": f"{faults.path} {start + 1} "}
    with pytest.raises(sim.HangError) as own:
        raise_failure(facts, faults, "prints")
    assert own.value.place.line > 0
    with pytest.raises(sim.HangError) as other:
        raise_failure(facts, faults, "hangs_in_block_2")
    assert other.value.place.line == 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_lies_in_functions_of_the_interface_is_on_no_line_of_a_kernel(compiler):
    library = sim.compile(CASES / "faults.cpp", "ascend-a2", compiler=compiler)
    listed = subprocess.run(["nm", "-S", str(library.path)], capture_output=True, text=True, check=True).stdout
    symbols = [line.split() for line in listed.splitlines() if "AscendC" in line and len(line.split()) == 4]
    spans = [
        range(int(start, 16) + 1, int(start, 16) + int(size, 16)) for start, size, kind, _ in symbols if kind in "tW"
    ]
    assert spans
    assert {lines_of(str(library.path), span) for span in spans} == {(("", 0),) * len(span) for span in spans}


def test_a_hang_without_api_calls_is_stopped_too(faults):
    with pytest.raises(sim.HangError, match="did not end in time") as caught:
        sim.run(faults, "hangs", [np.zeros(8, np.float32)], timeout=2)
    assert caught.value.block == 0
    assert abs(caught.value.place.line - line_of("hangs", "// HANG")) <= 1  # the loop's condition or its body


def test_a_crash_names_block_and_line(faults):
    with pytest.raises(sim.CrashError, match="Segmentation fault") as caught:
        sim.run(faults, "crashes", [np.zeros(8, np.float32)], None, 2)
    assert caught.value.block == 1
    assert caught.value.place.line == line_of("crashes", "// CRASH")


@pytest.mark.parametrize(
    ("entry", "marked", "block"), [("exits", "// EXIT", 1), ("jumps", "// JUMP", 0), ("recurses", "// DEEPER", 0)]
)
def test_ending_the_process_a_wild_call_and_endless_recursion_are_crashes_with_a_line(faults, entry, marked, block):
    with pytest.raises(sim.CrashError) as caught:
        sim.run(faults, entry, [np.zeros(8, np.float32)], None, block + 1)
    line = (CASES / "faults.cpp").read_text().split(marked)[0].count("\n") + 1
    assert caught.value.block == block
    assert abs(caught.value.place.line - line) <= 3  # the recursion may overflow in the head of its function


def test_endless_output_is_cut(faults):
    report = sim.run(faults, "prints_without_end", [np.zeros(8, np.float32)])
    assert len(report.output) < 1_100_000
    assert report.output.endswith("the rest of the output is left out\n")


def test_only_the_library_s_own_functions_are_kernels(faults):
    with pytest.raises(sim.EntryError, match="no kernel 'printf'"):
        sim.run(faults, "printf", [])


def test_a_raw_pointer_cannot_leave_its_argument(faults):
    with pytest.raises(sim.CrashError):
        sim.run(faults, "overruns", [np.zeros(4096, np.uint8)])


def test_arrays_keep_their_values_when_a_launch_fails(faults):
    data = np.full(4096, 9, np.uint8)
    with pytest.raises(sim.CrashError):
        sim.run(faults, "overruns", [data])
    assert (data == 9).all()


def test_more_blocks_than_cores_is_its_own_error_unless_asked_for(add_library):
    x = np.ones(49 * 8, np.float32)
    args = [x, x.copy(), np.zeros_like(x)]
    with pytest.raises(sim.RULE_ERRORS["block_dim"], match="49 is more than the 48 vector cores"):
        sim.run(add_library, "add", args, tiling(49 * 8, 49, 8), 49, 0)
    sim.run(add_library, "add", args, tiling(48 * 8, 48, 8), 48, 0)
    sim.run(add_library, "add", args, tiling(49 * 8, 49, 8), 49, 0, oversubscribe=True)
    assert (args[2] == 2).all()


def test_sync_all_with_more_blocks_than_cores_is_its_own_error(faults):
    out = np.zeros(8, np.float32)
    sim.run(faults, "syncs", [out], None, 48)
    with pytest.raises(sim.RULE_ERRORS["sync_all"], match="49 blocks on 48 cores"):
        sim.run(faults, "syncs", [out], None, 49, oversubscribe=True)


def test_a_tiling_struct_larger_than_the_tiling_bytes_is_reported(add_library):
    x = np.ones(64, np.float32)
    with pytest.raises(sim.RULE_ERRORS["gm_bounds"], match="12 bytes and the launch passed 8"):
        sim.run(add_library, "add", [x, x, x], b"\0" * 8, 1, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_dim": 0}, "at least one block"),
        ({"block_dim": 70_000, "oversubscribe": True}, "at most 65535 blocks"),
        ({"workspace": -1}, "workspace=-1"),
        ({"workspace": 1 << 60}, "workspace=1152921504606846976"),
        ({"args": [np.zeros((4, 4))[:, 1]]}, "not C-contiguous"),
        ({"args": ["text"]}, "neither a NumPy array nor an integer"),
        ({"args": [1] * 70}, "70 arguments"),
        ({"checks": "none"}, "checks='none'"),
        ({"args": [np.zeros(4, ">f4")]}, "foreign order"),
        ({"threads": 0}, "threads=0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"tiling_key": -1}, "tiling_key=-1"),
        ({"trace": "missing/trace.json"}, "the folder does not exist"),
    ],
)
def test_a_launch_that_cannot_be_made_says_why(add_library, options, message):
    with pytest.raises(sim.LaunchError, match=message):
        sim.run(add_library, "add", **{"args": [], **options})


def test_scalars_tiling_keys_and_workspace_reach_the_kernel(faults):
    count = np.zeros(1, np.int64)
    sim.run(faults, "counts", [count, -3, 7])
    assert count[0] == -21
    out = np.zeros(1, np.int32)
    sim.run(faults, "keyed", [out], tiling_key=4)
    assert out[0] == 44
    sim.run(faults, "uses_workspace", [out], workspace=256)
    assert out[0] == 5


def test_printf_and_dumps_are_in_the_report(faults):
    report = sim.run(faults, "prints", [np.zeros(1)], None, 2, threads=1)
    assert "[block 0] block 0 of 2: hello\n" in report.output
    assert "[block 1] dump 5: 7 7\n" in report.output
    assert "[block 1] half 0.25\n" in report.output


def test_atomics_add_in_block_order(faults):
    for _ in range(5):
        out = np.zeros(8, np.float32)
        sim.run(faults, "sums_in_order", [out], None, 3, threads=3)
        assert (out == np.float32(0)).all()  # (1e8 + 1) - 1e8 in float


def test_unknown_socs_and_compilers_are_reported(tmp_path):
    with pytest.raises(sim.SocError, match=r"unknown SoC 'ascend-a9'.*ascend-a2"):
        sim.compile(ADD_KERNEL, "ascend-a9")
    with pytest.raises(sim.ToolchainError, match="no-such-compiler was not found"):
        sim.compile(ADD_KERNEL, "ascend-a2", compiler="no-such-compiler")
    with pytest.raises(sim.CompileError, match=r"missing\.cpp: no such file"):
        sim.compile(tmp_path / "missing.cpp", "ascend-a2")


def test_the_same_array_twice_is_one_memory_and_partial_overlap_is_refused(add_library):
    x = np.arange(64, dtype=np.float32)
    y = np.ones(64, np.float32)
    sim.run(add_library, "add", [x, y, x], tiling(64, 1, 64), 1, 0)
    np.testing.assert_array_equal(x, np.arange(64) + 1)
    data = np.zeros(96, np.float32)
    with pytest.raises(sim.LaunchError, match="overlap without being the same memory"):
        sim.run(add_library, "add", [data[:64], data[32:], y], tiling(64, 1, 64), 1, 0)


def test_empty_and_scalar_shaped_arrays_are_arguments_too(faults):
    one = np.zeros((), np.int64)
    sim.run(faults, "counts", [one, 6, 7])
    assert one == 42
    sim.run(faults, "syncs", [np.zeros((0, 4), np.float32)])


def test_a_workspace_that_is_an_array_shows_what_the_kernel_left_there(tmp_path):
    library = compile_text(
        tmp_path,
        'extern "C" __global__ __aicore__ void leave(GM_ADDR workspace) {\n'
        "  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);\n"
        "  GlobalTensor<uint32_t> words;\n"
        "  words.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(workspace) + GetBlockIdx() * 16, 16);\n"
        "  words.SetValue(0, words.GetValue(0) + 7);\n"
        "  SyncAll();\n}\n",
    )
    workspace = np.zeros(32, np.uint32)
    workspace[16] = 100
    sim.run(library, "leave", [], block_dim=2, workspace=workspace)
    assert (workspace[0], workspace[16], workspace.sum()) == (7, 107, 114)
    with pytest.raises(sim.LaunchError, match="workspace: the array is not C-contiguous"):
        sim.run(library, "leave", [], block_dim=2, workspace=np.zeros(64, np.uint32)[::2])
