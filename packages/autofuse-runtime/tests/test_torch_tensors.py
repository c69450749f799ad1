"""Tensors of PyTorch as arguments and out=: read in place, or refused for what their memory does not say."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.program import KernelCall
from autofuse_runtime.errors import InputTypeError, InputValueError

torch: Any = pytest.importorskip(
    "torch", reason="PyTorch is not installed; test_dlpack_exchange.py covers its protocol"
)


def program(kit: Any, kernel: str = "add_float32", dtype: dt.DType = dt.float32) -> Any:
    buffers = [kit.buffer(n, k, "n", dtype) for n, k in (("a", "input"), ("b", "input"), ("c", "output"))]
    facts = [kit.fact("n", ("a", 0), ("b", 0))]
    kernels = [kit.kernel(kernel, ["n", "n"], ["n"], dtype=dtype)]
    return kit.run(kit.program(buffers, [KernelCall(kernel, ("a", "b"), ("c",))], ["c"], facts, kernels))


@pytest.mark.parametrize(
    ("kernel", "dtype", "torch_type", "numpy_type"),
    [
        ("add_float32", dt.float32, "float32", np.float32),
        ("add_float64", dt.float64, "float64", np.float64),
        ("add_int8", dt.int8, "int8", np.int8),
        ("add_int64", dt.int64, "int64", np.int64),
        ("add_uint16", dt.uint16, "uint16", np.uint16),
        ("keep_float16", dt.float16, "float16", np.float16),
        ("keep_bfloat16", dt.bfloat16, "bfloat16", ml_dtypes.bfloat16),
        ("keep_bool", dt.bool_, "bool", np.bool_),
    ],
)
def test_every_dtype_is_read_and_written_in_place(
    kit: Any, kernel: str, dtype: dt.DType, torch_type: str, numpy_type: Any
) -> None:
    fn = program(kit, kernel, dtype)
    a = torch.tensor([1, 0, 1, 1]).to(getattr(torch, torch_type))
    out = torch.zeros_like(a)
    assert fn(a, a, out=out) is out
    same = np.array([1, 0, 1, 1], numpy_type)
    wanted = fn(same, same)
    np.testing.assert_array_equal(fn(a, a), wanted)
    np.testing.assert_array_equal(out.to(torch.float64).numpy(), wanted.astype(np.float64))
    assert fn.stats.copies == 0


def test_views_are_copied_once_and_written_through(kit: Any) -> None:
    fn = program(kit)
    a = torch.arange(12.0)
    assert fn(a[4:8], a[:4]).tolist() == [4, 6, 8, 10]  # an offset is no copy
    assert fn.stats.copies == 0
    assert fn(a[::3], torch.zeros(1).expand(4)).tolist() == [0, 3, 6, 9]
    assert fn.stats.copies == 2
    target = torch.zeros(8)
    fn(a[:4], a[:4], out=target[::2])
    assert target.tolist() == [0, 0, 2, 0, 4, 0, 6, 0]


def test_out_with_elements_that_share_memory_is_refused(kit: Any) -> None:
    with pytest.raises(InputValueError, match="share memory"):
        program(kit)(torch.zeros(3), torch.zeros(3), out=torch.zeros(1).expand(3))


def test_out_may_be_an_input(kit: Any) -> None:
    fn = program(kit)
    a = torch.arange(4.0)
    assert fn(a, a, out=a) is a
    assert a.tolist() == [0, 2, 4, 6]


def test_tensors_without_elements(kit: Any) -> None:
    fn = program(kit)
    empty = torch.zeros(0)
    assert fn(empty, empty).shape == (0,)
    assert fn(empty, torch.zeros(6)[6:], out=empty) is empty


def test_a_gradient_is_not_lost_silently(kit: Any) -> None:
    fn = program(kit)
    a = torch.arange(4.0)
    weight = torch.nn.Parameter(a.clone())
    for given in (weight, weight * 2):
        with pytest.raises(InputTypeError, match=r"input 'b' requires a gradient"):
            fn(a, given)
    with pytest.raises(InputTypeError, match=r"out= for output 'c' requires a gradient"):
        fn(a, a, out=weight)
    with torch.no_grad():
        assert fn(a, weight).tolist() == [0, 2, 4, 6]
        assert fn(weight, weight, out=weight) is weight
    assert weight.tolist() == [0, 2, 4, 6]
    assert fn(a, weight.detach()).tolist() == [0, 3, 6, 9]


def test_a_gradient_of_bfloat16_is_not_lost_either(kit: Any) -> None:
    fn = program(kit, "keep_bfloat16", dt.bfloat16)
    weight = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    with pytest.raises(InputTypeError, match="gradient"):
        fn(weight, weight)
    with torch.no_grad():
        assert fn(weight, weight).tolist() == [1, 1, 1]


def negated(count: int) -> Any:
    """0, -1, -2, ...: a view of memory that holds 0, 1, 2, ..."""
    ramp = torch.arange(float(count))
    view = torch.complex(ramp, ramp).conj().imag
    assert view.is_neg()
    return view


@pytest.mark.parametrize("view", [negated(4), negated(2)[1:], negated(2)[1].view(1)])
def test_a_sign_that_is_put_off_counts(kit: Any, view: Any) -> None:
    fn = program(kit)
    zeros = torch.zeros(view.shape)
    assert fn(view, zeros).tolist() == view.tolist()
    with pytest.raises(InputValueError, match="read-only"):
        fn(zeros, zeros, out=view)


def test_tensors_without_plain_memory_are_refused(kit: Any) -> None:
    fn = program(kit)
    a = torch.arange(4.0)
    for given in (a.to_sparse(), a.to("meta"), torch.complex(a, a).conj()):
        with pytest.raises(InputTypeError, match="input 'a'"):
            fn(given, a)
    with pytest.raises(InputTypeError, match="input 'a' has dtype float64, but float32 is expected"):
        fn(a.double(), a)
    with pytest.raises(InputValueError, match="disagree on size n"):
        fn(a, a[:2])
    with pytest.raises(InputTypeError, match="out= for output 'c'"):
        fn(a, a, out=a.to_sparse())


def test_subclasses_and_parameters_of_subclasses_are_tensors(kit: Any) -> None:
    class Named(torch.Tensor):  # type: ignore[misc, name-defined]
        pass

    fn = program(kit)
    a = torch.arange(3.0)
    assert fn(a.as_subclass(Named), a).tolist() == [0, 2, 4]
