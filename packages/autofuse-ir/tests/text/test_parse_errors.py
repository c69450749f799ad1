"""Malformed text is refused with line and column, and never runs anything."""

import pytest
from autofuse_ir.errors import IrError
from autofuse_ir.parse import parse
from autofuse_ir.text import show
from hypothesis import given
from hypothesis import strategies as st

HEAD = "graph g(%x: f32[4]) -> %x\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'graph' or 'ascgraph'"),
        ("grap g() -> ()", "'graph' or 'ascgraph'"),
        ("graph", "the name of the graph"),
        ("graph g(x: f32[4]) -> %x", "the name of a value, like %x"),
        ("graph g(%x: f33[4]) -> %x", "no such element type"),
        ("graph g(%x: f32[4) -> %x", "',' is expected"),
        ("graph g(%x: f32[4+]) -> %x", "a size or condition is expected"),
        ("graph g(%x: f32[__import__('os').system('x')]) -> %x", "an operator is expected"),
        ("graph g(%x: f32[min(4", "never closed"),
        ("graph g(%x: f32[min(4]) -> %x", "unexpected character"),
        (HEAD + "nonsense", "nothing more is expected"),
        (HEAD + "%y = Add(%x, %x", "',' is expected"),
        (HEAD + "%y = Add(%x) {a = [1, 2.0]}", "differ in type"),
        (HEAD + "%y = Add(%x) {a = [true]}", "list of booleans"),
        (HEAD + "%y = Add(%x) {a = [[[1]]]}", "lists of lists of lists"),
        (HEAD + "%y = Add(%x) {a = 18446744073709551616}", "fits neither into int64 nor into uint64"),
        (HEAD + "%y = Add(%x) {a = sneaky}", "no such element type"),
        (HEAD + "%y = Add(%x) payload @p", "payload 'p', which is not in this text"),
        (HEAD + "symbols: n in [1]", "a range has two ends"),
        (HEAD + "symbols: n in [0, 99999999999999999999]", "an int64 is expected"),
        (HEAD + "constant %c: f32[n] = [1]", "has no symbols"),
        (HEAD + "constant %c: f32[2] = [1]", "needs 8 bytes"),
        (HEAD + "constant %c: i8[1] = [128]", "an element is no i8"),
        (HEAD + "constant %c: b8[1] = [2]", "an element is no b8"),
        (HEAD + "constant %c: f32[1000000000] = [1]", "more than 64"),
        (HEAD + "constant %c: f32[65] sha256 " + "0" * 64, "is not in this text"),
        (HEAD + 'constant %"\\x": f32[1] = [1]', "malformed escape"),
        ("ascgraph g\n axis z = 4 : sideways", "no kind of axis 'sideways'"),
        ("ascgraph g\n a: f32 = Add() repeats [4]", "'strides' is expected"),
        ("ascgraph g\n a: f32 = Load(d) repeats [] strides [] access [4]", "'at' is expected"),
    ],
)
def test_malformed_text_is_refused_with_its_place(text, message):
    with pytest.raises(IrError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "line " in str(caught.value)
    assert "column " in str(caught.value)


@given(st.data())
def test_damaged_text_is_an_error_of_ours_or_another_graph(artefacts, data):
    text = list(show(data.draw(st.sampled_from([artefacts.graph, artefacts.asc_graph]))))
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from('"[]{}(),:%@#=\\ \n0-x_'))
    try:
        found = parse("".join(text))
    except IrError:
        return
    assert parse(show(found)) == found


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(IrError):
        parse(HEAD + "%y = Add(%x) {a = " + "[" * 100_000)
    with pytest.raises(IrError):
        parse(f"graph g(%x: f32[{'(' * 50_000}]) -> %x")
