"""Plans with reductions give the bits of what they plan, and count what their partial results take."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import ceildiv
from autofuse_ir.reduction import Tree
from autofuse_reference.impl_graph.accumulators import most_waiting, state_elements
from autofuse_reference.impl_graph.faults import InterpreterFault
from reduction_plans import SIZES, M, T, all_load, check, columns, common, over_blocks, with_buffer


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_whole_rows_in_local_memory(rows_and_width: tuple[int, int]) -> None:
    for seed, tile in enumerate((1, 2, 3)):
        check(all_load(), *rows_and_width, {"t": tile, "b": 1 + seed}, seed)


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_rows_in_pieces_with_reductions_that_survive_a_loop(rows_and_width: tuple[int, int]) -> None:
    for seed, tiles in enumerate(({"t": 2, "r": 3}, {"t": 1, "r": 8}, {"t": 3, "r": 5})):
        check(common(), *rows_and_width, tiles, seed)


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_leaves_of_many_blocks_meet_in_workspace(rows_and_width: tuple[int, int]) -> None:
    for seed, tiles in enumerate(({"r": 8, "b": 8, "t": 8}, {"r": 16, "b": 8, "t": 8}, {"r": 8, "b": 16, "t": 8})):
        check(over_blocks(), *rows_and_width, tiles, seed)


@pytest.mark.parametrize("rows_and_width", [(0, 5), (1, 1), (3, 0), (15, 7), (16, 3)])
def test_columns_are_summed_row_by_row(rows_and_width: tuple[int, int]) -> None:
    for seed, tile in enumerate((1, 2, 4)):
        check(columns(), *rows_and_width, {"r": tile}, seed)


@pytest.mark.parametrize(("leaves", "wanted"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (8, 3), (1000, 9)])
def test_as_many_leaves_wait_as_a_binary_counter_has_digits(leaves: int, wanted: int) -> None:
    assert most_waiting(leaves) == wanted
    assert most_waiting(leaves) == max([n.bit_count() for n in range(leaves)] or [0])


def test_the_state_of_reductions_is_counted_by_what_must_wait() -> None:
    node = next(n for n in columns().nodes if n.op == "Sum")
    assert state_elements(node, Tree(8, 4), 40, 3, False, False) == 3 * (4 + 2)
    assert state_elements(node, Tree(8, 4), 40, 3, False, True) == 3 * 2 + 4
    assert state_elements(node, Tree(8, 4), 40, 3, True, False) == 3 * 4
    assert state_elements(node, Tree(8, 4), 2, 3, False, False) == 3 * 2
    assert state_elements(evolve(node, dtype=dt.int32), Tree(8, 4), 40, 3, False, False) == 3


def test_rows_start_at_the_multiple_that_the_plan_asks_for() -> None:
    wide = evolve(all_load(), row_multiple=8)
    for seed, (rows, width) in enumerate(SIZES):
        check(with_buffer(wide, "e_buf", bytes=4 * T * ceildiv(M, 8) * 8), rows, width, {"t": 2, "b": 1}, seed)
    with pytest.raises(InterpreterFault, match="the value of e1 lies outside of its buffer of 264 bytes"):
        check(wide, 4, 33, {"t": 2, "b": 1}, 0)
