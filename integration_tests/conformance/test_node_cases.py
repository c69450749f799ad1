"""ONNX's node tests on kernels: the values they state, then the same operators at odd, prime and large sizes.

The default run takes a slice, each test one way, in turns; ``--all-node-cases`` takes all of them every way, with the
kernels of all in one library at ``-O1``: the C++ compiler takes the time, and a third of the kernels are equal.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse import plugins
from autofuse_ir.errors import AutofuseError
from autofuse_ir.fused_graph import HostRegion
from autofuse_onnx.errors import OnnxError
from autofuse_onnx.frontend import import_model
from autofuse_onnx.node_tests import NodeTest, node_tests
from autofuse_reference.run import run as interpret
from autofuse_testkit.compiled_together import CompiledTogether
from autofuse_testkit.node_conformance import Compilation, compilation, host_kind, other_sizes, ways

CASES = tuple(test for test in node_tests() if host_kind(test) is None)
RUNS = tuple((case, way) for case in CASES for way in ways(case))
SLICE = 41
EXCLUSIONS = tomllib.loads((Path(__file__).parent / "exclusions.toml").read_text(encoding="utf-8"))["exclusion"]
TOLERANCES = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-9}
"""Of what kernels compute in floats, by dtype, relative to each element; to the largest one at other sizes."""


def selected(everything: bool) -> tuple[tuple[NodeTest, str], ...]:
    if everything:
        return RUNS
    return tuple((case, ways(case)[number % len(ways(case))]) for number, case in enumerate(CASES[::SLICE]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        runs = selected(metafunc.config.getoption("--all-node-cases"))
        metafunc.parametrize(("case", "way"), runs, ids=[f"{case.name}-{way}" for case, way in runs])


@pytest.fixture(scope="module")
def function_of(pytestconfig: pytest.Config) -> Callable[[NodeTest, str], Any]:
    """Returns a test compiled one way, as a callable."""
    if not pytestconfig.getoption("--all-node-cases"):
        return lambda case, way: autofuse.compile(imported(compilation(case, way)), tier="jit")
    together = CompiledTogether(flags=("-O1",))
    names = {(case.name, way): f"run{number}" for number, (case, way) in enumerate(RUNS)}
    for case, way in RUNS:
        if not is_excluded(case, way):
            together.add(names[case.name, way], imported(compilation(case, way)))
    return lambda case, way: together[names[case.name, way]]


def imported(compiled: Compilation) -> Any:
    return import_model(compiled.model, values=compiled.known)


def is_excluded(case: NodeTest, way: str) -> bool:
    return any(e["outcome"] == "refused" and _covers(e, case, way) for e in EXCLUSIONS)


def is_refused(compiled: Compilation) -> bool:
    """True where ONNX Runtime, which runs the model instead of kernels, refuses it."""
    try:
        autofuse.compile(imported(compiled), tier="jit")(*compiled.arguments)
    except OnnxError:
        return True
    return False


def test_a_node_test_gives_its_values(
    case: NodeTest, way: str, function_of: Callable[[NodeTest, str], Any], node_test_counts: Counter[str]
) -> None:
    compiled = compilation(case, way)
    if is_excluded(case, way):
        assert is_refused(compiled), "exclusions.toml says that it is refused"
        node_test_counts["values: refused"] += 1
        return
    fn = function_of(case, way)
    for got, want in zip(_listed(fn(*compiled.arguments)), case.outputs, strict=True):
        check(got, want, relative_to_all=False)
    is_host = any(isinstance(node, HostRegion) for node in fn.lowered.fused.nodes)
    node_test_counts[f"values: right, {'host' if is_host else 'kernels'}"] += 1
    if way == "symbolic" and not is_host:
        for kind, arguments in other_sizes(compiled.arguments):
            node_test_counts[f"values: {kind} sizes, {at_other_sizes(fn, arguments)}"] += 1


def at_other_sizes(fn: Any, arguments: tuple[Any, ...]) -> str:
    """Compare with the interpreter of graphs; sizes that it refuses have to be refused."""
    with np.errstate(all="ignore"):
        try:
            wanted = interpret(fn.lowered.source, list(arguments), hosts=plugins.hosts())
        except AutofuseError:
            with pytest.raises(AutofuseError):
                fn(*arguments)
            return "not allowed"
        found = _listed(fn(*arguments))
    for got, want in zip(found, wanted, strict=True):
        check(got, want, relative_to_all=True)
    return "right"


def _covers(exclusion: dict[str, Any], case: NodeTest, way: str) -> bool:
    return way in exclusion.get("ways", (way,)) and re.fullmatch(exclusion["cases"], case.name) is not None


def _listed(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def check(got: Any, want: Any, relative_to_all: bool) -> None:
    """The values agree: floats by tolerance, the rest bit by bit."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    tolerance = TOLERANCES.get(want.dtype.name)
    if want.dtype.kind not in "biuOSU":  # NumPy does not know the NaN of small floats
        got, want = got.astype(np.float64), want.astype(np.float64)
    if tolerance is None:
        np.testing.assert_array_equal(got, want)
        return
    largest = np.abs(want[np.isfinite(want)]).max(initial=0.1) if relative_to_all else 0.1
    np.testing.assert_allclose(got, want, rtol=2 * tolerance, atol=tolerance * largest)
