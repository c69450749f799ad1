"""Which of ONNX's node tests fuse: every one whose operators are not for the host, compiled every way, without a C++
compiler. ``exclusions.toml`` lists what does not fuse, ``several_kernels.toml`` what takes more than one kernel, both
with reasons; ``pins.toml`` has the counts.
"""

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target
from autofuse_fusion.stage import fuse
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion
from autofuse_onnx.frontend import import_model
from autofuse_onnx.node_tests import NodeTest, node_tests
from autofuse_symshape.stage import infer
from autofuse_testkit.node_conformance import compilation, host_kind, ways

PINS_SAY = """# ONNX node tests by what they come to: operators and functions written out; compiled for their own sizes,
# for symbols, and so with structure unknown until run time. "No kernel": views and sizes only. Written by
# `--write-pins`.
"""
HERE = Path(__file__).parent
CASES = tuple(test for test in node_tests() if host_kind(test) is None)


def table(name: str) -> Any:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


@frozen
class Run:
    """One test compiled one way: kernels, and the reasons of what went to the host."""

    test: NodeTest
    way: str
    kernels: int
    host: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.test.name} {self.way}"


def fused(test: NodeTest, way: str) -> FusedGraph:
    compiled = compilation(test, way)
    graph, facts = infer(import_model(compiled.model, values=compiled.known), None)
    return fuse(graph, facts, chosen_target(None), chosen_options())


@cache
def runs() -> tuple[Run, ...]:
    found = []
    for test in CASES:
        for way in ways(test):
            nodes = fused(test, way).nodes
            kernels = sum(isinstance(node, AscBackend | FusedAscBackend) for node in nodes)
            host = tuple(r.reason.value for node in nodes if isinstance(node, HostRegion) for r in node.reasons)
            found.append(Run(test, way, kernels, host))
    return tuple(found)


def covers(entry: dict[str, Any], run: Run) -> bool:
    return run.way in entry.get("ways", (run.way,)) and re.fullmatch(entry["cases"], run.test.name) is not None


def test_every_test_whose_structure_is_known_fuses_but_for_the_exclusions() -> None:
    exclusions = table("exclusions.toml")["exclusion"]
    known = [run for run in runs() if run.way != "run time"]
    assert [r.label for r in known if r.host and not any(covers(e, r) for e in exclusions)] == []
    assert [r.label for r in known if not r.host and any(covers(e, r) for e in exclusions)] == []


def test_only_structure_unknown_until_run_time_keeps_other_tests_from_fusing() -> None:
    """A host runs them where the rank or the order of work is in an input (the padded axes: as the front end says)."""
    exclusions = table("exclusions.toml")["exclusion"]
    for run in runs():
        if run.way == "run time" and run.host and not any(covers(e, run) for e in exclusions):
            assert "structural-operand-unknown" in run.host or "_pad_" in run.test.name, run.label


def test_every_exclusion_has_a_reason_and_a_test_that_no_other_covers() -> None:
    for exclusion in table("exclusions.toml")["exclusion"]:
        assert exclusion["outcome"] in ("host", "refused")
        assert exclusion["reason"]
        assert any(covers(exclusion, run) for run in runs()), exclusion["cases"]
    for run in runs():
        covering = [e["cases"] for e in table("exclusions.toml")["exclusion"] if covers(e, run)]
        assert len(covering) <= 1, (run.label, covering)


def test_what_fuses_is_one_kernel_but_for_the_stated() -> None:
    stated = table("several_kernels.toml")["several"]
    assert all(entry["reason"] for entry in stated)
    for run in runs():
        most = next((entry["kernels"] for entry in stated if covers(entry, run)), 1)
        assert run.host or run.kernels <= most, run.label


def test_counts_are_pinned(node_test_counts: Counter[str], writes_pins: bool) -> None:
    """``--write-pins`` writes what is found."""
    counts: Counter[str] = Counter()
    for run in runs():
        kind = "expanded" if run.test.expands else "operator"
        outcome = "host" if run.host else ("no kernel", "one kernel")[run.kernels] if run.kernels < 2 else "several"
        counts[f"{kind}, {run.way}: {outcome}"] += 1
    for test in node_tests():
        host = host_kind(test)
        if host is not None:
            counts[f"for the host: {host}"] += 1
    node_test_counts.update(counts)
    if writes_pins:
        lines = (f'"{name}" = {counts[name]}\n' for name in sorted(counts))
        (HERE / "pins.toml").write_text(PINS_SAY + "".join(lines), encoding="utf-8")
    assert dict(counts) == table("pins.toml")


@pytest.mark.parametrize("way", ["given", "symbolic"])
def test_expanded_functions_fuse_as_the_operators_do(way: str) -> None:
    """An operator that is one kernel stays one kernel where its function is written out, but for the stated."""
    alone = {run.test.name: run for run in runs() if run.way == way}
    stated = table("several_kernels.toml")["several"]
    worse = [
        run.label
        for run in alone.values()
        if run.test.expands and not any(covers(entry, run) for entry in stated)
        for whole in [alone.get(run.test.name.split("_expanded")[0])]
        if whole is not None and not whole.host and (run.host or run.kernels > max(whole.kernels, 1))
    ]
    assert worse == []
