"""Kernels drawn at random: element-wise graphs over loads of every kind, and what their schedules make of them.

Needs the packages, unlike the rest of the plug-in.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Place
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import Dim, const, eq, select, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.schedule import ImplGraph
from autofuse_ir.target import TargetSpec, load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_schedule.stage import schedule
from hypothesis import strategies as st

SIZES = (0, 1, 2, 3, 5, 7, 12)
DTYPES = (dt.float32, dt.float16, dt.float64, dt.bfloat16, dt.int8, dt.int32, dt.uint16, dt.int64)
NUMBERS = ("Add", "Sub", "Mul", "Minimum", "Maximum")
FLOATS = ("Sqrt", "Exp", "Tanh", "Sigmoid", "Erf")
ONE = const(1)


@frozen(repr=False)
class KernelCase:
    """A kernel, the sizes of its axes and its inputs."""

    node: AscBackend
    facts: SymbolFacts
    sizes: dict[str, int]
    arrays: list[Any]

    def __repr__(self) -> str:
        lines = [f"{n.name} = {n.op} {n.inputs} {n.dtype} {n.repeats} {n.attrs} {n.access}" for n in self.graph.nodes]
        return "\n".join([str(self.sizes), *lines])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def graph(self) -> AscGraph:
        """The kernel's graph."""
        return self.node.graph


def target_of(name: str, segment_nodes: int) -> TargetSpec:
    """Return a shipped target with another limit on the nodes of a segment."""
    target = load_target(name)
    return evolve(target, limits=evolve(target.limits, segment_nodes=segment_nodes))


@st.composite
def kernel_cases(draw: Callable[..., Any]) -> KernelCase:
    """Element-wise graphs over loads that permute, flip, skip, repeat and select along 1 to 4 axes."""
    rank = draw(st.integers(1, 4))
    names = [f"z{i}" for i in range(rank)]
    sizes = {f"s{i}": draw(st.sampled_from(SIZES if rank < 4 else SIZES[:5])) for i in range(rank)}
    dtype: DType = draw(st.sampled_from(DTYPES))
    b = AscGraphBuilder("k", {name: f"s{i}" for i, name in enumerate(names)})
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    arrays: list[Any] = []
    values: list[ValueFact] = []
    known: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))] if number else range(rank)
        memory: list[Dim] = []
        places: list[Place] = []
        for a in order:
            size = symbol(f"s{a}")
            kind = draw(st.sampled_from(("whole", "whole", "whole", "flip", "slice", "select")))
            match kind:
                case "whole":
                    memory.append(size)
                    places.append((names[a], ONE, const(0)))
                case "flip":
                    memory.append(size)
                    places.append((names[a], const(-1), size - 1))
                case "slice":
                    memory.append(2 * size + 3)
                    places.append((names[a], const(2), ONE))
                case _:
                    given = f"d{number}_{a}"
                    sizes[given] = draw(st.sampled_from((1, sizes[f"s{a}"])))
                    memory.append(select(eq(symbol(given), 1), ONE, size))
                    places.append((names[a], select(eq(symbol(given), 1), const(0), ONE), const(0)))
        shape = tuple(evaluate(m, sizes) for m in memory)
        data = b.input(f"in{number}", dtype)
        loaded = b.load(data, tuple(memory), tuple(places))
        arrays.append(_content(rng, shape, dtype))
        values.append(ValueFact(f"in{number}", dtype, tuple(memory)))
        known.append(_widened(b, loaded, draw(st.booleans()) or number == 0))
    for _ in range(draw(st.integers(1, 9))):
        known.append(_node(draw, b, known, dtype))
    outputs = []
    for number in range(draw(st.integers(1, 2))):
        order = draw(st.permutations(range(rank)))
        stored = known[max(0, len(known) - 1 - number)]
        # A nest of no iterations writes nothing: fusion's results cover all axes, which is what makes that right.
        if number == 0 or 0 in sizes.values() or draw(st.booleans()):
            stored = _widened(b, stored, True)
        order = [a for a in order if _repeats_of(b, stored)[a] != ONE]
        b.store(stored, f"y{number}", tuple(f"s{a}" for a in order), tuple(names[a] for a in order))
        outputs.append(f"y{number}")
        values.append(ValueFact(f"y{number}", dtype, tuple(symbol(f"s{a}") for a in order)))
    symbols = tuple(SymbolFact(s, 0, 1 << 20, 64, (InputDim("in0", 0),)) for s in sorted(sizes))
    inputs = tuple(f"in{i}" for i in range(len(arrays)))
    backend = AscBackend("k", inputs, tuple(outputs), b.build(), ())
    return KernelCase(backend, SymbolFacts(symbols, tuple(values)), sizes, arrays)


def _content(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Any:
    if dtype.is_float:
        values = rng.normal(size=shape) * 4
        specials = np.array([0.0, -0.0, np.nan, np.inf, -np.inf])
        values = np.where(rng.random(shape) < 0.2, rng.choice(specials, shape), values)
        return np.asarray(values).astype(numpy_dtype(dtype))
    return np.asarray(rng.integers(0, 100, shape)).astype(numpy_dtype(dtype))


def _repeats_of(b: AscGraphBuilder, value: str) -> tuple[Any, ...]:
    return next(n for n in b.build().nodes if n.name == value).repeats


def _widened(b: AscGraphBuilder, value: str, wanted: bool) -> str:
    if not wanted:
        return value
    for axis, repeat in zip(b.axes, _repeats_of(b, value), strict=True):
        if repeat == ONE and b.axes[axis] != 1:
            value = b.broadcast(value, axis)
    return value


def _node(draw: Callable[..., Any], b: AscGraphBuilder, known: list[str], dtype: DType) -> str:
    first = draw(st.sampled_from(known))
    op = draw(st.sampled_from((*NUMBERS, "Neg", "Abs", "Select", "scalar", "cast", *FLOATS)))
    if op in ("Neg", "Abs") or (op in FLOATS and dtype.is_float):
        return b.op(op, first)
    if op == "scalar":
        return b.op(draw(st.sampled_from(NUMBERS)), first, b.scalar(draw(st.integers(1, 3)), dtype))
    if op == "cast":
        return b.cast(b.cast(first, draw(st.sampled_from(DTYPES))), dtype)
    second = draw(st.sampled_from(known))
    if _repeats_of(b, first) != _repeats_of(b, second):
        first, second = _widened(b, first, True), _widened(b, second, True)
    if op == "Select":
        return b.op("Select", b.op("Lt", first, second), first, second)
    return b.op(op if op in NUMBERS else "Add", first, second)


def implementations(case: KernelCase, target: TargetSpec, *, holds: bool = True) -> tuple[ImplGraph, ...]:
    """Return every implementation that a schedule of the kernel has; ``holds``: those that hold values, too."""
    result = schedule(case.node, case.facts, target, holds=holds)
    return tuple(i for a in result.alternatives for g in a.groups for i in g.implementations)


def random_tiles(impl: ImplGraph, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, int]:
    """Draw each tile size from all allowed ones (small ones first: they make more tiles)."""
    tiles: dict[str, int] = {}
    for variable in impl.tile_variables:
        largest = evaluate(variable.hi, {**sizes, **tiles})
        many = max(40, 8 * variable.multiple)
        allowed = [v for v in range(variable.lo, min(largest, many) + 1) if v % variable.multiple == 0]
        tiles[variable.name] = int(rng.choice([*allowed, largest]))
    return tiles


def bits(array: Any) -> bytes:
    """The bits, of any NaN those of one: which sign NaN + NaN has depends on NumPy's vector loops and their tails."""
    kept = np.array(array)
    is_nan = np.isnan(kept.astype(np.float64))
    if is_nan.any():
        kept[is_nan] = np.nan
    return kept.tobytes()
