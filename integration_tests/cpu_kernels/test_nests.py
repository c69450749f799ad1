"""Loop nests: broadcasts, permuted and stepped accesses, tails, segments and loop orders, against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const, eq, free_symbols, select, symbol
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.target import load_target
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_schedule.stage import schedule
from hypothesis import given, settings
from hypothesis import strategies as st

SIZES = (0, 1, 2, 3, 8, 17)
F = dt.float32
ZERO, ONE = const(0), const(1)


class NestBuilder:
    """Writes an AscGraph over symbolic axes ``s0..``; every value is checked by NumPy broadcasting."""

    def __init__(self, rank: int) -> None:
        self.axes = tuple(Axis(f"z{i}", AxisKind.ORIGINAL, symbol(f"s{i}")) for i in range(rank))
        self.full = tuple(axis.size for axis in self.axes)
        self.nodes: list[AscNode] = []
        self.values: list[ValueFact] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def strides(self, repeats: tuple[Dim, ...]) -> tuple[Dim, ...]:
        return tuple(ONE if r != ONE else ZERO for r in repeats)

    def load(self, order: tuple[int, ...], steps: tuple[Dim, ...] | None = None) -> str:
        """Load data whose dims are the axes ``order``; ``steps`` per dim where a run-time broadcast decides."""
        number = len(self.inputs)
        name = f"in{number}"
        memory = tuple(self.full[a] for a in order)
        repeats = tuple(self.full[a] if a in order else ONE for a in range(len(self.axes)))
        steps = steps or (ONE,) * len(order)
        access = AccessMap(memory, tuple(AccessDim(f"z{a}", s, ZERO) for a, s in zip(order, steps, strict=True)))
        self.values.append(ValueFact(name, F, memory))
        self.inputs.append(name)
        data = AscNode(f"data{number}", "Data", (), F, repeats, self.strides(repeats), (Attr("index", number),))
        loaded = AscNode(f"load{number}", "Load", (data.name,), F, repeats, self.strides(repeats), (), access)
        self.nodes += [data, loaded]
        return loaded.name

    def op(self, op: str, *inputs: str) -> str:
        known = {n.name: n for n in self.nodes}
        repeats = tuple(
            next((known[i].repeats[a] for i in inputs if known[i].repeats[a] != ONE), ONE)
            for a in range(len(self.axes))
        )
        node = AscNode(f"v{len(self.nodes)}", op, inputs, F, repeats, self.strides(repeats))
        self.nodes.append(node)
        return node.name

    def scalar(self, value: float) -> str:
        ones = (ONE,) * len(self.axes)
        node = AscNode(f"c{len(self.nodes)}", "Scalar", (), F, ones, self.strides(ones), (Attr("value", value),))
        self.nodes.append(node)
        return node.name

    def store(self, value: str, order: tuple[int, ...] | None = None) -> None:
        number = len(self.outputs)
        order = tuple(range(len(self.axes))) if order is None else order
        memory = tuple(self.full[a] for a in order)
        access = AccessMap(memory, tuple(AccessDim(f"z{a}", ONE, ZERO) for a in order))
        strides = self.strides(self.full)
        stored = AscNode(f"store{number}", "Store", (value,), F, self.full, strides, (), access)
        self.nodes.append(stored)
        self.nodes.append(
            AscNode(f"out{number}", "Output", (stored.name,), F, self.full, strides, (Attr("index", number),))
        )
        self.values.append(ValueFact(f"y{number}", F, memory))
        self.outputs.append(f"y{number}")

    def done(self) -> tuple[AscBackend, SymbolFacts]:
        graph = AscGraph("nest", self.axes, tuple(self.nodes))
        names = sorted(
            {s for v in self.values for d in v.shape or () for s in free_symbols(d)}
            | {f"s{i}" for i in range(len(self.axes))}
        )
        symbols = tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim("in0", 0),)) for s in names)
        return AscBackend("nest", tuple(self.inputs), tuple(self.outputs), graph, ()), SymbolFacts(
            symbols, tuple(self.values)
        )


def call(
    kernel: Any, arrays: list[np.ndarray], shapes: list[tuple[int, ...]], sizes: dict[str, int], **options: Any
) -> list[np.ndarray]:
    outputs = [np.full(shape, np.nan, np.float32) for shape in shapes]
    if all(o.size for o in outputs):
        assert kernel(arrays, outputs, sizes, **options) == 0
    return outputs


def permutations_and_broadcasts(
    rank: int,
) -> tuple[NestBuilder, Callable[[list[np.ndarray]], np.ndarray], list[tuple[int, ...]]]:
    """A graph that reads full, reversed and partly missing axes, and its meaning."""
    b = NestBuilder(rank)
    orders = [tuple(range(rank)), tuple(reversed(range(rank))), tuple(range(rank))[1:], tuple(range(rank))[:1], ()]
    loads = [b.load(order) for order in orders]
    total = loads[0]
    for loaded in loads[1:]:
        total = b.op("Add", b.op("Mul", total, loaded), b.scalar(0.5))
    b.store(total)
    b.store(b.op("Neg", total), tuple(reversed(range(rank))))

    def expand(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
        sorted_axes = tuple(np.argsort(order)) if order else ()
        moved = np.transpose(array, sorted_axes)
        index = tuple(slice(None) if a in order else None for a in range(rank))
        return moved[index]

    def meaning(arrays: list[np.ndarray]) -> np.ndarray:
        total = expand(arrays[0], orders[0])
        for array, order in zip(arrays[1:], orders[1:], strict=True):
            total = total * expand(array, order) + np.float32(0.5)
        return total

    return b, meaning, orders


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("segment_nodes", [512, 3, 1])
def test_any_rank_order_and_broadcast_is_right_whatever_the_segments(
    rank: int, segment_nodes: int, build_kernel: Any
) -> None:
    b, meaning, orders = permutations_and_broadcasts(rank)
    backend, facts = b.done()
    target = load_target("cpu")
    target = evolve(target, limits=evolve(target.limits, segment_nodes=segment_nodes))
    kernel = build_kernel(backend, facts, target)
    rng = np.random.default_rng(rank)
    for trial in range(14):
        sizes = {f"s{i}": int(rng.choice(SIZES[:5] if rank > 4 else SIZES)) for i in range(rank)}
        shape = tuple(sizes.values())
        arrays = [rng.standard_normal(tuple(shape[a] for a in order)).astype(np.float32) for order in orders]
        first, second = call(
            kernel, arrays, [shape, shape[::-1]], sizes, cores=1 + trial % 4, cache_bytes=(1 << 40) * (trial % 2)
        )
        if first.size:
            want = np.broadcast_to(meaning(arrays), shape)
            np.testing.assert_array_equal(first, want)
            np.testing.assert_array_equal(second, -np.transpose(want))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5, 6])
def test_the_interpreter_of_hint_graphs_agrees(rank: int) -> None:
    b, meaning, orders = permutations_and_broadcasts(rank)
    backend, _ = b.done()
    rng = np.random.default_rng(rank)
    for _ in range(10):
        sizes = {f"s{i}": int(rng.choice(SIZES[:5])) for i in range(rank)}
        shape = tuple(sizes.values())
        arrays = [rng.standard_normal(tuple(shape[a] for a in order)).astype(np.float32) for order in orders]
        first, second = interpret(backend.graph, arrays, sizes)
        want = np.broadcast_to(meaning(arrays), shape)
        np.testing.assert_array_equal(first, want)
        np.testing.assert_array_equal(second, -np.transpose(want))


def run_time_step(symbol_name: str) -> Dim:
    return select(eq(symbol(symbol_name), 1), ZERO, ONE)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_broadcast_that_only_the_sizes_decide_needs_one_kernel(axis: int, build_kernel: Any) -> None:
    """Both operands may be 1 along ``axis``; the axis itself has the size that a select picks."""
    b = NestBuilder(3)
    left, right = f"d0_{axis}", f"d1_{axis}"
    picked = select(eq(symbol(left), 1), symbol(right), symbol(left))
    b.axes = tuple(evolve(a, size=picked) if i == axis else a for i, a in enumerate(b.axes))
    b.full = tuple(a.size for a in b.axes)
    loads = []
    for name in (left, right):
        steps = tuple(run_time_step(name) if i == axis else ONE for i in range(3))
        b.full = tuple(symbol(name) if i == axis else s for i, s in enumerate(b.full))
        loads.append(b.load((0, 1, 2), steps))
        b.full = tuple(a.size for a in b.axes)
    b.nodes = [evolve(n, repeats=b.full) if n.op == "Load" else n for n in b.nodes]
    b.store(b.op("Sub", *loads))
    backend, facts = b.done()
    kernel = build_kernel(backend, facts)
    rng = np.random.default_rng(0)
    for n, m in ((1, 2), (2, 1), (3, 3), (1, 1), (1, 40), (40, 1), (0, 1)):
        shapes = [tuple(size if i == axis else 5 + i for i in range(3)) for size in (n, m)]
        out = tuple(max(n, m) * bool(min(n, m)) if i == axis else 5 + i for i in range(3))
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        sizes = {"s0": 5, "s1": 6, "s2": 7, left: n, right: m}
        (got,) = call(kernel, arrays, [out], sizes)
        if got.size:
            np.testing.assert_array_equal(got, arrays[0] - arrays[1])


def test_permuted_loops_change_the_source_and_not_the_result(build_kernel: Any) -> None:
    b, meaning, orders = permutations_and_broadcasts(3)
    backend, facts = b.done()
    result = schedule(backend, facts, load_target("cpu"))
    (alternative,) = result.alternatives
    (group,) = alternative.groups

    def swapped(impl: Any, loops: bool) -> Any:
        (phase,) = impl.phases
        segments = phase.segments if loops else tuple(evolve(s, axes=s.axes[::-1]) for s in phase.segments)
        order = phase.loops[::-1] if loops else phase.loops
        return evolve(impl, phases=(evolve(phase, loops=order, segments=segments),))

    plain = build_kernel(backend, facts)
    for loops in (True, False):
        impls = tuple(
            swapped(i, loops) for i in group.implementations if loops or len(i.phases[0].segments[0].axes) > 1
        )
        permuted = evolve(result, alternatives=(evolve(alternative, groups=(evolve(group, implementations=impls),)),))
        kernel = build_kernel(backend, facts, scheduled=permuted)
        if not loops:
            assert kernel.bundle.files[0].text != plain.bundle.files[0].text
        rng = np.random.default_rng(1)
        for shape in ((3, 5, 17), (1, 1, 1), (8, 2, 33)):
            arrays = [rng.standard_normal(tuple(shape[a] for a in order)).astype(np.float32) for order in orders]
            first, _ = call(kernel, arrays, [shape, shape[::-1]], dict(zip(("s0", "s1", "s2"), shape, strict=True)))
            np.testing.assert_array_equal(first, meaning(arrays))


@settings(max_examples=60, derandomize=True, database=None, deadline=None)
@given(st.data())
def test_one_kernel_serves_every_size_and_core_count(nest_kernel: Any, data: st.DataObject) -> None:
    kernel, meaning, orders = nest_kernel
    sizes = {f"s{i}": data.draw(st.sampled_from((*SIZES, 31, 64, 257))) for i in range(3)}
    shape = tuple(sizes.values())
    rng = np.random.default_rng(data.draw(st.integers(0, 5)))
    arrays = [rng.standard_normal(tuple(shape[a] for a in order)).astype(np.float32) for order in orders]
    cores = data.draw(st.sampled_from((1, 2, 3, 8, 64)))
    first, _ = call(
        kernel, arrays, [shape, shape[::-1]], sizes, cores=cores, cache_bytes=data.draw(st.sampled_from((0, 1 << 40)))
    )
    if first.size:
        np.testing.assert_array_equal(first, np.broadcast_to(meaning(arrays), shape))


@pytest.fixture(scope="module")
def nest_kernel(build_kernel: Any) -> Any:
    b, meaning, orders = permutations_and_broadcasts(3)
    backend, facts = b.done()
    return build_kernel(backend, facts), meaning, orders
