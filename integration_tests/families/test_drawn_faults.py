"""The smallest graphs that random drawing against NumPy once found wrong, on every path."""

import warnings

import numpy as np
import onnxruntime
import pytest
from autofuse_ir import dtypes as dt
from autofuse_testkit.every_path import every_path
from autofuse_testkit.networks import Network
from onnx import TensorProto, helper, numpy_helper

F = np.float32


def test_reductions_over_an_axis_beside_one_that_is_known_to_be_empty() -> None:
    """Their partial results take a workspace of no bytes."""
    every = every_path(lambda b: {"y": b.op("ReduceMaxD", b.input("x", (0, "n"), dt.float32), axes=(1,))})
    every.check((np.zeros((0, 5), F),), np.zeros(0, F))


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("begin", [-2, -5, -(2**63), 2**63 - 1])
def test_backward_slices_that_begin_before_the_tensor_are_those_of_onnx(size: int, begin: int) -> None:
    """NumPy takes no element there; ONNX clamps the begin into the tensor."""
    operands = {"starts": begin, "ends": -(2**63), "axes": 0, "steps": -1}
    graph = helper.make_graph(
        [helper.make_node("Slice", ["x", *operands], ["y"])],
        "backward",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array([value]), name) for name, value in operands.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    x = np.arange(size, dtype=F)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})

    def sliced(b: Network) -> dict[str, str]:
        bounds = [b.integers(value) for value in operands.values()]
        return {"y": b.op("Neg", b.op("StridedSliceV3", b.input("x", ("n",), dt.float32), *bounds))}

    every_path(sliced).check((x,), -wanted)


def test_running_sums_of_infinities_warn_of_nothing() -> None:
    every = every_path(lambda b: {"y": b.op("Cumsum", b.input("x", ("n",), dt.float32), b.number(0, dt.int64))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        every.check((np.array([F("inf"), F("-inf"), F(1)]),), np.array([F("inf"), F("nan"), F("nan")]))


@pytest.mark.parametrize("operator", ["BitwiseOr", "Add", "Maximum"])
def test_constants_of_uint64_are_those_past_int64_too(operator: str) -> None:
    """Exporters mask the bits that a shift to the right brings in with such numbers."""
    mask = 0xE000000000000001

    def masked(b: Network) -> dict[str, str]:
        return {"y": b.op(operator, b.input("x", ("n",), dt.uint64), b.number(mask, dt.uint64))}

    x = np.array([0, 1, 2**63, 2**64 - 1, 2**62 + 5], np.uint64)
    wanted = {"BitwiseOr": np.bitwise_or, "Add": np.add, "Maximum": np.maximum}[operator](x, np.uint64(mask))
    every_path(masked).check((x,), wanted)


@pytest.mark.parametrize("shift", [2, -2])
def test_rolls_as_exporters_write_them_are_one_kernel(shift: int) -> None:
    """Where the tensor is cut is a remainder by its size, which was a kernel of its own and left all sizes unknown."""

    def rolled(b: Network) -> dict[str, str]:
        x = b.input("x", ("n", 3), dt.float32)
        shape = b.op("Shape", x, dtype=dt.int64.ascend_code)
        size = b.op("StridedSliceV3", shape, b.integers(0), b.integers(1))
        cut = b.op("FloorMod", b.integers(shift), size)
        last = b.op("StridedSliceV3", x, cut, size, b.integers(0))
        first = b.op("StridedSliceV3", x, b.integers(0), cut, b.integers(0))
        return {"y": b.op("Neg", b.op("ConcatV2D", last, first, concat_dim=0))}

    every = every_path(rolled)
    for size in (1, 2, 3, 7):
        x = np.arange(3 * size, dtype=F).reshape(size, 3)
        every.check((x,), -np.roll(x, -shift, 0))
    assert set(every.kernels) == {1}
