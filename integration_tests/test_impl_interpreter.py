"""Schedules executed as planned give the bits of the graphs they came from; damaged schedules are faults."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Place
from autofuse_ir.asc_graph import AccessDim, AscGraph, AscNode
from autofuse_ir.dims import Dim, const, eq, floordiv, select, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import Buffer, ImplGraph, Location, QueuePosition, Segment, Sync
from autofuse_ir.target import TargetSpec, load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule
from autofuse_tiling.evaluate import choose
from autofuse_tiling.stage import tile
from hypothesis import given, settings
from hypothesis import strategies as st

SIZES = (0, 1, 2, 3, 5, 7, 12)
DTYPES = (dt.float32, dt.float16, dt.float64, dt.bfloat16, dt.int8, dt.int32, dt.uint16, dt.int64)
NUMBERS = ("Add", "Sub", "Mul", "Minimum", "Maximum")
FLOATS = ("Sqrt", "Exp", "Tanh", "Sigmoid", "Erf")
ONE = const(1)


@frozen(repr=False)
class Case:
    """A kernel, the sizes of its axes and its inputs."""

    node: AscBackend
    facts: SymbolFacts
    sizes: dict[str, int]
    arrays: list[Any]

    def __repr__(self) -> str:
        lines = [f"{n.name} = {n.op} {n.inputs} {n.dtype} {n.repeats} {n.attrs} {n.access}" for n in self.graph.nodes]
        return "\n".join([str(self.sizes), *lines])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def graph(self) -> AscGraph:
        return self.node.graph


def target_of(name: str, segment_nodes: int) -> TargetSpec:
    target = load_target(name)
    return evolve(target, limits=evolve(target.limits, segment_nodes=segment_nodes))


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    """Element-wise graphs over loads that permute, flip, skip, repeat and select along 1 to 4 axes."""
    rank = draw(st.integers(1, 4))
    names = [f"z{i}" for i in range(rank)]
    sizes = {f"s{i}": draw(st.sampled_from(SIZES if rank < 4 else SIZES[:5])) for i in range(rank)}
    dtype: DType = draw(st.sampled_from(DTYPES))
    b = AscGraphBuilder("k", {name: f"s{i}" for i, name in enumerate(names)})
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    arrays: list[Any] = []
    values: list[ValueFact] = []
    known: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))] if number else range(rank)
        memory: list[Dim] = []
        places: list[Place] = []
        for a in order:
            size = symbol(f"s{a}")
            kind = draw(st.sampled_from(("whole", "whole", "whole", "flip", "slice", "select")))
            match kind:
                case "whole":
                    memory.append(size)
                    places.append((names[a], ONE, const(0)))
                case "flip":
                    memory.append(size)
                    places.append((names[a], const(-1), size - 1))
                case "slice":
                    memory.append(2 * size + 3)
                    places.append((names[a], const(2), ONE))
                case _:
                    given = f"d{number}_{a}"
                    sizes[given] = draw(st.sampled_from((1, sizes[f"s{a}"])))
                    memory.append(select(eq(symbol(given), 1), ONE, size))
                    places.append((names[a], select(eq(symbol(given), 1), const(0), ONE), const(0)))
        shape = tuple(evaluate(m, sizes) for m in memory)
        data = b.input(f"in{number}", dtype)
        loaded = b.load(data, tuple(memory), tuple(places))
        arrays.append(content(rng, shape, dtype))
        values.append(ValueFact(f"in{number}", dtype, tuple(memory)))
        known.append(widened(b, loaded, draw(st.booleans()) or number == 0))
    for _ in range(draw(st.integers(1, 9))):
        known.append(node(draw, b, known, dtype))
    outputs = []
    for number in range(draw(st.integers(1, 2))):
        order = draw(st.permutations(range(rank)))
        stored = known[max(0, len(known) - 1 - number)]
        # A nest of no iterations writes nothing: fusion's results cover all axes, which is what makes that right.
        if number == 0 or 0 in sizes.values() or draw(st.booleans()):
            stored = widened(b, stored, True)
        order = [a for a in order if repeats_of(b, stored)[a] != ONE]
        b.store(stored, f"y{number}", tuple(f"s{a}" for a in order), tuple(names[a] for a in order))
        outputs.append(f"y{number}")
        values.append(ValueFact(f"y{number}", dtype, tuple(symbol(f"s{a}") for a in order)))
    symbols = tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim("in0", 0),)) for s in sorted(sizes))
    inputs = tuple(f"in{i}" for i in range(len(arrays)))
    backend = AscBackend("k", inputs, tuple(outputs), b.build(), ())
    return Case(backend, SymbolFacts(symbols, tuple(values)), sizes, arrays)


def content(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Any:
    if dtype.is_float:
        values = rng.normal(size=shape) * 4
        specials = np.array([0.0, -0.0, np.nan, np.inf, -np.inf])
        values = np.where(rng.random(shape) < 0.2, rng.choice(specials, shape), values)
        return np.asarray(values).astype(numpy_dtype(dtype))
    return np.asarray(rng.integers(0, 100, shape)).astype(numpy_dtype(dtype))


def repeats_of(b: AscGraphBuilder, value: str) -> tuple[Any, ...]:
    return next(n for n in b.build().nodes if n.name == value).repeats


def widened(b: AscGraphBuilder, value: str, wanted: bool) -> str:
    if not wanted:
        return value
    for axis, repeat in zip(b.axes, repeats_of(b, value), strict=True):
        if repeat == ONE and b.axes[axis] != 1:
            value = b.broadcast(value, axis)
    return value


def node(draw: Callable[..., Any], b: AscGraphBuilder, known: list[str], dtype: DType) -> str:
    first = draw(st.sampled_from(known))
    op = draw(st.sampled_from((*NUMBERS, "Neg", "Abs", "Select", "scalar", "cast", *FLOATS)))
    if op in ("Neg", "Abs") or (op in FLOATS and dtype.is_float):
        return b.op(op, first)
    if op == "scalar":
        return b.op(draw(st.sampled_from(NUMBERS)), first, b.scalar(draw(st.integers(1, 3)), dtype))
    if op == "cast":
        return b.cast(b.cast(first, draw(st.sampled_from(DTYPES))), dtype)
    second = draw(st.sampled_from(known))
    if repeats_of(b, first) != repeats_of(b, second):
        first, second = widened(b, first, True), widened(b, second, True)
    if op == "Select":
        return b.op("Select", b.op("Lt", first, second), first, second)
    return b.op(op if op in NUMBERS else "Add", first, second)


def implementations(case: Case, target: TargetSpec) -> tuple[ImplGraph, ...]:
    result = schedule(case.node, case.facts, target)
    return tuple(i for a in result.alternatives for g in a.groups for i in g.implementations)


def random_tiles(impl: ImplGraph, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, int]:
    """Draw each tile size from all allowed ones (small ones first: they make more tiles)."""
    tiles: dict[str, int] = {}
    for variable in impl.tile_variables:
        largest = evaluate(variable.hi, {**sizes, **tiles})
        allowed = [v for v in range(variable.lo, min(largest, 40) + 1) if v % variable.multiple == 0]
        tiles[variable.name] = int(rng.choice([*allowed, largest]))
    return tiles


def bits(array: Any) -> bytes:
    """The bits, of any NaN those of one: which sign NaN + NaN has depends on NumPy's vector loops and their tails."""
    kept = np.array(array)
    is_nan = np.isnan(kept.astype(np.float64))
    if is_nan.any():
        kept[is_nan] = np.nan
    return kept.tobytes()


@pytest.mark.parametrize(("name", "segment_nodes"), [("cpu", 512), ("cpu", 2), ("ascend-a2", 1), ("ascend-350", 5)])
def test_a_schedule_gives_the_bits_of_its_graph_whatever_its_tiles(name: str, segment_nodes: int) -> None:
    target = target_of(name, segment_nodes)

    @settings(max_examples=80, derandomize=True, database=None, deadline=None)
    @given(cases(), st.integers(0, 1 << 16))
    def check(case: Case, seed: int) -> None:
        wanted = interpret(case.node.graph, case.arrays, case.sizes)
        rng = np.random.default_rng(seed)
        for impl in implementations(case, target):
            tiles = random_tiles(impl, case.sizes, rng)
            got = interpret_impl(impl, case.arrays, case.sizes, tiles, seed)
            for a, b in zip(got, wanted, strict=True):
                assert bits(a) == bits(b), (impl.name, tiles)

    check()


def chain(target: TargetSpec) -> tuple[ImplGraph, Case]:
    """y = (exp(x) + b) * exp(x), in float32: x of (9, 150), b of (150,)."""
    b = AscGraphBuilder("chain", {"z0": "s0", "z1": "s1"})
    x = b.load(b.input("x", dt.float32), ("s0", "s1"), ("z0", "z1"), "lx")
    bias = b.broadcast(b.load(b.input("b", dt.float32), ("s1",), ("z1",), "lb"), "z0")
    e = b.op("Exp", x, name="e")
    b.store(b.op("Mul", b.op("Add", e, bias, name="a"), e, name="m"), "y", ("s0", "s1"), ("z0", "z1"))
    rows, columns = symbol("s0"), symbol("s1")
    facts = SymbolFacts(
        tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim("x", i),)) for i, s in enumerate(("s0", "s1"))),
        (
            ValueFact("x", dt.float32, (rows, columns)),
            ValueFact("b", dt.float32, (columns,)),
            ValueFact("y", dt.float32, (rows, columns)),
        ),
    )
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(9, 150)).astype(np.float32), rng.normal(size=150).astype(np.float32)]
    case = Case(AscBackend("chain", ("x", "b"), ("y",), b.build(), ()), facts, {"s0": 9, "s1": 150}, arrays)
    return next(i for i in implementations(case, target) if i.case.split == ("z1",)), case


TILES = {"z1t_size": 64, "z0z1Tb_size": 4}
LOCAL_TARGETS = [("cpu", 1), ("cpu", 2), ("ascend-a2", 1)]


def run_chain(impl: ImplGraph, case: Case, seed: int = 0) -> bytes:
    return bits(interpret_impl(impl, case.arrays, case.sizes, TILES, seed)[0])


def expected(case: Case) -> bytes:
    return bits(interpret(case.graph, case.arrays, case.sizes)[0])


def with_segments(impl: ImplGraph, segments: tuple[Segment, ...]) -> ImplGraph:
    return evolve(impl, phases=(evolve(impl.phases[0], segments=segments),))


@pytest.mark.parametrize(("name", "segment_nodes"), LOCAL_TARGETS)
def test_half_a_buffer_is_a_fault_that_names_it(name: str, segment_nodes: int) -> None:
    impl, case = chain(target_of(name, segment_nodes))
    assert run_chain(impl, case) == expected(case)
    assert impl.buffers
    for at, buffer in enumerate(impl.buffers):
        small = evolve(buffer, bytes=floordiv(buffer.bytes, 2))
        broken = evolve(impl, buffers=(*impl.buffers[:at], small, *impl.buffers[at + 1 :]))
        with pytest.raises(InterpreterFault, match="lies outside of its buffer of 128 bytes") as fault:
            run_chain(broken, case)
        users = {p.buffer for p in impl.placements}
        reusing = {b.name for b in impl.buffers if b.reuses == buffer.name} | {buffer.name}
        assert fault.value.buffer in users & reusing
        assert fault.value.offset >= 128


@pytest.mark.parametrize(("name", "segment_nodes"), [*LOCAL_TARGETS, ("cpu", 512)])
def test_every_node_of_a_plan_is_needed(name: str, segment_nodes: int) -> None:
    impl, case = chain(target_of(name, segment_nodes))
    for dropped in (n for s in impl.phases[0].segments for n in s.nodes):
        segments = tuple(evolve(s, nodes=tuple(n for n in s.nodes if n != dropped)) for s in impl.phases[0].segments)
        with pytest.raises(InterpreterFault):
            run_chain(with_segments(impl, tuple(s for s in segments if s.nodes)), case)


@pytest.mark.parametrize(("name", "segment_nodes"), LOCAL_TARGETS)
def test_a_segment_before_the_one_it_reads_from_is_a_fault(name: str, segment_nodes: int) -> None:
    impl, case = chain(target_of(name, segment_nodes))
    nodes = {n.name: n for n in impl.nodes}
    segments = impl.phases[0].segments
    swapped = 0
    for at in range(len(segments) - 1):
        first, second = segments[at], segments[at + 1]
        if not any(source in first.nodes for n in second.nodes for source in nodes[n].inputs):
            continue
        swapped += 1
        with pytest.raises(InterpreterFault, match=r"nobody has written|has overwritten"):
            run_chain(with_segments(impl, (*segments[:at], second, first, *segments[at + 2 :])), case)
    assert swapped


@pytest.mark.parametrize(("name", "segment_nodes"), LOCAL_TARGETS)
def test_a_buffer_that_takes_over_one_in_use_is_a_fault(name: str, segment_nodes: int) -> None:
    impl, case = chain(target_of(name, segment_nodes))
    exp = next(p.buffer for p in impl.placements if p.node == "e")
    add = next(p.buffer for p in impl.placements if p.node == "a")
    if add is None:  # in registers
        add = next(p.buffer for p in impl.placements if p.node == "lb")
    buffers = tuple(evolve(b, reuses=exp) if b.name == add else evolve(b, reuses=None) for b in impl.buffers)
    with pytest.raises(InterpreterFault, match="has overwritten"):
        run_chain(evolve(impl, buffers=buffers), case)


def test_a_register_is_gone_after_its_segment() -> None:
    impl, case = chain(target_of("cpu", 2))
    placements = tuple(evolve(p, location=Location.REGISTER, buffer=None) for p in impl.placements)
    with pytest.raises(InterpreterFault, match="in no buffer"):
        run_chain(evolve(impl, placements=placements), case)


def test_wrong_accesses_and_uneven_blocks_are_faults() -> None:
    impl, case = chain(target_of("cpu", 512))

    def with_access(name: str, change: Callable[[AccessDim], AccessDim]) -> ImplGraph:
        def changed(node: AscNode) -> AscNode:
            if node.name != name or node.access is None:
                return node
            return evolve(node, access=evolve(node.access, dims=tuple(map(change, node.access.dims))))

        return evolve(impl, nodes=tuple(map(changed, impl.nodes)))

    with pytest.raises(InterpreterFault, match="Load reaches element 150 of a dim of 150") as fault:
        run_chain(with_access("lb", lambda d: evolve(d, offset=ONE)), case)
    assert fault.value.node == "lb"
    with pytest.raises(InterpreterFault, match="Store reaches element -1 of a dim"):
        run_chain(with_access("y_store", lambda d: evolve(d, offset=const(-1))), case)
    with pytest.raises(InterpreterFault, match="both write element"):
        run_chain(with_access("y_store", lambda d: evolve(d, step=const(0)) if d.axis == "z0" else d), case)

    def with_size(axis: str, change: Callable[[Dim], Dim]) -> ImplGraph:
        return evolve(impl, axes=tuple(evolve(a, size=change(a.size)) if a.name == axis else a for a in impl.axes))

    with pytest.raises(InterpreterFault, match="nobody wrote element"):
        run_chain(with_size("z0z1TB", lambda size: size - 1), case)
    assert run_chain(with_size("z0z1TB", lambda size: size + 3), case) == expected(case)  # empty blocks do nothing


@pytest.mark.parametrize(("name", "segment_nodes"), [*LOCAL_TARGETS, ("cpu", 512)])
def test_any_order_of_loops_gives_the_same_bits(name: str, segment_nodes: int) -> None:
    impl, case = chain(target_of(name, segment_nodes))
    nests: list[tuple[tuple[str, ...], str | None]] = [
        (("z0z1Tb", "z0z1TB"), "z0z1TB"),
        (("z0z1Tb", "z0z1TB"), None),
        (("z0z1Tb", "z0z1TB"), "z0z1Tb"),
        (("z0z1T",), "z0z1T"),
        (("z0", "z1T"), "z0"),
        (("z1T", "z0"), "z0"),
        (("z1T", "z0"), None),
    ]
    for seed, (loops, block) in enumerate(nests):
        phase = evolve(impl.phases[0], loops=loops, block=block)
        assert run_chain(evolve(impl, phases=(phase,)), case, seed) == expected(case), (loops, block)


def two_phases(sync: Sync) -> tuple[ImplGraph, Case]:
    """The chain cut in two: exp(x) goes through workspace, and each phase has blocks of its own shape."""
    impl, case = chain(target_of("cpu", 1))
    segments = {s.nodes[0]: s for s in impl.phases[0].segments}
    first = evolve(impl.phases[0], segments=(segments["lx"], segments["e"]), sync=sync)
    rest = tuple(s for n, s in segments.items() if n not in ("lx", "e"))
    second = evolve(impl.phases[0], segments=rest, loops=("z0", "z1T"), block="z0")
    whole = Buffer("exp", Location.WORKSPACE, QueuePosition.VECCALC, symbol("s0") * symbol("s1") * 4, 1)
    old = next(p.buffer for p in impl.placements if p.node == "e")
    placements = tuple(
        evolve(p, location=Location.WORKSPACE, buffer="exp") if p.node == "e" else p for p in impl.placements
    )
    buffers = (*(evolve(b, reuses=None) for b in impl.buffers if b.name != old), whole)
    return evolve(impl, phases=(first, second), placements=placements, buffers=buffers), case


def test_phases_meet_in_workspace_behind_a_barrier() -> None:
    impl, case = two_phases(Sync.ALL)
    for seed in range(4):
        assert run_chain(impl, case, seed) == expected(case)


def test_phases_without_the_barrier_or_swapped_are_faults() -> None:
    impl, case = two_phases(Sync.NONE)
    with pytest.raises(InterpreterFault, match="nothing waits for it"):
        run_chain(impl, case)
    impl, case = two_phases(Sync.BLOCK)
    with pytest.raises(InterpreterFault, match=r"nobody has written it|that block"):
        run_chain(impl, case)
    impl, case = two_phases(Sync.ALL)
    with pytest.raises(InterpreterFault, match="nobody has written it"):
        run_chain(evolve(impl, phases=impl.phases[::-1]), case)


def test_a_value_kept_over_a_loop_is_poisoned_when_that_loop_goes_on() -> None:
    impl, case = chain(target_of("cpu", 1))
    buffers = tuple(evolve(b, lifetime="z0z1TB", reuses=None) for b in impl.buffers)
    assert run_chain(evolve(impl, buffers=buffers), case) == expected(case)


def test_a_narrow_value_is_not_overwritten_in_place_row_after_row() -> None:
    b = AscGraphBuilder("narrow", {"z0": "s0", "z1": "s1"})
    x = b.load(b.input("x", dt.float32), ("s0", "s1"), ("z0", "z1"))
    bias = b.load(b.input("b", dt.float32), ("s1",), ("z1",))
    minus = b.op("Neg", b.op("Exp", bias))
    b.store(b.op("Add", x, b.broadcast(minus, "z0")), "y", ("s0", "s1"), ("z0", "z1"))
    _, case = chain(target_of("cpu", 1))
    narrow = Case(evolve(case.node, graph=b.build()), case.facts, case.sizes, case.arrays)
    for impl in implementations(narrow, target_of("cpu", 1)):
        tiles = random_tiles(impl, case.sizes, np.random.default_rng(0))
        assert bits(interpret_impl(impl, case.arrays, case.sizes, tiles)[0]) == expected(narrow)


@pytest.mark.parametrize("name", ["cpu", "ascend-a2"])
def test_the_tile_sizes_that_the_tiling_function_chooses_run(name: str) -> None:
    target = load_target(name)
    _, case = chain(target)
    result = schedule(case.node, case.facts, target)
    choice = choose(tile(result, case.facts, target), case.sizes, cores=4)
    impl = next(i for i in implementations(case, target) if i.name == choice.implementation)
    assert bits(interpret_impl(impl, case.arrays, case.sizes, choice.sizes)[0]) == expected(case)
