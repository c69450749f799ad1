import pytest
from autofuse_ir.dims import INT64_MIN, TRUE, as_dim, const, eq, negate, product, symbol
from autofuse_ir.dims_text import parse_cond, parse_dim, show_cond, show_dim
from autofuse_ir.errors import IrError
from autofuse_testkit.work import calls_made


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("x", "x"),
        (" 2 * x+1 ", "2*x + 1"),
        ("1+x*y*x-2*x", "x*x*y - 2*x + 1"),
        ("-x*y-1", "-x*y - 1"),
        ("x//3*y", "y*(x // 3)"),
        ("y*x//3", "x*y // 3"),
        ("(x+1)//y//z", "((x + 1) // y) // z"),
        ("x//(y*z)", "x // (y*z)"),
        ("x//(y//z)", "x // (y // z)"),
        ("7//x", "7 // x"),
        ("-(x//y)+1", "-(x // y) + 1"),
        ("ceildiv(x,32)*32", "32*ceildiv(x, 32)"),
        ("x % 8", "mod(x, 8)"),
        ("max(x, min(y, 3), 0)", "max(x, min(y, 3), 0)"),
        ("select(d==1,s,d)", "select(d == 1, s, d)"),
        ("select(not(x<y or x==1), 1, 0)", "select(y <= x and x != 1, 1, 0)"),
        ('"batch size"*2', '2*"batch size"'),
        ('"min" + "a\\"b\\\\c\\u00e9\\n"', '"a\\"b\\\\c\\u00e9\\n" + "min"'),
        ('"x"', "x"),
        ("seq.len", "seq.len"),
        ("x*-2", "-2*x"),
        ("--x", "x"),
        ("x - -3", "x + 3"),
        ("10-4-3", "3"),
        ("-7//2", "-4"),
        ("-7%3", "2"),
        ("2+3*4//5", "4"),
    ],
)
def test_text_reads_as_python_does_and_shows_one_form(written: str, shown: str) -> None:
    assert show_dim(parse_dim(written)) == shown
    assert parse_dim(shown) == parse_dim(written)
    assert str(parse_dim(written)) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a < b and b <= c or c == 1", "c == 1 or (b <= c and a < b)"),
        ("not a == b and not c > d", "c <= d and a != b"),
        ("not (a == b or c != d)", "c == d and a != b"),
        ("(a+b)*2 >= 4", "2 <= a + b"),
        ("true and a == 1", "a == 1"),
        ("false or true", "true"),
        ("not true", "false"),
        ("(a < b) and (((c)) < 2*(d))", "a < b and c < 2*d"),
        ("a - b == 1", "a == b + 1"),
    ],
)
def test_conditions_read_as_python_does_and_show_one_form(written: str, shown: str) -> None:
    assert show_cond(parse_cond(written)) == shown
    assert parse_cond(shown) is parse_cond(written)


@pytest.mark.parametrize(
    "name", ["a b", "", "min", "true", "and", "1x", "x-y", "é", '"', "\\", "\n\t\0", "\ud800", "x" * 1024]
)
def test_any_name_survives_the_text_form(name: str) -> None:
    if not name:
        with pytest.raises(IrError):
            symbol(name)
        return
    assert parse_dim(show_dim(symbol(name) * 2)) == symbol(name) * 2


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "expected, not the end", 1),
        ("x +", "expected, not the end", 4),
        ("x y", "operator is expected, not 'y'", 3),
        ("x ** 2", "expected, not '*'", 4),
        ("(x", "never closed", 1),
        ("x)", "never opened", 2),
        ("x, y", "comma outside", 2),
        ("(x, y)", "comma outside", 3),
        ("min()", "expected, not ')'", 5),
        ("min(x,)", "expected, not ')'", 7),
        ("floordiv(x)", "takes 2 arguments, not 1", 1),
        ("select(x == 1, y)", "takes 3 arguments, not 2", 1),
        ("select(x, y, z)", "a size stands where a condition", 1),
        ("x + (y == 1)", "a condition stands where a size", 3),
        ("x == 1", "a condition stands where a size", 1),
        ("1 < x < 3", "a condition stands where a size", 7),
        ("x // 0", "division by the constant zero", 3),
        ("mod(x, 1 - 1)", "division by the constant zero", 1),
        ("9223372036854775808", "does not fit into int64", 1),
        ("9" * 5000, "does not fit into int64", 1),
        ("x * 9223372036854775807 * 2", "does not fit into int64", 25),
        ("min", "takes parentheses", 4),
        ("f(x)", "operator is expected, not '('", 2),
        ('""', "an empty name", 1),
        ('"a', "unexpected character", 1),
        ('"\\q"', "malformed escape", 1),
        ("1.5", "unexpected character '.'", 2),
        ("1e5", "operator is expected, not 'e5'", 2),
        ("0x10", "operator is expected, not 'x10'", 2),
        ("\u0661", "unexpected character", 1),
        ("x[0]", "unexpected character '['", 2),
        ("__import__('os').system('true')", "operator is expected, not '('", 11),
        ("lambda: 0", "unexpected character ':'", 7),
        ("x if y else z", "operator is expected, not 'if'", 3),
        ("x and y", "a size stands where a condition", 3),
        ("not x", "a size stands where a condition", 1),
    ],
)
def test_malformed_text_is_refused_with_its_position(text: str, message: str, column: int) -> None:
    with pytest.raises(IrError) as caught:
        parse_dim(text)
    assert message in caught.value.what
    assert f"column {column}," in caught.value.where
    assert caught.value.fix


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 60000, id="parentheses"),
        pytest.param("min(" * 16000, id="calls"),
        pytest.param("-" * 65000, id="minus signs"),
        pytest.param("not " * 16000, id="negations"),
        pytest.param("x" + "//y" * 20000, id="nested divisions"),
        pytest.param("*".join(["(a+b+c+d)"] * 6000), id="expanding product"),
        pytest.param("*".join(["x"] * 30000), id="degree"),
        pytest.param("+".join(f"x{number}" for number in range(9000)), id="terms"),
        pytest.param(" and ".join(f"x{number}==1" for number in range(5000)), id="long conjunction"),
        pytest.param("x" * 65537, id="length"),
        pytest.param("x" * 2000, id="name"),
    ],
)
def test_hostile_text_is_refused_quickly(text: str) -> None:
    def read() -> None:
        with pytest.raises(IrError):
            parse_dim(text)

    assert calls_made(read) < 40 * len(text) + 1000


def test_long_but_honest_text_is_read() -> None:
    conds = " and ".join(f"x{number} == {number}" for number in range(3000))
    assert parse_cond(show_cond(parse_cond(conds))) is parse_cond(conds)
    many = "min(" + ", ".join(f"x{number}" for number in range(5000)) + ")"
    assert parse_dim(show_dim(parse_dim(many))) == parse_dim(many)


def test_the_deepest_size_is_shown_and_read_back() -> None:
    dim = symbol("x")
    for number in range(199):
        dim = (
            (2 * (dim // symbol(f"s{number}")) + 1)
            if number % 2
            else dim * (dim // 7)
            if number < 4
            else dim // 5 + number
        )
        dim = dim if number % 3 else product([dim, symbol("k")])
    assert dim.depth > 60
    assert parse_dim(show_dim(dim)) == dim
    nested = symbol("x")
    for number in range(199):
        nested = symbol("y") * (nested // symbol(f"s{number}")) + number
    assert nested.depth == 200
    assert parse_dim(show_dim(nested)) == nested


def test_the_least_integer_is_read_where_a_minus_precedes_it() -> None:
    assert parse_dim(str(INT64_MIN)) == const(INT64_MIN)
    smallest = symbol("x") + INT64_MIN
    assert parse_dim(show_dim(smallest)) == smallest


def test_text_longer_than_the_parser_reads_is_not_shown() -> None:
    long = as_dim("+".join(f'"{"n" * 900}{number}"' for number in range(40)))
    with pytest.raises(IrError, match="longer than 65536 characters"):
        show_dim(long * long)
    assert str(long * long).startswith("<Dim of")


def test_repr_names_the_type_and_the_text() -> None:
    assert repr(symbol("x") + 1) == "Dim('x + 1')"
    assert repr(negate(eq(symbol("x"), 1))) == "Cond('x != 1')"
    assert str(TRUE) == "true"
