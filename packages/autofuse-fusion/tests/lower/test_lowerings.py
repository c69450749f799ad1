"""Every operator with a lowering, on every dtype, gives bit by bit what the reference says, special values included."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.lower.call import Lowering
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import REINTERPRETED, VIEWS, all_lowerings
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import AttrValue
from autofuse_ir.operators import Flag, all_operators, operator
from autofuse_ir.operators.model import ParamKind
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import dtype_of, numpy_dtype, to_tensor_data

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 0.5, -0.5, 2.5, -2.5, 1e30, -3e38, 7.0]
ULPS = {"Hypot": 3, "LogAddExp": 8}
"""Written otherwise than NumPy's own loops; the bound is relative to the larger operand, as LogAddExp cancels."""

VARIANTS: dict[str, tuple[dict[str, AttrValue], ...]] = {
    "Cast": tuple({"dst_type": d.ascend_code} for d in dt.TENSOR_DTYPES),
    "Exp": ({}, {"base": 2.0}, {"base": 10.0, "scale": 0.5, "shift": 0.25}),
    "Log": ({}, {"base": 2.0}, {"base": 10.0}, {"base": 3.0, "scale": 2.0, "shift": 1.0}),
    "Round": ({}, {"decimals": 1}, {"decimals": -1}),
    "Fills": ({"value": 2.75},),
    "Muls": ({"value": 1.7},),
    "Adds": ({"value": -1.3},),
    "Axpy": ({"alpha": 1.6},),
    "LeakyRelu": ({}, {"negative_slope": 0.1}),
    "LeakyReluGrad": ({}, {"negative_slope": 0.1}),
    "Elu": ({}, {"alpha": 0.7, "scale": 1.3, "input_scale": 0.9}),
    "CeluV2": ({}, {"alpha": 0.6}),
    "Swish": ({}, {"scale": 1.7}),
    "Shrink": ({}, {"lambd": 1.5, "bias": 0.75}),
    "GeluV2": ({"approximate": "none"}, {"approximate": "tanh"}),
    "GeluGradV2": ({"approximate": "none"}, {"approximate": "tanh"}),
    "IsInf": ({}, {"detect_positive": False}, {"detect_negative": False}),
    "ApplyAdagradD": ({}, {"update_slots": False}),
    "ApplyAdamD": ({}, {"use_nesterov": True}),
    "AddN": ({"N": 3},),
    "AscendQuant": (
        {"scale": 1.5, "offset": 2.0},
        {"scale": 0.7, "offset": -3.0, "sqrt_mode": True, "round_mode": "Floor"},
        {"scale": 3.0, "offset": 0.25, "round_mode": "Trunc", "dst_type": dt.int16.ascend_code},
    ),
}
DIVIDES = {"Div": 1, "FloorDiv": 1, "TruncateDiv": 1, "FloorMod": 1, "Mod": 1, "TruncateMod": 1}
EXPONENTS = {"Pow": 1, "LeftShift": 1, "RightShift": 1}


def pairs() -> tuple[list[float], list[float]]:
    grid = np.meshgrid(SPECIAL, SPECIAL)
    return grid[0].reshape(-1).tolist(), grid[1].reshape(-1).tolist()


def column(dtype: DType, position: int, op: str) -> np.ndarray[Any, Any]:
    """Values for input ``position``: the first two meet in every combination of special values."""
    listed = np.asarray(pairs()[position % 2])
    if position > 1:
        listed = np.roll(listed, 37 * position)
    if not dtype.is_float:
        listed = np.nan_to_num(listed, nan=3, posinf=100, neginf=-100)
        kind = numpy_dtype(dtype)
        if dtype == dt.bool_:
            return listed > 0
        info = np.iinfo(kind)
        limits = np.resize(np.asarray([info.min, info.max, 0, 1, 5, 100, 9, 2], kind), listed.size)
        small = np.clip(listed, max(info.min, -100), 100).astype(kind)
        whole = np.where(np.arange(listed.size) % 3 == position % 3, limits, small)
        if op == "Round":
            whole = small  # rounding up past the type has no answer of its own
        if DIVIDES.get(op) == position:
            whole = np.where((whole == 0) | (whole.astype(np.float64) == -1), kind.type(3), whole)
        if EXPONENTS.get(op) == position:
            whole = (np.abs(whole.astype(np.int64)) % 5).astype(kind)
        return whole
    with np.errstate(all="ignore"):
        return listed.astype(numpy_dtype(dtype))


def cases() -> list[Any]:
    found = []
    for lowering in all_lowerings():
        if lowering.space is not broadcast_space:
            continue  # test_nests runs it
        op = operator(lowering.name)
        variable = op.inputs[0].variable or (op.inputs[1].variable if len(op.inputs) > 1 else "")
        main = next((p for p in op.inputs if p.variable == variable), op.inputs[0])
        types = [d for d in main.types if not d.is_opaque]
        for dtype in types:
            for attrs in VARIANTS.get(lowering.name, ({},)):
                text = ",".join(f"{k}={v}" for k, v in attrs.items())
                found.append(pytest.param(lowering, dtype, attrs, id=f"{lowering.name}-{dtype}-{text}"))
    return found


def build(lowering: Lowering, dtype: DType, attrs: dict[str, AttrValue]):  # type: ignore[no-untyped-def]
    op = operator(lowering.name)
    b = GraphBuilder("one")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    names: list[str] = []
    main = next((p.variable for p in op.inputs if p.variable), "")
    for position, param in enumerate(op.inputs):
        if op.name in ("Expand", "BroadcastTo", "Fill") and param.name in ("shape", "dims"):
            shape = np.asarray([2, 256], np.int64)
            names.append(b.constant(to_tensor_data(shape), f"c{position}"))
            continue
        kind = dtype if param.variable in ("", main) and dtype in param.types else param.types[0]
        if param.variable == "U":
            kind = dtype
        count = 3 if param.kind is ParamKind.DYNAMIC else 1
        for number in range(count):
            values = column(kind, position + number, op.name)
            if op.name == "Fill":
                values = values[7]
            if op.name == "FusedMulAddN" and param.name == "x3":
                values = values[20:21]
            name = f"x{position}_{number}"
            names.append(b.input(name, values.shape if values.size == 1 else ("n",), kind))
            arrays[name] = values
    outputs = list(op.outputs)
    made = b.op_outputs(op.name, *names, outputs=len(outputs), **attrs)
    return b.build(outputs={f"y{i}": name for i, name in enumerate(made)}), arrays


@pytest.mark.parametrize(("lowering", "dtype", "attrs"), cases())
def test_lowering_is_the_reference(kit, lowering: Lowering, dtype: DType, attrs: dict[str, AttrValue]) -> None:
    graph, arrays = build(lowering, dtype, attrs)
    fused = kit.fuse(graph, numerics="strict")
    is_identity = lowering.name == "Cast" and attrs["dst_type"] == dtype.ascend_code
    assert any(isinstance(node, AscBackend) for node in fused.nodes) or is_identity
    got, want = kit.run_fused(fused, arrays), kit.run_graph(graph, arrays)
    for name, array in want.items():
        if lowering.name in ULPS and dtype.is_float:
            close(got[name], array, arrays, ULPS[lowering.name])
        elif not kit.same(got[name], array):
            wrong = [i for i in range(array.size) if not kit.same(got[name].reshape(-1)[i], array.reshape(-1)[i])]
            at = wrong[:1]
            shown = [x.reshape(-1)[at] for x in arrays.values() if x.size == array.size]
            assert not wrong, (name, shown, got[name].reshape(-1)[at], array.reshape(-1)[at], len(wrong))
        assert got[name].dtype == array.dtype
        assert got[name].shape == array.shape


def close(got: Any, want: Any, arrays: dict[str, Any], ulps: int) -> None:
    a, b = got.astype(np.float64), want.astype(np.float64)
    scale = np.max([np.abs(x.astype(np.float64)) for x in arrays.values()], axis=0)
    finite = np.isfinite(b)
    assert np.array_equal(np.isnan(a), np.isnan(b))
    assert np.array_equal(a[np.isinf(b)], b[np.isinf(b)])
    unit = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[dtype_of(got).name]
    bound = ulps * unit * np.maximum(np.maximum(np.abs(b), np.where(np.isfinite(scale), scale, 0)), 1e-300)
    assert np.all(np.abs(a[finite] - b[finite]) <= bound[finite] + np.finfo(np.float32).tiny)


def test_every_element_wise_vector_operator_is_lowered_or_listed() -> None:
    """A new operator of the table must get a lowering, or stand here with the family it waits for."""
    lowered = {lowering.name for lowering in all_lowerings()} | VIEWS | REINTERPRETED
    waiting = {op.name for op in all_operators() if op.has(Flag.ELEMENTWISE) and op.has(Flag.VECTOR)} - lowered
    assert not waiting


def test_constants_of_one_element_are_written_into_the_kernel(kit) -> None:
    b = GraphBuilder("scalar")
    x = b.input("x", ("n",), dt.float16)
    half = b.constant(TensorData(dt.float16, (1,), np.float16(0.1).tobytes()))
    graph = b.build(outputs={"y": b.op("Mul", x, half)})
    fused = kit.check(graph, {"x": np.arange(9, dtype=np.float16)})
    (kernel,) = kit.kernels(fused)
    assert kernel.inputs == ("x",)
    (scalar,) = [node for node in kernel.graph.nodes if node.op == "Scalar"]
    assert scalar.attr("value") == float(np.float16(0.1))
    assert scalar.dtype == dt.float32
