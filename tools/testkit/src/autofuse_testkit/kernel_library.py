"""Many kernels in one library: compiled in few translation units, and run without the runtime.

Needs the packages, unlike the rest of the plug-in.
"""

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from autofuse_codegen.stage import emit
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.arrays import numpy_dtype
from autofuse_schedule.force import only_template
from autofuse_schedule.stage import schedule
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]
TARGET = load_target("cpu")
POISON = 0xA5
BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_longlong)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_longlong, BODY, ctypes.c_void_p)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Host(ctypes.Structure):
    """``AfHost`` of the ABI."""

    _fields_ = [
        ("context", ctypes.c_void_p),
        ("cores", ctypes.c_longlong),
        ("parallel_for", PARALLEL_FOR),
        ("allocate", ALLOCATE),
        ("release", RELEASE),
        ("last_level_cache_bytes", ctypes.c_longlong),
    ]


class Buffer(ctypes.Structure):
    """``AfBuffer`` of the ABI."""

    _fields_ = [("data", ctypes.c_void_p), ("strides", ctypes.c_void_p)]


class GuardedMemory:
    """A block with poison in and around it, to see what was written past its end."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.raw = np.full(size + 192, POISON, np.uint8)
        self.start = -self.raw.ctypes.data % 64 + 64

    @property
    def address(self) -> int:
        """Where the block starts, a multiple of 64."""
        return int(self.raw.ctypes.data) + self.start

    def is_intact(self) -> bool:
        """Return whether nothing around the block was written."""
        outside = np.concatenate([self.raw[: self.start], self.raw[self.start + self.size :]])
        return bool((outside == POISON).all())


class KernelLibrary:
    """Collects kernels, builds them once, and runs each by name; blocks run last to first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.graphs: dict[str, AscGraph] = {}
        self.schedules: dict[str, ScheduleResult] = {}
        self._bundles: dict[str, KernelBundle] = {}
        self._library: ctypes.CDLL | None = None

    def add(self, name: str, graph: AscGraph, template: str | None = None) -> None:
        """Add the kernel of ``graph``, of one template alone where that is named."""
        graph = evolve(graph, name=name)
        facts = facts_of(graph)
        result = schedule(backend_of(graph), facts, TARGET)
        if template is not None:
            result = only_template(result, template)
        self.graphs[name], self.schedules[name] = graph, result
        self._bundles[name] = emit(result, tile(result, facts, TARGET), facts, TARGET)

    def build(self, kernels_a_unit: int = 12) -> "KernelLibrary":
        """Compile everything; warnings are errors."""
        units: list[list[str]] = []
        for name, bundle in self._bundles.items():
            for path, text in [(f.path, f.text) for f in bundle.files] + [
                (f.name, f.text) for f in bundle.support_files
            ]:
                (self.folder / path).write_text(text)
            if not units or len(units[-1]) == 2 * kernels_a_unit:
                units.append([])
            units[-1] += [f"{name}.cpp", f"{name}_tiling_func.cpp"]
        for number, sources in enumerate(units):
            (self.folder / f"unit{number}.cpp").write_text("".join(f'#include "{each}"\n' for each in sources))
        flags = [flag for flag in next(iter(self._bundles.values())).flags if flag != "-O3"]
        command = ["g++", "-shared", "-fPIC", "-march=native", "-Wall", "-Wextra", "-Werror", *flags, "-O1"]
        command += ["-fvisibility=default", *(f"unit{n}.cpp" for n in range(len(units))), "af_tiling_solver.cpp"]
        run = subprocess.run([*command, "-o", "k.so"], cwd=self.folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr[:4000]
        self._library = ctypes.CDLL(str(self.folder / "k.so"))
        return self

    def run(
        self, name: str, inputs: Sequence[Array], sizes: Mapping[str, int], cores: int = 3, stream: bool = False
    ) -> tuple[int, list[Array]] | None:
        """Return the status bits and outputs; None where no tile fits a forced template."""
        bundle = self._bundles[name]
        outputs = [
            _poisoned(a.dtype, tuple(evaluate(d, sizes) for d in a.shape)) for a in bundle.arguments if a.is_output
        ]
        memory: list[GuardedMemory] = []

        def serial(_: Any, count: int, body: Any, argument: Any) -> None:
            for index in reversed(range(count)):
                body(argument, index)

        def allocate(_: Any, size: int) -> int:
            memory.append(GuardedMemory(size))
            return memory[-1].address

        cache = 0 if stream else 1 << 40
        host = Host(None, cores, PARALLEL_FOR(serial), ALLOCATE(allocate), RELEASE(lambda _, __: None), cache)
        values = (ctypes.c_longlong * max(1, len(bundle.symbols)))(*(sizes[s] for s in bundle.symbols))
        tiling = ctypes.create_string_buffer(bundle.tiling_bytes)
        if getattr(self._library, bundle.tiling)(values, ctypes.c_longlong(cores), tiling):
            return None
        workspace = GuardedMemory(evaluate(bundle.workspace_bytes, sizes))
        memory.append(workspace)
        status = ctypes.c_ulonglong(0)
        launch = getattr(self._library, bundle.launch)
        launch.restype = None
        where = (_buffers(inputs), _buffers(outputs), tiling, ctypes.c_void_p(workspace.address))
        launch(ctypes.byref(host), values, *where, ctypes.byref(status))
        assert all(block.is_intact() for block in memory), f"{name} wrote past its memory at {dict(sizes)}"
        return status.value, outputs


def assert_same(actual: Array, expected: Array, what: str) -> None:
    """The same bits; NaN stands for any NaN."""
    assert actual.shape == expected.shape, what
    assert actual.dtype == expected.dtype, what
    alike = actual.view(f"u{actual.itemsize}") == expected.view(f"u{actual.itemsize}")
    if actual.dtype.kind not in "iub":
        alike |= np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    assert alike.all(), f"{what}: {np.flatnonzero(~alike.reshape(-1))[:5]} differ"


def sample(dtype: DType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Return values of all kinds: whole ranges of integers; floats with infinities, NaN and zeros of both signs."""
    wanted = numpy_dtype(dtype)
    if dtype == dt.bool_:
        return random.random(shape) < 0.5
    if dtype.is_integer:
        info = np.iinfo(wanted)
        return random.integers(info.min, info.max, shape, dtype=wanted, endpoint=True)
    values = random.standard_normal(shape).astype(np.float32) * 3
    kind = random.random()
    if kind < 0.2 and values.size:
        values.reshape(-1)[random.integers(0, values.size)] = random.choice([np.nan, np.inf, -np.inf])
    elif kind < 0.35:
        values = np.where(random.random(shape) < 0.5, np.float32(0.0), np.float32(-0.0))
    elif kind < 0.45:
        values[...] = -0.0
    return np.asarray(values).astype(wanted)


def memory_of(graph: AscGraph, name: str) -> tuple[Dim, ...]:
    """Return the shape of the data of ``Data`` or ``Output`` node ``name``."""
    output = next((n.inputs[0] for n in graph.nodes if n.op == "Output" and n.name == name), None)
    access = next(n.access for n in graph.nodes if n.name == output or (n.op == "Load" and n.inputs[0] == name))
    assert access is not None
    return access.memory


def facts_of(graph: AscGraph) -> SymbolFacts:
    """Return facts under which every size may be anything."""
    values = tuple(
        ValueFact(n.name, n.dtype, memory_of(graph, n.name)) for n in graph.nodes if n.op in ("Data", "Output")
    )
    dims = [*(axis.size for axis in graph.axes), *(d for v in values for d in v.shape or ())]
    dims += [d for node in graph.nodes for d in _dims_of(node)]
    symbols = sorted({s for d in dims for s in free_symbols(d)})
    sources = (InputDim("x", 0),)
    return SymbolFacts(
        symbols=tuple(SymbolFact(s, 0, 2**31 - 1, hint=1000, sources=sources) for s in symbols), values=values
    )


def backend_of(graph: AscGraph) -> AscBackend:
    """Return the backend node of ``graph``."""
    names = {op: tuple(n.name for n in graph.nodes if n.op == op) for op in ("Data", "Output")}
    return AscBackend(graph.name, names["Data"], names["Output"], graph, ())


def _dims_of(node: AscNode) -> list[Dim]:
    found = [attr.value for attr in node.attrs if isinstance(attr.value, Dim)]
    if node.access is not None:
        found += [part for dim in node.access.dims for part in (dim.step, dim.offset)]
    return found


def _poisoned(dtype: DType, shape: tuple[int, ...]) -> Array:
    array = np.zeros(shape, numpy_dtype(dtype))
    if dtype != dt.bool_:
        array.reshape(-1).view(np.uint8)[...] = POISON
    return array


def _buffers(arrays: Sequence[Array]) -> Any:
    return (Buffer * max(1, len(arrays)))(*(Buffer(a.ctypes.data, None) for a in arrays))
