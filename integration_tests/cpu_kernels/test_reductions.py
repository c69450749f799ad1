"""Reductions of every operator, dtype, set of axes and template, bit for bit as the interpreter."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.dtypes import DType
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_testkit.kernel_library import KernelLibrary, assert_same, sample

NUMBERS = (dt.float32, dt.float64, dt.int8, dt.int32, dt.int64, dt.uint16)
CASES = [
    *itertools.product(("Sum",), NUMBERS),
    *itertools.product(("Prod",), (dt.float32, dt.uint8)),
    *itertools.product(("Max", "Min"), (dt.float32, dt.bool_, dt.int16, dt.uint64)),
    ("Any", dt.bool_),
    ("All", dt.bool_),
]
AXES = ((1, (0,)), (2, (0,)), (2, (1,)), (2, (0, 1)), (3, (1,)), (3, (0, 2)), (4, (1, 3)), (4, (0, 2)))
SIZES = {
    1: [(0,), (1,), (2,), (63,), (65,), (4095,), (4097,), (12289,), (100003,)],
    2: [(0, 5), (5, 0), (1, 1), (2, 63), (65, 3), (129, 33), (64, 64), (2, 4097), (4097, 2), (3, 20000)],
    3: [(0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 7, 5), (5, 65, 3), (2, 130, 17), (33, 3, 131), (3, 2, 5001), (40, 1, 300)],
    4: [(1, 1, 1, 1), (2, 0, 2, 2), (2, 3, 5, 7), (3, 17, 2, 33), (2, 70, 3, 64), (2, 2, 2, 9001), (3, 300, 2, 5)],
}


def reduction(op: str, dtype: DType, rank: int, reduced: tuple[int, ...]) -> AscGraph:
    """The reduction itself as one output, and what combines it with every element as another."""
    b = AscGraphBuilder("reduction", {f"z{i}": "abcd"[i] for i in range(rank)})
    axes, shape = tuple(b.axes), tuple(b.axes.values())
    x = b.load(b.input("x", dtype), shape, axes)
    result = b.reduce(op, x, *(axes[i] for i in reduced))
    kept = [i for i in range(rank) if i not in reduced]
    b.store(result, "y", tuple(shape[i] for i in kept) or (1,), tuple(axes[i] for i in kept) or (0,))
    wide = result
    for i in reduced:
        wide = b.broadcast(wide, axes[i])
    b.store(b.op("LogicalXor" if dtype == dt.bool_ else "Sub", x, wide), "z", shape, axes)
    return b.build()


@pytest.fixture(scope="module", params=["all-load", "common", "r-core", None])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Some axes for each operator and dtype, all of them for sums of floats; None: the template that is chosen."""
    built = KernelLibrary(tmp_path_factory.mktemp("reductions"))
    for number, (op, dtype) in enumerate(CASES):
        chosen = AXES if (op, dtype) == ("Sum", dt.float32) else (AXES[number % 8],)
        for rank, reduced in chosen:
            name = f"{op}_{dtype.name}_{rank}_{''.join(map(str, reduced))}"
            built.add(name, reduction(op, dtype, rank, reduced), request.param)
    return built.build()


def test_every_template_joins_by_the_tree(library: KernelLibrary) -> None:
    random = np.random.default_rng(5)
    done = 0
    for name, graph in library.graphs.items():
        dtype, rank = graph.nodes[0].dtype, len(graph.axes)
        for shape in SIZES[rank]:
            x = sample(dtype, shape, random)
            sizes = dict(zip("abcd", shape, strict=False))
            cores, stream = int(random.choice([1, 3, 8])), bool(random.random() < 0.5)
            found = library.run(name, [x], sizes, cores, stream)
            if found is None:
                continue  # a forced template whose tile does not fit
            status, outputs = found
            with np.errstate(all="ignore"):
                expected = interpret(graph, [x], sizes)
            assert status == 0
            for actual, wanted in zip(outputs, expected, strict=True):
                assert_same(actual, wanted, f"{name} of {shape}")
            done += 1
    assert done > 100


def views() -> dict[str, AscGraph]:
    """Reductions over the first and last of three axes, of what is not read as it lies."""
    found = []
    for name, memory, along in (
        ("transposed", ("c", "b", "a"), ("z2", "z1", "z0")),
        ("padded", ("a", "b", "c - 3"), ("z0", "z1", ("z2", 1, -2))),
        ("reversed", ("a", "b", "c"), ("z0", "z1", ("z2", -1, "c - 1"))),
    ):
        b = AscGraphBuilder(name, {"z0": "a", "z1": "b", "z2": "c"})
        bounds = Bounds.FILL if name == "padded" else Bounds.INSIDE
        fill = {"fill": 0.5} if name == "padded" else {}
        x = b.load(b.input("x", dt.float32), memory, along, bounds=bounds, **fill)
        place = b.broadcast(b.broadcast(b.cast(b.axis_index("z2", dt.int32), dt.float32), "z1"), "z0")
        x = b.op("Add", x, place)
        wide = b.broadcast(b.broadcast(b.reduce("Sum", x, "z0", "z2"), "z0"), "z2")
        b.store(b.op("Sub", x, wide), "y", ("a", "b", "c"), ("z0", "z1", "z2"))
        found.append(b.build())
    return {graph.name: graph for graph in found}


def test_shared_ranges_of_views_begin_and_end_within_rows(tmp_path: Path) -> None:
    built = KernelLibrary(tmp_path)
    for name, graph in views().items():
        built.add(name, graph, "r-core")
    library, random, done = built.build(), np.random.default_rng(5), 0
    for name, graph in library.graphs.items():
        for a, b, c in ((3, 2, 5003), (309, 1, 172), (40, 3, 403), (1, 1, 9000), (5, 2, 4)):
            memory = {"transposed": (c, b, a), "padded": (a, b, c - 3)}.get(name, (a, b, c))
            x, sizes = sample(dt.float32, memory, random), {"a": a, "b": b, "c": c}
            for cores in (1, 2, 7):
                found = library.run(name, [x], sizes, cores, False)
                assert found is not None
                with np.errstate(all="ignore"):
                    (wanted,) = interpret(graph, [x], sizes)
                assert_same(found[1][0], wanted, f"{name} of {a}, {b}, {c} on {cores}")
                done += 1
    assert done == 3 * 5 * 3
