"""What memory traffic, launches and vector operations cost on this machine, from the time that probes take."""

import statistics
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import TRUE, const, symbol
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact
from autofuse_ir.graph import GraphOutput, Value
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_ir.program import BufferKind, KernelCall, Program, ProgramBuffer, ProgramKernel, Variant
from autofuse_ir.schedule import KernelArgument
from autofuse_ir.target import TargetSpec
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import compile_library
from autofuse_runtime.extension import load_extension
from autofuse_runtime.load import load_program
from autofuse_runtime.pool import default_threads, last_level_cache_bytes
from autofuse_runtime.timing import measure
from autofuse_runtime.toolchain import find_toolchain

PROBES = ("idle", "fork", "clock", "read", "write", "copy", "chain")

_SAMPLES = 9
_CLOCK_STEPS = 1 << 20
_ROUNDS = 256
_CHAIN_ELEMENTS = 1024
_CHAIN_OPERATIONS = 16
_SMALLEST_STREAM, _LARGEST_STREAM = 64 << 20, 256 << 20
_SLEEP_SECONDS = 0.003
_WAKE_UPS = 31


@frozen
class Measured:
    """Costs on this machine, one thread where nothing else is said.

    Bandwidths in bytes a second (``cache_copy`` counts what is read and what is written), ``vector_op`` in seconds for
    one float32 operation on one element, ``fork_awake`` and ``fork_asleep`` in seconds for a launch on all ``threads``
    just after another one, and after they went to sleep.
    """

    machine: str
    threads: int
    clock_hz: float
    read: float
    write: float
    cache_copy: float
    vector_op: float
    fork_awake: float
    fork_asleep: float


def measure_machine(target: TargetSpec, cache: ArtefactCache, threads: int | None = None) -> Measured:
    """Run the probes (a few seconds); ``target`` says how large a block's local memory is.

    The least of several runs counts, since what else runs on the machine only adds. Raises `ToolMissingError`.
    """
    with cache.in_use():
        probes = _probes(cache, threads)
    stream = np.ones(_stream_bytes() // 4, np.float32)
    stream_out = np.ones_like(stream)
    near = np.ones(target.local_memory.usable // 16, np.float32)  # with its copy half of local memory
    near_out = np.ones_like(near)
    few, few_out = np.ones(_CHAIN_ELEMENTS, np.float32), np.ones(_CHAIN_ELEMENTS, np.float32)
    once, rounds, steps = np.zeros(1, np.uint8), np.zeros(_ROUNDS, np.uint8), np.zeros(_CLOCK_STEPS, np.uint8)
    calls: dict[str, Callable[[], object]] = {
        "idle": lambda: probes["idle"](few, once, out=few_out),
        "fork": lambda: probes["fork"](few, once, out=few_out),
        "clock": lambda: probes["clock"](few, steps, out=few_out),
        "read": lambda: probes["read"](stream, once, out=stream_out),
        "write": lambda: probes["write"](stream, once, out=stream_out),
        "copy": lambda: probes["copy"](near, rounds, out=near_out),
        "chain": lambda: probes["chain"](few, rounds, out=few_out),
    }
    taken = {timing.name: timing.least_ns * 1e-9 for timing in measure(calls, _SAMPLES)}
    return Measured(
        machine=machine_name(),
        threads=threads or default_threads(),
        clock_hz=_CLOCK_STEPS / taken["clock"],
        read=stream.nbytes / taken["read"],
        write=stream.nbytes / taken["write"],
        cache_copy=2 * near.nbytes * _ROUNDS / taken["copy"],
        vector_op=taken["chain"] / (few.size * _ROUNDS * _CHAIN_OPERATIONS),
        fork_awake=taken["fork"],
        fork_asleep=_after_sleep(calls["fork"]),
    )


def machine_name() -> str:
    """Return what the system calls the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Processor")))
    return next((name for name in named if name), "a processor without a name")


def _stream_bytes() -> int:
    """Far more than caches hold."""
    return min(max(4 * last_level_cache_bytes(), _SMALLEST_STREAM), _LARGEST_STREAM)


def _after_sleep(call: Callable[[], object]) -> float:
    """Median seconds of a call after a pause in which the pool's threads have gone to sleep."""
    taken = []
    for _ in range(_WAKE_UPS):
        time.sleep(_SLEEP_SECONDS)
        start = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - start)
    return statistics.median(taken) * 1e-9


def _probes(cache: ArtefactCache, threads: int | None) -> dict[str, Callable[..., Any]]:
    toolchain = find_toolchain()
    extension = load_extension(cache, toolchain)
    text = files("autofuse.calibration").joinpath("probes.cpp").read_text(encoding="utf-8")
    found: dict[str, Callable[..., Any]] = {}
    for name in PROBES:
        program = _program(name)
        bundle = _bundle(program.kernels[0], text)
        library = compile_library(program, (bundle,), cache, toolchain)
        found[name] = load_program(program, library.path, extension, threads=threads).function
    return found


def _program(probe: str) -> Program:
    n, r = symbol("n"), symbol("r")
    arguments = (
        KernelArgument("x", False, 0, dt.float32, (n,)),
        KernelArgument("rounds", False, 1, dt.uint8, (r,)),
        KernelArgument("y", True, 0, dt.float32, (n,)),
    )
    kernel = ProgramKernel(
        name=probe,
        launch=f"launch_{probe}",
        tiling=f"tiling_{probe}",
        tiling_bytes=8,
        workspace_bytes=const(0),
        arguments=arguments,
        symbols=("n", "r"),
        safe_aliases=(),
        status_messages=(),
        graphs=(),
    )

    def buffer(name: str, kind: BufferKind, dtype: DType, size: str) -> ProgramBuffer:
        return ProgramBuffer(name, kind, dtype, (symbol(size),))

    return Program(
        name=f"probe_{probe}",
        target="cpu",
        inputs=(Value("x", dt.float32, (n,)), Value("rounds", dt.uint8, (r,))),
        outputs=(GraphOutput("y", "y"),),
        symbols=tuple(
            SymbolFact(name, 0, 1 << 40, 1, (InputDim(source, 0),)) for name, source in (("n", "x"), ("r", "rounds"))
        ),
        guards=(),
        buffers=(
            buffer("x", BufferKind.INPUT, dt.float32, "n"),
            buffer("rounds", BufferKind.INPUT, dt.uint8, "r"),
            buffer("y", BufferKind.OUTPUT, dt.float32, "n"),
        ),
        variants=(Variant(TRUE, (KernelCall(probe, ("x", "rounds"), ("y",)),)),),
        kernels=(kernel,),
        regions=(),
        peak_bytes=const(0),
        numerics="strict",
    )


def _bundle(kernel: ProgramKernel, text: str) -> KernelBundle:
    return KernelBundle(
        name=kernel.name,
        target="cpu",
        arguments=kernel.arguments,
        symbols=kernel.symbols,
        launch=kernel.launch,
        tiling=kernel.tiling,
        tiling_bytes=kernel.tiling_bytes,
        workspace_bytes=kernel.workspace_bytes,
        files=(SourceFile("probes.cpp", FileRole.KERNEL, text, ""),),
        support_files=(),
        flags=(),
        safe_aliases=kernel.safe_aliases,
        status_messages=kernel.status_messages,
    )
