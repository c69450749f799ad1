"""A network in the making: its values so far, and what operators of all families ask of it."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import Dim, as_dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_ir.operators import operator
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Array = np.ndarray[Any, Any]

LARGEST_DIM = 10_000
MOST_ELEMENTS = 12_000
FIXED = (1, 2, 3, 5, 8, 16, 31, 33, 64, 100)
DTYPES = (dt.float32, dt.float16, dt.bfloat16, dt.int32, dt.int16, dt.int8, dt.uint8, dt.bool_, dt.int64)
WEIGHTS = (9, 4, 3, 3, 1, 1, 1, 2, 1)


@frozen
class Known:
    """A value: its dtype, its dims, and whether some operator before it is not exact."""

    name: str
    dtype: DType
    shape: tuple[Dim, ...]
    loose: bool = False


@frozen
class Network:
    """A graph, its size symbols, the inputs that hold positions along a dim (by name), and the shapes of all values.

    ``is_exact``: no value is defined up to some ULP only, so that infinities, too, come out the same everywhere.
    """

    graph: Graph
    symbols: tuple[str, ...]
    positions: Mapping[str, Dim]
    shapes: tuple[tuple[Dim, ...], ...]
    is_exact: bool


class Drawing:
    """Draws a network operator by operator, the same for the same ``seed``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = GraphBuilder(f"network{seed}")
        rank = self.random.choice((1, 2, 2, 2, 3, 3, 4))
        self.symbols: list[str] = []
        self.largest_fixed = max(2, round(MOST_ELEMENTS ** (1 / rank) / 2))
        self.base = tuple(self._base_dim(i) for i in range(rank))
        self.dtypes = list(dict.fromkeys(self.random.choices(DTYPES, WEIGHTS, k=self.random.randint(1, 4))))
        self.values: list[Known] = []
        self.inputs = 0
        self.positions: dict[str, Dim] = {}
        self.input(self.dtypes[0], self.base)

    def network(self) -> Network:
        """Return the network: its results are the last value and up to two others."""
        made = self.values[1:] or self.values
        kept = list(dict.fromkeys((made[-1].name, *(v.name for v in self.random.choices(made, k=2)))))
        kept = kept[: self.random.choice((1, 1, 2, 3))]
        graph = self.builder.build({f"y{i}": name for i, name in enumerate(kept)})
        shapes = tuple(dict.fromkeys(value.shape for value in self.values))
        is_exact = not any(value.loose for value in self.values)
        return Network(graph, tuple(self.symbols), self.positions, shapes, is_exact)

    def _base_dim(self, number: int) -> Dim:
        if self.random.random() < 0.6:
            return self.symbol(f"n{number}")
        return const(self.random.choice([size for size in FIXED if size <= self.largest_fixed]))

    def symbol(self, name: str) -> Dim:
        """Return a new size that calls choose."""
        self.symbols.append(self.builder.symbol(name, 0, LARGEST_DIM))
        return as_dim(name)

    def coin(self) -> bool:
        """Return True half of the time."""
        return self.random.random() < 0.5

    def add(self, name: str, dtype: DType, shape: tuple[Dim, ...], loose: bool = False) -> Known:
        """Note a value that was made."""
        self.values.append(Known(name, dtype, shape, loose and dtype.is_float))
        return self.values[-1]

    def input(self, dtype: DType, shape: tuple[Dim, ...]) -> Known:
        """Return a new input."""
        self.inputs += 1
        return self.add(self.builder.input(f"x{self.inputs}", shape, dtype), dtype, shape)

    def integers(self, *values: int) -> str:
        """Return a constant vector of int64."""
        return self.builder.constant(to_tensor_data(np.asarray(values, np.int64)))

    def number(self, value: float, dtype: DType) -> str:
        """Return a constant of rank 0."""
        return self.builder.constant(to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype))))

    def value(self, op: str, exact: bool = False, rank: int = 0) -> Known | None:
        """A recent value that ``op`` takes, cast where none has the dtype; ``rank`` is the least."""
        types = operator(op).inputs[-1].types
        fitting = [v for v in self.values[-6:] if not (exact and v.loose) and len(v.shape) >= rank]
        ready = [v for v in fitting if v.dtype in types]
        if ready:
            return self.random.choice(ready)
        wanted = [d for d in self.dtypes if d in types]
        if not fitting or not wanted:
            return None
        return self.cast_to(self.random.choice(fitting), self.random.choice(wanted))

    def cast_to(self, value: Known, dtype: DType) -> Known | None:
        if value.loose and not dtype.is_float:
            return None
        name = self.builder.op("Cast", value.name, dst_type=dtype.ascend_code)
        return self.add(name, dtype, value.shape, value.loose)

    def beside(self, value: Known, exact: bool = False) -> str:
        """Something of the dtype of ``value`` that broadcasts to it: a value, a number, or a new input."""
        same = [v for v in self.values if v.dtype == value.dtype and v.shape == value.shape and not (exact and v.loose)]
        if same and self.random.random() < 0.6:
            return self.random.choice(same[-3:]).name
        if self.random.random() < 0.3:
            return self.number(self.random.choice((0, 1, 2, 3)), value.dtype)
        kept = tuple(d if self.random.random() < 0.6 else const(1) for d in value.shape)
        return self.input(value.dtype, kept[self.random.randint(0, len(kept)) if self.coin() else 0 :]).name

    def movable(self) -> Known:
        """A value to view otherwise; inputs too."""
        fitting = [v for v in self.values if v.shape]
        return self.random.choice(fitting[-4:] if self.coin() else fitting)

    def least(self, dim: Dim) -> int:
        """Return the smallest that ``dim`` can be."""
        return evaluate(dim, dict.fromkeys(self.symbols, 0))
