"""Kernels for Ascend from graphs to results: scheduled, emitted, compiled for the emulator, launched, and compared."""

import ctypes
import re
import struct
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
import numpy as np
from attrs import define, field, frozen
from autofuse_codegen.stage import emit
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks import verify
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ScheduleResult, TileRole
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.stage import schedule
from autofuse_tiling.stage import tile

TARGETS = ("ascend-a2", "ascend-a3", "ascend-350")


@define
class Kernel(AscGraphBuilder):
    """A builder that loads by axis names, widens what it joins, and stores over the axes that a value varies along."""

    reads: dict[str, str] = field(factory=dict, init=False)
    """Values that were loaded, by the name they were remembered under."""

    def remember(self, name: str, value: str) -> str:
        """Note that ``value`` was loaded as ``name``."""
        self.reads[name] = value
        return value

    def read(self, name: str, dtype: DType, *axes: str) -> str:
        """Load a new input that has one dim for each of ``axes``; without axes, one of a single element."""
        memory = tuple(self.axes[a] for a in axes) or (1,)
        return self.load(self.input(name, dtype), memory, axes or (0,))

    def wide(self, value: str) -> str:
        """Broadcast ``value`` along all axes that it does not vary on."""
        for axis, repeat in zip(self.axes, self.node(value).repeats, strict=True):
            if repeat == const(1) and self.axes[axis] != 1:
                value = self.broadcast(value, axis)
        return value

    def apply(self, op: str, *values: str, **attrs: Any) -> str:
        """Apply an element-wise operator, everything but constants broadcast."""
        shaped = [v if self.node(v).op in ("Scalar", "IndexExpr") else self.wide(v) for v in values]
        return self.op(op, *shaped, **attrs)

    def write(self, value: str, name: str) -> None:
        """Store ``value``, widened, as a new output."""
        self.store(self.wide(value), name, tuple(self.axes.values()), tuple(self.axes))

    def node(self, name: str) -> Any:
        """Return a node."""
        return next(node for node in self.build().nodes if node.name == name)


@frozen
class Built:
    """One kernel: its graph, how it was scheduled, and its sources."""

    graph: AscGraph
    scheduled: ScheduleResult
    bundle: KernelBundle


@frozen(eq=False)
class Emulated:
    """Kernels in one library, and their tiling functions in another."""

    kernels: dict[str, Built]
    library: Any
    tiling: Any

    def run(
        self, name: str, arrays: Sequence[np.ndarray], sizes: Mapping[str, int] | None = None, cores: int | None = None
    ) -> list[np.ndarray]:
        """Return the outputs of kernel ``name``."""
        return self.launch(name, arrays, sizes or {}, cores)[0]

    def launch(
        self,
        name: str,
        arrays: Sequence[np.ndarray],
        sizes: Mapping[str, int],
        cores: int | None = None,
        entry: str | None = None,
        **options: Any,
    ) -> tuple[list[np.ndarray], Any]:
        """Return the outputs of kernel ``name`` and the emulator's report; it must raise nothing."""
        outputs, report, status = self.outcome(name, arrays, sizes, cores, entry, **options)
        assert status == 0, f"{name} raised {status:#x}"
        return outputs, report

    def outcome(
        self,
        name: str,
        arrays: Sequence[np.ndarray],
        sizes: Mapping[str, int],
        cores: int | None = None,
        entry: str | None = None,
        **options: Any,
    ) -> tuple[list[np.ndarray], Any, int]:
        """Return the outputs of kernel ``name``, the emulator's report, and the bits that the kernel raised."""
        built = self.kernels[name]
        data = self.tiling_data(name, sizes, cores or self.library.soc.cores)
        head = np.frombuffer(data[:24], np.uint32)
        outputs = []
        for argument in built.bundle.arguments:
            if argument.is_output:
                shape = tuple(evaluate(d, sizes) for d in argument.shape)
                outputs.append(np.zeros(shape, storage(argument.dtype)))
        given = [np.ascontiguousarray(stored(a)) for a in arrays]
        # The emulator zeroes a workspace of its own; one that the kernel tells something by is an argument.
        size = max(int(head[3]), 64)
        tells = bool(built.bundle.status_messages)
        workspace = np.zeros(size // 4 if tells else 0, np.uint32)
        report = None
        if head[0] > 0:
            report = sim.run(
                self.library,
                entry or built.bundle.launch,
                [*given, *outputs, *([workspace] if tells else [])],
                workspace=None if tells else size,
                tiling=data,
                block_dim=int(head[0]),
                tiling_key=int(head[4]),
                **options,
            )
        dtypes = [a.dtype for a in built.bundle.arguments if a.is_output]
        made = [o.view(numpy_dtype(d)) for o, d in zip(outputs, dtypes, strict=True)]
        raised = workspace[: 16 * self.library.soc.cores]
        return made, report, int(np.bitwise_or.reduce(raised, initial=0))

    def tiling_data(self, name: str, sizes: Mapping[str, int], cores: int) -> bytes:
        """Return what the generated tiling function decides; on one core, with all tiles in one block."""
        built = self.kernels[name]
        bundle = built.bundle
        values = (ctypes.c_int64 * max(1, len(bundle.symbols)))(*(sizes[s] for s in bundle.symbols))
        data = ctypes.create_string_buffer(bundle.tiling_bytes)
        status = getattr(self.tiling, bundle.tiling)(values, ctypes.c_int64(cores), data)
        assert status == 0, f"the tiling function of {name} returned {status}"
        block_dim, key = struct.unpack_from("<I", data, 0)[0], struct.unpack_from("<I", data, 16)[0]
        if cores == 1 and block_dim > 1:
            (group,) = built.scheduled.alternatives[0].groups
            share = next(v.name for v in group.implementations[key].tile_variables if v.role is TileRole.MULTICORE)
            struct.pack_into("<I", data, 0, 1)
            struct.pack_into("<q", data, field_offset(bundle, share), 2**40)
        return data.raw

    def expected(
        self, name: str, arrays: Sequence[np.ndarray], sizes: Mapping[str, int] | None = None
    ) -> list[np.ndarray]:
        """Return what the interpreter says."""
        return list(interpret(self.kernels[name].graph, list(arrays), sizes or {}))


def field_offset(bundle: KernelBundle, name: str) -> int:
    """Return where a field of the tiling data starts."""
    text = next(f.text for f in bundle.files if f.path.endswith("_tiling_data.h"))
    at = 0
    for kind, each in re.findall(r"^  (\w+) (\w+);", text, re.MULTILINE):
        if each == name:
            return at
        at += 8 if kind == "int64_t" else 4
    raise AssertionError(f"there is no field {name}")


def storage(dtype: DType) -> Any:
    """The NumPy type that the emulator takes for elements of ``dtype``: of the same bits."""
    found = numpy_dtype(dtype)
    return np.dtype(f"u{found.itemsize}") if found.kind == "V" or found.name == "bfloat16" else found


def stored(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def backend_of(graph: AscGraph) -> tuple[AscBackend, SymbolFacts]:
    """Return ``graph`` as a backend node, with facts about its arguments."""
    nodes = {node.name: node for node in graph.nodes}
    values, inputs, outputs = [], [], []
    for node in graph.nodes:
        if node.op == "Load" and node.inputs[0] not in inputs:
            inputs.append(node.inputs[0])
            values.append(ValueFact(node.inputs[0], node.dtype, node.access.memory))
        if node.op == "Output":
            outputs.append(node.name)
            values.append(ValueFact(node.name, node.dtype, nodes[node.inputs[0]].access.memory))
    dims = [d for v in values for d in v.shape] + [axis.size for axis in graph.axes]
    symbols = sorted({s for d in dims for s in free_symbols(d)})
    facts = SymbolFacts(tuple(SymbolFact(s, 0, 2**31 - 1, 64, ()) for s in symbols), tuple(values))
    return AscBackend(graph.name, tuple(inputs), tuple(outputs), graph, ()), facts


def build(
    kernels: Iterable[AscGraphBuilder],
    target: str = "ascend-a2",
    narrowed: Callable[[ScheduleResult], ScheduleResult] = lambda result: result,
) -> dict[str, Built]:
    """Schedule and emit ``kernels``; ``narrowed`` may take away some of the ways to run one."""
    spec = load_target(target)
    built = {}
    for kernel in kernels:
        graph = kernel.build()
        verify(graph)
        node, facts = backend_of(graph)
        scheduled = narrowed(schedule(node, facts, spec))
        verify(scheduled)
        bundle = emit(scheduled, tile(scheduled, facts, spec), facts, spec)
        built[graph.name] = Built(graph, scheduled, bundle)
    return built


def is_refused(add: Callable[[Kernel], str], target: str) -> bool:
    """True where the schedule says that ``target`` cannot compute what ``add`` adds to a kernel."""
    kernel = Kernel("probe", {"z0": "n", "z1": "m"})
    kernel.write(add(kernel), "y")
    node, facts = backend_of(kernel.build())
    try:
        schedule(node, facts, load_target(target))
    except ScheduleError as error:
        return "has no instruction" in error.what
    return False


def write_sources(bundle: KernelBundle, folder: Path) -> None:
    """Write all files of ``bundle`` into ``folder``."""
    for path, text in [(f.path, f.text) for f in bundle.files] + [(f.name, f.text) for f in bundle.support_files]:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


def compile_all(built: dict[str, Built], folder: Path, target: str = "ascend-a2", unit: int = 24) -> Emulated:
    """Compile kernels, several to a translation unit, and their tiling functions."""
    folder.mkdir(parents=True, exist_ok=True)
    kernels, tilings = [], []
    for each in built.values():
        write_sources(each.bundle, folder)
        kernels.append(next(f.path for f in each.bundle.files if f.role.value == "kernel"))
        tilings.append(next(f.path for f in each.bundle.files if f.role.value == "tiling_function"))
    units = []
    for number, at in enumerate(range(0, len(kernels), unit)):
        units.append(folder / f"unit{number}.cpp")
        units[-1].write_text("".join(f'#include "{path}"\n' for path in kernels[at : at + unit]))
    flags = ["-Werror", "-O0"]
    library = sim.compile(units, target, output=folder / "kernels.so", include_dirs=[folder], flags=flags)
    host = folder / "tilings.cpp"
    host.write_text("".join(f'#include "{path}"\n' for path in tilings))
    options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-fno-exceptions", "-fno-rtti"]
    command = ["g++", *options, "-o", str(folder / "tiling.so"), str(host), str(folder / "af_tiling_solver.cpp")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return Emulated(built, library, ctypes.CDLL(str(folder / "tiling.so")))


def numbers(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator, special: bool = False) -> np.ndarray:
    """Return random elements; ``special`` adds zeros of both signs, infinities, NaN and the limits of integers."""
    kind, count = numpy_dtype(dtype), int(np.prod(shape))
    if dtype.is_float:
        values = rng.normal(size=count) * rng.choice([0.01, 1, 3, 100], count)
        extra = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, -0.5]
        if special:
            places = rng.permutation(count)[: len(extra)]
            values[places] = extra[: len(places)]
        return values.astype(np.float32).astype(kind).reshape(shape)
    if kind == np.bool_:
        return rng.integers(0, 2, count).astype(kind).reshape(shape)
    limits = np.iinfo(kind)
    low, high = (limits.min, limits.max) if special else (max(limits.min, -100), min(limits.max, 100))
    values = rng.integers(low, high, count, dtype=kind, endpoint=True)
    if special:
        few = rng.random(count) < 0.3  # equal ones, for comparisons
        values[few] = rng.integers(0, 3, count).astype(kind)[few]
        extra = np.array([limits.min, limits.max, 0, 1], kind)
        places = rng.permutation(count)[: len(extra)]
        values[places] = extra[: len(places)]
    return values.reshape(shape)


def inputs_of(
    built: Built, sizes: Mapping[str, int], rng: np.random.Generator, special: bool = False
) -> list[np.ndarray]:
    """Return random inputs for a kernel."""
    given = [a for a in built.bundle.arguments if not a.is_output]
    return [numbers(a.dtype, tuple(evaluate(d, sizes) for d in a.shape), rng, special) for a in given]
