"""The report: figures that can be counted by hand, refusals with reasons, the same text every time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import autofuse
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.report import Report, report_of
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph


def report(graph: Graph, options: FusionOptions | None = None) -> Report:
    return report_of(lower_graph(graph, chosen_target("cpu"), chosen_options(options)))


def test_a_printed_report_is_a_summary(affine: Graph) -> None:
    assert str(report(affine)).splitlines() == [
        "affine: launches 2 -> 1, bytes moved 96*batch + 24 -> 48*batch + 24",
        "  k0_add_mul: shift, double",
    ]


def test_bytes_are_those_of_the_tensors_that_are_read_and_written(affine: Graph) -> None:
    found = report(affine)
    assert found.launches == 1
    assert found.launches_before == 2
    batch = 10
    tensor, bias = batch * 6 * 4, 6 * 4
    assert evaluate(found.bytes_moved, {"batch": batch}) == 2 * tensor + bias
    assert evaluate(found.bytes_moved_before, {"batch": batch}) == (2 * tensor + bias) + 2 * tensor
    assert set(found.kernels[0].operators) == {"shift", "double"}
    assert evaluate(found.bytes_handled, {"batch": batch}) == 0


def test_every_operator_is_in_a_kernel_on_a_host_or_in_neither() -> None:
    b = GraphBuilder("counted")
    x = b.input("x", ("batch", 4), dt.float32)
    weight = b.input("weight", (4, 4), dt.float32)
    product = b.op("MatMul", b.op("Relu", x), weight)
    found = report(b.build({"y": b.op("Unsqueeze", product, axes=(0,))}))
    counts = (found.operators_in_kernels, found.operators_on_hosts, found.operators_in_neither)
    assert (found.operators, counts) == (3, (1, 1, 1))


def test_unfused_counts_equal_those_said_to_be_before(affine: Graph) -> None:
    unfused = report(affine, FusionOptions(enable=False))
    assert unfused.launches == report(affine).launches_before
    assert evaluate(unfused.bytes_moved, {"batch": 7}) == evaluate(report(affine).bytes_moved_before, {"batch": 7})


def test_intermediates_that_fusing_removes_need_no_memory(affine: Graph) -> None:
    assert report(affine).peak_memory({"batch": 100}) == 0
    assert report(affine, FusionOptions(enable=False)).peak_memory({"batch": 100}) >= 100 * 6 * 4


def test_a_pair_kept_apart_has_its_reason(affine: Graph) -> None:
    found = report(affine, FusionOptions(skip_operators=("double",)))
    (refusal,) = found.why_not("double", "shift")
    assert refusal.reason is Reason.SWITCHED_OFF
    assert found.why_not("shift", "double") == (refusal,)
    assert found.why_not("shift", "shift") == ()
    assert evaluate(refusal.bytes_saved, {"batch": 10}) > 0


def test_host_operators_are_listed_with_their_reasons() -> None:
    b = GraphBuilder("product")
    x = b.input("x", ("n", 4), dt.float32)
    graph = b.build(outputs={"y": b.op("Relu", b.op("MatMul", x, b.input("w", (4, 4), dt.float32)))})
    found = report(graph)
    (region,) = found.regions
    assert [reason for _, reason in region.reasons] == ["host-operator"]
    assert evaluate(region.bytes_handled, {"n": 3}) == (3 * 4 + 4 * 4 + 3 * 4) * 4


def test_json_holds_formulas_and_values_at_hints(affine: Graph) -> None:
    data = json.loads(autofuse.compile(affine, hints={"batch": 2}).report.to_json())
    moved = data["bytes_moved"]["before"]
    assert "batch" in moved["formula"]
    assert moved["at_hints"] == 2 * 6 * 4 * 4 + 6 * 4
    assert data["kernels"][0]["axes"]


def test_json_is_the_same_under_every_hash_seed(affine_file: Path) -> None:
    def printed(seed: str) -> str:
        command = [sys.executable, "-m", "autofuse", "explain", "--json", str(affine_file)]
        return subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout

    assert printed("1") == printed("2")
