"""A built model is a C library: compiled and called by a C program that knows nothing of Python."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.abi import header_text
from autofuse_ir.dims import as_dim
from autofuse_ir.graph import Constant, Node
from autofuse_ir.program import Alias, Copy, HostCall, KernelCall, ProgramRegion, WriteSizes
from autofuse_ir.tensor_data import TensorData
from autofuse_runtime.c_header import c_header

CASES = Path(__file__).parent / "cases"


def run_c(kit: Any, program: Any, source: str, folder: Path) -> str:
    """Build the program, then the C file against its header and library; return what it prints."""
    (folder / "af_abi.h").write_text(header_text(), encoding="utf-8")
    (folder / "test.h").write_text(c_header(program), encoding="utf-8")
    shutil.copyfile(kit.library(program).path, folder / "libtest.so")
    kit.toolchain.compile_c(CASES / source, folder / "main.o", ("-std=c11", "-Wall", "-Werror", f"-I{folder}"))
    command = [kit.toolchain.driver, str(folder / "main.o"), str(folder / "libtest.so"), "-o", str(folder / "main")]
    subprocess.run([*command, f"-Wl,-rpath,{folder}"], check=True, capture_output=True)
    return subprocess.run([str(folder / "main")], check=True, capture_output=True, text=True).stdout


def test_a_model_without_host_steps_is_one_c_function(kit: Any, tmp_path: Path) -> None:
    buffers = [
        kit.buffer("a", "input", "n"),
        kit.buffer("k", "constant", "3"),
        kit.buffer("t", "intermediate", "n"),
        kit.buffer("t2", "intermediate", "n", alias_of="t"),
        kit.buffer("c", "output", "n"),
        kit.buffer("d", "output", "n"),
        kit.buffer("s", "output", "2", dt.int64),
    ]
    steps = [
        KernelCall("add_float32", ("a", "k"), ("t",)),
        Alias("t", "t2"),
        KernelCall("scale", ("t2",), ("c",)),
        Copy("c", "d"),
        WriteSizes("s", (as_dim("n"), as_dim("2*n + 1"))),
    ]
    kernels = [kit.kernel("add_float32", ["n", "n"], ["n"]), kit.kernel("scale", ["n"], ["n"])]
    data = np.array([10, 20, 30], np.float32)
    constants = (Constant("k", TensorData(dt.float32, (3,), data.tobytes())),)
    facts = [kit.fact("n", ("a", 0), hi=3)]
    program = kit.program(buffers, steps, ["c", "d", "s"], facts, kernels, constants=constants)
    header = c_header(program)
    assert "The model is one function." in header
    assert "sizes[0]: n, 0..3" in header
    assert run_c(kit, program, "use_model.c", tmp_path) == "0: 22 44 66, 22 44 66, 3 7, live 0\n4\n"
    # And the same through Python:
    c, d, s = kit.run(program)(np.float32([1, 2, 3]))
    assert (c.tolist(), d.tolist(), s.tolist()) == ([22, 44, 66], [22, 44, 66], [3, 7])


def test_a_model_with_host_steps_is_a_c_function_for_each_kernel(kit: Any, tmp_path: Path) -> None:
    buffers = [
        kit.buffer(n, k, "n", dt.int32)
        for n, k in (("a", "input"), ("b", "input"), ("t", "intermediate"), ("c", "output"))
    ]
    steps = [KernelCall("divide", ("a", "b"), ("t",)), HostCall("h", ("t",), ("c",))]
    kernels = [kit.kernel("divide", ["n", "n"], ["n"], dtype=dt.int32)]
    regions = (ProgramRegion("h", "fake", ("t",), ("c",), (Node("h", "Host", ("t",), ("c",)),)),)
    program = kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0), ("b", 0))], kernels, regions=regions)
    assert "One function a kernel: it has host steps (h)." in c_header(program)
    assert run_c(kit, program, "use_kernels.c", tmp_path) == "0: 2 4\n3: bits 8\n"


@pytest.mark.parametrize("name", ["i64", "library", "kernels", "kernel_0", "scale", "min", "ceildiv", "i64.", "7"])
def test_a_model_may_be_called_like_what_its_library_defines(name: str, kit: Any) -> None:
    buffers = [kit.buffer("a", "input", "n"), kit.buffer("c", "output", "n")]
    kernels = [kit.kernel("scale", ["n"], ["n"])]
    program = kit.program(buffers, [KernelCall("scale", ("a",), ("c",))], ["c"], [kit.fact("n", ("a", 0))], kernels)
    assert kit.run(evolve(program, name=name))(np.float32([1, 2])).tolist() == [2, 4]
