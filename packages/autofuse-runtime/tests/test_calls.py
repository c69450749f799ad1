"""Calling a program: arguments in, results out."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import as_dim
from autofuse_ir.graph import GraphOutput
from autofuse_ir.program import Alias, BindSymbol, Copy, Free, KernelCall, WriteSizes
from hypothesis import given, settings
from hypothesis import strategies as st


def binary(
    kit: Any, kernel: str = "add_float32", dtype: dt.DType = dt.float32, shape: str = "n", size: str = "n"
) -> Any:
    """c = kernel(a, b) over one symbol or more."""
    axes = [name.strip() for name in shape.split(",") if name]
    symbols = [kit.fact(name, ("a", k), ("b", k)) for k, name in enumerate(axes)]
    steps = [KernelCall(kernel, ("a", "b"), ("c",))]
    buffers = [kit.buffer(name, kind, shape, dtype) for name, kind in (("a", "input"), ("b", "input"), ("c", "output"))]
    return kit.program(buffers, steps, ["c"], symbols, [kit.kernel(kernel, [shape] * 2, [shape], dtype=dtype)])


@pytest.fixture(scope="session")
def add(kit: Any) -> Any:
    return kit.run(binary(kit))


DTYPES = [dt.float32, dt.float64, dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_arithmetic_dtype_is_passed_and_returned(kit: Any, dtype: dt.DType) -> None:
    fn = kit.run(binary(kit, f"add_{dtype.name}", dtype))
    a = np.arange(7).astype(dtype.numpy_name)
    result = fn(a, a)
    assert result.dtype == a.dtype
    np.testing.assert_array_equal(result, a + a)


@pytest.mark.parametrize(
    ("dtype", "numpy_type"), [(dt.bool_, bool), (dt.float16, np.float16), (dt.bfloat16, ml_dtypes.bfloat16)]
)
def test_bool_and_16_bit_floats_are_passed_and_returned(kit: Any, dtype: dt.DType, numpy_type: Any) -> None:
    fn = kit.run(binary(kit, f"keep_{dtype.name}", dtype))
    a = np.array([1, 0, 1, 1], numpy_type)
    b = np.array([1, 1, 0, 1], numpy_type)
    result = fn(a, b)
    assert result.dtype == np.dtype(numpy_type)
    np.testing.assert_array_equal(result, [1, 0, 0, 1])
    out = np.zeros(4, numpy_type)
    assert fn(a, b, out=out) is out
    np.testing.assert_array_equal(out, result)
    np.testing.assert_array_equal(fn(a[::2], b[::2]), [1, 0])


@given(n=st.integers(0, 3000), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_any_size_serves_from_one_build(add: Any, n: int, seed: int) -> None:
    a, b = np.random.default_rng(seed).standard_normal((2, n)).astype(np.float32)
    np.testing.assert_array_equal(add(a, b), a + b)


def test_inputs_go_by_position_or_name(add: Any) -> None:
    a, b = np.float32([1, 2]), np.float32([10, 20])
    for result in (add(a, b), add(a, b=b), add(b=b, a=a)):
        np.testing.assert_array_equal(result, [11, 22])


def test_out_is_filled_and_returned(add: Any) -> None:
    a, out = np.ones(5, np.float32), np.zeros(5, np.float32)
    assert add(a, a, out=out) is out
    assert out.tolist() == [2.0] * 5
    assert add(a, a, out=(out,)) is out


def test_results_are_writable_and_outlive_the_module(kit: Any) -> None:
    fn = kit.run(binary(kit))
    a = np.ones(3, np.float32)
    first = fn(a, a)
    second = fn(a, a)
    first[:] = 7
    del fn
    assert second.tolist() == [2, 2, 2]
    assert first.tolist() == [7, 7, 7]


@pytest.mark.parametrize("rank", range(7))
def test_ranks_0_to_6_and_strides(kit: Any, rank: int) -> None:
    names = ["p", "q", "r", "s", "t", "u"][:rank]
    shape = ",".join(names)
    buffers = [kit.buffer(name, kind, shape) for name, kind in (("a", "input"), ("b", "input"), ("c", "output"))]
    facts = [kit.fact(name, ("a", k), ("b", k), hi=50) for k, name in enumerate(names)]
    # The kernel takes one size: views of all tensors under the shape [product].
    product = "*".join(names) or "1"
    flat = [kit.buffer(f"{name}.flat", "intermediate", product, alias_of=name) for name in ("a", "b", "c")]
    facts.append(kit.fact("one", lo=1, hi=1))
    steps: list[Any] = [
        Alias("a", "a.flat"),
        Alias("b", "b.flat"),
        KernelCall("add_float32", ("a.flat", "b.flat"), ("c.flat",)),
    ]
    symbol = "one" if rank == 0 else "whole"
    if rank:
        whole = kit.fact("whole", hi=10**9)
        facts.append(whole)
        buffers.append(kit.buffer("sizes", "intermediate", "1", dt.int64))
        steps = [
            WriteSizes("sizes", (as_dim(product),)),
            BindSymbol("whole", "sizes", None, 0, 0, 10**9),
            *steps,
        ]
    kernel = kit.kernel("add_float32", [product] * 2, [product], symbols=[symbol])
    fn = kit.run(kit.program([*buffers, *flat], steps, ["c"], facts, [kernel]))
    rng = np.random.default_rng(rank)
    for sizes in ([2, 3, 1, 2, 3, 2], [1] * 6, [3, 0, 2, 2, 2, 2]):
        a = rng.standard_normal(sizes[:rank]).astype(np.float32)
        b = np.asarray(a.T.copy().T * 2)
        out = np.zeros(tuple(2 * size for size in sizes[:rank]), np.float32)[(..., *(slice(None, None, 2),) * rank)]
        np.testing.assert_array_equal(fn(a, b), a + b)
        fn(a[..., ::-1] if rank else a, b, out=out)
        np.testing.assert_array_equal(out, (a[..., ::-1] if rank else a) + b)


def test_strided_inputs_are_copied_and_counted(kit: Any) -> None:
    fn = kit.run(binary(kit))
    a = np.arange(8, dtype=np.float32)
    for view in (a[::2], a[::-2], np.broadcast_to(a[:1], (4,))):
        before = fn.stats.copies
        np.testing.assert_array_equal(fn(view, a[:4]), view + a[:4])
        assert fn.stats.copies == before + 1
    before = fn.stats.copies
    fn(a, a)
    assert fn.stats.copies == before


def test_misaligned_inputs_are_copied(add: Any) -> None:
    raw = bytearray(4 * 4 + 1)
    a = np.frombuffer(raw, np.float32, 4, offset=1)
    np.testing.assert_array_equal(add(a, np.ones(4, np.float32)), [1, 1, 1, 1])


def test_read_only_inputs_are_accepted(add: Any) -> None:
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    assert add(a, a).tolist() == [2, 2, 2]


def test_buffer_exporters_other_than_arrays_are_accepted(kit: Any) -> None:
    fn = kit.run(binary(kit, "add_uint8", dt.uint8))
    assert fn(b"\x01\x02", bytearray(b"\x03\x04")).tolist() == [4, 6]


class OnlyDlpack:
    """Speaks DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack_objects_are_read_and_written_without_a_copy(kit: Any) -> None:
    fn = kit.run(binary(kit))
    a, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    wrapped = OnlyDlpack(out)
    assert fn(OnlyDlpack(a), OnlyDlpack(a), out=wrapped) is wrapped
    assert out.tolist() == [0, 2, 4, 6]
    assert fn.stats.copies == 0


def test_two_kernels_share_an_intermediate_that_is_freed(kit: Any) -> None:
    buffers = [
        kit.buffer("a", "input"),
        kit.buffer("b", "input"),
        kit.buffer("t", "intermediate"),
        kit.buffer("c", "output"),
    ]
    steps = [KernelCall("add_float32", ("a", "b"), ("t",)), KernelCall("scale", ("t",), ("c",)), Free("t")]
    kernels = [kit.kernel("add_float32", ["n", "n"], ["n"]), kit.kernel("scale", ["n"], ["n"])]
    fn = kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0), ("b", 0))], kernels))
    a = np.arange(10, dtype=np.float32)
    result = fn(a, a)
    np.testing.assert_array_equal(result, 4 * a)
    in_use = kit.extension.memory_stats(False)["bytes_in_use"]
    out = np.empty_like(a)
    fn(a, a, out=out)
    assert kit.extension.memory_stats(False)["bytes_in_use"] == in_use
    assert fn.stats.launches == 4


def test_two_outputs_come_as_a_tuple(kit: Any) -> None:
    buffers = [kit.buffer(n, k) for n, k in (("a", "input"), ("b", "input"), ("s", "output"), ("d", "output"))]
    steps = [KernelCall("add_sub", ("a", "b"), ("s", "d"))]
    kernels = [kit.kernel("add_sub", ["n", "n"], ["n", "n"])]
    fn = kit.run(kit.program(buffers, steps, ["s", "d"], [kit.fact("n", ("a", 0), ("b", 0))], kernels))
    a, b = np.float32([5, 6]), np.float32([1, 2])
    total, difference = fn(a, b)
    assert (total.tolist(), difference.tolist()) == ([6, 8], [4, 4])
    out = np.zeros(2, np.float32)
    results = fn(a, b, out=(None, out))
    assert results[1] is out
    assert out.tolist() == [4, 4]


def test_workspace_is_given_to_the_kernel(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("w", "workspace", "4*n", dt.uint8), kit.buffer("c", "output")]
    steps = [KernelCall("reverse", ("a",), ("c",), "w"), Free("w")]
    kernel = kit.kernel("reverse", ["n"], ["n"], workspace="4*n")
    fn = kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0))], [kernel]))
    a = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(fn(a), a[::-1])


def test_an_empty_reduction_launches_and_an_empty_result_does_not(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("t", "output", ""), kit.buffer("c", "output")]
    steps = [KernelCall("total", ("a",), ("t",)), KernelCall("scale", ("a",), ("c",))]
    kernels = [kit.kernel("total", ["n"], [""]), kit.kernel("scale", ["n"], ["n"])]
    fn = kit.run(kit.program(buffers, steps, ["t", "c"], [kit.fact("n", ("a", 0))], kernels))
    total, scaled = fn(np.zeros(0, np.float32))
    assert total.shape == ()
    assert total == 0
    assert scaled.shape == (0,)
    assert fn.stats.launches == 1


def test_an_input_that_is_an_output_is_copied(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output")]
    fn = kit.run(kit.program(buffers, [Copy("a", "c")], ["c"], [kit.fact("n", ("a", 0))]))
    a = np.arange(3, dtype=np.float32)
    result = fn(a)
    a[:] = 0
    assert result.tolist() == [0, 1, 2]


def test_one_value_under_two_output_names_gives_two_arrays(kit: Any) -> None:
    program = binary(kit)
    fn = kit.run(evolve(program, outputs=(GraphOutput("x", "c"), GraphOutput("y", "c"))))
    a = np.ones(2, np.float32)
    x, y = fn(a, a)
    x[:] = 9
    assert y.tolist() == [2, 2]


def test_sizes_become_a_tensor(kit: Any) -> None:
    buffers = [kit.buffer("a", "input", "n,m"), kit.buffer("s", "output", "2", dt.int64)]
    facts = [kit.fact("n", ("a", 0)), kit.fact("m", ("a", 1))]
    fn = kit.run(kit.program(buffers, [WriteSizes("s", (as_dim("n*m"), as_dim("m + 1")))], ["s"], facts))
    assert fn(np.zeros((3, 5), np.float32)).tolist() == [15, 6]


def test_tile_sizes_are_solved_once_for_equal_sizes(kit: Any) -> None:
    fn = kit.run(binary(kit))
    a = np.ones(4, np.float32)
    for _ in range(5):
        fn(a, a)
    assert fn.stats.tiling_hits == 4
    fn(a[:2], a[:2])
    assert fn.stats.tiling_hits == 4


def test_big_calls_use_the_threads_and_give_the_same(kit: Any) -> None:
    fn = kit.run(binary(kit))
    a, b = np.random.default_rng(0).standard_normal((2, 300_001)).astype(np.float32)
    results = []
    for threads in (1, 2, 5):
        fn.set_num_threads(threads)
        results.append(fn(a, b))
    fn.set_num_threads(2)
    for result in results:
        np.testing.assert_array_equal(result, a + b)


def test_without_ml_dtypes_bfloat16_is_its_bits(kit: Any, cache_directory: Path, tmp_path: Path) -> None:
    program = binary(kit, "keep_bfloat16", dt.bfloat16)
    (tmp_path / "program.pickle").write_bytes(pickle.dumps((program, kit.library(program).path)))
    code = """
import pickle, sys
from pathlib import Path
sys.modules["ml_dtypes"] = None
import numpy as np
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.extension import load_extension
from autofuse_runtime.load import load_program
program, library = pickle.loads(Path(sys.argv[1]).read_bytes())
fn = load_program(program, library, load_extension(ArtefactCache(Path(sys.argv[2])))).function
a = np.array([0x3F80, 0x4000], np.uint16)
assert fn(a, a).dtype == np.uint16 and fn(a, a).tolist() == a.tolist()
out = np.zeros(2, np.uint16)
assert fn(a[::-1], a, out=out) is out and out.tolist() == a[::-1].tolist()
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / "program.pickle"), str(cache_directory)]
    subprocess.run(arguments, check=True)
