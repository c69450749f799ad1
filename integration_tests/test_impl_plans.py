"""One plan, changed: legal changes keep the bits, and every damage is a fault that says where."""

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AccessDim, AscNode
from autofuse_ir.dims import Dim, const, floordiv, symbol
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import Buffer, ImplGraph, Location, QueuePosition, Segment, Sync
from autofuse_ir.target import TargetSpec, load_target
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule
from autofuse_testkit.kernel_cases import KernelCase, bits, implementations, random_tiles, target_of
from autofuse_tiling.evaluate import choose
from autofuse_tiling.stage import tile


def chain(target: TargetSpec) -> tuple[ImplGraph, KernelCase]:
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
    case = KernelCase(AscBackend("chain", ("x", "b"), ("y",), b.build(), ()), facts, {"s0": 9, "s1": 150}, arrays)
    return next(i for i in implementations(case, target, holds=False) if i.case.split == ("z1",)), case


TILES = {"z1t_size": 64, "z0z1Tb_size": 4}
LOCAL_TARGETS = [("cpu", 1), ("cpu", 2), ("ascend-a2", 1)]


def run_chain(impl: ImplGraph, case: KernelCase, seed: int = 0) -> bytes:
    return bits(interpret_impl(impl, case.arrays, case.sizes, TILES, seed)[0])


def expected(case: KernelCase) -> bytes:
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
        run_chain(with_access("lb", lambda d: evolve(d, offset=const(1))), case)
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


def two_phases(sync: Sync) -> tuple[ImplGraph, KernelCase]:
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
    narrow = KernelCase(evolve(case.node, graph=b.build()), case.facts, case.sizes, case.arrays)
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
