"""Laws on random graphs: guards hold exactly at the sizes at which NumPy can run the graph, and shapes are NumPy's."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import free_symbols
from autofuse_ir.dims_eval import holds
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_array
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators import evaluate_operator
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.sample import sample
from autofuse_symshape.stage import infer
from hypothesis import assume, given
from hypothesis import strategies as st

SYMBOLS = ("a", "b", "c")


def run(graph: Graph, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Every value of ``graph`` on NumPy, inputs zeros of the given sizes; EvaluationError where NumPy cannot."""
    arrays = {constant.name: to_array(constant.data) for constant in graph.constants}
    for value in graph.inputs:
        assert value.shape is not None
        shape = [dim.constant_value if dim.is_constant else sizes[free_symbols(dim)[0]] for dim in value.shape]
        arrays[value.name] = np.zeros(shape, np.float32)
    for node in graph.nodes:
        results = evaluate_operator(node, None, [None if x is None else arrays[x] for x in node.inputs])
        arrays.update(zip(node.outputs, results, strict=True))
    return arrays


class Growing:
    """A graph that grows by random operators; ranks are followed, sizes are not."""

    def __init__(self, draw: Any, as_constant: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.as_constant = as_constant
        self.builder = GraphBuilder("random")
        self.ranks: dict[str, int] = {}
        for name in SYMBOLS:
            self.builder.symbol(name, 0, 12)

    def pick(self, rank: int | None = None) -> str:
        names = [name for name, each in self.ranks.items() if rank is None or each >= rank]
        assume(names)
        return str(self.draw(st.sampled_from(names)))

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def constant(self, *values: int) -> str:
        return self.builder.constant(self.as_constant(np.asarray(values, np.int64)))

    def input(self) -> None:
        dims = self.draw(st.lists(st.sampled_from([*SYMBOLS, 1, 3]), min_size=1, max_size=3))
        name = f"x{len(self.ranks)}"
        self.ranks[self.builder.input(name, tuple(dims), dt.float32)] = len(dims)

    def grow(self) -> None:
        getattr(self, f"_{self.draw(st.sampled_from(OPERATORS))}")()

    def _add(self) -> None:
        x, y = self.pick(), self.pick()
        self.ranks[self.builder.op("Add", x, y)] = max(self.ranks[x], self.ranks[y])

    def _reduce(self) -> None:
        x = self.pick(1)
        axis, keep = self.integer(0, self.ranks[x] - 1), self.draw(st.booleans())
        self.ranks[self.builder.op("ReduceSumD", x, axes=(axis,), keep_dims=keep)] = self.ranks[x] - (not keep)

    def _transpose(self) -> None:
        x = self.pick(2)
        perm = self.draw(st.permutations(range(self.ranks[x])))
        self.ranks[self.builder.op("TransposeD", x, perm=tuple(perm))] = self.ranks[x]

    def _unsqueeze(self) -> None:
        x = self.pick()
        assume(self.ranks[x] < 4)
        self.ranks[self.builder.op("Unsqueeze", x, axes=(self.integer(0, self.ranks[x]),))] = self.ranks[x] + 1

    def _squeeze(self) -> None:
        x = self.pick(1)
        axis = self.integer(0, self.ranks[x] - 1)
        self.ranks[self.builder.op("Squeeze", x, axis=(axis,))] = self.ranks[x] - 1

    def _concat(self) -> None:
        x = self.pick(1)
        y = self.draw(st.sampled_from([name for name, rank in self.ranks.items() if rank == self.ranks[x]]))
        axis = self.integer(0, self.ranks[x] - 1)
        self.ranks[self.builder.op("ConcatD", x, y, concat_dim=axis, N=2)] = self.ranks[x]

    def _slice(self) -> None:
        x = self.pick(1)
        axis = self.integer(-self.ranks[x], self.ranks[x] - 1)
        step = self.draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        bounds = [self.constant(self.draw(st.sampled_from([0, 1, 2, 5, -1, -3, -7, 99, -99]))) for _ in range(2)]
        name = self.builder.op("StridedSliceV3", x, *bounds, self.constant(axis), self.constant(step))
        self.ranks[name] = self.ranks[x]

    def _split(self) -> None:
        x = self.pick(1)
        axis, count = self.integer(0, self.ranks[x] - 1), self.integer(2, 3)
        names = self.builder.op_outputs("SplitD", x, outputs=count, split_dim=axis, num_split=count)
        self.ranks.update(dict.fromkeys(names, self.ranks[x]))

    def _pad(self) -> None:
        x = self.pick(1)
        pads = tuple((self.integer(0, 3), self.integer(0, 3)) for _ in range(self.ranks[x]))
        self.ranks[self.builder.op("PadD", x, paddings=pads)] = self.ranks[x]

    def _tile(self) -> None:
        x = self.pick(1)
        counts = tuple(self.integer(0, 3) for _ in range(self.ranks[x]))
        self.ranks[self.builder.op("TileD", x, multiples=counts)] = self.ranks[x]

    def _matmul(self) -> None:
        x, y = self.pick(1), self.pick(1)
        ranks = sorted((self.ranks[x], self.ranks[y]))
        lost = (self.ranks[x] == 1) + (self.ranks[y] == 1)
        name = self.builder.op("MatMul", x, y)
        self.ranks[name] = max(2, ranks[1]) - lost

    def _flatten(self) -> None:
        x = self.pick()
        self.ranks[self.builder.op("Flatten", x, axis=self.integer(0, self.ranks[x]))] = 2

    def _split_axis(self) -> None:
        x = self.pick(1)
        target = [0] * (self.ranks[x] - 1) + [-1, self.integer(1, 3)]
        self.ranks[self.builder.op("Reshape", x, self.constant(*target))] = self.ranks[x] + 1
        assume(self.ranks[x] < 4)

    def _expand_to(self) -> None:
        x, y = self.pick(), self.pick()
        shape = self.builder.op("Shape", y, dtype=9)
        self.ranks[self.builder.op("Expand", x, shape)] = max(self.ranks[x], self.ranks[y])

    def _made_of_sizes(self) -> None:
        """A tensor whose sizes are computed: (size // 2, size + 1, max(size, 3))."""
        x = self.pick(1)
        size = self.builder.op("GatherV2", self.builder.op("Shape", x, dtype=9), self.constant(0), self.constant(0))
        half = self.builder.op("FloorDiv", size, self.constant(2))
        more = self.builder.op("Add", size, self.constant(1))
        most = self.builder.op("Maximum", size, self.constant(3))
        shape = self.builder.op("ConcatD", half, more, most, concat_dim=0, N=3)
        value = self.builder.constant(self.as_constant(np.zeros((), np.float32)))
        self.ranks[self.builder.op("Fill", shape, value)] = 3


OPERATORS = (
    *("add", "add", "reduce", "transpose", "unsqueeze", "squeeze", "concat", "slice", "split", "pad", "tile"),
    *("matmul", "flatten", "split_axis", "expand_to", "made_of_sizes"),
)


@st.composite
def graphs(draw: Any, as_constant: Callable[[Any], Any]) -> Graph:
    growing = Growing(draw, as_constant)
    for _ in range(growing.integer(1, 3)):
        growing.input()
    for _ in range(growing.integer(1, 6)):
        growing.grow()
    # Calls are held to what operators need that somebody reads: all of them are results.
    return growing.builder.build(outputs={f"y{i}": name for i, name in enumerate(growing.ranks)})


def _refused(graph: Graph) -> bool:
    """Whether NumPy cannot run ``graph`` at any size of a coarse grid."""
    for sizes in np.ndindex(4, 4, 4):
        grid = {name: (0, 1, 3, 6)[size] for name, size in zip(SYMBOLS, sizes, strict=True)}
        try:
            run(graph, grid)
        except EvaluationError:
            continue
        return False
    return True


@given(data=st.data())
def test_sampled_sizes_give_the_shapes_of_numpy(data: Any, as_constant: Any, check_facts: Any) -> None:
    graph = data.draw(graphs(as_constant))
    try:
        _, facts = infer(graph)
    except ShapeError:
        assert _refused(graph)
        return
    for sizes in sample(facts, 3, seed=1, largest=12):
        everywhere = {**dict.fromkeys(SYMBOLS, 1), **sizes}
        if not _leaves_size_open(graph, everywhere):
            check_facts(facts, run(graph, everywhere))


@given(data=st.data(), sizes=st.tuples(*[st.integers(0, 6)] * 3))
def test_guards_fail_exactly_where_numpy_does(data: Any, sizes: tuple[int, ...], as_constant: Any) -> None:
    graph = data.draw(graphs(as_constant))
    bindings = dict(zip(SYMBOLS, sizes, strict=True))
    try:
        _, facts = infer(graph)
    except ShapeError:
        return
    assume(not _leaves_size_open(graph, bindings))
    passes = all(holds(guard.condition, bindings) for guard in facts.guards)
    assert passes == _runs(graph, bindings), [str(guard.condition) for guard in facts.guards]


def _leaves_size_open(graph: Graph, bindings: Mapping[str, int]) -> bool:
    """Whether a Reshape has a -1 beside a 0: NumPy refuses, facts give the size that other sizes lead to."""
    try:
        run(graph, bindings)
    except EvaluationError as error:
        return "in place of -1" in error.what and "the 0 elements" in error.what
    return False


def _runs(graph: Graph, bindings: Mapping[str, int]) -> bool:
    try:
        run(graph, bindings)
    except EvaluationError:
        return False
    return True
