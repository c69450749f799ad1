"""Faults of memory that users of other compilers reported: the kernels under an address sanitizer.

One process compiles everything with g++'s sanitizer and loads that in front of Python, so that reads and writes outside
of arrays, of workspace and of local memory end it.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import autofuse, numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.errors import AutofuseError
from autofuse_testkit.networks import Network, softmax_of

F = np.float32
b = Network("reports")
x, scale = b.input("x", ("n", "c", "h", "w"), dt.float32), b.input("L", ("n",), dt.float32)
t = b.op("Exp", b.op("Neg", b.op("Mul", x, b.op("Unsqueeze", scale, axes=(1, 2, 3)))))
share = b.op("RealDiv", t, b.op("ReduceSumD", t, axes=(1, 2, 3), keep_dims=True))
largest = b.op("ReduceMaxD", b.op("Mul", x, b.number(-1)), axes=(0, 1, 2, 3))
index = b.input("i", ("k",), dt.int64)
row = b.op("Neg", b.op("GatherV2", x, index, b.number(3, dt.int64)))
sides = [b.op("StridedSliceV2", x, *(b.integers(at) for at in (1, end, 3))) for end in (4, 3)]
joined = b.op("ConcatV2D", *sides, x, concat_dim=3, N=3)
outputs = {"share": share, "largest": largest, "row": row, "joined": joined, "softmax": softmax_of(b, x)}
fn = autofuse.compile(b.build(outputs), tier="jit")
for threads in (1, 3):
    autofuse.set_num_threads(threads)
    for shape in ((5, 1, 32, 32), (1, 1, 1, 8193), (1, 1, 1, 5), (3, 2, 65, 33), (1, 1, 1, 1), (0, 1, 2, 3)):
        x, scale = np.zeros(shape, F), np.ones(shape[0], F)
        share, largest, row, joined, softmax = fn(x, scale, np.array([0, shape[3] - 1]))
        assert np.allclose(share, 1 / np.prod(shape[1:])) and np.allclose(softmax, 1 / shape[3])
        assert np.signbit(largest) and row.shape == (*shape[:3], 2)
        for bad in (shape[3], -shape[3] - 1, 2**62):
            try:
                fn(x, scale, np.array([0, bad]))
                assert x.size == 0, "an index out of range was read"
            except AutofuseError as error:
                assert "out of range" in error.what, error
print("fine")
"""


def test_no_kernel_leaves_its_memory(tmp_path: Path) -> None:
    """https://github.com/pytorch/pytorch/issues/159154 (a heap overrun), and the reports of slices and gathers."""
    compiler = shutil.which("g++")
    runtime = "" if compiler is None else answer(compiler, "-print-file-name=libasan.so")
    if compiler is None or not Path(runtime).is_absolute():
        pytest.skip("there is no g++ with an address sanitizer")
    wrapper = tmp_path / "bin" / "g++"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {compiler} -fsanitize=address -fno-omit-frame-pointer "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    environment = os.environ | {
        "PATH": f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}",
        "AUTOFUSE_CACHE": str(tmp_path / "cache"),
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it has
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stdout + done.stderr
    libraries = list((tmp_path / "cache").rglob("kernels.so"))
    assert libraries
    assert all(b"__asan_report" in library.read_bytes() for library in libraries), "nothing was watched"


def answer(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
