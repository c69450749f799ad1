"""Whole pipeline on emulated Ascend chips: one compile serves every size, and agrees with the CPU.

No chip was at hand: what runs here is the emulator, with all of its checks.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph

Array = np.ndarray[Any, Any]
TARGETS = ("ascend-a2", "ascend-a3", "ascend-350")


@frozen
class Family:
    """A graph, sizes to call it with, and how far floats may be from the CPU's (relative to the largest)."""

    build: Callable[[], Graph]
    sizes: tuple[Mapping[str, int], ...]
    tolerance: float = 0.0


def abs_add() -> Graph:
    """The original's first example: 128 x 7, fully merged."""
    b = GraphBuilder("abs_add")
    x, y = b.input("x", (128, 7), dt.float32), b.input("y", (128, 7), dt.float32)
    return b.build({"z": b.op("Add", b.op("Abs", x), y)})


def add_abs() -> Graph:
    """The original's dynamic example: three axes, one binary."""
    b = GraphBuilder("add_abs")
    x, y = b.input("x", ("s0", "s1", "s2"), dt.float32), b.input("y", ("s0", "s1", "s2"), dt.float32)
    return b.build({"z": b.op("Abs", b.op("Add", x, y))})


def bias_gelu() -> Graph:
    b = GraphBuilder("bias_gelu")
    total = b.op("Add", b.input("x", ("batch", 768), dt.float32), b.input("bias", (768,), dt.float32))
    return b.build({"y": b.op("GeluV2", total, approximate="none")})


def masked_halves() -> Graph:
    b = GraphBuilder("masked")
    x, limit = b.input("x", ("n", "m"), dt.float16), b.input("limit", ("n", 1), dt.float16)
    mask = b.op("Less", x, limit)
    return b.build({"y": b.op("SelectV2", mask, b.op("Abs", x), b.op("Neg", x)), "mask": mask})


def integers() -> Graph:
    b = GraphBuilder("integers")
    x, y = b.input("x", ("n",), dt.int32), b.input("y", ("n",), dt.int32)
    total = b.op("Maximum", b.op("Mul", x, y), y)
    return b.build({"t": total, "bits": b.op("BitwiseAnd", total, x), "wide": b.op("Cast", total, dst_type=9)})


FAMILIES: dict[str, Family] = {
    "abs_add": Family(abs_add, ({},)),
    "add_abs": Family(
        add_abs,
        ({"s0": 32, "s1": 16, "s2": 16}, {"s0": 32, "s1": 16, "s2": 18}, {"s0": 32, "s1": 512, "s2": 15}),
    ),
    "bias_gelu": Family(bias_gelu, tuple({"batch": n} for n in (0, 1, 3, 64, 257)), tolerance=4e-7),
    "masked_halves": Family(masked_halves, ({"n": 1, "m": 1}, {"n": 37, "m": 95}, {"n": 3, "m": 1000})),
    "integers": Family(integers, tuple({"n": n} for n in (0, 1, 96, 10_007))),
}


def arrays_for(graph: Graph, sizes: Mapping[str, int]) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    found: dict[str, Array] = {}
    for value in graph.inputs:
        shape = tuple(sizes.get(str(d), d.constant_value) for d in value.shape or ())
        if value.dtype.is_integer:
            found[value.name] = rng.integers(-9, 10, shape).astype(value.dtype.numpy_name)
        else:
            found[value.name] = rng.normal(size=shape).astype(value.dtype.numpy_name)
    return found


def check(name: str, target: str) -> Any:
    family = FAMILIES[name]
    graph = family.build()
    options = FusionOptions(numerics="strict")
    fn = autofuse.compile(graph, target=target, fusion=options)
    cpu = autofuse.compile(graph, target="cpu", fusion=options)
    for sizes in family.sizes:
        given = arrays_for(graph, sizes)
        results, expected = (f(*given.values()) for f in (fn, cpu))
        pairs = zip(*((r if isinstance(r, tuple) else (r,)) for r in (results, expected)), strict=True)
        for found, wanted in pairs:
            scale = family.tolerance * float(np.max(np.abs(wanted), initial=0.0)) if family.tolerance else 0.0
            np.testing.assert_allclose(found, wanted, rtol=0, atol=scale, err_msg=f"{name} on {target} at {sizes}")
    return fn


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_one_compile_serves_every_size_on_the_a2(name: str) -> None:
    fn = check(name, "ascend-a2")
    assert fn.stats.compiles == 1
    assert dict(fn.stats.calls_by_tier) == {"sim": len(FAMILIES[name].sizes)}
    assert len(fn.report.kernels) == 1


@pytest.mark.parametrize("target", TARGETS[1:])
def test_the_other_chips_give_the_same_results(target: str) -> None:
    check("bias_gelu", target)
    check("masked_halves", target)


@pytest.mark.parametrize("target", TARGETS)
def test_sources_for_cann_are_written(target: str) -> None:
    lowered = lower_graph(bias_gelu(), chosen_target(target), chosen_options())
    (bundle,) = lowered.bundles
    paths = {file.path.removeprefix(f"{bundle.name}_") for file in bundle.files}
    assert {"host.cpp", "tiling_func.cpp", "tiling_data.h", "infer_shape.cpp", "launch.cpp"} <= paths
    assert f"{bundle.name}/CMakeLists.txt" in {file.path for file in bundle.files}


def test_emulated_kernels_come_from_the_cache_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path))
    autofuse.compile(abs_add(), target="ascend-a2")
    assert autofuse.compile(abs_add(), target="ascend-a2").stats.cache_hits >= 1
