"""Operators with loops of their own (reductions, norms, scans, ...) give what the reference says, on every shape.

Every size is a symbol; runs bind it to 0, 1, 2, odd and prime sizes. Sums take another order than NumPy's, so floats
are compared in units of the last place of the largest result.
"""

from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import all_lowerings
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue
from autofuse_ir.operators import operator
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Array = np.ndarray[Any, Any]
Size = int | str
FLOATS = (dt.float16, dt.bfloat16, dt.float32, dt.float64)
NUMBERS = (*FLOATS, dt.int8, dt.uint8, dt.int16, dt.int32, dt.uint32, dt.int64, dt.uint64)
RUNS: tuple[dict[str, int], ...] = (
    {"n": 3, "m": 5, "k": 2},
    {"n": 1, "m": 7, "k": 1},
    {"n": 2, "m": 1, "k": 3},
    {"n": 2, "m": 131, "k": 1},
    {"n": 37, "m": 2, "k": 5},
)
EMPTY: tuple[dict[str, int], ...] = ({"n": 0, "m": 3, "k": 2}, {"n": 2, "m": 0, "k": 3})


@frozen
class Case:
    """One form of an operator: shapes of its inputs (None: missing; a list of ints: a constant), attributes, dtypes."""

    op: str
    shapes: tuple[Any, ...]
    attrs: dict[str, AttrValue] = field(factory=dict)
    dtypes: tuple[DType, ...] = FLOATS
    ulps: int = 8
    empty: bool = True
    runs: tuple[dict[str, int], ...] = RUNS
    positive: tuple[int, ...] = ()


NM, NMK = ("n", "m"), ("n", "m", "k")


def reductions() -> list[Case]:
    found = []
    for name, dtypes in (
        ("ReduceSum", NUMBERS),
        ("ReduceProd", NUMBERS),
        ("ReduceMax", (*NUMBERS, dt.bool_)),
        ("ReduceMin", (*NUMBERS, dt.bool_)),
        ("ReduceAll", (*NUMBERS, dt.bool_)),
        ("ReduceAny", (*NUMBERS, dt.bool_)),
        ("ReduceMean", FLOATS),
        ("ReduceLogSum", FLOATS),
        ("ReduceLogSumExp", FLOATS),
    ):
        ulps = 40 if name == "ReduceProd" else 8
        positive = (0,) if name == "ReduceLogSum" else ()
        found += [
            Case(name, (NM, [-1]), {"keep_dims": True}, dtypes, ulps, positive=positive),
            Case(name, (NMK, [0, 2]), {}, (dt.float32,), ulps, positive=positive),
            Case(name, (NMK, [1]), {}, (dt.float32, dt.float16), ulps, positive=positive),
            Case(name, (NMK, []), {}, (dt.float32,), ulps, positive=positive),
            Case(name, (NMK, []), {"noop_with_empty_axes": False}, (dt.float32,), ulps, positive=positive),
            Case(name, (NM, None), {"noop_with_empty_axes": False}, (dt.float32,), ulps, positive=positive),
            Case(name, (("n", 1, "m", 1), [1, 3]), {}, (dt.float32,), ulps, positive=positive),
            Case(name, (("n", 1, "m", 1), [1, -2]), {"keep_dims": True}, (dt.float32,), ulps, positive=positive),
            Case(name, ((), []), {"noop_with_empty_axes": False}, (dt.float32,), ulps, positive=positive),
        ]
        if name + "D" in {lowering.name for lowering in all_lowerings()}:
            found.append(
                Case(f"{name}D", (NMK,), {"axes": (0, -1)}, (dt.float32, dt.int32)[: 1 + (name != "ReduceMean")], ulps)
            )
    for dtype in (dt.int8, dt.uint8, dt.int32, dt.int64, dt.uint64):
        found.append(Case("ReduceMean", (NM, [1]), {}, (dtype,), empty=False))
    return found


CASES: tuple[Case, ...] = (
    *reductions(),
    Case("SquareSumV1", (NMK,), {"axis": (0, 2)}, NUMBERS),
    *(Case("LpNormV2", (NMK,), {"axes": (1,), "p": p}, FLOATS, 16) for p in (0.0, 1.0, 2.0, 3.5, np.inf, -np.inf)),
    Case("LpNormV2", (NM,), {"p": 2.0, "keepdim": True}, (dt.float32, dt.int32)),
    Case("ReduceStdV2", (NMK,), {"dim": (1,)}, ulps=16),
    Case("ReduceStdV2", (NM,), {"unbiased": False, "keepdim": True}, ulps=16),
    Case("L2Loss", (NMK,)),
    Case("BiasAddGrad", (("n", "m", "k"),), {"data_format": "NHWC"}, NUMBERS),
    Case("BiasAddGrad", (("n", "m", "k"),), {"data_format": "NCHW"}),
    *(
        Case(name, (NMK,), {"axis": axis, "keepdims": keep, "select_last_index": last}, NUMBERS, empty=False)
        for name in ("ArgMax", "ArgMin")
        for axis, keep, last in ((1, True, False), (-1, False, True), (0, False, False))
    ),
    *(
        Case(name, (NMK,), {"dimension": 1, "keep_dims": keep, "indice_dtype": kind}, NUMBERS, empty=False)
        for name in ("ArgMaxWithValue", "ArgMinWithValue")
        for keep, kind in ((True, dt.int32), (False, dt.int64))
    ),
    Case("HardMax", (NMK,), {"axis": 1}, NUMBERS, empty=False),
    *(
        Case(name, (NMK, [axis]), {"exclusive": exclusive, "reverse": reverse}, NUMBERS, 16)
        for name in ("Cumsum", "Cumprod")
        for axis, exclusive, reverse in ((1, False, False), (-1, True, False), (0, False, True), (1, True, True))
    ),
    Case("Cumsum", (("n", 1), [1]), {"exclusive": True}),
    Case("SoftmaxV2", (NMK,), {"axes": (1,)}),
    Case("SoftmaxV2", (NMK,), {"axes": (-1,), "half_to_float": True}),
    Case("LogSoftmaxV2", (NMK,), {"axes": (0, 2)}),
    Case("SoftmaxGrad", (NMK, NMK), {"axes": (1,)}),
    Case("SoftmaxGradExt", (NM, NM, NM), {"axes": 1}),
    Case("SoftmaxGradExt", (NM, NM, ("n", 1)), {"axes": 0}),
    Case("ConfusionSoftmaxGrad", (NM, NM)),
    Case("LogSoftmaxGrad", (NMK, NMK), {"axis": (1,)}, ulps=32),
    Case("SoftmaxCrossEntropyWithLogits", (NM, NM), ulps=16),
    *(
        Case(name, (NMK, shape, shape), {"begin_norm_axis": first}, ulps=32)
        for name in ("LayerNorm", "LayerNormV3")
        for first, shape in ((1, ("m", "k")), (-1, ("k",)), (0, NMK))
    ),
    Case("LayerNormV4", (NMK, ["m", "k"], ("m", "k"), ("m", "k")), ulps=32),
    Case("LayerNormV4", (NMK, ["k"], None, None), ulps=32),
    Case("AddLayerNorm", (NMK, NMK, ("k",), ("k",), None), ulps=32),
    Case("AddLayerNorm", (NMK, NMK, ("k",), ("k",), ("k",)), {"additional_output": True}, ulps=32),
    Case("RmsNorm", (NMK, ("m", "k")), ulps=16),
    Case("AddRmsNorm", (NMK, NMK, ("k",)), ulps=16),
    Case("LayerNormXBackpropV2", (NM, NM, ("n", 1), ("n", 1), ("m",)), ulps=32, positive=(2,)),
    Case("LayerNormXBackpropV3", (NM, NM, ("n", 1), ("n", 1), ("m",)), ulps=32, positive=(2,)),
    Case("LayerNormBetaGammaBackpropV2", (("n", "m", 4), ("n", "m", 4)), {"shape_gamma": (-1, -1, 4)}, ulps=16),
    Case("LayerNormBetaGammaBackpropV2", (("n", "m", 4), ("n", "m", 4)), {"shape_gamma": (1, 4)}, ulps=16),
    Case("GroupNorm", (("n", 6, "k"), (6,), (6,)), {"num_groups": 3}, ulps=32),
    Case("GroupNorm", (("n", 6, "m", "k"), (2,), (2,)), {"num_groups": 2}, ulps=32),
    Case("GroupNorm", (("n", "m", 6), (6,), (6,)), {"num_groups": 2, "data_format": "NHWC"}, ulps=32),
    Case("InstanceNorm", (("n", 4, "m", "k"), (4,), (4,)), ulps=32),
    Case("InstanceNorm", (("n", "m", "k", 4), (4,), (4,)), {"data_format": "NHWC"}, ulps=32),
    Case("MeanVarianceNormalization", (("n", 3, "m", "k"),), {"axes": (0, 2, 3)}, (dt.float64,), 1 << 24),
    Case("LpNormalization", (NMK,), {"axis": 1, "p": 1}),
    Case("LpNormalization", (NMK,), {"axis": -1, "p": 2}),
    Case("BNTrainingReduce", (("n", "m", "k"),), ulps=16),
    Case("BNTrainingUpdateGrad", (("n", "m", "k"), ("n", "m", "k"), ("m",), ("m",)), ulps=16, positive=(3,)),
    Case("BNTrainingReduceGrad", (NMK, NMK, *(("m",),) * 5), ulps=32, positive=(6,)),
    Case("BNInferenceD", (NMK, ("m",), ("m",), ("m",), ("m",)), ulps=4),
    Case("BNInferenceD", (NMK, ("m",), ("m",), None, None), ulps=4),
    Case("BNInfer", (NMK, *(("m",),) * 4), {"epsilon": 1e-5}, ulps=8, positive=(4,)),
    *(
        Case("QuantizeLinear", (NMK, shape, shape), {"axis": 1}, (*FLOATS, dt.int32), positive=(1,))
        for shape in ((), ("m",), (1,))
    ),
    Case("QuantizeLinear", (NMK, (), None), positive=(1,)),
    Case("QuantizeLinear", (("n", 6), ("n", 3), ("n", 3)), {"axis": 1, "block_size": 2}, positive=(1,)),
    *(
        Case("DequantizeLinear", (NMK, shape, shape), {"axis": -2}, (dt.int8, dt.uint8, dt.int32))
        for shape in ((), ("m",))
    ),
    Case("DequantizeLinear", (("n", 6), ("n", 2), None), {"axis": 1, "block_size": 3}, (dt.int8,)),
    *(
        Case(name, (a, b, *((bias,) if name != "BatchMatMul" else ())), attrs, dtypes, 16)
        for name, attrs, dtypes in (
            ("MatMul", {}, (*FLOATS, dt.int32)),
            ("MatMulV2", {}, (dt.float32,)),
            ("MatMulV3", {}, (dt.float32,)),
            ("BatchMatMul", {}, (dt.float32,)),
            ("BatchMatMulV2", {}, (dt.float32,)),
            ("BatchMatMulV3", {}, (dt.float32,)),
        )
        for a, b, bias in (
            (("n", "m", "k"), ("k", 1), None),
            (("m", "k"), ("n", "k", 1), (1,)),
            (("n", 1, "k"), ("n", "k", "m"), ("m",)),
            (("n", "m", 1), ("n", 1, "k"), ("m", "k")),
            (("m", "k"), ("k",), None),
            (("k",), ("n", "k", "m"), ("m",)),
        )
    ),
    Case("MatMul", (("n", "k", "m"), ("n", "k", 1), None), {"transpose_x1": True}, (dt.float32,), 16),
    Case("MatMul", (("n", 1, "k"), ("n", "m", "k"), ("m",)), {"transpose_x2": True}, (dt.float32,), 16),
    Case("MatMul", (("n", "m", "k"), ("n", 1, "k"), None), {"transpose_x2": True}, (dt.float32,), 16),
    Case("BatchMatMul", (("n", "k", 1), ("n", "k", "m")), {"adj_x1": True}, (dt.float32,), 16),
    Case("Gemm", (("n", "k"), ("k", 1), ("n", 1)), {"alpha": 0.5, "beta": 1.5}, (dt.float32, dt.float16), 16),
    Case("Gemm", ((1, "k"), ("m", "k"), ("m",)), {"transB": True}, (dt.float32,), 16),
    Case("Gemm", (("n", "k"), ("k", 1), None), {}, (dt.float32,), 16),
    Case("DynamicQuantizeLinear", (NMK,), {}, (dt.float32,)),
)


def build(case: Case, dtype: DType, run: dict[str, int]) -> tuple[Any, dict[str, Array]]:
    op = operator(case.op)
    b = GraphBuilder("one")
    arrays: dict[str, Array] = {}
    names: list[str | None] = []
    rng = np.random.default_rng(7)
    main = op.inputs[0].variable
    for place, shape in enumerate(case.shapes):
        param = op.inputs[place]
        if shape is None:
            names.append(None)
        elif isinstance(shape, list) and all(isinstance(size, int) for size in shape):
            names.append(b.constant(to_tensor_data(np.asarray(shape, np.int64))))
        else:
            is_content = isinstance(shape, list)
            kind = dt.int64 if is_content else dtype if param.variable == main or place == 0 else param.types[0]
            if param.variable == "U" and dtype in param.types:
                kind = dtype
            name = f"x{place}"
            extent = tuple(run.get(size, size) if isinstance(size, str) else size for size in shape)
            if is_content:
                arrays[name] = np.asarray(extent, np.int64)
                names.append(b.input(name, (len(shape),), kind))
                continue
            values = rng.standard_normal(extent) * 2
            if place in case.positive:
                values = np.abs(values) + 0.5
            if kind.is_integer:
                low = 0 if kind.name.startswith("u") else -4
                arrays[name] = rng.integers(low, 5, extent).astype(numpy_dtype(kind))
            else:
                arrays[name] = np.asarray(values > 0 if kind == dt.bool_ else values).astype(numpy_dtype(kind))
            names.append(b.input(name, shape, kind))
    made = b.op_outputs(case.op, *names, outputs=len(op.outputs), **case.attrs)
    return b.build(outputs={f"y{i}": name for i, name in enumerate(made)}), arrays


def parameters() -> list[Any]:
    found = []
    for number, case in enumerate(CASES):
        found += [pytest.param(case, dtype, id=f"{number}-{case.op}-{dtype}") for dtype in case.dtypes]
    return found


@pytest.mark.parametrize(("case", "dtype"), parameters())
def test_an_operator_is_one_kernel_with_the_values_of_the_reference(kit, case: Case, dtype: DType) -> None:
    runs = case.runs if dtype in (case.dtypes[0], dt.float32) else case.runs[:1]
    if case.empty and dtype in (case.dtypes[0], dt.float32):
        runs = (*runs, *EMPTY)
    fused = None
    for run in runs:
        graph, arrays = build(case, dtype, run)
        fused = fused or kit.fuse(graph, numerics="strict")
        (kernel,) = fused.nodes
        assert kit.kernels(fused) == [kernel]
        with np.errstate(all="ignore"):
            got, want = kit.run_fused(fused, arrays), kit.run_graph(graph, arrays)
            again = kit.interpreted(fused, arrays)
        assert all(kit.same(a.reshape(b.shape), b) for a, b in zip(again, got.values(), strict=True))
        for name, array in want.items():
            assert kit.near(got[name], array, case.ulps), (run, name, got[name], array)


def test_every_operator_with_loops_of_its_own_stands_here() -> None:
    own = {lowering.name for lowering in all_lowerings() if lowering.space is not broadcast_space}
    assert {case.op for case in CASES} == own
