"""What an Ascend kernel cannot be is refused before a line of it is written, with the number and the limit."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from ascend_kernels import Built, Kernel, backend_of, compile_all
from attrs import evolve
from autofuse_codegen.errors import CodegenError
from autofuse_codegen.stage import emit
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import symbol
from autofuse_ir.facts import SymbolFact
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.target import TargetSpec, load_target
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.stage import schedule
from autofuse_tiling.stage import tile

A2 = load_target("ascend-a2")


def emitted(graph: AscGraph, target: TargetSpec = A2, workspace: int | None = None) -> KernelBundle:
    """Schedule and emit ``graph``; ``workspace`` is what its schedule says it takes besides."""
    node, facts = backend_of(graph)
    facts = evolve(facts, symbols=tuple(SymbolFact(s.name, 1, 2**31 - 1, 64, ()) for s in facts.symbols))
    result = schedule(node, facts, target)
    if workspace is not None:
        result = evolve(result, workspace_bytes=symbol("n") * workspace)
    return emit(result, tile(result, facts, target), facts, target)


def added(count: int) -> AscGraph:
    """The sum of ``count`` inputs."""
    kernel = Kernel("added", {"z0": "n"})
    value = kernel.read("x0", dt.float32, "z0")
    for number in range(1, count):
        value = kernel.apply("Add", value, kernel.read(f"x{number}", dt.float32, "z0"))
    kernel.write(value, "y")
    return kernel.build()


def test_more_arguments_than_a_launch_passes() -> None:
    with pytest.raises(ScheduleError, match="71 inputs and outputs, 63 are the most on ascend-a2"):
        emitted(added(70))
    with pytest.raises(ScheduleError, match="64 inputs and outputs, 63 are the most on ascend-a2"):
        emitted(added(63))


def test_as_many_arguments_as_a_launch_passes(tmp_path: Path) -> None:
    """62 inputs and an output: from 64 tensors on the original passes a list."""
    graph = added(62)
    emulated = compile_all({graph.name: Built(graph, None, emitted(graph))}, tmp_path)
    rng = np.random.default_rng(0)
    given = [rng.integers(-9, 9, 1001).astype(np.float32) for _ in range(62)]
    (found,) = emulated.run("added", given, {"n": 1001})
    np.testing.assert_array_equal(found, np.sum(given, axis=0))


def test_more_tiling_data_than_the_chip_takes() -> None:
    small = evolve(A2, limits=evolve(A2.limits, tiling_bytes=64))
    assert emitted(added(2)).tiling_bytes == 64
    with pytest.raises(CodegenError, match="the tiling data takes 72 bytes, 64 are the most"):
        emitted(added(4), small)


def test_a_row_that_no_tile_can_hold() -> None:
    """Twelve inputs and a UB of two KiB: one vector of each is too much."""
    tiny = evolve(A2, local_memory=evolve(A2.local_memory, bytes=2048, reserved=0))
    with pytest.raises(ScheduleError, match=r"the smallest tile needs \d+ bytes of local memory, \d+ are usable"):
        emitted(added(12), tiny)


def test_an_element_type_that_no_cast_leads_to() -> None:
    kernel = Kernel("doubles", {"z0": "n"})
    kernel.write(kernel.apply("Exp", kernel.read("x", dt.float64, "z0")), "y")
    with pytest.raises(ScheduleError, match=r"ascend-a2 has no instruction for Exp\(float64\)"):
        emitted(kernel.build())


def test_a_workspace_that_its_field_cannot_state() -> None:
    """Known when compiling: refused. Known when called: the tiling function says so, and nothing is launched."""
    assert emitted(added(2), workspace=2**32 - 1).workspace_bytes == symbol("n") * (2**32 - 1)
    with pytest.raises(CodegenError, match=r"the workspace takes at least 4294967296 bytes, 4294967295 are the most"):
        emitted(added(2), workspace=2**32)


def test_tiling_functions_refuse_sizes_that_fields_cannot_hold(tmp_path: Path) -> None:
    graph = added(2)
    bundle = emitted(graph, workspace=2**20)
    emulated = compile_all({graph.name: Built(graph, None, bundle)}, tmp_path)
    tiling = getattr(emulated.tiling, bundle.tiling)
    data = ctypes.create_string_buffer(bundle.tiling_bytes)

    def status(*sizes: int) -> int:
        found: int = tiling((ctypes.c_int64 * len(sizes))(*sizes), ctypes.c_int64(48), data)
        return found

    assert status(4095) == 0
    assert status(4096) == -2
    assert status(-1) == -3
    assert status(2**31) == -3


def test_a_dim_with_more_elements_than_kernels_count() -> None:
    kernel = Kernel("long", {"z0": 2**31, "z1": "n"})
    kernel.write(kernel.apply("Neg", kernel.read("x", dt.int8, "z0", "z1")), "y")
    with pytest.raises(CodegenError, match="has at least 2147483648 elements, 2147483647 are the most"):
        emitted(kernel.build())
