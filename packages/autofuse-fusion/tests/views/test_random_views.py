"""Random graphs of views between element-wise operators and reductions: fused and unfused give the reference's bits."""

import random
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import Dim, const, product, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_tensor_data

Shape = tuple[Dim, ...]
KINDS = (
    *("unary", "unary", "binary", "concat", "pad", "pad", "edge", "slice", "slice", "flip", "transpose", "tile"),
    *("gather", "reshape", "reduce", "roll"),
)
N, M, D = symbol("n"), symbol("m"), symbol("d")


class Drawn:
    """A graph drawn operator by operator: values with their shapes."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self.builder = GraphBuilder("random")
        self.inputs: list[tuple[str, Shape]] = []
        for number in range(self.random.randint(1, 2)):
            shape = self.random.choice(((N, M), (N, M), (D, N, M), (N, const(4), M), (M,)))
            self.inputs.append((self.builder.input(f"x{number}", shape, dt.float32), shape))
        self.values = list(self.inputs)
        for _ in range(count):
            self.step()

    def ints(self, *values: int) -> str:
        return self.builder.constant(to_tensor_data(np.asarray(values, np.int64)))

    def add(self, value: str, shape: Shape) -> None:
        self.values.append((value, shape))

    def step(self) -> None:
        draw, b = self.random, self.builder
        name, shape = draw.choice(self.values[-4:])
        rank = len(shape)
        axis = draw.randrange(rank) if rank else 0
        around = shape[:axis], shape[axis + 1 :]
        choice = draw.choice(KINDS)
        if choice == "unary" or rank == 0:
            self.add(b.op(draw.choice(("Relu", "Neg", "Abs", "Floor")), name), shape)
        elif choice == "binary":
            fits = [v for v, s in self.values if s == shape or s == shape[1:]]
            self.add(b.op(draw.choice(("Add", "Sub", "Maximum")), name, draw.choice(fits)), shape)
        elif choice == "concat":
            fitting = [(v, s) for v, s in self.values if len(s) == rank and (s[:axis], s[axis + 1 :]) == around]
            pieces = [draw.choice(fitting) for _ in range(draw.randint(1, 3))]
            size = sum((s[axis] for _, s in pieces), const(0))
            joined = b.op("ConcatD", *(v for v, _ in pieces), concat_dim=axis)
            self.add(joined, (*around[0], size, *around[1]))
        elif choice in ("pad", "edge"):
            before, after = draw.randint(0, 3), draw.randint(0, 3)
            pads = [0] * (2 * rank)
            pads[2 * axis : 2 * axis + 2] = before, after
            mode = "constant" if choice == "pad" else draw.choice(("edge", "circular"))
            fill = b.constant(to_tensor_data(np.asarray(draw.choice((0.0, -3.0)), np.float32)))
            self.add(
                b.op("PadV3", name, self.ints(*pads), fill if choice == "pad" else None, mode=mode),
                (*around[0], shape[axis] + before + after, *around[1]),
            )
        elif choice == "slice":
            padded = b.op(
                "PadV3", name, self.ints(*[2 if k // 2 == axis else 0 for k in range(2 * rank)]), mode="constant"
            )
            begin, end = draw.randint(0, 2), draw.randint(1, 2)
            cut = b.op("StridedSliceV3", padded, self.ints(begin), self.ints(-end), self.ints(axis))
            self.add(cut, (*around[0], shape[axis] + (4 - begin - end), *around[1]))
        elif choice == "flip":
            self.add(b.op("ReverseV2", name, self.ints(axis)), shape)
        elif choice == "transpose":
            perm = list(range(rank))
            draw.shuffle(perm)
            self.add(b.op("TransposeD", name, perm=tuple(perm)), tuple(shape[k] for k in perm))
        elif choice == "tile":
            counts = tuple(draw.choice((1, 1, 2)) for _ in shape)
            tiled = tuple(size * count for size, count in zip(shape, counts, strict=True))
            self.add(b.op("TileD", name, multiples=counts), tiled)
        elif choice == "gather":
            longer = b.op("PadV3", name, self.ints(*[int(k == 2 * axis) for k in range(2 * rank)]), mode="constant")
            index = self.ints(*(draw.choice((0, -1)) for _ in range(draw.randint(1, 3))))
            taken = b.op("GatherV2", longer, index, self.ints(axis), negative_index_support=True)
            self.add(taken, (*around[0], const(self.count(index)), *around[1]))
        elif choice == "reshape":
            self.add(b.op("Reshape", name, self.ints(-1)), (product(shape),))
        elif choice == "reduce":
            op = draw.choice(("ReduceSumD", "ReduceMaxD"))
            self.add(b.op(op, name, axes=(axis,), keep_dims=False), around[0] + around[1])
        else:
            self.add(b.op("Roll", name, shifts=(draw.randint(-4, 4),), dims=(axis,)), shape)

    def count(self, constant: str) -> int:
        graph = self.builder.build({"x": self.values[-1][0]})
        return next(c.data.element_count for c in graph.constants if c.name == constant)

    def graph(self) -> Graph:
        outputs = {"last": self.values[-1][0]}
        if self.random.random() < 0.3:
            outputs["other"] = self.random.choice(self.values[len(self.inputs) :])[0]
        return self.builder.build(outputs)


def arrays_of(drawn: Drawn, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {
        # Whole numbers: their sums are exact, whatever their order.
        name: generator.integers(-5, 6, [evaluate(d, sizes) for d in shape]).astype(np.float32)
        for name, shape in drawn.inputs
    }


SIZES = ({"n": 3, "m": 5, "d": 2}, {"n": 1, "m": 2, "d": 1}, {"n": 4, "m": 1, "d": 3})


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_of_views_keep_their_meaning(kit: Any, seed: int) -> None:
    drawn = Drawn(seed, 4 + seed % 9)
    graph = drawn.graph()
    for sizes in SIZES[: 1 + seed % 3]:
        arrays = arrays_of(drawn, sizes, seed)
        with np.errstate(all="ignore"):
            kit.check(graph, arrays)
            if seed % 4 == 0:
                kit.check(graph, arrays, enable=False)
