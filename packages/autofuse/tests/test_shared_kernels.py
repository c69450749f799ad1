"""Kernels that differ in floating-point constants alone are one piece of code, which computes with each one's own."""

import autofuse
import ml_dtypes
import numpy as np
import pytest
from autofuse.compiler import chosen_target, lower_graph
from autofuse.pipeline import Lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import FileRole
from autofuse_reference.arrays import to_tensor_data

FACTORS = (0.25, 3.0, -0.0, 0.25, float("inf"), float("nan"), 1e-3)
FLOATS = {
    np.float16: dt.float16,
    ml_dtypes.bfloat16: dt.bfloat16,
    np.float32: dt.float32,
    np.float64: dt.float64,
}


def scaled(kind: type, factors: tuple[float, ...]) -> Graph:
    """y_k = x_k * factor_k, all of size n."""
    b = GraphBuilder("scaled")
    outputs = {}
    for number, factor in enumerate(factors):
        x = b.input(f"x{number}", ("n",), FLOATS[kind])
        outputs[f"y{number}"] = b.op("Mul", x, b.constant(to_tensor_data(np.array(factor, kind))))
    return b.build(outputs=outputs)


def lowered(graph: Graph, target: str = "cpu") -> Lowered:
    options = FusionOptions(enable=False)
    return lower_graph(graph, chosen_target(target), options, None, lambda stage, artefact: None)


def codes(made: Lowered) -> int:
    return len({file.path for bundle in made.bundles for file in bundle.files if file.role is FileRole.KERNEL})


@pytest.mark.parametrize("kind", list(FLOATS), ids=lambda kind: np.dtype(kind).name)
def test_each_kernel_computes_with_its_own_constant(kind: type) -> None:
    fn = autofuse.compile(scaled(kind, FACTORS), fusion=FusionOptions(enable=False))
    x = np.arange(-2, 40).astype(kind)
    for factor, y in zip(FACTORS, fn(*[x] * len(FACTORS)), strict=True):
        with np.errstate(invalid="ignore"):
            wanted = (x * np.array(factor, kind)).astype(np.float64)
        found = y.astype(np.float64)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


def test_one_code_and_a_launch_for_each_set_of_constants() -> None:
    made = lowered(scaled(np.float32, FACTORS))
    assert codes(made) == 1
    launches = [bundle.launch for bundle in made.bundles]
    assert len(set(launches)) == len(set(map(repr, FACTORS)))
    assert launches[0] == launches[3]
    assert [kernel.launch for kernel in made.program.kernels] == launches


def test_constants_that_all_have_in_common_stay_in_the_code() -> None:
    b = GraphBuilder("affine")
    x, one = b.input("x", ("n",), dt.float32), b.constant(to_tensor_data(np.array(1.0, np.float32)))
    factors = (b.constant(to_tensor_data(np.array(factor, np.float32))) for factor in (2.0, 3.0))
    graph = b.build(outputs={f"y{k}": b.op("Exp", b.op("Mul", b.op("Add", x, one), f)) for k, f in enumerate(factors)})
    made = lowered(graph)
    texts = {file.path: file.text for bundle in made.bundles for file in bundle.files if file.role is FileRole.KERNEL}
    assert sum("Constants" in text for text in texts.values()) == 1
    assert sum("(1.0f)" in text for text in texts.values()) == 1


def test_integers_are_content() -> None:
    b = GraphBuilder("shifted")
    x = b.input("x", ("n",), dt.int32)
    steps = (b.constant(to_tensor_data(np.array(step, np.int32))) for step in (1, 2))
    assert codes(lowered(b.build(outputs={f"y{k}": b.op("Add", x, step) for k, step in enumerate(steps)}))) == 2


def test_a_chip_has_its_constants_in_the_code() -> None:
    assert codes(lowered(scaled(np.float32, (2.0, 3.0, 2.0)), "ascend-a2")) == 2
