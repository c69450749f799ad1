"""ONNX's node tests of the fused families on kernels: as they are ("given"), with every input dim "symbolic", and so
with axes and shapes "known" when compiling, where a case has such inputs.

A case whose values are right has run in kernels alone, or stands in ``exclusions.toml`` as one that runs on a host
backend or is refused there, with the reason. The default run takes every sixth case one way, in turns;
``--all-node-cases`` takes all of them every way.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import frozen
from autofuse_ir.fused_graph import HostRegion
from autofuse_onnx.errors import OnnxError
from autofuse_onnx.frontend import import_model
from autofuse_onnx.node_tests import NodeTest, node_tests, symbolic

FAMILIES = {
    "element-wise": """Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Cos Cosh Div Elu Erf Exp Floor Gelu HardSigmoid
        HardSwish LeakyRelu Log Mish Mod Mul Neg PRelu Pow Reciprocal Relu Round Selu Celu Shrink Sigmoid Sign Sin Sinh
        Softplus Softsign Sqrt Sub Sum Mean Max Min Tan Tanh ThresholdedRelu Swish""",
    "comparison": "Equal Greater GreaterOrEqual Less LessOrEqual IsInf IsNaN",
    "logical": "And Or Xor Not",
    "bitwise": "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitShift",
    "cast": "Cast CastLike",
    "where, clip": "Where Clip",
    "broadcast and shape": "Expand Reshape Squeeze Unsqueeze Flatten Shape Size Identity Constant ConstantOfShape",
}
FAMILY_OF = {op: family for family, ops in FAMILIES.items() for op in ops.split()}
SLICE = 6
STRUCTURAL = {"axes", "shape", "new_shape", "split", "k"}
"""Names that the cases give to inputs which decide shapes."""

FLOORS = {
    "element-wise": 484,
    "comparison": 92,
    "logical": 54,
    "bitwise": 86,
    "cast": 48,
    "where, clip": 28,
    "broadcast and shape": 91,
}
"""The least number of runs (a case one way) of each family that kernels compute alone."""


@frozen
class Exclusion:
    """Cases, by a pattern of their names, that do not run in kernels alone; ``dims`` "" means every way."""

    cases: str
    outcome: str
    reason: str
    dims: str = ""

    def covers(self, name: str, dims: str) -> bool:
        return self.dims in ("", dims) and re.fullmatch(self.cases, name) is not None


EXCLUSIONS = tuple(
    Exclusion(**entry)
    for entry in tomllib.loads((Path(__file__).parent / "exclusions.toml").read_text(encoding="utf-8"))["exclusion"]
)


def family(test: NodeTest) -> str | None:
    """The family of a single-operator case, or of an expanded one whose operators are all in the families."""
    found = {FAMILY_OF.get(op) for op in test.op_types}
    if None in found or not found:
        return None
    return FAMILY_OF[test.op_types[0]] if len(found) == 1 else "element-wise"


def expected(name: str, dims: str) -> str:
    return next((e.outcome for e in EXCLUSIONS if e.covers(name, dims)), "kernels")


def ways(test: NodeTest) -> tuple[str, ...]:
    """How a case is compiled."""
    return ("given", "symbolic", "known") if structural(test) else ("given", "symbolic")


def structural(test: NodeTest) -> dict[str, Any]:
    """The inputs that decide shapes, with their content."""
    if FAMILY_OF[test.op_types[0]] != "broadcast and shape":
        return {}
    names = [value.name for value in test.model.graph.input]
    given = dict(zip(names, test.inputs, strict=True))
    is_shape = test.op_types[0] == "ConstantOfShape"
    return {name: value for name, value in given.items() if name in STRUCTURAL or is_shape}


IN_SCOPE = tuple(t for t in node_tests() if family(t) is not None)
RUNS = tuple((case, dims) for case in IN_SCOPE for dims in ways(case))


def selected(everything: bool) -> tuple[tuple[NodeTest, str], ...]:
    if everything:
        return RUNS
    return tuple((case, ways(case)[number % len(ways(case))]) for number, case in enumerate(IN_SCOPE[::SLICE]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        runs = selected(metafunc.config.getoption("--all-node-cases"))
        metafunc.parametrize(("case", "dims"), runs, ids=[f"{case.name}-{dims}" for case, dims in runs])


def test_a_node_case_gives_its_values(case: NodeTest, dims: str, node_case_counts: Counter[tuple[str, str]]) -> None:
    outcome = "refused"
    model = case.model if dims == "given" else symbolic(case.model)
    known = structural(case) if dims == "known" else {}
    names = [value.name for value in case.model.graph.input]
    given = [value for name, value in zip(names, case.inputs, strict=True) if name not in known]
    try:
        fn = autofuse.compile(import_model(model, values=known), tier="jit")
        results = fn(*given)
    except OnnxError:
        if expected(case.name, dims) != "refused":
            raise
    else:
        outcome = "host" if any(isinstance(n, HostRegion) for n in fn.lowered.fused.nodes) else "kernels"
        results = results if isinstance(results, tuple) else (results,)
        for got, want in zip(results, case.outputs, strict=True):
            check(got, want)
    node_case_counts[str(family(case)), outcome] += 1
    assert outcome == expected(case.name, dims), "exclusions.toml says otherwise"


def check(got: Any, want: Any) -> None:
    """The values agree: lists element by element, what kernels do not compute bit by bit."""
    if isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            check(one, other)
        return
    if want is None or got is None:
        assert got is want
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    tolerance = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-9}.get(want.dtype.name)
    if tolerance is None:
        if want.dtype.kind not in "biuOSU":  # floats of 8 bits and less: NumPy does not know their NaN
            got, want = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_array_equal(got, want)
        return
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance / 10)


def test_every_exclusion_covers_a_case_that_no_other_covers() -> None:
    for exclusion in EXCLUSIONS:
        assert exclusion.outcome in ("host", "refused")
        assert exclusion.reason
        assert any(exclusion.covers(case.name, dims) for case, dims in RUNS), exclusion.cases
    for case, dims in RUNS:
        covering = [e.cases for e in EXCLUSIONS if e.covers(case.name, dims)]
        assert len(covering) <= 1, (case.name, dims, covering)


@pytest.mark.parametrize("name", FAMILIES)
def test_kernels_compute_at_least_as_many_cases_of_a_family_as_before(name: str) -> None:
    runs = [(case, dims) for case, dims in RUNS if family(case) == name]
    in_kernels = sum(expected(case.name, dims) == "kernels" for case, dims in runs)
    assert in_kernels >= FLOORS[name], f"{in_kernels} of {len(runs)}"
