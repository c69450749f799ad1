"""Reads the text form of an AscGraph (`autofuse_ir.text.asc_graph` shows one)."""

from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind, Bounds
from autofuse_ir.dims import Dim, const
from autofuse_ir.parse.reader import Reader
from autofuse_ir.parse.values import attributes


def read_asc_graph(reader: Reader) -> AscGraph:
    """Return the graph after the word ``ascgraph``."""
    name = reader.name("the name of the graph")
    axes: list[Axis] = []
    while reader.accept_word("axis"):
        axes.append(_axis(reader))
    nodes: list[AscNode] = []
    while reader.peek_name():
        nodes.append(_node(reader))
    return AscGraph(name, tuple(axes), tuple(nodes))


def _axis(reader: Reader) -> Axis:
    name = reader.name("the name of an axis")
    reader.expect("=")
    size = reader.size()
    if not reader.accept(":"):
        return Axis(name, AxisKind.ORIGINAL, size)
    word = reader.any_word("the kind of an axis")
    kind = next((kind for kind in AxisKind if kind.value == word), None)
    if kind is None:
        raise reader.error(f"there is no kind of axis {word!r}", f"use {', '.join(kind.value for kind in AxisKind)}")
    parents = reader.many("(", ")", lambda: reader.name("an axis")) if reader.accept_word("of") else ()
    return Axis(name, kind, size, parents)


def _node(reader: Reader) -> AscNode:
    name = reader.name("the name of a node")
    reader.expect(":")
    dtype = reader.dtype()
    reader.expect("=")
    op = reader.name("an operator")
    inputs = reader.many("(", ")", lambda: reader.name("a node"))
    attrs = attributes(reader)
    repeats = _sizes(reader, "repeats")
    strides = _sizes(reader, "strides")
    access = _access(reader) if reader.accept_word("access") else None
    source = reader.many("[", "]", reader.string) if reader.accept_word("from") else ()
    return AscNode(name, op, inputs, dtype, repeats, strides, attrs, access, source)


def _sizes(reader: Reader, word: str) -> tuple[Dim, ...]:
    if not reader.accept_word(word):
        raise reader.error(f"{word!r} is expected")
    return reader.shape()


def _access(reader: Reader) -> AccessMap:
    memory = reader.shape()
    if not reader.accept_word("at"):
        raise reader.error("'at' is expected")
    dims = reader.many("[", "]", lambda: _access_dim(reader))
    return AccessMap(memory, dims, _bounds(reader) if reader.accept_word("outside") else Bounds.INSIDE)


def _bounds(reader: Reader) -> Bounds:
    word = reader.any_word("what happens outside")
    bounds = next((bounds for bounds in Bounds if bounds.value == word), None)
    if bounds is None:
        raise reader.error(f"nothing is called {word!r}", f"use {', '.join(bounds.value for bounds in Bounds)}")
    return bounds


def _access_dim(reader: Reader) -> AccessDim:
    if not reader.accept("("):
        return AccessDim(reader.name("an axis"), const(1), const(0))
    axis, operand = None, None
    if reader.accept_word("operand"):
        operand = reader.integer()
    elif not reader.accept_word("_"):
        axis = reader.name("an axis")
    reader.expect(",")
    step = reader.size()
    reader.expect(",")
    offset = reader.size()
    reader.expect(")")
    return AccessDim(axis, step, offset, operand)
