"""Whole pipeline on the CPU: one compile serves every size, on every thread count, with the same bits."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import frozen
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer

Arrays = dict[str, "np.ndarray[Any, Any]"]


@frozen
class Family:
    """A graph, the sizes to try it at, and how far float results may be off (ULP of the largest element)."""

    name: str
    build: Callable[[], Graph]
    sizes: tuple[Mapping[str, int], ...]
    kernels: int = 1
    allowed_ulp: float = 0.0


def bias_gelu() -> Graph:
    b = GraphBuilder("bias_gelu")
    total = b.op("Add", b.input("x", ("batch", 768), dt.float32), b.input("bias", (768,), dt.float32))
    return b.build({"y": b.op("GeluV2", total, approximate="none")})


def chain_of_ten() -> Graph:
    b = GraphBuilder("chain")
    x, bias = b.input("x", ("n", "m"), dt.float32), b.input("bias", ("m",), dt.float32)
    for op in ("Add", "Mul", "Sub", "Maximum", "Minimum") * 2:
        x = b.op(op, x, bias)
    return b.build({"y": x})


def undecided_broadcast() -> Graph:
    b = GraphBuilder("undecided")
    x, y = b.input("x", ("b", "s"), dt.float32), b.input("y", ("d",), dt.float32)
    return b.build({"y": b.op("Sub", b.op("Mul", x, y), y)})


def masked_halves() -> Graph:
    b = GraphBuilder("masked")
    x, limit = b.input("x", ("n", "m"), dt.float16), b.input("limit", ("n", 1), dt.float16)
    mask = b.op("Less", x, limit)
    return b.build({"y": b.op("SelectV2", mask, b.op("Exp", x), b.op("Neg", x)), "mask": mask})


def integers() -> Graph:
    b = GraphBuilder("integers")
    x, y = b.input("x", ("n",), dt.int32), b.input("y", ("n",), dt.int32)
    quotient = b.op("FloorDiv", b.op("Mul", x, y), y)
    return b.build({"q": quotient, "bits": b.op("BitwiseAnd", quotient, x), "wide": b.op("Cast", quotient, dst_type=9)})


def two_results_of_one_input() -> Graph:
    b = GraphBuilder("two")
    x = b.input("x", ("a", "b", "c"), dt.float64)
    return b.build({"p": b.op("Tanh", x), "q": b.op("Sqrt", b.op("Abs", x))})


def sizes(**choices: tuple[int, ...]) -> tuple[Mapping[str, int], ...]:
    """Twenty bindings: each symbol walks its own choices."""
    return tuple({s: c[(i * (k + 1)) % len(c)] for k, (s, c) in enumerate(choices.items())} for i in range(20))


LONG = (0, 1, 2, 3, 7, 8, 17, 31, 64, 97, 128, 255, 256, 513, 1000, 1021)
SHORT = (0, 1, 2, 3, 5, 8, 16, 17)
FAMILIES = (
    Family("bias and Gelu", bias_gelu, sizes(batch=LONG[:12]), allowed_ulp=2),
    Family("chain of ten", chain_of_ten, sizes(n=LONG, m=SHORT)),
    Family("undecided broadcast", undecided_broadcast, tuple({"b": 3, "s": s, "d": d} for s, d in
        ((1, 2), (2, 1), (3, 3), (0, 1), (1, 1), (40, 1), (1, 40), (64, 64), (7, 7), (1, 0)) * 2)),
    Family("masked halves", masked_halves, sizes(n=SHORT, m=LONG), allowed_ulp=2),
    Family("integers", integers, sizes(n=LONG)),
    Family("two results", two_results_of_one_input, sizes(a=SHORT, b=SHORT, c=LONG), allowed_ulp=8),
)  # fmt: skip


def arrays_of(graph: Graph, binding: Mapping[str, int], seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    made: Arrays = {}
    for value in graph.inputs:
        shape = tuple(int(str(d)) if d.is_constant else binding[str(d)] for d in value.shape or ())
        if value.dtype.is_float:
            made[value.name] = (rng.standard_normal(shape) * 2).astype(value.dtype.numpy_name)
        else:
            made[value.name] = rng.integers(1, 50, shape).astype(value.dtype.numpy_name)
    return made


def error_at_scale(actual: "np.ndarray[Any, Any]", wanted: "np.ndarray[Any, Any]") -> float:
    """Largest distance in ULP of the largest element: 1 + erf(x) cancels, so small results have few good bits."""
    wide = wanted.astype(np.float64)
    assert np.array_equal(np.isfinite(actual), np.isfinite(wanted))
    known = np.isfinite(wide)
    distance = np.abs(np.where(known, actual.astype(np.float64) - wide, 0.0)).max()
    return float(distance / np.spacing(np.abs(wanted[known]).max())) if known.any() else 0.0


def outputs(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("family", FAMILIES, ids=[f.name for f in FAMILIES])
def test_one_compile_serves_twenty_sizes(family: Family) -> None:
    graph = family.build()
    fn = autofuse.compile(graph, numerics="strict")
    assert fn.report.launches == family.kernels
    assert fn.report.regions == ()
    _, facts = infer(graph)
    reference = GraphInterpreter(graph, {v.name: v.dtype for v in facts.values})
    for number, binding in enumerate(family.sizes):
        arrays = arrays_of(graph, binding, number)
        wanted = reference.outputs(arrays)
        got = outputs(fn(*(arrays[v.name] for v in graph.inputs)))
        for name, array in zip(wanted, got, strict=True):
            assert array.shape == wanted[name].shape, (binding, name)
            if array.dtype.kind != "f":
                np.testing.assert_array_equal(array, wanted[name], err_msg=f"{binding} {name}")
            elif array.size:
                assert error_at_scale(array, wanted[name]) <= family.allowed_ulp, (binding, name)
    assert fn.stats.compiles == 1


def test_fused_and_unfused_give_the_same_bits_under_strict() -> None:
    for build in (bias_gelu, chain_of_ten, masked_halves, integers):
        graph = build()
        fused = autofuse.compile(graph, numerics="strict")
        unfused = autofuse.compile(graph, numerics="strict", fusion=FusionOptions(enable=False))
        assert len(unfused.program.kernels) > len(fused.program.kernels)
        arrays = arrays_of(graph, {"batch": 33, "n": 29, "m": 65}, 1)
        ordered = [arrays[v.name] for v in graph.inputs]
        for a, b in zip(outputs(fused(*ordered)), outputs(unfused(*ordered)), strict=True):
            assert a.tobytes() == b.tobytes()


def test_any_number_of_threads_gives_the_same_bits() -> None:
    fn = autofuse.compile(bias_gelu())
    x = np.random.default_rng(0).standard_normal((512, 768)).astype(np.float32)
    bias = np.linspace(-1, 1, 768, dtype=np.float32)
    results = []
    for threads in (1, 2, 3, 4, 8):
        autofuse.set_num_threads(threads)
        results.append(fn(x, bias).tobytes())
    autofuse.set_num_threads(2)
    assert len(set(results)) == 1


def test_sources_do_not_depend_on_hints() -> None:
    texts = []
    for hint in (1, 100_000):
        fn = autofuse.compile(chain_of_ten(), hints={"n": hint, "m": hint})
        texts.append([f.text for b in fn.lowered.bundles for f in b.files])
    assert texts[0] == texts[1]


def test_a_saved_bundle_gives_the_same_bits_elsewhere(tmp_path: Path) -> None:
    fn = autofuse.compile(bias_gelu())
    fn.save(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    again = autofuse.load(tmp_path / "there")
    x = np.random.default_rng(0).standard_normal((5, 768)).astype(np.float32)
    bias = np.zeros(768, np.float32)
    assert again(x, bias).tobytes() == fn(x, bias).tobytes()
