"""Tensors of other libraries, read through the DLPack C exchange API of their type."""

import importlib.machinery
import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.program import KernelCall
from autofuse_runtime.errors import InputTypeError, InputValueError

SOURCE = Path(__file__).parent / "cases" / "exchange.c"
CPU, CUDA = 1, 2
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6


@pytest.fixture(scope="session")
def exchange(toolchain: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("exchange")
    toolchain.compile_c(SOURCE, folder / "exchange.o", ("-std=c11", "-fPIC", f"-I{sysconfig.get_path('include')}"))
    toolchain.link_shared([folder / "exchange.o"], folder / "exchange.so")
    loader = importlib.machinery.ExtensionFileLoader("exchange", str(folder / "exchange.so"))
    spec = importlib.util.spec_from_file_location("exchange", folder / "exchange.so", loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def program(kit: Any, kernel: str, dtype: dt.DType) -> Any:
    buffers = [kit.buffer(n, k, "n", dtype) for n, k in (("a", "input"), ("b", "input"), ("c", "output"))]
    facts = [kit.fact("n", ("a", 0), ("b", 0))]
    kernels = [kit.kernel(kernel, ["n", "n"], ["n"], dtype=dtype)]
    return kit.run(kit.program(buffers, [KernelCall(kernel, ("a", "b"), ("c",))], ["c"], facts, kernels))


def tensor(exchange: Any, array: Any, code: int, strides: Any = None, device: int = CPU, shape: Any = None) -> Any:
    bits = array.dtype.itemsize * 8
    return exchange.Tensor(array.ctypes.data, code, bits, device, array.shape if shape is None else shape, strides)


CASES = [
    ("add_float32", dt.float32, np.float32, FLOAT),
    ("add_float64", dt.float64, np.float64, FLOAT),
    ("add_int8", dt.int8, np.int8, INT),
    ("add_int64", dt.int64, np.int64, INT),
    ("add_uint16", dt.uint16, np.uint16, UINT),
    ("keep_float16", dt.float16, np.float16, FLOAT),
    ("keep_bfloat16", dt.bfloat16, ml_dtypes.bfloat16, BFLOAT),
    ("keep_bool", dt.bool_, np.bool_, BOOL),
]


@pytest.mark.parametrize(("kernel", "dtype", "numpy_type", "code"), CASES, ids=[case[0] for case in CASES])
def test_tensors_are_read_and_written_in_place(
    kit: Any, exchange: Any, kernel: str, dtype: dt.DType, numpy_type: Any, code: int
) -> None:
    fn = program(kit, kernel, dtype)
    a = np.array([1, 0, 1, 1], numpy_type)
    out = np.zeros(4, numpy_type)
    before = exchange.calls()
    target = tensor(exchange, out, code)
    assert fn(tensor(exchange, a, code), tensor(exchange, a, code), out=target) is target
    assert exchange.calls() == before + 3
    np.testing.assert_array_equal(out, fn(a, a))
    assert fn.stats.copies == 0


def test_strides_are_in_elements_and_lead_to_a_copy(kit: Any, exchange: Any) -> None:
    fn = program(kit, "add_float32", dt.float32)
    a = np.arange(6, dtype=np.float32)
    strided = tensor(exchange, a, FLOAT, strides=(2,), shape=(3,))
    assert fn(strided, a[:3]).tolist() == [0, 3, 6]
    assert fn.stats.copies == 1
    assert fn(tensor(exchange, a, FLOAT, strides=(1,)), a).tolist() == (2 * a).tolist()
    assert fn.stats.copies == 1


def test_wrong_tensors_are_refused(kit: Any, exchange: Any) -> None:
    fn = program(kit, "add_float32", dt.float32)
    a = np.arange(4, dtype=np.float32)
    with pytest.raises(InputTypeError, match="input 'a'"):
        fn(tensor(exchange, a, FLOAT, device=CUDA), a)
    with pytest.raises(InputTypeError, match="input 'a'"):
        fn(tensor(exchange, a, INT), a)
    with pytest.raises((InputTypeError, InputValueError), match="input 'a'"):
        fn(tensor(exchange, a, FLOAT, shape=(2, 2)), a)
