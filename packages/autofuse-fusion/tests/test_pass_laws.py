"""Simplifications as laws: where one applies the kernel is that of the simple form, where it must not it is another.

Every graph keeps its meaning bit by bit, for NaN, infinities, signed zeros, subnormals, and for no rows at all; the
simple form is a fixed point. The passes that other compilers run one after the other fall out of three things here:
index maps that compose, values that are never widened before they are computed on, and the clean-up of graphs.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from autofuse_fusion.passes.pipeline import clean_up
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion, ViewNode
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_tensor_data
from autofuse_symshape.stage import infer

Build = Callable[[GraphBuilder, str], str]
"""Adds operators that read a value of shape (n, 6) and returns the result."""

FAR = 2**31 - 1
SPECIAL = np.asarray([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-41, -1e-45, 3e38, -3e38], np.float32)
ROWS = (5, 1, 0)
"""Numbers of rows that every graph runs with."""


@frozen
class Law:
    """``long`` becomes the same kernel as ``short``; each of ``others``, by what makes it another, does not."""

    long: Build
    short: Build
    others: dict[str, Build]


def number(b: GraphBuilder, value: Any, kind: str = "f4") -> str:
    return b.constant(to_tensor_data(np.asarray(value, kind)))


def ints(b: GraphBuilder, *values: int) -> str:
    return number(b, values, "i8")


def cut(b: GraphBuilder, x: str, begin: int, end: int, step: int = 1) -> str:
    """Columns of ``x``."""
    return b.op("StridedSliceV3", x, ints(b, begin), ints(b, end), ints(b, 1), ints(b, step))


def padded(b: GraphBuilder, x: str) -> str:
    return b.op("Pad", x, ints(b, 0, 0, 2, 3))


def cast(b: GraphBuilder, x: str, *dtypes: dt.DType) -> str:
    for dtype in dtypes:
        x = b.op("Cast", x, dst_type=dtype.ascend_code)
    return x


def joined(b: GraphBuilder, *values: str, axis: int = 1) -> str:
    return b.op("ConcatD", *values, concat_dim=axis, N=len(values))


def piece(b: GraphBuilder, x: str, number_: int, count: int = 2, axis: int = 1) -> str:
    return b.op_outputs("SplitD", x, outputs=count, split_dim=axis, num_split=count)[number_]


def reshaped(b: GraphBuilder, x: str, *shapes: tuple[int, ...]) -> str:
    for shape in shapes:
        x = b.op("Reshape", x, ints(b, *shape))
    return x


def turned(b: GraphBuilder, x: str, *perms: tuple[int, ...]) -> str:
    for perm in perms:
        x = b.op("TransposeD", x, perm=perm)
    return x


def rows(b: GraphBuilder, x: str, *which: int) -> str:
    """Columns of ``x`` in another order."""
    return b.op("GatherV2", x, ints(b, *which), ints(b, 1), negative_index_support=True)


def widened(b: GraphBuilder, x: str, count: int = 4) -> str:
    """``x`` with a new axis of ``count`` behind it."""
    tall = b.op("Unsqueeze", x, axes=(2,))
    return b.op("BroadcastTo", tall, joined(b, b.op("Shape", x), number(b, [count], "i4"), axis=0))


def chain(b: GraphBuilder, x: str) -> str:
    return b.op("Adds", b.op("Exp", b.op("Abs", x)), value=3.0)


def two_planes(b: GraphBuilder) -> str:
    return number(b, [[[0.0]], [[1.0]]])


def twice(b: GraphBuilder, x: str) -> str:
    return b.op("Add", x, x)


LAWS: dict[str, Law] = {
    "a slice inside what a pad kept": Law(
        lambda b, x: b.op("Neg", cut(b, padded(b, x), 3, 7)),
        lambda b, x: b.op("Neg", cut(b, x, 1, 5)),
        {
            "reaches into the padding": lambda b, x: b.op("Neg", cut(b, padded(b, x), 1, 5)),
            "reaches past it": lambda b, x: b.op("Neg", cut(b, padded(b, x), 5, 9)),
        },
    ),
    "a slice of everything": Law(
        lambda b, x: b.op("Neg", cut(b, x, 0, FAR)),
        lambda b, x: b.op("Neg", x),
        {
            "all but one": lambda b, x: b.op("Neg", cut(b, x, 0, -1)),
            "backwards": lambda b, x: b.op("Neg", cut(b, x, FAR, -FAR, -1)),
        },
    ),
    "a chain of reshapes": Law(
        lambda b, x: b.op("Neg", reshaped(b, x, (-1,), (-1, 2, 3), (3, -1), (-1, 3, 2))),
        lambda b, x: b.op("Neg", reshaped(b, x, (-1, 3, 2))),
        {"a transpose in between": lambda b, x: b.op("Neg", reshaped(b, turned(b, x, (1, 0)), (-1, 3, 2)))},
    ),
    "a transposed constant": Law(
        lambda b, x: b.op("Add", turned(b, b.op("ZerosLike", x), (1, 0)), turned(b, x, (1, 0))),
        lambda b, x: b.op("Add", number(b, 0.0), turned(b, x, (1, 0))),
        {"of elements": lambda b, x: b.op("Add", turned(b, b.op("Sub", x, x), (1, 0)), turned(b, x, (1, 0)))},
    ),
    "a cast to the own type": Law(
        lambda b, x: b.op("Neg", cast(b, x, dt.float32)),
        lambda b, x: b.op("Neg", x),
        {"to another": lambda b, x: b.op("Neg", cast(b, x, dt.float64))},
    ),
    "casts there and back through a wider type": Law(
        lambda b, x: b.op("Neg", cast(b, x, dt.float64, dt.float32)),
        lambda b, x: b.op("Neg", x),
        {
            "a narrower float": lambda b, x: b.op("Neg", cast(b, x, dt.float16, dt.float32)),
            "the other half": lambda b, x: b.op("Neg", cast(b, x, dt.bfloat16, dt.float32)),
            "an integer": lambda b, x: b.op("Neg", cast(b, x, dt.int64, dt.float32)),
            "a bool": lambda b, x: b.op("Neg", cast(b, x, dt.bool_, dt.float32)),
        },
    ),
    "integers through a type that holds them": Law(
        lambda b, x: b.op("Neg", cast(b, x, dt.int16, dt.int64, dt.int32)),
        lambda b, x: b.op("Neg", cast(b, x, dt.int16, dt.int32)),
        {
            "a float that holds them": lambda b, x: b.op("Neg", cast(b, x, dt.int16, dt.float64, dt.int32)),
            "one that cuts them": lambda b, x: b.op("Neg", cast(b, x, dt.int16, dt.int8, dt.int32)),
        },
    ),
    "a slice inside one piece of a concatenation": Law(
        lambda b, x: b.op("Neg", cut(b, joined(b, x, b.op("Exp", x)), 1, 4)),
        lambda b, x: b.op("Neg", cut(b, x, 1, 4)),
        {
            "of two pieces": lambda b, x: b.op("Neg", cut(b, joined(b, x, b.op("Exp", x)), 4, 8)),
            "along the other axis": lambda b, x: b.op("Neg", cut(b, joined(b, x, b.op("Exp", x), axis=0), 1, 4)),
        },
    ),
    "the largest of equal elements": Law(
        lambda b, x: b.op("Neg", b.op("ReduceMaxD", widened(b, x), axes=(2,))),
        lambda b, x: b.op("Neg", x),
        {
            "their sum": lambda b, x: b.op("ReduceSumD", widened(b, x), axes=(2,)),
            "their product": lambda b, x: b.op("ReduceProdD", widened(b, x), axes=(2,)),
            "their mean, whose sum may be infinite": lambda b, x: b.op("ReduceMeanD", widened(b, x), axes=(2,)),
            "of others, too": lambda b, x: b.op("ReduceMaxD", widened(b, x), axes=(1, 2)),
        },
    ),
    "a slice of a chain of operators": Law(
        lambda b, x: cut(b, chain(b, x), 2, 5),
        lambda b, x: chain(b, cut(b, x, 2, 5)),
        {"of a sum": lambda b, x: cut(b, b.op("Cumsum", b.op("Abs", x), ints(b, 1)), 2, 5)},
    ),
    "nested concatenations": Law(
        lambda b, x: joined(b, x, joined(b, b.op("Abs", x), b.op("Neg", x))),
        lambda b, x: joined(b, x, b.op("Abs", x), b.op("Neg", x)),
        {"along two axes": lambda b, x: joined(b, joined(b, x, x, axis=0), joined(b, b.op("Abs", x), x, axis=0))},
    ),
    "nested splits": Law(
        lambda b, x: b.op("Neg", piece(b, piece(b, x, 1), 2, 3)),
        lambda b, x: b.op("Neg", cut(b, x, 5, 6)),
        {"of another piece": lambda b, x: b.op("Neg", piece(b, piece(b, x, 0), 2, 3))},
    ),
    "operators in front of a gather that takes less": Law(
        lambda b, x: rows(b, b.op("Exp", b.op("Abs", x)), 4, -6, 4),
        lambda b, x: b.op("Exp", b.op("Abs", rows(b, x, 4, -6, 4))),
        {"that takes more": lambda b, x: rows(b, b.op("Exp", b.op("Abs", x)), *range(6), *range(6))},
    ),
    "a cast, a reshape and a cast": Law(
        lambda b, x: b.op("Neg", cast(b, reshaped(b, cast(b, x, dt.float64), (-1, 3, 2)), dt.float32)),
        lambda b, x: b.op("Neg", reshaped(b, x, (-1, 3, 2))),
        {
            "that rounds": lambda b, x: b.op(
                "Neg", cast(b, reshaped(b, cast(b, x, dt.float16), (-1, 3, 2)), dt.float32)
            )
        },
    ),
    "transposes that cancel": Law(
        lambda b, x: b.op("Neg", turned(b, reshaped(b, x, (-1, 3, 2)), (2, 0, 1), (1, 2, 0))),
        lambda b, x: b.op("Neg", reshaped(b, x, (-1, 3, 2))),
        {"that do not": lambda b, x: b.op("Neg", turned(b, reshaped(b, x, (-1, 3, 2)), (2, 0, 1), (2, 0, 1)))},
    ),
    "axes of size 1": Law(
        lambda b, x: b.op("Neg", b.op("Squeeze", b.op("Unsqueeze", x, axes=(0, 2, 4)), axis=(2, 4, 0))),
        lambda b, x: b.op("Neg", x),
        {"an axis of size 2": lambda b, x: b.op("Neg", b.op("Add", b.op("Unsqueeze", x, axes=(0,)), two_planes(b)))},
    ),
    "arithmetic on what is widened later": Law(
        lambda b, x: b.op("Exp", widened(b, x)),
        lambda b, x: widened(b, b.op("Exp", x)),
        {"with what has the axis": lambda b, x: b.op("Add", widened(b, x), number(b, [1, 2, 3, 4]))},
    ),
    "arithmetic on two of the same widening": Law(
        lambda b, x: b.op("Mul", widened(b, x), widened(b, b.op("Exp", x))),
        lambda b, x: widened(b, b.op("Mul", x, b.op("Exp", x))),
        {"of which one has the axis": lambda b, x: b.op("Mul", widened(b, x), number(b, [1, 2, 3, 4]))},
    ),
    "equal expressions": Law(
        lambda b, x: b.op("Add", b.op("Muls", x, value=3.0), b.op("Muls", x, value=3.0)),
        lambda b, x: twice(b, b.op("Muls", x, value=3.0)),
        {
            "of other attributes": lambda b, x: b.op("Add", b.op("Muls", x, value=3.0), b.op("Muls", x, value=4.0)),
            "of the other zero": lambda b, x: b.op("Add", b.op("Muls", x, value=0.0), b.op("Muls", x, value=-0.0)),
            "of other inputs": lambda b, x: b.op(
                "Add", b.op("Muls", x, value=3.0), b.op("Muls", b.op("Neg", x), value=3.0)
            ),
        },
    ),
    "pieces of one tensor": Law(
        lambda b, x: b.op("Mul", piece(b, x, 0), piece(b, x, 1)),
        lambda b, x: b.op("Mul", cut(b, x, 0, 3), cut(b, x, 3, 6)),
        {"in the other order": lambda b, x: b.op("Mul", piece(b, x, 1), piece(b, x, 0))},
    ),
    "equal rows of a constant": Law(
        lambda b, x: b.op("Div", x, number(b, np.full((6,), 3.5))),
        lambda b, x: b.op("Div", x, number(b, 3.5)),
        {
            "of the other zero": lambda b, x: b.op("Div", x, number(b, [0.0, 0.0, -0.0, 0.0, 0.0, 0.0])),
            "that make the result wider": lambda b, x: b.op("Div", cut(b, x, 2, 3), number(b, np.full((6,), 3.5))),
            "that make the result larger": lambda b, x: b.op("Div", x, number(b, np.full((2, 1, 6), 3.5))),
        },
    ),
    "neutral constants": Law(
        lambda b, x: b.op(
            "Neg", b.op("Add", b.op("Sub", b.op("RealDiv", b.op("Mul", x, number(b, 1)), number(b, 1)), number(b, 0)),
                        number(b, -0.0))
        ),
        lambda b, x: b.op("Neg", x),
        {
            "+ 0 makes 0 of -0": lambda b, x: b.op("Neg", b.op("Add", x, number(b, 0.0))),
            "- -0 does, too": lambda b, x: b.op("Neg", b.op("Sub", x, number(b, -0.0))),
            "0 - x": lambda b, x: b.op("Neg", b.op("Sub", number(b, 0.0), x)),
            "1 / x": lambda b, x: b.op("Neg", b.op("RealDiv", number(b, 1.0), x)),
            "x * 0": lambda b, x: b.op("Neg", b.op("Mul", x, number(b, 0.0))),
            "x * -1": lambda b, x: b.op("Neg", b.op("Mul", x, number(b, -1.0))),
            "x - x": lambda b, x: b.op("Neg", b.op("Sub", x, x)),
            "x / x": lambda b, x: b.op("Neg", b.op("RealDiv", x, x)),
            "x / 2": lambda b, x: b.op("Neg", b.op("RealDiv", x, number(b, 2.0))),
            "x ** 1": lambda b, x: b.op("Neg", b.op("Pow", x, number(b, 1.0))),
            "x ** 2": lambda b, x: b.op("Neg", b.op("Pow", x, number(b, 2.0))),
            "the larger of x and -inf": lambda b, x: b.op("Neg", b.op("Maximum", x, number(b, -np.inf))),
            "(x + 1) - 1": lambda b, x: b.op("Neg", b.op("Sub", b.op("Add", x, number(b, 1.0)), number(b, 1.0))),
            "log of exp": lambda b, x: b.op("Neg", b.op("Log", b.op("Exp", x))),
            "the root of a square": lambda b, x: b.op("Neg", b.op("Sqrt", b.op("Mul", x, x))),
        },
    ),
}  # fmt: skip
NEAR = [(law, other) for law, each in LAWS.items() for other in each.others]


def graph_of(build: Build) -> Graph:
    b = GraphBuilder("law")
    b.symbol("n", hint=1024)
    return b.build(outputs={"y": build(b, b.input("x", ("n", 6), dt.float32))})


def form(fused: FusedGraph) -> list[object]:
    """What runs, without names: sizes of loops, and what each kernel stores, as terms over what it loads."""
    found: list[object] = []
    parts = (node.parts if isinstance(node, FusedAscBackend) else (node,) for node in fused.nodes)
    for node in itertools.chain.from_iterable(parts):
        match node:
            case AscBackend():
                axes = {axis.name: k for k, axis in enumerate(node.graph.axes)}
                terms: dict[str, tuple[object, ...]] = {}
                for each in node.graph.nodes:
                    dims = () if each.access is None else each.access.dims
                    reads = [(None if d.axis is None else axes[d.axis], d.offset, d.step, d.operand) for d in dims]
                    memory = None if each.access is None else (each.access.memory, each.access.bounds)
                    attrs = [(a.name, axes.get(str(a.value), repr(a.value))) for a in each.attrs]
                    inputs = [terms[name] for name in each.inputs]
                    terms[each.name] = (each.op, each.dtype.name, each.repeats, attrs, memory, reads, inputs)
                found.append(([axis.size for axis in node.graph.axes], len(node.inputs), len(node.graph.nodes)))
                found += [terms[each.name] for each in node.graph.nodes if each.op == "Output"]
            case ViewNode():
                found.append("view")
            case _:
                raise AssertionError(node)
    return found


def rows_of(count: int) -> np.ndarray[Any, Any]:
    return np.resize(SPECIAL, (count, 6))


def checked(kit: Any, build: Build) -> FusedGraph:
    """Fuse a graph for any number of rows and check its bits at some."""
    graph = graph_of(build)
    fused: FusedGraph = kit.fuse(graph, numerics="strict")
    for count in ROWS:
        kit.compare(fused, graph, {"x": rows_of(count)})
    assert not any(isinstance(node, HostRegion) for node in fused.nodes)
    return fused


@pytest.mark.parametrize("name", LAWS)
def test_where_a_law_applies_the_kernel_is_that_of_the_simple_form(kit: Any, name: str) -> None:
    assert form(checked(kit, LAWS[name].long)) == form(checked(kit, LAWS[name].short))


@pytest.mark.parametrize(("name", "other"), NEAR, ids=[f"{name}: {other}" for name, other in NEAR])
def test_where_it_must_not_apply_the_kernel_is_another(kit: Any, name: str, other: str) -> None:
    assert form(checked(kit, LAWS[name].others[other])) != form(checked(kit, LAWS[name].short))


@pytest.mark.parametrize("name", LAWS)
def test_cleaning_up_twice_is_cleaning_up_once(kit: Any, name: str) -> None:
    for build in (LAWS[name].long, LAWS[name].short, *LAWS[name].others.values()):
        graph, facts = infer(graph_of(build))
        once = clean_up(graph, facts)
        assert clean_up(once, facts) == once
        want, got = (kit.run_graph(each, {"x": rows_of(5)}) for each in (graph, once))
        assert kit.same(got["y"], want["y"])
