"""The tiling function picks the template of a reduction by sizes and cores."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dims import as_dim
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import ImplGraph
from autofuse_ir.target import load_target
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule
from autofuse_tiling.evaluate import Choice, choose
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile

Sizes = tuple[int, int]
Choose = Callable[[Sizes, int], tuple[Choice, ImplGraph]]


def softmax(axis: str) -> tuple[AscBackend, SymbolFacts]:
    """Softmax over one axis of two."""
    b = AscGraphBuilder("softmax", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    e = b.op("Exp", b.op("Sub", x, b.broadcast(b.reduce("Max", x, axis), axis)))
    b.store(b.op("Div", e, b.broadcast(b.reduce("Sum", e, axis), axis)), "y", ("n", "m"), ("z0", "z1"))
    return _described(b, ("n", "m"))


def total() -> tuple[AscBackend, SymbolFacts]:
    """The sum of all elements."""
    b = AscGraphBuilder("total", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.reduce("Sum", x, "z0", "z1"), "y", (), ())
    return _described(b, ())


def sums_of_ends() -> tuple[AscBackend, SymbolFacts]:
    """Sums over axes that do not lie next to each other, of two results."""
    b = AscGraphBuilder("sums", {"z0": "n", "z1": 2, "z2": "m"})
    x = b.load(b.input("x", dt.float32), ("n", 2, "m"), ("z0", "z1", "z2"))
    b.store(b.reduce("Sum", x, "z0", "z2"), "y", (2,), ("z1",))
    node, facts = _described(b, ())
    shapes = {"x": ("n", 2, "m"), "y": (2,)}
    values = tuple(ValueFact(name, dt.float32, tuple(map(as_dim, shape))) for name, shape in shapes.items())
    return node, evolve(facts, values=values)


def column_sums() -> tuple[AscBackend, SymbolFacts]:
    """The sum of each column."""
    b = AscGraphBuilder("columns", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.reduce("Sum", x, "z0"), "y", ("m",), ("z1",))
    return _described(b, ("m",))


def bias() -> tuple[AscBackend, SymbolFacts]:
    """A row added to all rows."""
    b = AscGraphBuilder("bias", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    row = b.broadcast(b.load(b.input("r", dt.float32), ("m",), ("z1",)), "z0")
    b.store(b.op("Add", x, row), "y", ("n", "m"), ("z0", "z1"))
    node, facts = _described(b, ("n", "m"))
    values = (*facts.values, ValueFact("r", dt.float32, (as_dim("m"),)))
    return evolve(node, inputs=("x", "r")), evolve(facts, values=values)


def _described(b: AscGraphBuilder, result: tuple[str, ...]) -> tuple[AscBackend, SymbolFacts]:
    shape = (as_dim("n"), as_dim("m"))
    symbols = tuple(SymbolFact(s, 0, 1 << 31, 64, (InputDim("x", i),)) for i, s in enumerate(("n", "m")))
    values = (ValueFact("x", dt.float32, shape), ValueFact("y", dt.float32, tuple(map(as_dim, result))))
    return AscBackend(b.name, ("x",), ("y",), b.build(), ()), SymbolFacts(symbols, values)


def chooser(kernel: tuple[AscBackend, SymbolFacts], target: str) -> Choose:
    """Return what chooses an implementation and its tiles for sizes (n, m) and a number of cores."""
    spec = load_target(target)
    result = schedule(*kernel, spec)
    model = tile(result, kernel[1], spec)
    by_name = {i.name: i for a in result.alternatives for g in a.groups for i in g.implementations}

    def find(sizes: Sizes, cores: int) -> tuple[Choice, ImplGraph]:
        found = choose(model, {"n": sizes[0], "m": sizes[1]}, cores)
        return found, by_name[found.implementation]

    return find


@pytest.mark.parametrize(
    ("sizes", "cores", "template"),
    [
        ((64, 768), 1, "all-load"),
        ((64, 768), 4, "all-load"),
        ((8192, 1024), 1, "all-load"),
        ((8192, 1024), 16, "all-load"),
        ((100_000, 5), 4, "all-load"),
        ((1024, 50_257), 4, "all-load"),
        ((1000, 1_000_000), 1, "common"),
        ((1000, 1_000_000), 16, "common"),
        ((4, 1_000_000), 16, "r-core"),
        ((1, 1 << 24), 2, "r-core"),
        ((1, 1 << 24), 1, "common"),
    ],
)
def test_rows_that_fit_stay_and_few_long_rows_are_shared_between_cores(sizes: Sizes, cores: int, template: str) -> None:
    found, impl = chooser(softmax("z1"), "cpu")(sizes, cores)
    assert impl.template == template
    assert found.blocks == min(cores, 16)


@pytest.mark.parametrize(
    ("sizes", "template"),
    [((64, 768), "all-load"), ((8192, 1024), "all-load"), ((8192, 100_000), "common"), ((4, 1_000_000), "r-core")],
)
def test_a_unified_buffer_takes_long_rows_in_pieces(sizes: Sizes, template: str) -> None:
    assert chooser(softmax("z1"), "ascend-a2")(sizes, 48)[1].template == template


@pytest.mark.parametrize(("sizes", "template"), [((100_000, 256), "held"), ((5000, 1_000_000), "held-pieces")])
def test_a_unified_buffer_holds_rows_and_goes_by_pieces_where_they_do_not_fit(sizes: Sizes, template: str) -> None:
    assert chooser(bias(), "ascend-a2")(sizes, 48)[1].template == template


def test_columns_are_joined_in_pieces_of_whole_vectors() -> None:
    choice, impl = chooser(softmax("z0"), "cpu")((1000, 4096), 4)
    assert impl.case.split == ("z1",)
    assert choice.sizes["z1t_size"] % 8 == 0


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
def test_all_cores_share_one_sum(target: str) -> None:
    choice, impl = chooser(total(), target)((4000, 4000), 8)
    assert impl.template == "r-core"
    assert choice.blocks >= 8
    assert chooser(total(), target)((3, 5), 8)[0].blocks == 1


@pytest.mark.parametrize("target", ["cpu", "ascend-a2", "ascend-350"])
@pytest.mark.parametrize("sizes", [(3, 1_000_000), (400, 10_000)])
def test_all_cores_share_few_long_sums_of_axes_apart(sizes: Sizes, target: str) -> None:
    """Two sums, over the outermost and the innermost axis of three, neither of which has leaves enough by itself."""
    choice, impl = chooser(sums_of_ends(), target)(sizes, 16)
    assert impl.template == "r-core"
    assert choice.blocks >= 14


def test_narrow_columns_are_shared_in_whole_lines() -> None:
    choice, impl = chooser(column_sums(), "ascend-a2")((4096, 1024), 48)
    assert impl.template == "r-core"
    assert choice.sizes["z1t_size"] * 4 >= load_target("ascend-a2").cache_line_bytes
    assert choice.blocks >= 40


def test_blocks_with_many_results_share_none() -> None:
    result = schedule(*softmax("z1"), load_target("cpu"))
    only = next(i for i in result.alternatives[0].groups[0].implementations if i.template == "r-core")
    find = chooser(softmax("z1"), "cpu")
    assert find((5000, 1_000_000), 64)[1].template != only.template
    assert find((5, 1_000_000), 64)[1].template == only.template


@pytest.mark.parametrize("target", ["cpu", "ascend-a2", "ascend-350"])
@pytest.mark.parametrize("axis", ["z0", "z1"])
def test_chosen_tiles_are_legal_for_sizes_of_every_kind(axis: str, target: str) -> None:
    """Executed as planned, with the tiles that a call would get, in local memory of exactly the planned size."""
    kernel = softmax(axis)
    find = chooser(kernel, target)
    rng = np.random.default_rng(5)
    for sizes in ((0, 3), (3, 0), (1, 1), (2, 3), (5, 67), (67, 5), (3, 4500), (300, 2)):
        x = rng.normal(size=sizes).astype(np.float32)
        bound = {"n": sizes[0], "m": sizes[1]}
        (wanted,) = interpret(kernel[0].graph, [x], bound)
        choice, impl = find(sizes, 4)
        if choice.blocks == 0:
            assert wanted.size == 0
            continue
        (got,) = interpret_impl(impl, [x], bound, choice.sizes)
        assert got.tobytes() == wanted.tobytes(), (impl.name, sizes)


def test_a_cpu_has_a_schedule_for_every_size() -> None:
    rng = np.random.default_rng(7)
    for kernel in (softmax("z0"), softmax("z1"), total()):
        find = chooser(kernel, "cpu")
        for _ in range(60):
            n, m = (int(2 ** rng.uniform(0, 31)) for _ in range(2))
            try:
                find((n, m), int(rng.integers(1, 65)))
            except TilingError as error:
                raise AssertionError((kernel[0].name, n, m)) from error
