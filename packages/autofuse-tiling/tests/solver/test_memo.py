from autofuse_tiling.solver.native import Models, NativeSolver
from autofuse_tiling.solver.random_problems import draw
from autofuse_tiling.solver.twin import solve


def test_a_memo_never_changes_an_answer(native: NativeSolver) -> None:
    drawn = [draw(7, at) for at in range(40)]
    prepared = [(Models(problems), problems, symbols) for problems, symbols in drawn]
    memo = native.new_memo()
    for models, problems, symbols in prepared:
        assert native.prepare(models)
        expected = solve(problems, symbols)
        assert native.solve(models, symbols, memo) == expected  # what the memo held was for other models
        assert native.solve(models, symbols, memo) == expected  # from the memo
        changed = (*symbols[:-1], 5) if symbols else symbols
        assert native.solve(models, changed, memo) == solve(problems, changed)
        assert native.solve(models, symbols, memo) == expected


def test_the_same_symbols_are_not_solved_again(native: NativeSolver) -> None:
    problems, symbols = draw(0, 0)
    models = Models(problems)
    assert native.prepare(models)
    memo = native.new_memo()
    before = native.solve(models, symbols, memo)
    # Another capacity would change the answer if anything were evaluated: constants are the model's, not the memo's.
    tables = [models.array[at].bytecode.contents for at in range(len(problems))]
    for table in tables:
        for at in range(table.integer_count):
            table.integers[at] = 1
    assert native.solve(models, symbols, memo) == before
    assert native.solve(models, symbols, native.new_memo()) != before
