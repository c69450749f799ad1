"""Peak memory: never above that of the graph as it is, at the hints."""

import numpy as np
from autofuse_fusion.benefit import cost_model
from autofuse_fusion.items import items_of, topological
from autofuse_fusion.memory import peak_of
from autofuse_fusion.network import network_of
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.passes.pipeline import clean_up
from autofuse_fusion.undo import solve_within_peak
from autofuse_fusion.values import values_of
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_tensor_data
from autofuse_symshape.stage import infer

CPU = load_target("cpu")
ROW = 1024 * 64 * 4
"""Bytes of one (1024, 64) tensor of float32."""


def peaks(graph: Graph) -> tuple[int, int]:
    """The peak of one kernel per operator, and of the fused graph."""
    inferred, facts = infer(graph)
    tidy = clean_up(inferred, facts)
    values = values_of(tidy, facts)
    options = FusionOptions()
    items = items_of(network_of(tidy, facts, values, CPU, options), values, options, cost_model(CPU))
    most = peak_of(items.things, items.pinned, values)
    solver = solve_within_peak(items, most, CPU, options)
    return most, peak_of(topological(solver.things()), items.pinned, values)


def test_the_peak_counts_what_is_alive() -> None:
    b = GraphBuilder("peak")
    x = b.input("x", (1024, 64), dt.float32)
    first = b.op("Lgamma", x)
    second = b.op("Exp", first)
    graph = b.build(outputs={"y": b.op("Lgamma", b.op("Concat", _axis(b), first, second, N=2))})
    assert peaks(graph) == (4 * ROW, 4 * ROW)


def one_after_another(count: int) -> Graph:
    """Wide results of ``x``, each made small on the host before the next is due: they need one buffer at a time."""
    b = GraphBuilder("wide")
    x = b.input("x", (1024, 64), dt.float32)
    small = b.input("first", (2, 64), dt.float32)
    for number in range(count):
        wide = b.op("Muls", x, value=float(number + 2))
        row = b.op("MatMul", small, wide, transpose_x2=True)
        small = b.op("Exp", b.op("MatMul", row, wide))
    return b.build(outputs={"y": small})


def test_kernels_side_by_side_do_not_raise_the_peak(kit) -> None:
    graph = one_after_another(6)
    before, after = peaks(graph)
    assert ROW < before < 2 * ROW
    assert after <= before
    fused = kit.check(graph, {"x": np.full((1024, 64), 1e-3, np.float32), "first": np.zeros((2, 64), np.float32)})
    # A kernel may end one round and begin the next, but no two of the wide results are made at once.
    assert all(sum("Muls" in name for name in kernel.operators) <= 1 for kernel in kit.kernels(fused))
    assert Reason.MORE_PEAK_MEMORY in {refusal.reason for refusal in fused.refusals}


def _axis(b: GraphBuilder) -> str:
    return b.constant(_ints(1))


def _ints(value: int | list[int]) -> TensorData:
    return to_tensor_data(np.asarray(value, np.int64))


def norms(count: int, projected: bool) -> Graph:
    """Layers that add something normalised to what they read: through a product of matrices, or at once."""
    b = GraphBuilder("norms")
    x, weight = b.input("x", ("n", 64), dt.float32), b.input("w", (64, 64), dt.float32)
    axis = b.constant(_ints([-1]))
    for number in range(count):
        apart = b.op("Sub", x, b.op("ReduceMean", x, axis, keep_dims=True))
        variance = b.op("ReduceMean", b.op("Mul", apart, apart), axis, keep_dims=True)
        normal = b.op("RealDiv", apart, b.op("Sqrt", b.op("Adds", variance, value=1e-5)))
        x = b.op("Add", x, b.op("MatMul", normal, weight) if projected else b.op("Exp", normal), name=f"add{number}")
    return b.build(outputs={"y": x})


def test_layers_between_products_are_one_kernel_each(kit) -> None:
    """The sum and what is normalised of it leave one kernel, which writes over what it reads."""
    graph = norms(6, projected=True)
    before, after = peaks(graph)
    assert after <= before
    kernels = kit.kernels(kit.fuse(graph))
    assert len(kernels) == 7
    assert kernels[1].operators[0] == "add0"


def test_kernels_that_keep_too_much_are_cut_and_not_taken_apart(kit) -> None:
    graph = norms(60, projected=False)
    before, after = peaks(graph)
    assert after <= before
    kernels = kit.kernels(kit.fuse(graph))
    assert len(kernels) <= 12
    # Where they are cut between layers, one tensor passes.
    assert sum(len(kernel.inputs) == 1 for kernel in kernels) >= 3
