"""Barriers: where a line reads what the vector unit has not finished, and nowhere else."""

from autofuse_codegen.targets.ascendc.lines import (
    AheadLoop,
    Item,
    Line,
    Loop,
    for_next,
    texts_of,
    vector,
    with_barriers,
)

BARRIER = "PipeBarrier<PIPE_V>();"


def lines_of(*items: Item) -> list[str]:
    return [text.strip() for text in texts_of(with_barriers(items))]


def filled_ahead(*work: Line) -> AheadLoop:
    """A loop that fills ``x`` for the next tile, then works on the one before it."""
    fill = vector("fill(x);", (), {for_next("x")})
    return AheadLoop("for (n) {", "for (n + 1) {", Loop("if (more) {", (), (fill,)), Loop("if (any) {", (), work))


def test_a_line_waits_for_what_it_reads_alone():
    found = lines_of(vector("a = f();", (), "a"), vector("b = f();", (), "b"), vector("c = a;", "a", "c"))
    assert found == ["a = f();", "b = f();", BARRIER, "c = a;"]


def test_a_tile_waits_for_what_was_filled_before_it():
    loop = filled_ahead(vector("y = x;", "x", "y"))
    assert lines_of(loop).count(BARRIER) == 1
    assert lines_of(loop).index(BARRIER) + 1 == lines_of(loop).index("y = x;")


def test_the_first_tile_waits_even_where_each_tile_waits_once_it_has_read():
    """Nothing of a tile stands between the first fill and the first read: the barrier further down comes too late."""
    loop = filled_ahead(vector("y = x;", "x", "y"), vector("z = y;", "y", "z"))
    found = lines_of(loop)
    assert found.count(BARRIER) == 2
    assert found.index(BARRIER) + 1 == found.index("y = x;")


def test_a_loop_that_never_runs_leaves_nothing_to_wait_for():
    """Where the first loop has no iterations, the one of the same head has none either."""
    fill, read = vector("fill(x);", (), "x"), vector("y = x;", "x", "y")
    before = Loop("for (n) {", (), (vector("z = y;", "y", "z"),))
    assert lines_of(fill, before, Loop("for (n) {", (), (read,))).count(BARRIER) == 1
    assert lines_of(fill, filled_ahead(vector("z = y;", "y", "z")), Loop("for (n) {", (), (read,))).count(BARRIER) == 1


def test_what_is_filled_for_the_next_tile_makes_no_line_wait_twice():
    """The barrier before ``b`` orders the fill, too: the next iteration needs none for it, the first one does."""
    made = vector("a = f();", (), "a"), vector("b = a;", "a", "b")
    loop = filled_ahead(*made, vector("y = x;", "x", "y"))
    assert lines_of(loop).count(BARRIER) == 1


def test_a_tile_that_has_waited_reads_what_the_next_one_fills_no_more():
    loop = filled_ahead(vector("y = 2 * x;", "x", "y"), vector("z = 3 * x;", "x", "z"))
    assert lines_of(loop).count(BARRIER) == 1
