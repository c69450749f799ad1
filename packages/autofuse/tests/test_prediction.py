"""Predicted times: counted by hand from the target's figures, and the same in reports and from the function."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.pipeline import Lowered
from autofuse.prediction import launch_cycles, predict
from autofuse.report import report_of
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import as_dim, const
from autofuse_ir.tiling import Constraint
from autofuse_reference.arrays import to_tensor_data

A2 = chosen_target("ascend-a2")


def lowered_chain() -> Lowered:
    b = GraphBuilder("chain")
    b.symbol("n", 0, 2**26, 1000)
    x = b.input("x", ("n",), dt.float32)
    return lower_graph(b.build({"y": b.op("Neg", b.op("Exp", x))}), A2, chosen_options())


def test_a_large_copy_takes_what_its_bytes_take() -> None:
    n = 2**24
    (kernel,) = predict(lowered_chain(), A2, {"n": n}).kernels
    (part,) = kernel.parts
    bytes_of_a_core = n * 4 / A2.cores
    pipes = dict(part.pipe_cycles)
    assert pipes["MTE2"] == pytest.approx(bytes_of_a_core / A2.quantity("bytes_per_cycle_read"), rel=0.05)
    assert pipes["MTE3"] == pytest.approx(bytes_of_a_core / A2.quantity("bytes_per_cycle_write"), rel=0.05)
    per_element = sum(A2.cost_of(op, dt.float32).per_element for op in ("Exp", "Neg"))
    assert pipes["VEC"] == pytest.approx(n / A2.cores * per_element, rel=0.15)
    assert part.blocks == A2.cores
    starts = A2.cores * A2.quantity("core_launch_cycles")  # all cores, and then the first tile, which nothing overlaps
    assert starts < part.head_cycles < starts + max(pipes.values()) * dict(part.tiles)["z0t_size"] * A2.cores / n * 4
    assert part.cycles == part.head_cycles + max(pipes.values())
    assert kernel.microseconds == pytest.approx((part.cycles + launch_cycles(A2)) / A2.quantity("clock_hz") * 1e6)


def test_memory_is_within_its_limit_and_used() -> None:
    (kernel,) = predict(lowered_chain(), A2, {"n": 2**24}).kernels
    (part,) = kernel.parts
    assert part.local_limit == A2.local_memory.usable
    assert 0.8 * part.local_limit < part.local_bytes <= part.local_limit


def test_two_launches_are_predicted_for_what_fusing_joined() -> None:
    found = predict(lowered_chain(), A2, {"n": 2**22}, unfused=True)
    assert found.unfused_launches == 2
    assert found.unfused_microseconds is not None
    assert found.unfused_microseconds > 1.8 * found.microseconds


def test_nothing_is_launched_where_there_are_no_elements() -> None:
    found = predict(lowered_chain(), A2, {"n": 0}, unfused=True)
    assert found.kernels == ()
    assert (found.microseconds, found.unfused_microseconds, found.without) == (0.0, 0.0, ())


def test_reports_of_ascend_hold_the_prediction_at_the_hints() -> None:
    lowered = lowered_chain()
    data = report_of(lowered, A2, unfused=True).as_data()["predicted"]
    assert data == predict(lowered, A2, {"n": 1000}, unfused=True).as_data()
    assert data["sizes"] == {"n": 1000}
    assert data["fused_us"] == sum(kernel["us"] for kernel in data["kernels"])


def test_reports_of_the_cpu_are_as_they_were(affine: Any) -> None:
    cpu = chosen_target("cpu")
    assert "predicted" not in report_of(lower_graph(affine, cpu, chosen_options()), cpu).as_data()


def test_kernels_that_no_tiles_fit_are_named() -> None:
    b = GraphBuilder("running")
    b.symbol("n", 0, 2**26, 64)
    axis = b.constant(to_tensor_data(np.asarray(0)))
    lowered = lower_graph(b.build({"y": b.op("Cumsum", b.input("x", ("n",), dt.float32), axis)}), A2, chosen_options())
    assert predict(lowered, A2, {"n": 2**26}).without == (), "a scan goes in pieces"
    (model,) = lowered.tilings
    unfit = tuple(
        evolve(
            case, constraints=(*case.constraints, Constraint("local_memory", as_dim("n"), const(100), "a test's own"))
        )
        for case in model.cases
    )
    tight = evolve(lowered, tilings=(evolve(model, cases=unfit),))
    assert predict(tight, A2, {"n": 64}).without == ()
    assert predict(tight, A2, {"n": 101}).without == ("k0_cumsum",)
