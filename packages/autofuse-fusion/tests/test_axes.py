"""Axes: common cuts of shapes, and how values lie on joined nests."""

from itertools import pairwise

from autofuse_fusion.axes import Layout, Nest, factorise, nest_of
from autofuse_fusion.joins import Join, Relation, join
from autofuse_fusion.size_facts import SizeFacts
from autofuse_ir.dims import Dim, as_dim, const, eq, product
from autofuse_ir.facts import Guard, GuardKind, SymbolFact, SymbolFacts
from hypothesis import given
from hypothesis import strategies as st

SYMBOLS = tuple(SymbolFact(name, 0, 1 << 20, 64, ()) for name in ("n", "m", "k", "p"))
SIZES = SizeFacts(SymbolFacts(SYMBOLS, ()))


def nest(*dims: int | str) -> tuple[Dim, ...]:
    return tuple(as_dim(dim) for dim in dims)


def read(producer: Nest, consumer: Nest, layout: Layout) -> Join | None:
    """The nest of a kernel that makes a tensor along all of ``producer`` and reads it at ``layout`` of ``consumer``."""
    return join(producer, consumer, ((producer, layout),), (), SIZES)


def cut(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> list[str] | None:
    pieces = factorise(a, b, SIZES)
    return None if pieces is None else [str(size) for piece in pieces for size in piece.sizes]


def test_common_cuts_are_as_fine_as_both_shapes_allow() -> None:
    assert cut(nest("n", 12), nest("n", 3, 4)) == ["n", "3", "4"]
    assert cut(nest("n*m", 4), nest("n", "4*m")) == ["n", "m", "4"]
    assert cut(nest(2, "3*n"), nest(6, "n")) == ["2", "3", "n"]
    assert cut(nest("n", "m"), nest("n*m")) == ["n", "m"]
    assert cut((), ()) == []


def test_what_has_no_common_factor_is_one_linear_axis() -> None:
    assert cut(nest(4, 9), nest(6, 6)) == ["36"]
    assert cut(nest("n", 4, 9), nest("n", 6, 6)) == ["n", "36"]


def test_shapes_of_different_numbers_of_elements_have_no_cut() -> None:
    assert cut(nest("n", 4), nest("n", 5)) is None
    assert cut(nest("n"), nest("m")) is None
    assert cut(nest("n"), ()) is None


def test_asserted_equalities_unite_axes_and_unit_dims_are_no_axes() -> None:
    guards = tuple(Guard(GuardKind.ASSERT, eq(as_dim(a), as_dim(b)), "", "") for a, b in (("n", "m"), ("k", 1)))
    known = SizeFacts(SymbolFacts(SYMBOLS, (), guards))
    assert factorise(nest("n"), nest("m"), known) is not None
    assert nest_of(nest("n", "k", 1, 4), known) == nest("n", 4)
    expected = SizeFacts(SymbolFacts(SYMBOLS, (), (Guard(GuardKind.EXPECT, eq(as_dim("n"), as_dim("m")), "", ""),)))
    assert factorise(nest("n"), nest("m"), expected) is None


@given(st.lists(st.integers(0, 12), max_size=6), st.data())
def test_a_cut_tiles_both_shapes(sizes: list[int], data: st.DataObject) -> None:
    a = nest(*(s for s in sizes if s != 1))
    borders = sorted(data.draw(st.sets(st.integers(0, len(a)))) | {0, len(a)})
    b = tuple(product(a[i:j]) for i, j in pairwise(borders))
    b = tuple(size for size in b if size != const(1))
    pieces = factorise(a, b, SIZES)
    assert pieces is not None
    assert [k for p in pieces for k in p.first] == list(range(len(a)))
    assert [k for p in pieces for k in p.second] == list(range(len(b)))
    for piece in pieces:
        whole = product(piece.sizes)
        assert whole == product(a[k] for k in piece.first) == product(b[k] for k in piece.second)


def moved(joined: Join | None, which: str, layout: tuple[Dim | None, ...]) -> list[str | None] | None:
    assert joined is not None
    found = getattr(joined, which)(layout)
    return None if found is None else [None if size is None else str(size) for size in found]


def test_a_row_producer_lies_on_the_inner_axis_of_its_reader() -> None:
    joined = read(nest(768), nest("n", 768), (None, const(768)))
    assert joined is not None
    assert joined.nest == nest("n", 768)
    assert moved(joined, "first", nest(768)) == [None, "768"]
    assert moved(joined, "second", (as_dim("n"), None)) == ["n", None]


def test_a_reader_in_another_shape_cuts_the_axes() -> None:
    joined = read(nest("n", 12), nest("n", 3, 4), nest("n", 3, 4))
    assert joined is not None
    assert moved(joined, "first", nest("n", 12)) == ["n", "3", "4"]
    assert moved(joined, "first", (None, const(12))) == [None, "3", "4"]


def test_a_value_along_one_of_two_united_axes_cannot_be_walked() -> None:
    joined = read(nest(4, 9), nest(6, 6), nest(6, 6))
    assert joined is not None
    assert joined.nest == nest(36)
    assert moved(joined, "first", (const(4), None)) is None
    assert moved(joined, "second", nest(6, 6)) == ["36"]


def test_an_undecided_dim_keeps_its_size_on_the_wider_axis() -> None:
    wide = as_dim("select(n == 1, m, n)")
    joined = read(nest("n"), (wide,), nest("n"))
    assert joined is not None
    assert joined.nest == (wide,)
    assert joined.first(nest("n")) == nest("n")


def test_axes_that_are_apart_split_their_producer_but_do_not_unite() -> None:
    joined = read(nest("n*m"), nest("n", "k", "m"), (as_dim("n"), None, as_dim("m")))
    assert joined is not None
    assert joined.nest == nest("n", "k", "m")
    assert moved(joined, "first", nest("n*m")) == ["n", None, "m"]
    assert read(nest(4, 9), nest(6, "k", 6), (const(6), None, const(6))) is None


def lay(*dims: int | str | None) -> Layout:
    return tuple(None if dim is None else as_dim(dim) for dim in dims)


def test_a_reader_of_a_reduction_and_of_its_input_has_the_reduced_axis_in_common() -> None:
    row, whole = (lay("n", None), lay("n", None)), (lay("n", "m"), lay("n", "m"))
    assert nest_joined("n m", "n m", [row], [whole]) == "n m"
    # Without the input nothing says that both second axes are one, though they are as long.
    assert nest_joined("n m", "n m", [row], []) == "n m m"


def test_a_reader_of_a_reduction_alone_lives_on_the_kept_axes() -> None:
    joined = join(nest("n", "m"), nest("n"), [(lay("n", None), lay("n"))], [], SIZES)
    assert joined is not None
    assert joined.nest == nest("n", "m")
    assert joined.second(lay("n")) == lay("n", None)
    assert joined.first.follow((1,)) == (1,)


def test_a_shared_tensor_cuts_the_axes_that_a_passed_one_leaves_open() -> None:
    passed, shared = (lay("n", None), lay("n", None, None)), (lay("n", 12), lay("n", 3, 4))
    assert nest_joined("n 12", "n 3 4", [passed], [shared]) == "n 3 4"
    assert nest_joined("n 12", "n 3 4", [passed], []) == "n 12 3 4"


def test_tensors_that_pass_must_agree_and_shared_ones_may_be_read_twice() -> None:
    straight, crossed = (lay("n", "m"), lay("n", "m")), (lay("n", None), lay(None, "n"))
    assert join(nest("n", "m"), nest("n", "m"), [straight, crossed], [], SIZES) is None
    assert nest_joined("n m", "n m", [straight], [crossed]) == "n m"
    first, second = (lay("n", None), lay(None, "n")), (lay(None, "m"), lay("m", None))
    assert join(nest("n", "m"), nest("m", "n"), [first, second], [], SIZES) is None


def test_axes_unite_only_together_with_all_they_are_made_of() -> None:
    joined = read(nest(4, 9), nest(6, 6), nest(6, 6))
    assert joined is not None
    assert joined.first.follow((1,)) is None
    assert joined.first.follow((0, 1)) == (0,)


def nest_joined(first: str, second: str, passed: list[Relation], shared: list[Relation]) -> str:
    joined = join(nest(*first.split()), nest(*second.split()), passed, shared, SIZES)
    assert joined is not None
    return " ".join(map(str, joined.nest))
