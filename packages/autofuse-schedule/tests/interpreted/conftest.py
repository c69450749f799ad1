"""Kernels with reductions, scans and gathers, and what runs their schedules in the interpreter."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.checks import verify
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule

F32 = dt.float32


class Kernel(AscGraphBuilder):
    """A builder that broadcasts to all axes, loads by axis names, and stores what a value varies along."""

    def read(self, name: str, *axes: str, dtype: DType = F32) -> str:
        """Load a new input that has one dim for each of ``axes``."""
        return self.load(self.input(name, dtype), tuple(self.axes[a] for a in axes), axes)

    def wide(self, value: str) -> str:
        """Broadcast ``value`` along all axes that it does not vary on."""
        return self.as_wide_as(value, *self.axes)

    def as_wide_as(self, value: str, *axes: str) -> str:
        """Broadcast ``value`` along those of ``axes`` that it does not vary on."""
        for axis, repeat in zip(self.axes, self.node(value).repeats, strict=True):
            if repeat == const(1) and axis in axes:
                value = self.broadcast(value, axis)
        return value

    def apply(self, op: str, *values: str) -> str:
        """Apply an element-wise operator, everything broadcast."""
        return self.op(op, *(self.wide(value) for value in values))

    def count(self, sizes: str, *axes: str) -> str:
        """Return a size as a number, as wide as ``axes``."""
        return self.as_wide_as(self.cast(self.size(sizes), F32), *axes)

    def constant(self, value: float, *axes: str) -> str:
        """Return a number as wide as ``axes``."""
        return self.as_wide_as(self.scalar(value, F32), *axes)

    def write(self, value: str, name: str) -> None:
        """Store ``value`` as a new output with one dim for each axis that it varies along."""
        repeats = self.node(value).repeats
        axes = tuple(a for a, repeat in zip(self.axes, repeats, strict=True) if repeat != const(1))
        self.store(value, name, tuple(self.axes[a] for a in axes), axes)

    def node(self, name: str) -> Any:
        """Return a node."""
        return next(node for node in self.build().nodes if node.name == name)


def softmax() -> Kernel:
    b = Kernel("softmax", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def layer_norm() -> Kernel:
    """Residual + layer norm with weights; the sum and the inverse deviation are outputs, too."""
    b = Kernel("layer_norm", {"z0": "n", "z1": "m"})
    x = b.op("Add", b.read("x", "z0", "z1"), b.read("r", "z0", "z1"))
    count = b.count("m", "z0")
    mean = b.op("Div", b.reduce("Sum", x, "z1"), count)
    centred = b.apply("Sub", x, mean)
    variance = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z1"), count)
    scale = b.op("Rsqrt", b.op("Add", variance, b.scalar(1e-5, F32)))
    y = b.apply("Mul", b.apply("Mul", centred, scale), b.read("gamma", "z1"))
    b.write(b.apply("Add", y, b.read("beta", "z1")), "y")
    b.write(x, "sum")
    b.write(scale, "rstd")
    return b


def column_sum() -> Kernel:
    b = Kernel("column_sum", {"z0": "n", "z1": "m"})
    b.write(b.reduce("Sum", b.read("x", "z0", "z1"), "z0"), "y")
    return b


def column_softmax() -> Kernel:
    b = Kernel("column_softmax", {"z0": "n", "z1": "m"})
    x = b.apply("Add", b.read("x", "z0", "z1"), b.read("c", "z1"))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z0")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z0")), "y")
    return b


def middle_variance() -> Kernel:
    b = Kernel("middle_variance", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.read("x", "z0", "z1", "z2")
    count = b.count("m", "z0", "z2")
    centred = b.apply("Sub", x, b.op("Div", b.reduce("Sum", x, "z1"), count))
    b.write(b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z1"), count), "y")
    return b


def batch_norm() -> Kernel:
    """Statistics over axes that are not neighbours."""
    b = Kernel("batch_norm", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.read("x", "z0", "z1", "z2")
    count = b.count("n*k", "z1")
    mean = b.op("Div", b.reduce("Sum", x, "z0", "z2"), count)
    centred = b.apply("Sub", x, mean)
    variance = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z0", "z2"), count)
    scale = b.op("Mul", b.op("Rsqrt", b.op("Add", variance, b.scalar(1e-3, F32))), b.read("gamma", "z1"))
    b.write(b.apply("Mul", centred, scale), "y")
    b.write(mean, "mean")
    return b


def full_sum() -> Kernel:
    b = Kernel("full_sum", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    total = b.reduce("Sum", b.op("Mul", x, x), "z0", "z1")
    b.write(b.op("Sqrt", total), "norm")
    return b


def full_normalise() -> Kernel:
    b = Kernel("full_normalise", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.apply("Div", x, b.op("Sqrt", b.reduce("Sum", b.op("Mul", x, x), "z0", "z1"))), "y")
    return b


def rms_norm_half() -> Kernel:
    b = Kernel("rms_norm_half", {"z0": "n", "z1": "m"})
    x = b.cast(b.read("x", "z0", "z1", dtype=dt.float16), F32)
    mean = b.op("Div", b.reduce("Sum", b.op("Mul", x, x), "z1"), b.count("m", "z0"))
    y = b.apply("Mul", x, b.op("Rsqrt", b.op("Add", mean, b.scalar(1e-6, F32))))
    weight = b.cast(b.read("w", "z1", dtype=dt.float16), F32)
    b.write(b.cast(b.apply("Mul", y, weight), dt.float16), "y")
    return b


def integer_reductions() -> Kernel:
    b = Kernel("integer_reductions", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1", dtype=dt.int32)
    b.write(b.reduce("Sum", x, "z1"), "sum")
    b.write(b.reduce("Max", x, "z1"), "max")
    flags = b.op("Lt", x, b.scalar(50, dt.int32))
    b.write(b.reduce("All", flags, "z1"), "all")
    b.write(b.reduce("Any", flags, "z1"), "any")
    return b


def arg_max() -> Kernel:
    b = Kernel("arg_max", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    hit = b.apply("Eq", x, b.reduce("Max", x, "z1"))
    index = b.apply("Select", hit, b.axis_index("z1", dt.int32), b.cast(b.size("m"), dt.int32))
    b.write(b.reduce("Min", index, "z1"), "y")
    return b


def masked_softmax() -> Kernel:
    """A mask for each row length, from positions; the mask is a comparison with a gathered value a row."""
    b = Kernel("masked_softmax", {"z0": "n", "z1": "m"})
    length = b.read("length", "z0", dtype=dt.int32)
    mask = b.apply("Lt", b.axis_index("z1", dt.int32), length)
    x = b.op("Select", mask, b.read("x", "z0", "z1"), b.wide(b.scalar(-1e9, F32)))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def embedding_norm() -> Kernel:
    b = Kernel("embedding_norm", {"z0": "n", "z1": "m"})
    rows = b.read("rows", "z0", dtype=dt.int32)
    table = b.input("table", F32)
    x = b.load(table, (7, "m"), (Operand(0), "z1"), indices=(rows,), bounds=Bounds.ERROR)
    mean = b.op("Div", b.reduce("Sum", x, "z1"), b.count("m", "z0"))
    b.write(b.apply("Sub", x, mean), "y")
    return b


def padded_row_sum() -> Kernel:
    b = Kernel("padded_row_sum", {"z0": "n", "z1": "m + 3"})
    x = b.load(b.input("x", F32), ("n", "m"), ("z0", ("z1", 1, -2)), bounds=Bounds.FILL, fill=0.5)
    b.write(b.apply("Sub", x, b.reduce("Sum", x, "z1")), "y")
    return b


def running_sum() -> Kernel:
    b = Kernel("running_sum", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.scan("CumSum", b.op("Neg", x), "z1"), "y")
    return b


def running_columns() -> Kernel:
    b = Kernel("running_columns", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.apply("Mul", b.scan("CumSum", x, "z0", exclusive=True, reverse=True), b.scalar(2.0, F32)), "y")
    return b


def running_both_ways() -> Kernel:
    """Scans that run against each other, and a reduction of the second."""
    b = Kernel("running_both_ways", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    backward = b.scan("CumSum", b.scan("CumSum", x, "z1"), "z1", reverse=True)
    b.write(b.apply("Sub", backward, b.reduce("Max", backward, "z1")), "y")
    return b


def running_middle() -> Kernel:
    """A scan from the end along an axis with others on both sides, of a value that was broadcast."""
    b = Kernel("running_middle", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.apply("Mul", b.read("x", "z0", "z1", "z2"), b.read("weight", "z1"))
    b.write(b.op("Neg", b.scan("CumProd", x, "z1", exclusive=True, reverse=True)), "y")
    return b


def running_softmax() -> Kernel:
    """A softmax of running sums: every sweep makes them again where they are not kept."""
    b = Kernel("running_softmax", {"z0": "n", "z1": "m"})
    total = b.scan("CumSum", b.read("x", "z0", "z1"), "z1")
    e = b.op("Exp", b.apply("Sub", total, b.reduce("Max", total, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def softmax_running() -> Kernel:
    """Running sums of a softmax, from the end."""
    b = Kernel("softmax_running", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.scan("CumSum", b.apply("Div", e, b.reduce("Sum", e, "z1")), "z1", reverse=True), "y")
    return b


def integral_image() -> Kernel:
    b = Kernel("integral_image", {"z0": "n", "z1": "m"})
    b.write(b.scan("CumSum", b.scan("CumSum", b.read("x", "z0", "z1"), "z0"), "z1", reverse=True), "y")
    return b


def running_columns_of_norms() -> Kernel:
    """Scans down the columns of rows that were divided by what they come to: other axes are joined in other ways."""
    b = Kernel("running_columns_of_norms", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    scaled = b.apply("Div", x, b.reduce("Max", b.op("Abs", x), "z1"))
    b.write(b.scan("CumSum", scaled, "z0", exclusive=True), "y")
    return b


def group_norm() -> Kernel:
    b = Kernel("group_norm", {"z0": "n", "z1": 2, "z2": "m", "z3": "k"})
    x = b.load(b.input("x", F32), ("n", 2, "m", "k"), ("z0", "z1", "z2", "z3"))
    count = b.count("m*k", "z0", "z1")
    mean = b.op("Div", b.reduce("Sum", x, "z2", "z3"), count)
    centred = b.apply("Sub", x, mean)
    power = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z2", "z3"), count)
    y = b.apply("Mul", centred, b.op("Rsqrt", b.op("Add", power, b.scalar(1e-3, F32))))
    b.write(b.apply("Mul", y, b.read("weight", "z1", "z2")), "y")
    return b


def outer_product_sum() -> Kernel:
    """A value that is reduced before it meets an axis that only later values have."""
    b = Kernel("outer_product_sum", {"z0": "n", "z1": "m", "z2": "k"})
    total = b.reduce("Sum", b.read("x", "z0", "z1"), "z1")
    b.write(b.apply("Mul", b.as_wide_as(total, "z2"), b.as_wide_as(b.read("w", "z2"), "z0")), "y")
    return b


def transposed_sum() -> Kernel:
    b = Kernel("transposed_sum", {"z0": "k", "z1": "m", "z2": "n"})
    x = b.load(b.input("x", F32), ("k", "n", "m"), ("z0", "z2", "z1"))
    b.write(b.op("Add", x, b.read("c", "z0", "z1", "z2")), "y")
    return b


def weighted_normalise() -> Kernel:
    """All axes are reduced, and none can be merged."""
    b = Kernel("weighted_normalise", {"z0": "n", "z1": "m"})
    x = b.apply("Mul", b.read("x", "z0", "z1"), b.read("row", "z1"))
    b.write(b.apply("Div", x, b.op("Sqrt", b.reduce("Sum", b.op("Mul", x, x), "z0", "z1"))), "y")
    return b


def bias() -> Kernel:
    b = Kernel("bias", {"z0": "n", "z1": "m"})
    b.write(b.apply("Add", b.read("x", "z0", "z1"), b.read("row", "z1")), "y")
    return b


def column_factor() -> Kernel:
    b = Kernel("column_factor", {"z0": "n", "z1": "m"})
    b.write(b.apply("Mul", b.read("x", "z0", "z1"), b.op("Exp", b.read("factor", "z0"))), "y")
    return b


def wide_number() -> Kernel:
    b = Kernel("wide_number", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.op("Select", b.apply("Lt", x, b.scalar(0.0, F32)), b.wide(b.scalar(1.5, F32)), x), "y")
    b.write(b.wide(b.scalar(2.5, F32)), "full")
    return b


def expand() -> Kernel:
    b = Kernel("expand", {"z0": "n", "z1": "m"})
    b.write(b.wide(b.read("row", "z1")), "y")
    return b


def position_mask() -> Kernel:
    b = Kernel("position_mask", {"z0": "n", "z1": "m"})
    mask = b.apply("Lt", b.axis_index("z1", dt.int32), b.read("length", "z0", dtype=dt.int32))
    b.write(b.op("Select", mask, b.read("x", "z0", "z1"), b.wide(b.scalar(0.0, F32))), "y")
    return b


def row_and_column() -> Kernel:
    """A number, a column and a row: each is the same for other tiles."""
    b = Kernel("row_and_column", {"z0": "n", "z1": "m"})
    x = b.apply("Sub", b.read("x", "z0", "z1"), b.read("column", "z0"))
    b.write(b.op("Select", b.apply("Lt", x, b.read("row", "z1")), x, b.wide(b.scalar(1.0, F32))), "y")
    return b


def random_kernel(seed: int) -> Kernel:
    """Draw a kernel: values over 2 or 3 axes, some of which are reduced again and again, and stores of some of them.

    Stored values cover the kept axes, and all or none of the reduced ones, as those of fused kernels do. One is a sum.
    """
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 4))
    axes = {f"z{i}": size for i, size in zip(range(rank), ("n", "m", "k"), strict=False)}
    names = tuple(axes)
    reduced = tuple(names[i] for i in sorted(rng.choice(rank, int(rng.integers(1, rank + 1)), replace=False)))
    b = Kernel(f"random{seed}", axes)
    values = [b.read("x0", *names)]
    for number in range(1, int(rng.integers(1, 4))):
        some = tuple(name for name in names if rng.random() < 0.6)
        values.append(b.read(f"x{number}", *some))
    for _ in range(int(rng.integers(3, 10))):
        value = values[int(rng.integers(len(values)))]
        match int(rng.integers(6)):
            case 0 | 1 if any(b.node(value).repeats[names.index(axis)] != const(1) for axis in reduced):
                op = ("Sum", "Max", "Min", "Prod")[int(rng.integers(4))]
                values.append(b.reduce(op, b.as_wide_as(value, *reduced), *reduced))
            case 2:
                op = ("Exp", "Neg", "Sqrt", "Tanh")[int(rng.integers(4))]
                values.append(b.op(op, value))
            case 3:
                values.append(b.apply("Mul", value, b.scalar(0.5, F32)))
            case _:
                other = values[int(rng.integers(len(values)))]
                walked = {a for v in (value, other) for a, r in zip(names, b.node(v).repeats, strict=True) if r != 1}
                op = ("Add", "Sub", "Maximum", "Div")[int(rng.integers(4))]
                values.append(b.op(op, b.as_wide_as(value, *walked), b.as_wide_as(other, *walked)))
    b.write(b.as_wide_as(b.reduce("Sum", b.as_wide_as(values[-1], *reduced), *reduced), *names), "total")
    for number in range(int(rng.integers(0, 3))):
        stored = values[-1 - number] if number < len(values) else values[-1]
        repeats = zip(names, b.node(stored).repeats, strict=True)
        is_row = all(repeat == const(1) for axis, repeat in repeats if axis in reduced)
        kept = tuple(axis for axis in names if axis not in reduced)
        b.write(b.as_wide_as(stored, *(kept if is_row else names)), f"y{number}")
    return b


def transposed_softmax() -> Kernel:
    b = Kernel("transposed_softmax", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", F32), ("m", "n"), ("z1", "z0"))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


KERNELS = (
    transposed_sum,
    transposed_softmax,
    softmax,
    layer_norm,
    column_sum,
    column_softmax,
    middle_variance,
    batch_norm,
    full_sum,
    full_normalise,
    rms_norm_half,
    integer_reductions,
    arg_max,
    masked_softmax,
    embedding_norm,
    padded_row_sum,
    running_sum,
    running_columns,
    running_both_ways,
    running_middle,
    running_softmax,
    softmax_running,
    integral_image,
    running_columns_of_norms,
    group_norm,
    outer_product_sum,
    weighted_normalise,
    bias,
    column_factor,
    wide_number,
    expand,
    position_mask,
    row_and_column,
)


@frozen
class Case:
    """A kernel with the facts about its arguments."""

    node: AscBackend
    facts: SymbolFacts

    @property
    def graph(self) -> AscGraph:
        """The kernel's graph."""
        return self.node.graph

    def scheduled(self, target: str) -> ScheduleResult:
        """Return its verified schedule."""
        result = schedule(self.node, self.facts, load_target(target), holds=True)
        verify(result)
        return result

    def arrays(self, sizes: Mapping[str, int], seed: int) -> list[Any]:
        """Return content for the inputs."""
        rng = np.random.default_rng(seed)
        found = []
        for name in self.node.inputs:
            fact = next(value for value in self.facts.values if value.name == name)
            shape = tuple(evaluate(dim, sizes) for dim in fact.shape or ())
            if fact.dtype.is_float:
                found.append(rng.normal(size=shape).astype(numpy_dtype(fact.dtype)))
            else:
                found.append(rng.integers(0, 7, shape).astype(numpy_dtype(fact.dtype)))
        return found

    def check(self, impl: ImplGraph, sizes: Mapping[str, int], seed: int) -> None:
        """Run ``impl`` with random tiles: it must give the bits of the graph."""
        arrays = self.arrays(sizes, seed)
        wanted = interpret(self.graph, arrays, sizes)
        tiles = random_tiles(impl, sizes, np.random.default_rng(seed))
        got = interpret_impl(impl, arrays, sizes, tiles, seed)
        for a, b in zip(got, wanted, strict=True):
            assert a.tobytes() == b.tobytes(), (impl.name, dict(sizes), tiles)


def random_tiles(impl: ImplGraph, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, int]:
    """Draw a legal size for each tile variable; small ones are as likely as whole axes."""
    tiles: dict[str, int] = {}
    for variable in impl.tile_variables:
        largest = evaluate(variable.hi, {**sizes, **tiles})
        allowed = range(variable.multiple, min(largest, 8 * variable.multiple) + 1, variable.multiple)
        tiles[variable.name] = int(rng.choice([*allowed, largest]))
    return tiles


def case_of(kernel: Kernel) -> Case:
    """Return the backend node of ``kernel`` with facts from its accesses."""
    graph = kernel.build()
    by_name = {node.name: node for node in graph.nodes}
    shapes = {node.inputs[0]: node.access.memory for node in graph.nodes if node.op == "Load"}
    outputs = [node for node in graph.nodes if node.op == "Output"]
    shapes |= {node.name: by_name[node.inputs[0]].access.memory for node in outputs}
    values = tuple(ValueFact(name, by_name[name].dtype, shape) for name, shape in shapes.items())
    symbols = sorted({s for axis in graph.axes for s in free_symbols(axis.size)})
    found = tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim(values[0].name, 0),)) for s in symbols)
    inputs = tuple(node.name for node in graph.nodes if node.op == "Data")
    node = AscBackend(graph.name, inputs, tuple(node.name for node in outputs), graph, ())
    return Case(node, SymbolFacts(found, values))


@pytest.fixture
def cases() -> Mapping[str, Callable[[], Case]]:
    """The kernels by name."""
    return {build.__name__: lambda build=build: case_of(build()) for build in KERNELS}


@pytest.fixture
def random_case() -> Callable[[int], Case]:
    """Return the random kernel of a seed."""
    return lambda seed: case_of(random_kernel(seed))


@pytest.fixture
def kernel_case(cases: Mapping[str, Callable[[], Case]], name: str) -> Case:
    """The kernel called ``name``."""
    return cases[name]()
