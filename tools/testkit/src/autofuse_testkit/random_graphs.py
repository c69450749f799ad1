"""Graphs drawn at random over every operator that fuses. Needs the packages, unlike the rest of the plug-in."""

import random
from typing import Any

import numpy as np
from attrs import evolve, frozen
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import VIEWS, all_lowerings
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_ir.operators import Flag, Operator, ParamKind, operator
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

from autofuse_testkit.drawn_values import JUMPS_OR_POLES, Known, Places, is_inexact, joined, result_dtype, widens_to

Dims = tuple[int | str, ...]

SIZES = (0, 1, 2, 3, 7, 13, 31, 64, 97, 256, 1021, 4096)
MOST_ELEMENTS = 20_000
OPS = tuple(
    sorted(each.name for each in all_lowerings() if each.space is broadcast_space and each.name != "AscendQuant")
)
SHAPE_OPS = ("BroadcastTo", "Expand", "Fill")
VIEW_OPS = tuple(sorted(VIEWS))
SAME_SHAPE = frozenset(
    name for name in OPS if operator(name).family.value in ("gradient", "optimizer") or name == "Select"
)
SCALARS = {
    "PRelu": ("weight",),
    "Clip": ("min", "max"),
    "ClipByValue": ("clip_value_min", "clip_value_max"),
    "ThresholdV2": ("threshold", "value"),
    "FusedMulAddN": ("x3",),
    "Addcmul": ("value",),
    "Addcdiv": ("value",),
    "MaskedFill": ("value",),
    "ApplyGradientDescent": ("alpha",),
    "ApplyAdagradD": ("lr",),
    "ApplyAdamD": ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"),
}
DIVISIONS = {"Div": "x2", "FloorDiv": "x2", "TruncateDiv": "x2", "FloorMod": "x2", "Mod": "x2", "TruncateMod": "x2"}


@frozen
class Drawn:
    """A graph, the sizes that its dims may have together, and which outputs are not exact."""

    graph: Graph
    base: Dims
    inputs: tuple[tuple[str, DType, Dims], ...]
    loose: frozenset[str]


class Drawing:
    """Draws a graph operator by operator: ``steps`` of them (some come to nothing), the same for the same ``seed``.

    ``numerics`` is what the graph will be compiled with; it decides which values are exact.
    """

    def __init__(self, seed: int, steps: int, numerics: str) -> None:
        self.random = random.Random(seed)
        self.rounds_halves = numerics == "strict"
        self.builder = GraphBuilder("random")
        rank = self.random.randint(0, 6)
        self.base: Dims = tuple(self._base_dim(i, rank) for i in range(rank))
        self.dtypes = self.random.sample(dt.TENSOR_DTYPES, self.random.randint(1, 3))
        self.inputs: list[tuple[str, DType, Dims]] = []
        self.values: list[Known] = []
        self.views = 0
        self._new_input(self.dtypes[0], wide=True)
        for _ in range(steps):
            self._step()

    def _coin(self) -> bool:
        return self.random.random() < 0.5

    def _base_dim(self, position: int, rank: int) -> int | str:
        most = round(MOST_ELEMENTS ** (1 / max(1, rank)))
        return f"n{position}" if self._coin() else self.random.choice([s for s in SIZES if s <= most])

    def _step(self) -> None:
        kind = self.random.randint(0, 11)
        if kind == 0:
            self._view()
        elif kind == 1:
            self._widen()
        else:
            self._apply(operator(self.random.choice([op for op in OPS if op not in SHAPE_OPS])))

    def _new_input(self, dtype: DType, wide: bool = False, scalar: bool = False) -> Known:
        rank = 0 if scalar else len(self.base) if wide else self.random.randint(0, len(self.base))
        shape: list[int | str] = []
        for position, dim in enumerate(self.base[len(self.base) - rank :], len(self.base) - rank):
            # A dim of its own may be 1 or the same: only the sizes of a call say which.
            choices = (dim, dim, 1, f"m{position}" if isinstance(dim, str) else dim)
            shape.append(dim if wide else self.random.choice(choices))
        name = self.builder.input(f"x{len(self.inputs)}", tuple(shape), dtype)
        self.inputs.append((name, dtype, tuple(shape)))
        value = Known(name, dtype, tuple(frozenset({d} - {1}) for d in shape))
        self.values.append(value)
        return value

    def _constant(self, value: int, dtype: DType) -> str:
        return self.builder.constant(to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype))))

    def _cast(self, value: Known, dtype: DType) -> Known:
        name = self.builder.op("Cast", value.name, dst_type=dtype.ascend_code)
        return self._add(name, dtype, value.dims, value.view, self._is_loose("Cast", dtype, (value,)))

    def _pick(self, dtype: DType, exact: bool, beside: Known | None, same: bool) -> Known:
        """Return a value of ``dtype`` that goes beside ``beside``: one there is, a cast of one, or a new input."""

        def fits(value: Known) -> bool:
            if exact and value.loose:
                return False
            if beside is None:
                return True
            if same or value.view != beside.view:
                return value.dims == beside.dims and value.view == beside.view
            return value.view == 0 or value.dims == beside.dims

        fitting = [v for v in self.values if fits(v)]
        ready = [v for v in fitting if v.dtype == dtype]
        if ready and self.random.randint(0, 5):
            return self.random.choice(ready[-4:])
        castable = [v for v in fitting if dtype.is_float or not v.loose]
        if castable and (same or len(self.inputs) > 5 or self._coin()):
            return self._cast(self.random.choice(castable[-4:]), dtype)
        if beside is not None and (same or beside.view):
            return self._new_input(dtype, scalar=True)
        return self._new_input(dtype)

    def _apply(self, op: Operator) -> None:
        exact = op.has(Flag.DISCONTINUOUS) or op.name in JUMPS_OR_POLES
        chosen: dict[str, DType] = {}
        reads: list[str | None] = []
        read: list[Known] = []
        for param in op.inputs:
            key = param.variable or param.name
            if key not in chosen:
                wanted = [d for d in self.dtypes if d in param.types]
                chosen[key] = self.random.choice(wanted or list(param.types))
            dtype = chosen[key]
            if op.name == "Cast" and read == []:
                dtype = self.random.choice(self.dtypes)
            if param.kind is ParamKind.OPTIONAL and self._coin():
                reads.append(None)
                continue
            for _ in range(self.random.randint(1, 3) if param.kind is ParamKind.DYNAMIC else 1):
                if param.name in SCALARS.get(op.name, ()):
                    value = self._new_input(dtype, scalar=True)
                elif op.name == "BiasAdd" and read:
                    if not read[0].dims or read[0].view:
                        return
                    value = self._pick(dtype, exact, evolve(read[0], dims=read[0].dims[-1:]), same=True)
                    if value.dims != read[0].dims[-1:]:
                        return
                else:
                    beside = read[0] if read else None
                    value = self._pick(dtype, exact, beside, op.name in SAME_SHAPE)
                    if beside is not None and op.name in SAME_SHAPE and value.dims != beside.dims:
                        return
                read.append(value)
                reads.append(self._tamed(op, param.name, value))
        self._finish(op, tuple(reads), tuple(read))

    def _tamed(self, op: Operator, param: str, value: Known) -> str:
        """Integers are divided by odd numbers, raised to small powers and shifted by what is not negative."""
        if not value.dtype.is_integer:
            return value.name
        if DIVISIONS.get(op.name) == param:
            return self.builder.op("BitwiseOr", value.name, self._constant(1, value.dtype))
        if (op.name, param) == ("Pow", "x2"):
            return self.builder.op("BitwiseAnd", value.name, self._constant(3, value.dtype))
        if op.name in ("LeftShift", "RightShift") and param == "y":
            return self.builder.op("BitwiseAnd", value.name, self._constant(63, value.dtype))
        return value.name

    def _finish(self, op: Operator, reads: tuple[str | None, ...], read: tuple[Known, ...]) -> None:
        attrs: dict[str, Any] = {}
        if op.name == "Cast":
            target = self.random.choice([d for d in self.dtypes if d.is_float or not read[0].loose] or [dt.float32])
            attrs["dst_type"] = target.ascend_code
        elif op.name == "AddN":
            attrs["N"] = len(reads)
        elif op.name in ("GeluV2", "GeluGradV2"):
            attrs["approximate"] = self.random.choice(("none", "tanh"))
        elif op.name in ("Fills", "Muls", "Adds", "Axpy"):
            attrs["alpha" if op.name == "Axpy" else "value"] = self.random.choice((-1.0, 0.0, 2.0, 3.0))
        elif op.name in ("LeakyRelu", "LeakyReluGrad"):
            attrs["negative_slope"] = 0.125
        names = self.builder.op_outputs(op.name, *reads, outputs=len(op.outputs), **attrs)
        dims = read[0].dims
        for other in read[1:]:
            dims = joined(dims, other.dims)
        view = max(v.view for v in read)
        for name, result in zip(names, op.outputs, strict=True):
            dtype = result_dtype(op, result, read, attrs)
            self._add(name, dtype, dims, view, self._is_loose(op.name, dtype, read))

    def _is_loose(self, op: str, dtype: DType, read: tuple[Known, ...]) -> bool:
        loose = any(v.loose for v in read) or is_inexact(op, dtype, self.rounds_halves)
        return loose and dtype.is_float

    def _view(self) -> None:
        value = self.random.choice(self.values[-4:])
        op = self.random.choice(VIEW_OPS)
        b, rank = self.builder, len(value.dims)
        self.views += 1
        view = self.views
        dims = value.dims
        if op in ("Identity", "StopGradient", "TensorMove"):
            name, view = b.op(op, value.name), value.view
        elif op == "Reshape":
            name, dims = b.op(op, value.name, self._constant_list(-1)), ()
        elif op == "ExpandDims" and rank < 6:
            name, dims, view = b.op(op, value.name, self._constant_list(0)), (frozenset(), *dims), value.view
        elif op == "UnsqueezeV3" and rank < 6:
            name, dims = b.op(op, value.name, self._constant_list(self.random.randint(0, rank))), ()
        elif op == "Unsqueeze" and rank < 6:
            name, dims = b.op(op, value.name, axes=(self.random.randint(0, rank),)), ()
        elif op == "Flatten":
            name, dims = b.op(op, value.name, axis=self.random.randint(0, rank)), ()
        elif op == "FlattenV2" and rank > 1:
            first = self.random.randint(0, rank - 1)
            name, dims = b.op(op, value.name, axis=first, end_axis=self.random.randint(first, rank - 1)), ()
        elif op in ("Squeeze", "SqueezeV3") and rank < 6:
            wide, view = b.op("ExpandDims", value.name, self._constant_list(rank)), value.view
            is_attribute = op == "Squeeze"
            name = b.op(op, wide, axis=(-1,)) if is_attribute else b.op(op, wide, self._constant_list(-1))
        else:
            return
        # Every other view is a shape of its own, which the marker alone tells apart.
        dims = (frozenset({f"view {view}"}),) if view == self.views else dims
        self._add(name, value.dtype, dims, view, value.loose)

    def _widen(self) -> None:
        """Spread a value to the shape of another."""
        like = self.random.choice(self.values)
        if like.view:
            return
        shape = self.builder.op("Shape", like.name, dtype=dt.int64.ascend_code)
        value = self._pick(self.random.choice(self.dtypes), False, like, same=False)
        op = self.random.choice(SHAPE_OPS)
        if op == "Fill":
            value = self._new_input(value.dtype, scalar=True)
            name = self.builder.op(op, shape, value.name)
        elif op == "Expand" or widens_to(value.dims, like.dims):
            name = self.builder.op(op, value.name, shape)
        else:
            return
        self._add(name, value.dtype, joined(value.dims, like.dims), 0, value.loose)

    def _constant_list(self, *values: int) -> str:
        return self.builder.constant(to_tensor_data(np.asarray(values, np.int64)))

    def _add(self, name: str, dtype: DType, dims: Places, view: int, loose: bool) -> Known:
        self.values.append(Known(name, dtype, dims, view, loose))
        return self.values[-1]

    def drawn(self) -> Drawn:
        """Return the graph: its results are the last value and up to two others."""
        made = [v for v in self.values if not v.name.startswith("x")] or self.values
        kept = [made[-1], *self.random.choices(made, k=self.random.randint(0, 2))]
        outputs = {f"y{i}": value.name for i, value in enumerate(kept)}
        loose = frozenset(f"y{i}" for i, value in enumerate(kept) if value.loose)
        return Drawn(self.builder.build(outputs), self.base, tuple(self.inputs), loose)
