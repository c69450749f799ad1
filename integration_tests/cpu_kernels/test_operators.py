"""Every AscIR operator on every dtype: the CPU kernel against the reference."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.asc_ops import ASC_OPS, AscKind, AscOp, AscResult
from autofuse_ir.dims import Dim, const, symbol
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Attr
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.compare import ulp_error
from autofuse_reference.operators.asc import evaluate_asc

COMPUTED = tuple(d for d in dt.TENSOR_DTYPES if d not in (dt.float16, dt.bfloat16))
N = symbol("n")
TRANSCENDENTAL_ULP = {dt.float32: 4, dt.float64: 8}
EXACT = frozenset(
    [
        "Abs",
        "Neg",
        "Sign",
        "Sqrt",
        "Reciprocal",
        "Floor",
        "Ceil",
        "Trunc",
        "Round",
        "IsNan",
        "IsInf",
        "IsFinite",
        "LogicalNot",
        "BitwiseNot",
        "Add",
        "Mul",
        "Sub",
        "Div",
        "TruncDiv",
        "FloorDiv",
        "Mod",
        "Fmod",
        "Minimum",
        "Maximum",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "LeftShift",
        "RightShift",
        "LogicalAnd",
        "LogicalOr",
        "LogicalXor",
        "Eq",
        "Ne",
        "Lt",
        "Le",
        "Gt",
        "Ge",
        "Select",
        "Cast",
        "Rsqrt",
    ]
)


def takes(op: AscOp, dtype: DType) -> bool:
    if op.kind is not AscKind.ELEMENTWISE or op.name in ("Cast", "Select"):
        return False
    return op.computes_on(dtype)


def graph_of(dtype: DType) -> tuple[AscBackend, SymbolFacts, list[AscNode]]:
    """One kernel with an output for every operator that takes ``dtype``, a select and a cast to every other dtype."""
    shape: tuple[Dim, ...] = (N,)
    access = AccessMap(shape, (AccessDim("z0", const(1), const(0)),))

    def node(name: str, op: str, inputs: tuple[str, ...], kind: DType, **attrs: object) -> AscNode:
        listed = tuple(Attr(k, v) for k, v in attrs.items())  # type: ignore[arg-type]
        moved = access if op in ("Load", "Store") else None
        return AscNode(name, op, inputs, kind, shape, (const(1),), listed, moved)

    nodes = [node("x", "Data", (), dtype, index=0), node("y", "Data", (), dtype, index=1)]
    nodes += [node("a", "Load", ("x",), dtype), node("b", "Load", ("y",), dtype)]
    computed: list[AscNode] = [node("less", "Lt", ("a", "b"), dt.bool_)]
    computed.append(node("chosen", "Select", ("less", "a", "b"), dtype))
    computed += [node(f"to_{d.name}", "Cast", ("a",), d) for d in dt.TENSOR_DTYPES]
    for op in ASC_OPS:
        if takes(op, dtype):
            result = dt.bool_ if op.result is AscResult.BOOL else dtype
            flags = {"positive": True, "negative": False} if op.name == "IsInf" else {}
            computed.append(node(f"op_{op.name}", op.name, ("a", "b")[: op.arity], result, **flags))
    stores = [node(f"s{i}", "Store", (c.name,), c.dtype) for i, c in enumerate(computed)]
    outputs = [node(f"o{i}", "Output", (s.name,), s.dtype, index=i) for i, s in enumerate(stores)]
    graph = AscGraph(f"all_{dtype.name}", (Axis("z0", AxisKind.ORIGINAL, N),), (*nodes, *computed, *stores, *outputs))
    values = [ValueFact("x", dtype, shape), ValueFact("y", dtype, shape)]
    values += [ValueFact(f"r{i}", c.dtype, shape) for i, c in enumerate(computed)]
    facts = SymbolFacts((SymbolFact("n", 0, 1 << 20, 64, (InputDim("x", 0),)),), tuple(values))
    backend = AscBackend(graph.name, ("x", "y"), tuple(f"r{i}" for i in range(len(computed))), graph, ())
    return backend, facts, computed


def operands(dtype: DType, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    kind = numpy_dtype(dtype)
    if dtype == dt.bool_:
        return rng.integers(0, 2, n).astype(kind), rng.integers(0, 2, n).astype(kind)
    if dtype.is_integer:
        info = np.iinfo(kind)
        wide = rng.integers(info.min, info.max, n, dtype=kind, endpoint=True)
        small = rng.integers(1, 9, n).astype(kind)
        return np.where(rng.integers(0, 2, n) == 0, wide, small).astype(kind), small
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 0.5, -2.5, 3e38, 1e30])
    a = rng.standard_normal(n) * np.exp(rng.uniform(-8, 8, n))
    b = rng.standard_normal(n) * 3
    if n > 150:
        a[: special.size**2] = np.repeat(special, special.size)
        b[: special.size**2] = np.tile(special, special.size)
    with np.errstate(over="ignore"):
        return a.astype(kind), b.astype(kind)


@pytest.mark.parametrize("dtype", COMPUTED, ids=str)
def test_every_operator_gives_what_the_reference_gives(dtype: DType, build_kernel) -> None:  # type: ignore[no-untyped-def]
    backend, facts, computed = graph_of(dtype)
    kernel = build_kernel(backend, facts)
    for n in (0, 1, 7, 64, 331):
        a, b = operands(dtype, n)
        outputs = [np.full(n, 1, numpy_dtype(c.dtype)) for c in computed]
        if n:
            assert kernel([a, b], outputs, {"n": n}) == 0
        values: dict[str, np.ndarray] = {"a": a, "b": b}
        for node, got in zip(computed, outputs, strict=True):
            attrs = {attr.name: attr.value for attr in node.attrs}
            with np.errstate(all="ignore"):
                want = evaluate_asc(node.op, node.dtype, attrs, [values[i] for i in node.inputs])
            values[node.name] = want
            allowed = 0 if node.op in EXACT else TRANSCENDENTAL_ULP.get(dtype, 0)
            assert got.dtype == want.dtype, node.name
            error = ulp_error(got, want) if got.dtype.kind not in "biu" else (got != want).astype(float)
            worst = int(np.argmax(error)) if n else 0
            assert n == 0 or error[worst] <= allowed, (node.name, a[worst], b[worst], got[worst], want[worst])
