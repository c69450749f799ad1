import pytest
from autofuse_ir.dims import INT64_MAX, INT64_MIN, as_dim, const, dim_max, symbol
from autofuse_ir.dims_bytecode import Op, compile_cond, compile_dim, run, stack_depth
from autofuse_ir.dims_text import parse_cond
from autofuse_ir.errors import IrError

INDEX = {"x": 0, "y": 1}


def test_opcode_numbers_are_the_format_and_stay() -> None:
    assert {op.name: op.value for op in Op} == {
        "CONST": 1,
        "SYM": 2,
        "ADD": 3,
        "SUB": 4,
        "MUL": 5,
        "NEG": 6,
        "FLOORDIV": 7,
        "CEILDIV": 8,
        "MOD": 9,
        "MIN": 10,
        "MAX": 11,
        "EQ": 12,
        "NE": 13,
        "LE": 14,
        "LT": 15,
        "AND": 16,
        "OR": 17,
        "NOT": 18,
        "JZ": 19,
        "JMP": 20,
    }


def test_code_is_flat_postfix_of_plain_integers() -> None:
    code = compile_dim(as_dim("3*x*y - x + 2"), INDEX)
    product = (Op.CONST, 3, Op.SYM, 0, Op.MUL, Op.SYM, 1, Op.MUL)
    assert code == (*product, Op.SYM, 0, Op.SUB, Op.CONST, 2, Op.ADD)
    assert {type(word) for word in code} == {int}
    assert stack_depth(code) == 2


def test_only_the_chosen_arm_runs() -> None:
    code = compile_dim(as_dim("select(x == 0, y, 12 // x) + 1"), INDEX)
    assert run(code, [0, 7]) == 8
    assert run(code, [4, 7]) == 4
    assert compile_dim(as_dim("select(x == 0, 1, 2)"), INDEX) == (
        *(Op.SYM, 0, Op.CONST, 0, Op.EQ),
        *(Op.JZ, 11, Op.CONST, 1, Op.JMP, 13, Op.CONST, 2),
    )


@pytest.mark.parametrize(
    ("text", "depth"),
    [("x", 1), ("x + y", 2), ("min(x, y, 3)", 2), ("x // (y // (x + 5))", 4), ("select(x == y, x, y)", 2)],
)
def test_stack_depth_is_the_most_values_held(text: str, depth: int) -> None:
    assert stack_depth(compile_dim(as_dim(text), INDEX)) == depth


def test_constants_compile() -> None:
    for value in (0, 5, INT64_MIN, INT64_MAX):
        assert run(compile_dim(const(value), {}), []) == value
    assert run(compile_cond(parse_cond("true"), {}), []) == 1
    assert run(compile_cond(parse_cond("false"), {}), []) == 0


def test_not_is_run_though_never_compiled() -> None:
    assert run([Op.CONST, 0, Op.NOT], []) == 1
    assert run([Op.CONST, 1, Op.NOT], []) == 0
    assert Op.NOT not in compile_cond(parse_cond("not (x == 3 and x < y)"), INDEX)


def test_running_checks_every_step() -> None:
    for text, values, message in (
        ("x // y", [1, 0], "division by zero"),
        ("mod(x, y)", [1, 0], "division by zero"),
        ("x*y", [2**40, 2**40], "int64 overflow"),
        ("-x*y", [INT64_MIN, 1], "int64 overflow"),
    ):
        with pytest.raises(IrError, match=message):
            run(compile_dim(as_dim(text), INDEX), values)


def test_numpy_values_do_not_wrap_around() -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(IrError, match="int64 overflow"):
        run(compile_dim(as_dim("x*y"), INDEX), numpy.array([2**40, 2**40]))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ([], "does not end with one value"),
        ([99], "unknown opcode 99"),
        ([Op.CONST], "lacks its operand"),
        ([Op.ADD], "ADD finds"),
        ([Op.CONST, 1, Op.MUL], "MUL finds"),
        ([Op.CONST, 1, Op.CONST, 2], "does not end with one value"),
        ([Op.SYM, -1], "SYM"),
        ([Op.CONST, 1, Op.JMP, 0], "JMP leads to 0"),
        ([Op.CONST, 0, Op.JZ, 2, Op.CONST, 3], "JZ leads to 2"),
    ],
)
def test_malformed_code_is_refused(code: list[int], message: str) -> None:
    with pytest.raises(IrError, match=message):
        stack_depth(code)
    with pytest.raises(IrError, match=message):
        run(code, [5])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ([Op.CONST, 0, Op.JZ, 6, Op.CONST, 3], "does not end with one value"),
        ([Op.CONST, 0, Op.JZ, 7, Op.CONST, 3], "JZ leads to 7"),
        ([Op.CONST, 0, Op.CONST, 0, Op.JZ, 7, Op.CONST, 3, Op.ADD], "into an instruction"),
        ([Op.CONST, 1, Op.JMP, 6, Op.CONST, 2], "never reached"),
    ],
)
def test_code_that_could_go_wrong_on_some_path_is_refused(code: list[int], message: str) -> None:
    with pytest.raises(IrError, match=message):
        stack_depth(code)


def test_compiling_refuses_unknown_symbols_and_exploding_code() -> None:
    with pytest.raises(IrError, match="z: a symbol without an index"):
        compile_dim(symbol("z"), INDEX)
    dim = symbol("x")
    for step in range(60):
        dim = dim_max(2 * dim + step, dim // 3)
    with pytest.raises(IrError, match="longer than 65536 words"):
        compile_dim(dim, INDEX)
