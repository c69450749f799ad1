"""The stage on graphs of thousands of operators, its import, and its independence of hash seeds."""

import subprocess
import sys
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_symshape.stage import infer
from autofuse_testkit.work import calls_made


def big_graph(layers: int, as_constant: Any) -> Graph:
    builder = GraphBuilder("big")
    x, bias = builder.input("x", ("b", "s", 768), dt.float32), builder.input("bias", (768,), dt.float32)
    mask = builder.input("mask", ("b", 1, "s2"), dt.float32)
    first = builder.constant(as_constant(np.asarray([0])))
    second = builder.constant(as_constant(np.asarray([1])))
    rest = builder.constant(as_constant(np.asarray([12, 64])))
    axis = builder.constant(as_constant(np.asarray(0)))
    for _ in range(layers):
        y = builder.op("Add", x, bias)
        sizes = builder.op("Shape", y, dtype=9)
        lead = [builder.op("GatherV2", sizes, place, axis) for place in (first, second)]
        target = builder.op("ConcatV2D", *lead, rest, concat_dim=0, N=3)
        heads = builder.op("TransposeD", builder.op("Reshape", y, target), perm=(0, 2, 1, 3))
        scores = builder.op("Add", builder.op("BatchMatMulV2", heads, heads, adj_x2=True), mask)
        mixed = builder.op("BatchMatMulV2", builder.op("SoftmaxV2", scores), heads)
        back = builder.op("TransposeD", mixed, perm=(0, 2, 1, 3))
        x = builder.op("Add", x, builder.op("Reshape", back, builder.op("Shape", x, dtype=9)))
    return builder.build(outputs={"y": x})


def test_work_grows_with_the_graph_and_no_faster(as_constant: Any) -> None:
    small, large = big_graph(66, as_constant), big_graph(330, as_constant)
    assert len(large.nodes) > 4900
    assert calls_made(lambda: infer(large)) < 5.25 * calls_made(lambda: infer(small))
    assert len(infer(large)[1].guards) < 5


def test_importing_the_stage_leaves_sympy_and_numpy_out() -> None:
    program = "import sys, autofuse_symshape.stage; print([name for name in ('sympy', 'numpy') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


_DESCRIBE = """
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_symshape.sample import sample
from autofuse_symshape.stage import infer
b = GraphBuilder("seeds")
x, y, s = b.input("x", ("n", "m", "k"), dt.float32), b.input("y", ("d", "e"), dt.float32), b.input("s", (3,), dt.int64)
z = b.op("Reshape", b.op("Concat", b.input("axis", (), dt.int64), b.op("Add", x, y), x, N=2), s)
_, facts = infer(b.build(outputs={"z": b.op("NonZero", b.op("MatMul", b.op("Add", x, y), b.op("Mul", y, y)))}))
print(facts, sample(facts, 5, seed=3))
"""


def test_facts_do_not_depend_on_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _DESCRIBE],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(outputs) == 1
    assert "n" in outputs.pop()
