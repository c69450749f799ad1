"""Laws that hold for every operator of the table, without a test of its own."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr, AttrValue, Node
from autofuse_ir.operators import Flag, Operator, ParamKind, all_operators, operator, result_dtypes
from autofuse_reference.arrays import Array, dtype_of, numpy_dtype
from autofuse_reference.compare import compare
from autofuse_reference.operators import Precision, cast, evaluate_operator, has_meaning
from autofuse_reference.operators.table import all_meanings

ATTRS: dict[str, dict[str, AttrValue]] = {
    "Fills": {"value": 0.5},
    "Muls": {"value": 0.5},
    "Adds": {"value": 0.5},
    "Axpy": {"alpha": 0.5},
    "AddN": {"N": 3},
    "Cast": {"dst_type": 3},
    "AscendQuant": {"scale": 4.0, "offset": 1.0},
}
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (3,), (2, 3))
ELEMENTWISE = tuple(
    op for op in all_operators() if op.has(Flag.ELEMENTWISE) and has_meaning(op.name) and op.name != "Bitcast"
)
OPEN_INTERVAL = {"Acosh": (1.1, 9.0), "Lgamma": (0.5, 9.0), "Digamma": (0.5, 9.0)}
POSITIVE = ("Log", "Sqrt", "Rsqrt", "Pow", "SqrtGrad", "RsqrtGrad", "ApplyAdagradD", "ApplyAdamD")
INSIDE_ONE = ("Acos", "Asin", "Atanh", "Erfinv")


def _values(op: Operator, shape: tuple[int, ...], dtype: DType, seed: int) -> Array:
    random = np.random.default_rng(seed)
    if dtype.kind is dt.DTypeKind.BOOL:
        return np.asarray(random.integers(0, 2, shape).astype(np.bool_))
    if dtype.is_integer:
        return np.asarray(random.integers(1, 9, shape).astype(numpy_dtype(dtype)))
    low, high = OPEN_INTERVAL.get(op.name, (0.1, 2.0) if op.name in POSITIVE else (-2.0, 2.0))
    low, high = (-0.9, 0.9) if op.name in INSIDE_ONE else (low, high)
    if op.name == "ApplyAdamD":
        high = 0.9
    return np.asarray(random.uniform(low, high, shape)).astype(numpy_dtype(dtype))


def _inputs(op: Operator, shape: tuple[int, ...], dtype: DType) -> list[Array | None]:
    arrays: list[Array | None] = []
    for i, param in enumerate(op.inputs):
        own = dtype if dtype in param.types else param.types[0]
        scalar = op.name.startswith("Apply") and i not in (0, len(op.inputs) - 1) and param.name not in ("m", "v")
        copies = 3 if param.kind is ParamKind.DYNAMIC else 1
        size = () if scalar and param.name != "accum" else shape
        arrays.extend(_values(op, size, own, 10 * i + copy) for copy in range(copies))
    return arrays


def _types(op: Operator) -> tuple[DType, ...]:
    return tuple(d for d in op.inputs[-1 if op.inputs[0].name == "condition" else 0].types if not d.is_opaque)


def test_every_vector_operator_has_a_meaning() -> None:
    assert [op.name for op in all_operators() if op.has(Flag.VECTOR) and not has_meaning(op.name)] == []


def test_every_meaning_belongs_to_an_operator_once() -> None:
    names = [meaning.name for meaning in all_meanings()]
    assert len(names) == len(set(names))
    assert [name for name in names if operator(name).name != name] == []


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_elementwise_results_have_the_declared_dtype_and_the_broadcast_shape(op: Operator) -> None:
    attrs = ATTRS.get(op.name, {})
    for dtype in _types(op):
        for shape in SHAPES:
            inputs = _inputs(op, shape, dtype)
            places = tuple(str(i) for i in range(len(inputs)))
            outputs = tuple(r.name for r in op.outputs)
            node = Node("n", op.name, places, outputs, tuple(Attr(k, v) for k, v in attrs.items()))
            declared = result_dtypes(node, [None if x is None else dtype_of(x) for x in inputs])
            precisions: tuple[Precision, ...] = ("declared", "float64")
            for precision in precisions:
                results = evaluate_operator(op.name, attrs, inputs, precision)
                assert [r.shape for r in results] == [shape] * len(results)
                for result, want in zip(results, declared, strict=True):
                    assert want is not None
                    wide = want.is_float and precision == "float64"
                    assert dtype_of(result) == (dt.float64 if wide else want)


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_sixteen_bit_floats_are_computed_in_float32_and_rounded_once(op: Operator) -> None:
    attrs = ATTRS.get(op.name, {})
    for dtype in (dt.float16, dt.bfloat16):
        if dtype not in _types(op):
            continue
        narrow = _inputs(op, (2, 3), dtype)
        wide = [x.astype(np.float32) if x is not None and dtype_of(x) == dtype else x for x in narrow]
        for got, exact in zip(
            evaluate_operator(op.name, attrs, narrow), evaluate_operator(op.name, attrs, wide), strict=True
        ):
            assert np.array_equal(got, cast(exact, dtype_of(got)), equal_nan=dtype_of(got).is_float)


@pytest.mark.parametrize("op", [op for op in ELEMENTWISE if dt.float32 in _types(op)], ids=lambda op: op.name)
def test_the_declared_float32_result_is_close_to_the_float64_one(op: Operator) -> None:
    inputs = _inputs(op, (2, 3), dt.float32)
    attrs = ATTRS.get(op.name, {})
    declared = evaluate_operator(op.name, attrs, inputs)
    for got, exact in zip(declared, evaluate_operator(op.name, attrs, inputs, "float64"), strict=True):
        assert compare(got, exact, allowed_ulp=16).equal


def test_evaluating_never_changes_the_inputs() -> None:
    for op in ELEMENTWISE:
        inputs = _inputs(op, (2, 3), _types(op)[0])
        before = [None if x is None else x.copy() for x in inputs]
        evaluate_operator(op.name, ATTRS.get(op.name, {}), inputs)
        assert all(np.array_equal(a, b) for a, b in zip(before, inputs, strict=True) if a is not None and b is not None)
