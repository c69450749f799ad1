"""Known answers, limits and refusals, from both solvers."""

from collections.abc import Callable

import pytest
from autofuse_tiling.solver import bytecode as bc
from autofuse_tiling.solver.bytecode import Expression
from autofuse_tiling.solver.native import Models, NativeSolver
from autofuse_tiling.solver.problem import Constraint, Group, Outcome, Pipe, Problem, Status, Variable
from autofuse_tiling.solver.twin import solve

ONE = bc.integer(1)
Both = Callable[..., Outcome]


@pytest.fixture
def both(native: NativeSolver) -> Both:
    """Solves with both solvers and returns what they agree on."""

    def run(symbols: tuple[int, ...], *problems: Problem) -> Outcome:
        models = Models(problems)
        assert native.prepare(models)
        outcome = native.solve(models, symbols)
        assert outcome == solve(problems, symbols)
        return outcome

    return run


def rows_problem(per_tile: float = 100.0, per_byte: float = 0.1, head: float = 0.0, row_bytes: int = 3072) -> Problem:
    """Rows of fixed width: symbols n (rows), cores, bytes; tile of rows, iterations per block."""
    n, cores, local, tile, loops = (bc.load(at) for at in range(5))
    blocks = bc.ceildiv(bc.ceildiv(n, tile), loops)
    return Problem(
        ("n", "cores", "local"),
        (
            Variable("tile", ONE, n),
            Variable("loops", ONE, bc.ceildiv(n, tile), group=Group.BLOCK),
        ),
        (Constraint("ub", tile * row_bytes, local), Constraint("cores", blocks, cores, Group.BLOCK)),
        bc.to_real(blocks) * head,
        (Pipe("MTE2", bc.to_real(loops) * (bc.to_real(tile * row_bytes) * per_byte + per_tile)),),
    )


def square_problem(limit: Expression) -> Problem:
    """Two tiles of equal priority over symbols s0, s1; the area times 4 bytes must fit."""
    s0, s1, a, b = (bc.load(at) for at in range(4))
    tiles = bc.ceildiv(s0, a) * bc.ceildiv(s1, b)
    return Problem(
        ("s0", "s1"),
        (Variable("a", ONE, s0), Variable("b", ONE, s1)),
        (Constraint("ub", a * b * 4, limit),),
        bc.real(0.0),
        (Pipe("VEC", bc.to_real(tiles)),),
    )


def test_work_is_spread_over_all_cores_in_equal_tiles(both: Both) -> None:
    # 60 rows fit, but 960 rows over 48 cores are 20 each.
    assert both((960, 48, 60 * 3072), rows_problem()).tiles == (20, 1)


def test_large_work_takes_full_rounds_of_all_cores(both: Both) -> None:
    # 100,000 rows: at least 35 rounds of 48 tiles of at most 60 rows; 35 * 48 = 1680 tiles of 60 rows.
    outcome = both((100_000, 48, 60 * 3072), rows_problem(per_tile=5000.0))
    assert outcome.tiles == (60, 35)
    assert outcome.blocks == 48


def test_few_blocks_win_where_a_block_costs_more_than_it_saves(both: Both) -> None:
    assert both((64, 48, 1 << 20), rows_problem(head=1e6)).blocks == 1
    assert both((64, 48, 1 << 20), rows_problem(head=0.0)).blocks > 30


def test_tiles_grow_where_each_tile_costs_much(both: Both) -> None:
    small = both((10_000, 4, 200 * 3072), rows_problem(per_tile=0.0))
    large = both((10_000, 4, 200 * 3072), rows_problem(per_tile=1e6))
    assert large.tiles[0] * large.tiles[1] * 4 >= 10_000
    assert large.tiles[1] == 13  # as few rounds as 200 rows allow
    assert large.tiles[1] <= small.tiles[1] * 2


def test_equal_priorities_give_square_tiles(both: Both) -> None:
    # 1024 x 1024 floats in 1 KiB of local memory: 16 x 16.
    assert both((1024, 1024), square_problem(bc.integer(1024))).tiles == (16, 16)


def test_the_important_tile_stays_whole(both: Both) -> None:
    s0, s1, a, b = (bc.load(at) for at in range(4))
    area = Constraint("ub", a * b * 4, bc.integer(4096))
    for important in (0, 1):
        variables = (Variable("a", ONE, s0, priority=important), Variable("b", ONE, s1, priority=1 - important))
        flat = Problem(("s0", "s1"), variables, (area,), bc.real(1.0), ())
        tiles = both((100, 100), flat).tiles
        assert tiles == ((100, 10) if important == 0 else (10, 100))


def test_tiles_are_aligned_or_cover_the_axis(both: Both) -> None:
    n, tile = bc.load(0), bc.load(1)
    problem = Problem(
        ("n",),
        (Variable("tile", ONE, n, alignment=8),),
        (Constraint("ub", tile, bc.integer(100)),),
        bc.real(0.0),
        (Pipe("VEC", bc.to_real(bc.ceildiv(n, tile))),),
    )
    assert both((97,), problem).tiles == (97,)
    assert both((5,), problem).tiles == (5,)
    assert both((101,), problem).tiles[0] % 8 == 0
    assert both((100_000,), problem).tiles == (96,)


def test_axes_of_size_0_and_1_are_solved(both: Both) -> None:
    assert both((0, 48, 1 << 20), rows_problem()).blocks == 0
    assert both((0, 48, 1 << 20), rows_problem()).tiles == (1, 1)
    assert both((1, 48, 1 << 20), rows_problem()).tiles == (1, 1)
    assert both((1, 1, 3072), rows_problem()).blocks == 1


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1])
def test_huge_sizes_do_not_overflow(both: Both, size: int) -> None:
    outcome = both((size, 48, 192 * 1024), rows_problem())
    assert outcome.status is Status.SOLVED
    tile, loops = outcome.tiles
    assert 1 <= tile <= 64
    assert outcome.blocks <= 48
    assert tile * loops * outcome.blocks >= min(size, 2**62)


def test_a_product_of_huge_sizes_does_not_pass_as_a_small_one(both: Both) -> None:
    outcome = both((2**31 - 1, 2**31 - 1), square_problem(bc.integer(2**40)))
    assert outcome.tiles[0] * outcome.tiles[1] * 4 <= 2**40
    # 2^32 * 2^32 wraps to 0 in int64: nothing may fit by that.
    s0, s1, a, b = (bc.load(at) for at in range(4))
    whole = (Variable("a", s0, s0), Variable("b", s1, s1))
    wraps = Problem(("s0", "s1"), whole, (Constraint("ub", a * b, bc.integer(1024)),), bc.real(0.0), ())
    assert both((2**32, 2**32), wraps).status is Status.LOCAL_MEMORY


def test_a_refusal_names_its_constraint_or_bound(both: Both) -> None:
    n, tile = bc.load(0), bc.load(1)
    roomy, tight = Constraint("roomy", tile, n), Constraint("tight", tile * 64, bc.integer(63))
    free = Variable("tile", ONE, n)
    memory = both((100,), Problem(("n",), (free,), (roomy, tight), bc.real(0.0), ()))
    assert (memory.status, memory.where) == (Status.LOCAL_MEMORY, 1)
    cores = Constraint("cores", bc.ceildiv(n, tile), bc.integer(4), Group.BLOCK)
    small = Constraint("small", tile, bc.integer(9))
    blocks = both((100,), Problem(("n",), (free,), (small, cores), bc.real(0.0), ()))
    assert (blocks.status, blocks.where) == (Status.BLOCKS, 1)
    bounds = both((100,), Problem(("n",), (free, Variable("t2", bc.integer(8), bc.integer(4))), (), bc.real(0.0), ()))
    assert (bounds.status, bounds.where) == (Status.BOUNDS, 1)
    assert memory.tiles == blocks.tiles == bounds.tiles == ()


def test_the_cheapest_case_wins_and_the_first_of_equals(both: Both) -> None:
    cheap, dear = rows_problem(per_byte=0.1), rows_problem(per_byte=0.2)
    symbols = (960, 48, 60 * 3072)
    assert both(symbols, dear, cheap, dear).model == 1
    assert both(symbols, cheap, cheap).model == 0


def test_a_case_that_does_not_fit_leaves_the_choice_to_the_others(both: Both) -> None:
    too_wide = rows_problem(per_byte=1e-6, row_bytes=1 << 30)
    symbols = (960, 48, 60 * 3072)
    outcome = both(symbols, too_wide, rows_problem())
    assert (outcome.status, outcome.model, outcome.tiles) == (Status.SOLVED, 1, (20, 1))
    assert both(symbols, too_wide, too_wide).status is Status.LOCAL_MEMORY


def test_the_chosen_case_changes_with_the_sizes(both: Both) -> None:
    # One case is cheap per tile, the other cheap per byte.
    cases = rows_problem(per_tile=10.0, per_byte=0.3), rows_problem(per_tile=5000.0, per_byte=0.1)
    assert both((4, 48, 1 << 20), *cases).model == 0
    assert both((1 << 20, 48, 1 << 20), *cases).model == 1


def test_a_cost_that_is_no_number_never_wins(both: Both) -> None:
    n, tile = bc.load(0), bc.load(1)
    zero = bc.to_real(tile - tile)
    undefined = Problem(("n",), (Variable("tile", ONE, n),), (), zero / zero, ())
    defined = Problem(("n",), (Variable("tile", ONE, n),), (), bc.real(1e300), ())
    assert both((9,), undefined, defined).model == 1


def test_a_problem_without_variables_is_judged_as_it_is(both: Both) -> None:
    n = bc.load(0)
    fixed = Problem(("n",), (), (Constraint("ub", n, bc.integer(10)),), bc.to_real(n), ())
    assert both((10,), fixed) == Outcome(Status.SOLVED, 0, 0, (), 10.0, 1, 3)
    assert both((11,), fixed).status is Status.LOCAL_MEMORY
