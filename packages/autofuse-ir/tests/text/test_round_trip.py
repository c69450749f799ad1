"""Text is a front end: parse(show(graph)) is the graph, for all names, sizes, attributes and constants."""

import struct
from math import prod

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import dumps
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.dims import as_dim, ceildiv, const, dim_min, eq, free_symbols, select, symbol
from autofuse_ir.graph import Attr, Constant, Graph, GraphOutput, Node, Payload, Symbol, Value
from autofuse_ir.parse import parse
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.text import show
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = st.one_of(
    st.sampled_from(["x", "y.1", "/mlp/Add_output_0", "symbols", "constant", "from", "as", "_", "axis", "f32", "1"]),
    st.text(st.characters(exclude_categories=()), min_size=1, max_size=6),
)
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False)
SYMBOLS = st.sampled_from(["n", "batch", "min", "a b", 'quo"te', "x:y", "p(q"])
DIMS = st.recursive(
    st.one_of(st.integers(0, 99).map(const), SYMBOLS.map(symbol)),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a: ceildiv(a, 7), inner),
        st.builds(dim_min, inner, inner),
        st.builds(lambda a, b: select(eq(a, 1), b, a), inner, inner),
    ),
    max_leaves=5,
)
SHAPES = st.lists(DIMS, max_size=4).map(tuple)
ATTR_VALUES = st.one_of(
    st.booleans(),
    INTS,
    FLOATS,
    st.text(max_size=8),
    st.sampled_from(dt.ALL_DTYPES),
    DIMS,
    st.lists(INTS, max_size=3).map(tuple),
    st.lists(FLOATS, min_size=1, max_size=3).map(tuple),
    st.lists(st.text(max_size=4), min_size=1, max_size=3).map(tuple),
    st.lists(DIMS, min_size=1, max_size=3).map(tuple),
    st.lists(st.lists(INTS, max_size=2).map(tuple), min_size=1, max_size=3).map(tuple),
)
ATTRS = st.lists(st.builds(Attr, NAMES, ATTR_VALUES), max_size=3).map(tuple)
DTYPES = st.sampled_from(dt.TENSOR_DTYPES)


@st.composite
def tensors(draw):
    dtype = draw(DTYPES)
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    count = prod(shape)
    raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    return TensorData(dtype, shape, raw)


TYPES = st.one_of(st.none(), SHAPES)
VALUES = st.builds(Value, NAMES, st.sampled_from(dt.ALL_DTYPES), TYPES)
NODES = st.builds(
    Node,
    name=NAMES,
    op=NAMES,
    inputs=st.lists(st.one_of(st.none(), NAMES), max_size=3).map(tuple),
    outputs=st.lists(st.one_of(st.just(""), NAMES), max_size=3).map(tuple),
    attrs=ATTRS,
    source=st.text(max_size=9),
)


@st.composite
def graphs(draw):
    payloads = draw(st.lists(st.builds(Payload, NAMES, st.text(max_size=5), tensors()), max_size=2))
    nodes = draw(st.lists(NODES, max_size=4))
    if payloads and nodes:
        first = nodes[0]
        nodes[0] = Node(first.name, first.op, first.inputs, first.outputs, payload=payloads[0].name)
    inputs = draw(st.lists(VALUES, max_size=3))
    made = [output for node in nodes for output in node.outputs if output]
    declared = [Value(name, dt.float32, draw(TYPES)) for name in dict.fromkeys(made) if draw(st.booleans())]
    used = sorted(symbols_of(inputs))
    return Graph(
        name=draw(NAMES),
        inputs=tuple(inputs),
        outputs=tuple(draw(st.lists(st.builds(GraphOutput, NAMES, NAMES), max_size=3))),
        nodes=tuple(nodes),
        constants=tuple(draw(st.lists(st.builds(Constant, NAMES, tensors()), max_size=2))),
        symbols=tuple(Symbol(name, draw(st.integers(0, 3)), 9, draw(st.one_of(st.none(), INTS))) for name in used),
        declared=tuple(draw(st.permutations(declared))),
        payloads=tuple(payloads),
    )


def symbols_of(inputs):
    return {name for value in inputs for dim in value.shape or () for name in free_symbols(dim)}


def exact(value):
    """A key that tells True, 1 and 1.0 apart."""
    if isinstance(value, tuple):
        return tuple(exact(part) for part in value)
    return type(value).__name__, str(value), value


@settings(max_examples=60)
@given(graphs())
def test_a_graph_comes_back_from_its_text(graph):
    constants = {}
    dumps(graph, constants)
    found = parse(show(graph), constants)
    assert found == graph
    for node, again in zip(graph.nodes, found.nodes, strict=True):
        assert [exact(a.value) for a in node.attrs] == [exact(a.value) for a in again.attrs]


ASC_NODES = st.builds(
    AscNode,
    name=NAMES,
    op=NAMES,
    inputs=st.lists(NAMES, max_size=3).map(tuple),
    dtype=DTYPES,
    repeats=SHAPES,
    strides=SHAPES,
    attrs=ATTRS,
    access=st.one_of(
        st.none(),
        st.builds(
            AccessMap,
            SHAPES,
            st.lists(st.builds(AccessDim, st.one_of(st.none(), NAMES), DIMS, DIMS), max_size=3).map(tuple),
        ),
    ),
    source=st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
AXES = st.builds(Axis, NAMES, st.sampled_from(AxisKind), DIMS, st.lists(NAMES, max_size=2).map(tuple))


@settings(max_examples=60)
@given(st.builds(AscGraph, NAMES, st.lists(AXES, max_size=3).map(tuple), st.lists(ASC_NODES, max_size=4).map(tuple)))
def test_an_asc_graph_comes_back_from_its_text(graph):
    assert parse(show(graph)) == graph


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64])
def test_every_kind_of_float_keeps_its_bits(dtype):
    size = dtype.itemsize
    exponent = {dt.float16: 5, dt.bfloat16: 8, dt.float32: 8, dt.float64: 11}[dtype]
    top = 1 << (8 * size - 1)
    mantissa = 1 << (8 * size - 1 - exponent)
    infinity = top - mantissa
    positive = [0, 1, mantissa - 1, mantissa, infinity - 1, infinity, infinity + 1, top - 1]
    patterns = [*positive, *(top + bits for bits in positive)]
    raw = b"".join(bits.to_bytes(size, "little") for bits in patterns)
    constant = Constant("c", TensorData(dtype, (len(patterns),), raw))
    graph = Graph("g", (), (), (), (constant,))
    assert parse(show(graph)) == graph


def test_decimals_are_rounded_once():
    # 1 + 2^-8 + 2^-40 lies just above the middle of two bfloat16 numbers; through float32 it would lie on it.
    text = f"graph g() -> ()\n constant %c: bf16[2] = [{1 + 2**-8 + 2**-40!r}, {1 + 2**-8!r}]"
    raw = parse(text).constants[0].data.raw
    assert raw == struct.pack("<f", 1 + 2**-7)[2:] + struct.pack("<f", 1.0)[2:]


def test_symbols_of_inputs_are_declared_by_use():
    graph = parse("graph g(%x: f32[n, 2*m]) -> %x")
    assert graph.symbols == (Symbol("m"), Symbol("n"))


def test_comments_and_line_breaks_do_not_matter():
    text = "graph g(%x: f32[n]) -> y = %0 # a graph\n\n  # nothing\n %0 =\n Add(%x,\n %x)"
    assert parse(text).nodes == (Node("0", "Add", ("x", "x"), ("0",)),)


def test_large_constants_are_named_by_their_digest():
    data = TensorData(dt.uint8, (65,), bytes(65))
    graph = Graph("g", (), (), (), (Constant("c", data),))
    assert f"constant %c: u8[65] sha256 {data.sha256}" in show(graph)
    assert parse(show(graph), {data.sha256: data}) == graph


def test_sizes_read_as_written():
    graph = parse('graph g(%x: f32[select(n == 1, "a, b", n)]) -> %x')
    assert graph.inputs[0].shape == (as_dim('select(n == 1, "a, b", n)'),)
