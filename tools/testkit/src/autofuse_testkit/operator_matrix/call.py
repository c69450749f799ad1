"""One call of an operator in the making: its inputs, with what they may hold, at a rank and for an element type."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import Dim, as_dim, free_symbols
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_ir.operators import Operator
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

from autofuse_testkit.networks import Network

Array: TypeAlias = np.ndarray[Any, Any]
Shape: TypeAlias = tuple[int, ...]
Sizes: TypeAlias = Mapping[str, int]
Content: TypeAlias = Callable[[np.random.Generator, Shape, DType, Sizes], Array]
Size: TypeAlias = int | str

MOST_ELEMENTS = 20_000
"""Elements of a tensor whose dims are small but for one."""


def around_zero(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Small numbers of both signs, or without one."""
    if dtype == dt.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.is_float:
        return np.asarray(2 * rng.standard_normal(shape)).astype(numpy_dtype(dtype))
    low = 0 if np.iinfo(numpy_dtype(dtype)).min == 0 else -9
    return np.asarray(rng.integers(low, 10, shape)).astype(numpy_dtype(dtype))


def positive(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Small numbers above zero: 1 to 5, or 0.1 to 2."""
    drawn = rng.uniform(0.1, 2.0, shape) if dtype.is_float else rng.integers(1, 6, shape)
    return np.asarray(drawn).astype(numpy_dtype(dtype))


def above_one(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Numbers from 1.1 to 9."""
    return np.asarray(rng.uniform(1.1, 9.0, shape)).astype(numpy_dtype(dtype))


def inside_one(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Numbers between -0.9 and 0.9."""
    return np.asarray(rng.uniform(-0.9, 0.9, shape)).astype(numpy_dtype(dtype))


def up_to_seven(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Integers that any type can be shifted by, and counts."""
    return np.asarray(rng.integers(0, 8, shape)).astype(numpy_dtype(dtype))


def below(*limits: Size) -> Content:
    """Indices below a size; of several sizes for the elements along the last dim. Of nothing: 0, which is too large."""

    def indices(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
        most = [max(1, evaluate(as_dim(limit), sizes)) for limit in limits]
        return np.asarray(rng.integers(0, most if len(most) > 1 else most[0], shape)).astype(numpy_dtype(dtype))

    return indices


@frozen
class Operand:
    """An input of a case."""

    name: str
    shape: tuple[Dim, ...]
    dtype: DType
    content: Content


@frozen
class Case:
    """A graph of one operator, all dims of which are symbols."""

    name: str
    operator: str
    graph: Graph
    operands: tuple[Operand, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The sizes that are free."""
        found = (name for operand in self.operands for dim in operand.shape for name in free_symbols(dim))
        return tuple(dict.fromkeys(found))

    def arrays(self, sizes: Sizes, rng: np.random.Generator) -> list[Array]:
        """Return contiguous arguments."""
        return [o.content(rng, tuple(evaluate(d, sizes) for d in o.shape), o.dtype, sizes) for o in self.operands]

    def points(self, most: int = MOST_ELEMENTS) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield sizes: one dim empty, all 1, all 2, odd, prime, and one dim large (to ``most`` elements) in turns."""
        names = self.symbols
        kinds: tuple[tuple[str, Sequence[int]], ...] = (
            ("one", (1,)),
            ("two", (2,)),
            ("odd", (3, 5, 9, 3, 1, 3)),
            ("prime", (7, 13, 5, 3, 2, 2)),
        )
        for kind, sizes in kinds:
            yield kind, {name: sizes[k % len(sizes)] for k, name in enumerate(names)}
        for position, name in enumerate(names):
            yield f"empty {name}", {each: 0 if each == name else 3 for each in names}
            rest = {each: (2, 3, 1)[(k + position) % 3] for k, each in enumerate(names) if each != name}
            yield f"large {name}", {**rest, name: min(4099, most // max(1, prod(rest.values())))}


class Call(Network):
    """Collects the inputs of one operator; ``turn`` numbers its variants."""

    def __init__(self, operator: Operator, rank: int, dtype: DType, turn: int) -> None:
        super().__init__("matrix")
        self.operator = operator
        self.rank = rank
        self.dtype = dtype
        self.turn = turn
        self.dims: tuple[Size, ...] = tuple("abcdef"[:rank])
        self._operands: list[Operand] = []

    def x(self, *shape: Size, dtype: DType | None = None, content: Content = around_zero) -> str:
        """Add an input."""
        operand = Operand(f"x{len(self._operands)}", tuple(map(as_dim, shape)), dtype or self.dtype, content)
        self._operands.append(operand)
        return self.input(operand.name, shape, operand.dtype)

    def whole(self, content: Content = around_zero, dtype: DType | None = None) -> str:
        """Add an input of all dims."""
        return self.x(*self.dims, dtype=dtype, content=content)

    def fixed(self, values: Any, dtype: DType = dt.int64) -> str:
        """Add a constant."""
        return self.constant(to_tensor_data(np.asarray(values, numpy_dtype(dtype))))

    def axis(self) -> int:
        """An axis, another one each turn."""
        return self.turn % self.rank

    def with_dim(self, axis: int, size: Size) -> tuple[Size, ...]:
        """The dims, one of them replaced."""
        return (*self.dims[:axis], size, *self.dims[axis + 1 :])

    def call(self, *inputs: str | None, outputs: int = 1, **attrs: Any) -> tuple[str, ...]:
        """Call the operator."""
        return self.op_outputs(self.operator.name, *inputs, outputs=outputs, **attrs)

    def case(self, results: Sequence[str], name: str) -> Case:
        """Return the case; a result that is an input is no result of its own."""
        graph = self.build({f"y{k}": result for k, result in enumerate(results)})
        hinted = tuple(evolve(symbol, hint=64) for symbol in graph.symbols)
        return Case(name, self.operator.name, evolve(graph, symbols=hinted), tuple(self._operands))


def strided(array: Array, turn: int) -> Array:
    """Return equal content that does not lie row-major: every other element, backwards, or transposed."""
    if array.ndim == 0:
        return array
    match turn % 3:
        case 0:
            wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
            view = wide[..., 1::2]
        case 1:
            view = np.zeros(array.shape, array.dtype)[..., ::-1]
        case _:
            view = np.zeros(array.shape[::-1], array.dtype).T
    view[...] = array
    return view
