"""Random graphs: fused, unfused and the reference agree bit by bit under strict numerics; the order is topological."""

import random
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import NUMERICS
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import Dim, const, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion, SizesNode, ViewNode
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype, to_tensor_data
from hypothesis import given, settings
from hypothesis import strategies as st

Shape = tuple[Dim, ...]
N, M, D = symbol("n"), symbol("m"), symbol("d")
SHAPES: tuple[Shape, ...] = (
    (N, M),
    (M,),
    (N, const(1)),
    (const(1), M),
    (D, M),
    (),
    (const(1),),
    (const(2), N, const(3), M),
)
UNARY = {"f": ("Exp", "Abs", "Relu", "Sigmoid", "Neg", "Floor", "GeluV2"), "i": ("Abs", "Neg", "Relu", "Square")}


class Drawn:
    """A graph drawn operator by operator: values with their dtypes and shapes."""

    def __init__(self, seed: int, dtypes: tuple[DType, ...], count: int, reduces: bool = False) -> None:
        self.random = random.Random(seed)
        self.reduces = reduces
        self.builder = GraphBuilder("random")
        self.inputs: list[tuple[str, DType, Shape]] = []
        self.values: list[tuple[str, DType, Shape]] = []
        for number in range(self.random.randint(1, 3)):
            dtype, shape = self.random.choice(dtypes), self.random.choice(SHAPES)
            name = self.builder.input(f"x{number}", shape, dtype)
            self.inputs.append((name, dtype, shape))
        self.values += self.inputs
        for _ in range(count):
            self.step(dtypes)

    def step(self, dtypes: tuple[DType, ...]) -> None:
        draw, b = self.random, self.builder
        name, dtype, shape = draw.choice(self.values[-6:])
        kind = "f" if dtype.is_float else "i"
        if self.reduces and shape and draw.random() < 0.35:
            self.reduction(name, dtype, shape)
            return
        choice = draw.random()
        if choice < 0.3:
            self.add(b.op(draw.choice(UNARY[kind]), name), dtype, shape)
        elif choice < 0.6:
            others = [v for v in self.values if v[1] == dtype and fits(v[2], shape)]
            other, _, its = draw.choice(others)
            first, second = (name, other) if draw.random() < 0.5 else (other, name)
            wide = joined(shape, its)
            assert wide is not None
            self.add(b.op(draw.choice(("Add", "Mul", "Maximum", "Sub")), first, second), dtype, wide)
        elif choice < 0.7:
            target = draw.choice(dtypes)
            self.add(b.op("Cast", name, dst_type=target.ascend_code), target, shape)
        elif choice < 0.8 and shape:
            flat = b.constant(to_tensor_data(np.asarray([-1], np.int64)))
            total = const(1)
            for dim in shape:
                total = total * dim
            self.add(b.op("Reshape", name, flat), dtype, (total,))
        elif choice < 0.86 and len(shape) < 6:
            axes = b.constant(to_tensor_data(np.asarray([0], np.int64)))
            self.add(b.op("UnsqueezeV3", name, axes), dtype, (const(1), *shape))
        elif choice < 0.93 and dtype.is_float and shape:
            self.add(b.op("Lgamma", name), dtype, shape)
        else:
            zero = b.constant(to_tensor_data(np.asarray(2).astype(numpy_dtype(dtype))))
            self.add(b.op("Mul", name, zero), dtype, shape)

    def reduction(self, name: str, dtype: DType, shape: Shape) -> None:
        draw, b = self.random, self.builder
        axes = tuple(sorted(draw.sample(range(len(shape)), draw.randint(1, min(2, len(shape))))))
        choice = draw.random()
        if choice < 0.2 and dtype.is_float:
            self.add(b.op(draw.choice(("SoftmaxV2", "LogSoftmaxV2")), name, axes=axes), dtype, shape)
        elif choice < 0.3:
            self.add(b.op("Cumsum", name, b.constant(to_tensor_data(np.asarray(axes[:1], np.int64)))), dtype, shape)
        else:
            keep = draw.random() < 0.6
            listed = b.constant(to_tensor_data(np.asarray(axes, np.int64)))
            op = draw.choice(("ReduceSum", "ReduceMax", "ReduceMin"))
            kept = tuple(const(1) if k in axes else size for k, size in enumerate(shape) if keep or k not in axes)
            self.add(b.op(op, name, listed, keep_dims=keep), dtype, kept)

    def add(self, name: str, dtype: DType, shape: Shape) -> None:
        self.values.append((name, dtype, shape))

    def graph(self) -> Graph:
        made = [name for name, _, _ in self.values[len(self.inputs) :]]
        kept = [made[-1], *self.random.sample(made, min(2, len(made)))]
        return self.builder.build(outputs={f"y{i}": name for i, name in enumerate(kept)})


def fits(a: Shape, b: Shape) -> bool:
    return joined(a, b) is not None


def joined(a: Shape, b: Shape) -> Shape | None:
    """The broadcast of two shapes whose dims agree or are 1; None otherwise."""
    rank = max(len(a), len(b))
    wide = []
    for x, y in zip((const(1),) * (rank - len(a)) + a, (const(1),) * (rank - len(b)) + b, strict=True):
        if x != y and x != const(1) and y != const(1):
            return None
        wide.append(y if x == const(1) else x)
    return tuple(wide) if rank <= 6 else None


def arrays_for(drawn: Drawn, sizes: dict[str, int], seed: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    found = {}
    for name, dtype, shape in drawn.inputs:
        extent = tuple(evaluate(dim, sizes) for dim in shape)
        found[name] = (rng.standard_normal(extent) * 4).astype(numpy_dtype(dtype))
    return found


def check_order(fused: FusedGraph) -> None:
    """Every value is made before it is read, once, and everything read exists."""
    known = {value.name for value in fused.inputs} | {constant.name for constant in fused.constants}
    for node in fused.nodes:
        match node:
            case AscBackend() | FusedAscBackend() | HostRegion():
                reads, makes = node.inputs, node.outputs
            case ViewNode():
                reads, makes = (node.input,), (node.output,)
            case SizesNode():
                reads, makes = (), (node.output,)
            case _:
                raise AssertionError(node)
        assert all(name in known for name in reads), node.name
        assert not known & set(makes), node.name
        known |= set(makes)
    assert all(output.value in known for output in fused.outputs)
    assert {
        name for node in fused.nodes if isinstance(node, AscBackend | FusedAscBackend) for name in node.outputs
    } <= {fact.name for fact in fused.facts.values}


@pytest.mark.parametrize("dtypes", [(dt.float32,), (dt.float16, dt.float32, dt.int32), (dt.bfloat16, dt.int8)])
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 24),
    n=st.sampled_from((0, 1, 2, 5)),
    m=st.sampled_from((0, 1, 3)),
)
@settings(max_examples=60)
def test_fusing_changes_no_bit(kit, dtypes: tuple[DType, ...], seed: int, count: int, n: int, m: int) -> None:
    drawn = Drawn(seed, dtypes, count)
    graph = drawn.graph()
    arrays = arrays_for(drawn, {"n": n, "m": m, "d": n + 1}, seed)
    fused = kit.check(graph, arrays)
    check_order(fused)
    unfused = kit.check(graph, arrays, enable=False)
    check_order(unfused)
    assert len(kit.kernels(fused)) <= len(kit.kernels(unfused))
    assert all(len(kernel.operators) == 1 for kernel in kit.kernels(unfused))


@pytest.mark.parametrize("dtypes", [(dt.float32,), (dt.float16, dt.float32, dt.int32)])
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(2, 20),
    n=st.sampled_from((0, 1, 2, 5)),
    m=st.sampled_from((0, 1, 3, 70)),
)
@settings(max_examples=60)
def test_fusing_reductions_changes_no_bit(
    kit, dtypes: tuple[DType, ...], seed: int, count: int, n: int, m: int
) -> None:
    drawn = Drawn(seed, dtypes, count, reduces=True)
    graph = drawn.graph()
    arrays = arrays_for(drawn, {"n": n, "m": m, "d": n}, seed)
    fused, unfused = kit.fuse(graph, numerics="strict"), kit.fuse(graph, numerics="strict", enable=False)
    check_order(fused)
    check_order(unfused)
    with np.errstate(all="ignore"):
        got, want = kit.run_fused(fused, arrays), kit.run_fused(unfused, arrays)
    for name, array in want.items():
        assert kit.same(got[name], array), (name, got[name], array)
    assert all(len(kernel.operators) == 1 for kernel in kit.kernels(unfused))


@pytest.mark.parametrize("numerics", NUMERICS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_fp32_programs_have_no_rounding_to_remove(kit, numerics: str, seed: int) -> None:
    drawn = Drawn(seed, (dt.float32,), 12)
    fused = kit.check(drawn.graph(), arrays_for(drawn, {"n": 3, "m": 2, "d": 4}, seed), numerics=numerics)
    assert fused.removed_roundings == ()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_fusing_is_deterministic(kit, seed: int) -> None:
    graph = Drawn(seed, (dt.float32, dt.int32), 20).graph()
    assert kit.fuse(graph) == kit.fuse(graph)
