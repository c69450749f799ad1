"""What breaks a plan with reductions is a fault, told with the value and what is wrong with it."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import Dim, ceildiv, const, symbol
from autofuse_ir.schedule import (
    ImplGraph,
    Phase,
    Segment,
    Sync,
)
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl
from reduction_plans import (
    M,
    N,
    R,
    T,
    accumulating,
    all_load,
    arrays,
    columns,
    common,
    local,
    over_blocks,
    split,
    with_buffer,
)


def with_phase(impl: ImplGraph, number: int, **changes: Any) -> ImplGraph:
    phases = list(impl.phases)
    phases[number] = evolve(phases[number], **changes)
    return evolve(impl, phases=tuple(phases))


def with_segments(impl: ImplGraph, change: Callable[[tuple[Segment, ...]], tuple[Segment, ...]]) -> ImplGraph:
    return with_phase(impl, 0, segments=change(impl.phases[0].segments))


def with_axis(impl: ImplGraph, name: str, size: Dim) -> ImplGraph:
    return evolve(impl, axes=tuple(evolve(a, size=size) if a.name == name else a for a in impl.axes))


def with_phases_joined(impl: ImplGraph) -> Phase:
    """The first two phases as one."""
    return evolve(impl.phases[0], segments=tuple(s for p in impl.phases[:2] for s in p.segments))


def apart() -> ImplGraph:
    """The plan with shared loops, whose two reductions have memory of their own."""
    return with_buffer(common(), "d_state", reuses=None)


ALL_LOAD, COMMON = {"t": 2, "b": 1}, {"t": 2, "r": 3}
OVER_BLOCKS, COLUMNS = {"r": 8, "b": 8, "t": 8}, {"r": 4}

BROKEN: dict[str, tuple[ImplGraph, dict[str, int], str]] = {
    "the value is read in its own segment": (
        with_segments(all_load(), lambda s: (s[0], evolve(s[1], nodes=(*s[1].nodes, *s[2].nodes)))),
        ALL_LOAD,
        "wide_d: reads reduction d in the segment that joins it",
    ),
    "the segments are swapped": (
        with_segments(all_load(), lambda s: (s[1], s[0], s[2])),
        ALL_LOAD,
        "wide1, buffer mx_buf.*reads the value of mx where nobody has written it",
    ),
    "the value is read inside of the loop that makes it": (
        evolve(apart(), phases=(with_phases_joined(apart()), apart().phases[2])),
        COMMON,
        "reads the value of mx where nobody has written it",
    ),
    "a value does not survive the loop": (
        with_buffer(common(), "d_buf", lifetime=""),
        COMMON,
        "reads the value of d where nobody has written it",
    ),
    "the buffer for rows is too small": (
        with_buffer(all_load(), "e_buf", bytes=4 * T * (M - 1)),
        ALL_LOAD,
        "the value of e1 lies outside of its buffer",
    ),
    "nothing waits for the reduction": (
        with_phase(common(), 0, sync=Sync.NONE),
        COMMON,
        "reads mx of phase 0 from phase 1, and nothing waits for it",
    ),
    "phases share loops over a barrier": (
        with_phase(common(), 0, sync=Sync.ALL),
        COMMON,
        "shares loops with a phase that all blocks must end before",
    ),
    "phases share loops that they do not have": (
        with_phase(common(), 1, loops=("z1T", "z0T")),
        COMMON,
        "phase 1 shares 1 loops that the phase before lacks",
    ),
    "phases share more loops than are right": (
        with_phase(apart(), 1, shared=2),
        COMMON,
        "reads the value of mx where nobody has written it",
    ),
    "registers do not survive a loop": (
        accumulating(common(), None),
        COMMON,
        "partial results are in registers, but loop z1T around its segment walks its axes",
    ),
    "partial results do not survive a tile": (
        with_buffer(common(), "mx_state", lifetime=""),
        COMMON,
        "reads the value of the partial results of mx where nobody has written it",
    ),
    "there is too little memory for partial results": (
        with_buffer(common(), "mx_state", bytes=4 * T * 4),
        COMMON,
        "the partial results of mx lies outside of its buffer",
    ),
    "there is memory for one column only": (
        with_buffer(columns(), "state", bytes=const(12)),
        COLUMNS,
        "the partial results of sum lies outside of its buffer of 12 bytes",
    ),
    "there is no memory for the leaves that wait": (
        with_buffer(columns(), "state", bytes=4 * R),
        COLUMNS,
        "the partial results of sum lies outside of its buffer of 16 bytes",
    ),
    "registers hold one row": (
        accumulating(columns(), None),
        COLUMNS,
        "registers hold the state of one result, but 4 are open",
    ),
    "nothing says where partial results are": (
        evolve(columns(), accumulators=()),
        COLUMNS,
        "its partial results have no place",
    ),
    "a leaf is cut between blocks": (
        over_blocks(),
        {"r": 12, "b": 1, "t": 8},
        r"block \d joins 4 of the 8 elements of leaf \d: leaves must not be cut",
    ),
    "blocks go on without the leaves of others": (
        with_phase(over_blocks(), 0, sync=Sync.BLOCK),
        {"r": 8, "b": 1, "t": 8},
        "reads the value of sum (that block . wrote, from block|where nobody has written it)",
    ),
    "leaves are read without waiting": (
        with_phase(over_blocks(), 0, sync=Sync.NONE),
        OVER_BLOCKS,
        "nothing waits for it",
    ),
    "the workspace is too small": (
        with_buffer(over_blocks(), "leaves", bytes=4 * N),
        OVER_BLOCKS,
        "the value of sum lies outside of its buffer",
    ),
    "a block is missing": (
        with_axis(over_blocks(), "z1TB", ceildiv(ceildiv(M, R), symbol("b")) - 1),
        {"r": 8, "b": 1, "t": 8},
        "reads the value of sum where nobody has written it",
    ),
    "a tile is missing": (
        with_axis(common(), "z1T", ceildiv(M, R) - 1),
        COMMON,
        r"joins \d+ of the 33 elements of a result",
    ),
    "a segment does not walk what its nodes need": (
        with_segments(columns(), lambda s: (evolve(s[0], axes=("z0",)), s[1])),
        COLUMNS,
        "no loop gives the index of axis z1, along which it varies",
    ),
    "a reduction is in a segment that does not walk its axes": (
        with_segments(columns(), lambda s: (evolve(s[0], axes=("z1t",)), s[1])),
        COLUMNS,
        "no loop gives the index of axis z0",
    ),
    "a segment over rows reads a value that varies along them": (
        with_segments(all_load(), lambda s: (*s[:2], Segment(("q",), ("z0t",)))),
        ALL_LOAD,
        "no loop gives the index of axis z1|does not walk z1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plan_is_a_fault(name: str) -> None:
    impl, tiles, told = BROKEN[name]
    rows, width = (16, 11) if impl.name == "columns" else (5, 33)
    for seed in range(3):
        with pytest.raises(InterpreterFault, match=told):
            interpret_impl(impl, arrays(rows, width), {"n": rows, "m": width}, tiles, seed)


def test_partial_results_that_another_value_overwrites_are_lost() -> None:
    made = accumulating(all_load(), "state")
    # The exponentials are written over the state of their own sum.
    broken = evolve(made, buffers=(*made.buffers, local("state", 4 * T * M, "", "e_buf")))
    with pytest.raises(InterpreterFault, match="of the partial results of d where node number"):
        interpret_impl(broken, arrays(2, 33), {"n": 2, "m": 33}, ALL_LOAD)


def test_an_element_that_comes_twice_is_a_fault() -> None:
    made = with_buffer(columns(), "state", lifetime="z1T")
    axes = (*made.axes, *split("z0", N, T), Axis("again", AxisKind.ORIGINAL, const(2)))
    segments = (Segment(("x0", "sum"), ("z0t", "z1t")),)
    twice = evolve(with_phase(made, 0, loops=("z1T", "z0T", "again"), segments=segments), axes=axes)
    with pytest.raises(InterpreterFault, match="joins element 0 of one result more than once"):
        interpret_impl(twice, arrays(2, 4), {"n": 2, "m": 4}, {"r": 4, "t": 2})
