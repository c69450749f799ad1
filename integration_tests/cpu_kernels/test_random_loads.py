"""Random kernels of loads of every kind, scans, axis indices, selects and reductions, against the interpreter.

Loads are plain, permuted, flipped, broadcast, or leave their data by a step and an offset (filled), or follow index
values (filled, or an error where an index is out of range).
"""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.dims import as_dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import StatusError
from autofuse_testkit.kernel_library import KernelLibrary, assert_same, memory_of, sample

KERNELS = 36
HALVES = (dt.float16, dt.bfloat16)
DTYPES = (dt.bool_, dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint64, dt.float32, dt.float64, *HALVES)
INDICES = (dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint32, dt.uint64)
SHAPES = ((0, 3, 2), (1, 1, 1), (2, 5, 3), (3, 17, 33), (7, 64, 5), (2, 3, 200), (40, 2, 66))
INDEX_OUT_OF_RANGE = 1 << 1


class RandomKernel:
    """Draws one kernel over one to three axes ``a``, ``b``, ``c``; gathered data has ``v`` elements."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.b = AscGraphBuilder("drawn", {f"z{i}": "abc"[i] for i in range(int(random.integers(1, 4)))})
        self.axes, self.shape = list(self.b.axes), tuple(self.b.axes.values())
        self.dtype: DType = self.pick(DTYPES)
        self.index_dtype: DType = self.pick(INDICES)
        self.fill: Any = True if self.dtype == dt.bool_ else 3
        self.inputs = 0

    def pick(self, options: Any) -> Any:
        return options[int(self.random.integers(0, len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def data(self, kind: str, dtype: DType) -> str:
        self.inputs += 1
        return self.b.input(f"{kind}{self.inputs}", dtype)

    def wide(self, value: str) -> str:
        made = {node.name: node for node in self.b.build().nodes}
        for axis, repeat in zip(self.axes, made[value].repeats, strict=True):
            if repeat == 1:
                value = self.b.broadcast(value, axis)
        return value

    def index(self) -> str:
        rank = len(self.axes)
        places = sorted(self.random.choice(rank, int(self.random.integers(0, rank + 1)), replace=False).tolist())
        shape, axes = tuple(self.shape[k] for k in places), tuple(self.axes[k] for k in places)
        return self.b.load(self.data("index", self.index_dtype), shape or (1,), axes or (0,))

    def load(self) -> str:
        kind = self.pick(["plain", "permuted", "filled", "filled", "flipped", "gathered", "gathered", "narrow", "row"])
        axes, shape, name = self.axes, self.shape, self.data("x", self.dtype)
        match kind:
            case "plain":
                return self.b.load(name, shape, tuple(axes))
            case "permuted":
                order = self.random.permutation(len(axes))
                return self.b.load(name, tuple(shape[k] for k in order), tuple(axes[k] for k in order))
            case "flipped":
                return self.b.load(name, shape, tuple((a, -1, as_dim(s) - 1) for a, s in zip(axes, shape, strict=True)))
            case "narrow":
                return self.b.load(name, shape[:1], tuple(axes[:1]))
            case "row":
                return self.b.load(name, shape[-1:], tuple(axes[-1:]))
            case "filled":
                return self.filled(name)
            case _:
                return self.gathered(name)

    def filled(self, name: str) -> str:
        memory, at = [], []
        for axis, size in zip(self.axes, self.shape, strict=True):
            offset, step = as_dim(int(self.random.integers(-3, 4))), self.pick([1, 1, 2, -1, -2])
            memory.append(self.pick([as_dim(size), as_dim(size) + 3, as_dim(5)]))
            at.append((axis, step, offset + as_dim(size) - 1 if step < 0 else offset))
        if self.chance(0.3):  # a second dim along the same axis
            memory.append(as_dim(7))
            at.append((self.axes[-1], 1, as_dim(-2)))
        return self.b.load(name, tuple(memory), tuple(at), bounds=Bounds.FILL, fill=self.fill)

    def gathered(self, name: str) -> str:
        memory: list[Any] = ["v"]
        at: list[Any] = [Operand(0)]
        indices = [self.index()]
        if self.chance(0.5):
            axis = int(self.random.integers(0, len(self.axes)))
            memory.append(self.shape[axis])
            at.append(self.axes[axis])
        if self.chance(0.3):
            indices.append(self.index())
            memory.insert(0, 4)
            at.insert(0, (Operand(1), 1, -1))
        bounds = self.pick([Bounds.FILL, Bounds.ERROR])
        fill = self.fill if bounds is Bounds.FILL else None
        return self.b.load(name, tuple(memory), tuple(at), indices=tuple(indices), bounds=bounds, fill=fill)

    def joined(self, left: str, right: str) -> str:
        if self.dtype in HALVES:
            wide = [self.b.cast(value, dt.float32) for value in (left, right)]
            return self.b.cast(self.b.op("Add", *wide), self.dtype)
        return self.b.op("LogicalXor" if self.dtype == dt.bool_ else "Sub", left, right)

    def graph(self) -> AscGraph:
        value = self.wide(self.load())
        for _ in range(int(self.random.integers(0, 3))):
            value = self.joined(value, self.wide(self.load()))
        is_number = self.dtype != dt.bool_ and self.dtype not in HALVES
        if is_number and self.chance(0.5):
            op, axis = self.pick(["CumSum", "CumProd"]), self.pick(self.axes)
            value = self.b.scan(op, value, axis, exclusive=self.chance(0.4), reverse=self.chance(0.4))
        for part in range(int(self.random.integers(0, 3))):  # two of them nest: a chain of sides
            axis = self.pick(self.axes)
            index = self.b.axis_index(axis, self.pick([dt.int32, dt.int64]))
            kind = next(node.dtype for node in self.b.build().nodes if node.name == index)
            limit = self.b.size(as_dim(self.b.axes[axis]) // 2 + part, kind)
            value = self.b.op("Select", self.wide(self.b.op("Lt", index, limit)), value, self.wide(self.load()))
        if is_number and self.chance(0.4):
            count = int(self.random.integers(1, len(self.axes) + 1))
            places = sorted(self.random.choice(len(self.axes), count, replace=False).tolist())
            result = self.b.reduce(self.pick(["Sum", "Max"]), value, *(self.axes[k] for k in places))
            value = self.b.op("Sub", value, self.wide(result))
        self.b.store(value, "out", self.shape, tuple(self.axes))
        return self.b.build()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    built = KernelLibrary(tmp_path_factory.mktemp("random_loads"))
    for number in range(KERNELS):
        built.add(f"drawn{number}", RandomKernel(np.random.default_rng(number)).graph())
    return built.build()


@pytest.mark.parametrize("shape", SHAPES)
def test_random_kernels_compute_what_the_interpreter_does(library: KernelLibrary, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(shape)
    for name, graph in library.graphs.items():
        sizes = {**dict(zip("abc", shape, strict=True)), "v": int(random.integers(1, 12))}
        inputs = [content(graph, node.name, sizes, random) for node in graph.nodes if node.op == "Data"]
        found = library.run(name, inputs, sizes, int(random.choice([1, 3])), stream=bool(random.random() < 0.5))
        assert found is not None
        status, (output,) = found
        try:
            with np.errstate(all="ignore"):
                (expected,) = interpret(graph, inputs, sizes)
        except StatusError:
            # where nothing is written, nothing is read either
            assert status == (INDEX_OUT_OF_RANGE if output.size else 0), f"{name} of {sizes}"
            continue
        assert status == 0, f"{name} of {sizes}"
        assert_same(output, expected, f"{name} of {sizes}")


def content(graph: AscGraph, name: str, sizes: dict[str, int], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return data for input ``name``; indices are in range more often than not."""
    dtype = next(node.dtype for node in graph.nodes if node.name == name)
    shape = tuple(evaluate(dim, sizes) for dim in memory_of(graph, name))
    if not name.startswith("index"):
        return sample(dtype, shape, random)
    wanted = numpy_dtype(dtype)
    values = random.integers(0, min(sizes["v"], 4), shape).astype(wanted)
    if random.random() < 0.3 and values.size:
        wrong = (int(np.iinfo(wanted).max), sizes["v"] + 4)[int(random.integers(0, 2))]
        values.reshape(-1)[random.integers(0, values.size)] = wrong
    return values
