"""Networks drawn at random over all families: element-wise, casts, broadcasts, reductions, views, gathers, scans.

Floats that no two implementations need have the same bits of (`loose` values) feed nothing that jumps or has a pole.
"""

import random
from collections.abc import Iterator, Mapping
from math import prod
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
SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 64, 100, 129, 257, 300, 1000, 1024, 4099, 9001)
DTYPES = (dt.float32, dt.float16, dt.bfloat16, dt.int32, dt.int16, dt.int8, dt.uint8, dt.bool_, dt.int64)
WEIGHTS = (9, 4, 3, 3, 1, 1, 1, 2, 1)

EXACT_UNARY = ("Abs", "Neg", "Relu", "Square", "Sqrt", "Reciprocal", "Floor", "Ceil", "Sign", "Rint", "LogicalNot")
JUMPS_OR_POLES = ("Sqrt", "Reciprocal", "Floor", "Ceil", "Sign", "Rint", "LogicalNot")
INEXACT_UNARY = ("Exp", "Tanh", "Sigmoid", "Erf", "GeluV2", "Swish", "Sin", "Softplus", "Elu")
BINARY = ("Add", "Sub", "Mul", "Maximum", "Minimum", "RealDiv", "LogicalAnd", "LogicalOr", "BitwiseAnd", "BitwiseXor")
COMPARES = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
REDUCTIONS = ("ReduceSumD", "ReduceMeanD", "ReduceMaxD", "ReduceMinD", "ReduceProdD", "ReduceAnyD", "ReduceAllD")
FAMILIES = {
    "unary": 4,
    "binary": 5,
    "compare": 1,
    "select": 1,
    "cast": 2,
    "reduce": 3,
    "normalise": 2,
    "arg": 1,
    "scan": 1,
    "gather": 1,
    "transpose": 1,
    "slice": 1,
    "pad": 1,
    "concat": 1,
    "split": 1,
    "tile": 1,
    "reverse": 1,
    "reshape": 1,
}


@frozen
class Known:
    """A value: its dtype, its dims, and whether some operator before it is not exact."""

    name: str
    dtype: DType
    shape: tuple[Dim, ...]
    loose: bool = False


@frozen
class Network:
    """A graph, its size symbols, the inputs that hold positions along a dim (by name), and the shapes of all values."""

    graph: Graph
    symbols: tuple[str, ...]
    positions: Mapping[str, Dim]
    shapes: tuple[tuple[Dim, ...], ...]


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
        self._input(self.dtypes[0], self.base)
        for _ in range(self.random.randint(2, 11)):
            family = self.random.choices(tuple(FAMILIES), tuple(FAMILIES.values()))[0]
            getattr(self, f"_{family}")()

    def network(self) -> Network:
        """Return the network: its results are the last value and up to two others."""
        made = self.values[1:] or self.values
        kept = list(dict.fromkeys((made[-1].name, *(v.name for v in self.random.choices(made, k=2)))))
        kept = kept[: self.random.choice((1, 1, 2, 3))]
        graph = self.builder.build({f"y{i}": name for i, name in enumerate(kept)})
        shapes = tuple(dict.fromkeys(value.shape for value in self.values))
        return Network(graph, tuple(self.symbols), self.positions, shapes)

    def _base_dim(self, number: int) -> Dim:
        if self.random.random() < 0.6:
            return self._symbol(f"n{number}")
        return const(self.random.choice([size for size in FIXED if size <= self.largest_fixed]))

    def _symbol(self, name: str) -> Dim:
        self.symbols.append(self.builder.symbol(name, 0, LARGEST_DIM))
        return as_dim(name)

    def _coin(self) -> bool:
        return self.random.random() < 0.5

    def _add(self, name: str, dtype: DType, shape: tuple[Dim, ...], loose: bool = False) -> Known:
        self.values.append(Known(name, dtype, shape, loose and dtype.is_float))
        return self.values[-1]

    def _input(self, dtype: DType, shape: tuple[Dim, ...]) -> Known:
        self.inputs += 1
        return self._add(self.builder.input(f"x{self.inputs}", shape, dtype), dtype, shape)

    def _integers(self, *values: int) -> str:
        return self.builder.constant(to_tensor_data(np.asarray(values, np.int64)))

    def _number(self, value: float, dtype: DType) -> str:
        return self.builder.constant(to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype))))

    def _value(self, op: str, exact: bool = False, rank: int = 0) -> Known | None:
        """A recent value that ``op`` takes, cast where none has the dtype; ``rank`` is the least."""
        types = operator(op).inputs[-1].types
        fitting = [v for v in self.values[-6:] if not (exact and v.loose) and len(v.shape) >= rank]
        ready = [v for v in fitting if v.dtype in types]
        if ready:
            return self.random.choice(ready)
        wanted = [d for d in self.dtypes if d in types]
        if not fitting or not wanted:
            return None
        return self._cast_to(self.random.choice(fitting), self.random.choice(wanted))

    def _cast_to(self, value: Known, dtype: DType) -> Known | None:
        if value.loose and not dtype.is_float:
            return None
        name = self.builder.op("Cast", value.name, dst_type=dtype.ascend_code)
        return self._add(name, dtype, value.shape, value.loose)

    def _beside(self, value: Known, exact: bool = False) -> str:
        """Something of the dtype of ``value`` that broadcasts to it: a value, a number, or a new input."""
        same = [v for v in self.values if v.dtype == value.dtype and v.shape == value.shape and not (exact and v.loose)]
        if same and self.random.random() < 0.6:
            return self.random.choice(same[-3:]).name
        if self.random.random() < 0.3:
            return self._number(self.random.choice((0, 1, 2, 3)), value.dtype)
        kept = tuple(d if self.random.random() < 0.6 else const(1) for d in value.shape)
        return self._input(value.dtype, kept[self.random.randint(0, len(kept)) if self._coin() else 0 :]).name

    def _unary(self) -> None:
        op = self.random.choice(EXACT_UNARY if self._coin() else INEXACT_UNARY)
        value = self._value(op, op in JUMPS_OR_POLES)
        if value is None:
            return
        attrs: dict[str, Any] = {"approximate": self.random.choice(("none", "tanh"))} if op == "GeluV2" else {}
        name = self.builder.op(op, value.name, **attrs)
        dtype = dt.bool_ if op == "LogicalNot" else value.dtype
        self._add(name, dtype, value.shape, value.loose or op in INEXACT_UNARY)

    def _binary(self) -> None:
        op = self.random.choice(BINARY)
        value = self._value(op, op in ("RealDiv", "LogicalAnd", "LogicalOr"))
        if value is None:
            return
        other = self._beside(value, op in ("RealDiv", "LogicalAnd", "LogicalOr"))
        loose = value.loose or any(v.loose for v in self.values if v.name == other)
        pair = (value.name, other) if op == "RealDiv" or self._coin() else (other, value.name)
        dtype = dt.bool_ if op.startswith("Logical") else value.dtype
        self._add(self.builder.op(op, *pair), dtype, value.shape, loose)

    def _compare(self) -> None:
        op = self.random.choice(COMPARES)
        if (value := self._value(op, exact=True)) is not None:
            self._add(self.builder.op(op, value.name, self._beside(value, exact=True)), dt.bool_, value.shape)

    def _select(self) -> None:
        masks = [v for v in self.values if v.dtype == dt.bool_]
        mask = self.random.choice(masks) if masks else self._input(dt.bool_, self.values[-1].shape)
        fitting = [v for v in self.values if v.shape == mask.shape]
        value = self.random.choice(fitting)
        other = self._beside(value)
        loose = value.loose or any(v.loose for v in self.values if v.name == other)
        self._add(self.builder.op("SelectV2", mask.name, value.name, other), value.dtype, value.shape, loose)

    def _cast(self) -> None:
        self._cast_to(self.random.choice(self.values[-6:]), self.random.choice(self.dtypes))

    def _reduce(self) -> None:
        op = self.random.choice(REDUCTIONS)
        value = self._value(op, op in ("ReduceAnyD", "ReduceAllD"), rank=1)
        if value is None:
            return
        rank = len(value.shape)
        axes = tuple(sorted(self.random.sample(range(rank), self.random.randint(1, min(rank, 2)))))
        dtype = dt.bool_ if op in ("ReduceAnyD", "ReduceAllD") else value.dtype
        shape = tuple(const(1) if i in axes else d for i, d in enumerate(value.shape))
        made = self._add(self.builder.op(op, value.name, axes=axes, keep_dims=True), dtype, shape, value.loose)
        if dtype == value.dtype and dtype != dt.bool_ and self.random.random() < 0.6:
            # what was reduced goes back to the whole, as in norms
            name = self.builder.op("Sub", value.name, made.name)
            self._add(name, dtype, value.shape, value.loose)

    def _normalise(self) -> None:
        op = self.random.choice(("SoftmaxV2", "LogSoftmaxV2", "LayerNorm", "RmsNorm"))
        value = self._value(op, rank=1)
        if value is None:
            return
        if "Softmax" in op:
            axis = self.random.randrange(len(value.shape))
            self._add(self.builder.op(op, value.name, axes=(axis,)), value.dtype, value.shape, True)
            return
        gamma = self._input(value.dtype, value.shape[-1:]).name
        if op == "RmsNorm":
            (name, _) = self.builder.op_outputs(op, value.name, gamma, outputs=2, epsilon=1e-3)
        else:
            beta = self._input(value.dtype, value.shape[-1:]).name
            name, *_ = self.builder.op_outputs(
                op, value.name, gamma, beta, outputs=3, begin_norm_axis=-1, begin_params_axis=-1, epsilon=1e-3
            )
        self._add(name, value.dtype, value.shape, True)

    def _arg(self) -> None:
        value = self._value("ArgMax", exact=True, rank=1)
        if value is None:
            return
        axis = self.random.randrange(len(value.shape))
        op = self.random.choice(("ArgMax", "ArgMin"))
        name = self.builder.op(op, value.name, axis=axis, keepdims=True, select_last_index=self._coin())
        shape = tuple(const(1) if i == axis else d for i, d in enumerate(value.shape))
        self._add(name, dt.int64, shape)

    def _scan(self) -> None:
        op = self.random.choice(("Cumsum", "Cumsum", "Cumprod"))
        types = operator(op).inputs[0].types
        fitting = [v for v in self.values[-6:] if v.dtype in types and v.shape]
        if fitting:
            value = self.random.choice(fitting)
            axis = self._number(self.random.randrange(len(value.shape)), dt.int64)
            name = self.builder.op(op, value.name, axis, exclusive=self._coin(), reverse=self._coin())
            self._add(name, value.dtype, value.shape, value.loose)

    def _movable(self) -> Known:
        """A value to view otherwise; inputs too."""
        fitting = [v for v in self.values if v.shape]
        return self.random.choice(fitting[-4:] if self._coin() else fitting)

    def _gather(self) -> None:
        value = self._movable()
        axis = self.random.randrange(len(value.shape))
        count = self._symbol(f"k{len(self.symbols)}") if self._coin() else const(self.random.choice(FIXED))
        dtype = self.random.choice((dt.int32, dt.int64))
        indices = self.builder.input(f"i{self.inputs}", (count,), dtype)
        self.inputs += 1
        self.positions[indices] = value.shape[axis]
        name = self.builder.op("GatherV2", value.name, indices, self._number(axis, dt.int64))
        self._add(name, value.dtype, (*value.shape[:axis], count, *value.shape[axis + 1 :]), value.loose)

    def _transpose(self) -> None:
        value = self._movable()
        order = list(range(len(value.shape)))
        self.random.shuffle(order)
        name = self.builder.op("TransposeD", value.name, perm=tuple(order))
        self._add(name, value.dtype, tuple(value.shape[i] for i in order), value.loose)

    def _least(self, dim: Dim) -> int:
        return evaluate(dim, dict.fromkeys(self.symbols, 0))

    def _slice(self) -> None:
        value = self._movable()
        offsets, shape = [], []
        for dim in value.shape:
            offset = self.random.randint(0, min(3, self._least(dim)))
            offsets.append(offset)
            shape.append(dim - offset)
        name = self.builder.op("SliceD", value.name, offsets=tuple(offsets), size=(-1,) * len(offsets))
        self._add(name, value.dtype, tuple(shape), value.loose)

    def _pad(self) -> None:
        value = self._movable()
        pads = tuple(
            (self.random.randint(0, 2), self.random.randint(0, 3)) if self._coin() else (0, 0) for _ in value.shape
        )
        flat = self._integers(*(count for pair in pads for count in pair))
        name = self.builder.op("PadV3", value.name, flat, mode="constant")
        shape = tuple(d + before + after for d, (before, after) in zip(value.shape, pads, strict=True))
        self._add(name, value.dtype, shape, value.loose)

    def _concat(self) -> None:
        value = self._movable()
        axis = self.random.randrange(len(value.shape))
        rest = value.shape[:axis] + value.shape[axis + 1 :]
        fitting = [
            v
            for v in self.values
            if len(v.shape) == len(value.shape)
            and v.shape[:axis] + v.shape[axis + 1 :] == rest
            and v.dtype == value.dtype
        ]
        pieces = [value, *self.random.choices(fitting, k=self.random.randint(1, 2))]
        joined = sum((p.shape[axis] for p in pieces), const(0))
        if evaluate(joined, dict.fromkeys(self.symbols, LARGEST_DIM)) > 4 * LARGEST_DIM:
            return
        name = self.builder.op("ConcatV2D", *(p.name for p in pieces), concat_dim=axis, N=len(pieces))
        self._add(
            name, value.dtype, (*value.shape[:axis], joined, *value.shape[axis + 1 :]), any(p.loose for p in pieces)
        )

    def _split(self) -> None:
        value = self._movable()
        axis = self.random.randrange(len(value.shape))
        pieces = self.random.choice((2, 3))
        size = value.shape[axis] // pieces
        if size * pieces != value.shape[axis]:
            return
        for name in self.builder.op_outputs("SplitD", value.name, outputs=pieces, split_dim=axis, num_split=pieces):
            shape = (*value.shape[:axis], size, *value.shape[axis + 1 :])
            self._add(name, value.dtype, shape, value.loose)

    def _tile(self) -> None:
        value = self._movable()
        counts = tuple(self.random.choice((1, 1, 1, 2, 3)) for _ in value.shape)
        shape = tuple(d * count for d, count in zip(value.shape, counts, strict=True))
        if any(evaluate(d, dict.fromkeys(self.symbols, LARGEST_DIM)) > 4 * LARGEST_DIM for d in shape):
            return
        self._add(self.builder.op("TileD", value.name, multiples=counts), value.dtype, shape, value.loose)

    def _reverse(self) -> None:
        value = self._movable()
        axis = self._integers(self.random.randrange(len(value.shape)))
        self._add(self.builder.op("ReverseV2", value.name, axis), value.dtype, value.shape, value.loose)

    def _reshape(self) -> None:
        """Join two dims, or give one a unit dim beside it."""
        value = self._movable()
        at = self.random.randrange(len(value.shape))
        if at + 1 < len(value.shape) and self._coin():
            shape = (*value.shape[:at], value.shape[at] * value.shape[at + 1], *value.shape[at + 2 :])
            if evaluate(shape[at], dict.fromkeys(self.symbols, LARGEST_DIM)) > LARGEST_DIM:
                return
            sizes = [0] * at + [-1] + [int(str(d)) if d.is_constant else -2 for d in value.shape[at + 2 :]]
            if -2 in sizes or any(d == 0 for d in value.shape):
                return
            name = self.builder.op("Reshape", value.name, self._integers(*sizes))
        elif len(value.shape) < 4:
            shape = (*value.shape[:at], const(1), *value.shape[at:])
            name = self.builder.op("Unsqueeze", value.name, axes=(at,))
        else:
            return
        self._add(name, value.dtype, shape, value.loose)


def network_of(seed: int) -> Network:
    """Return the network of ``seed``."""
    return Drawing(seed).network()


def calls(network: Network, seed: int, count: int) -> Iterator[tuple[dict[str, int], dict[str, Array]]]:
    """Yield sizes and arguments of ``count`` calls: a few tiny, one of them empty, most in between."""
    rng = np.random.default_rng(seed)
    for number in range(count if network.symbols else min(count, 2)):
        yield (sizes := _sizes(network, rng, number)), _arguments(network, sizes, rng, number)


def _sizes(network: Network, rng: np.random.Generator, number: int) -> dict[str, int]:
    least = 0 if number in (0, 7) else 1
    for tried in range(500):
        limit = 3 if number < 2 or tried > 400 else 64 if tried > 200 else SIZES[-1]
        sizes = {s: int(rng.choice([c for c in SIZES if least <= c <= limit])) for s in network.symbols}
        if max(prod(evaluate(d, sizes) for d in shape) for shape in network.shapes) <= MOST_ELEMENTS:
            break
    return sizes


def _arguments(network: Network, sizes: Mapping[str, int], rng: np.random.Generator, number: int) -> dict[str, Array]:
    found = {}
    for value in network.graph.inputs:
        shape = tuple(evaluate(d, sizes) for d in value.shape or ())
        if value.name in network.positions:
            most = max(1, evaluate(network.positions[value.name], sizes))
            found[value.name] = rng.integers(0, most, shape).astype(numpy_dtype(value.dtype))
        else:
            found[value.name] = _content(rng, value.dtype, shape, special=number % 5 == 4)
    return found


def _content(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], special: bool) -> Array:
    kind = numpy_dtype(dtype)
    if dtype == dt.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        limits = np.iinfo(kind)
        values = rng.integers(max(-9, limits.min), 10, shape).astype(kind)
        return np.where(rng.random(shape) < 0.1, rng.choice([limits.min, limits.max]), values).astype(kind)
    values = np.where(rng.random(shape) < 0.5, rng.integers(-8, 9, shape) / 2, rng.normal(0, 2, shape))
    if special:
        values = np.where(
            rng.random(shape) < 0.1, rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-30], shape), values
        )
    return values.astype(kind)
