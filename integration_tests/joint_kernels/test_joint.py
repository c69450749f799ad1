"""Several AscGraphs in one launch: the bits of separate kernels, on the CPU and in the interpreter, in any order."""

from collections.abc import Iterator

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse.report import report_of
from autofuse_codegen.stage import emit
from autofuse_ir import dtypes as dt
from autofuse_ir.checks import findings
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import Alternative, ScheduleResult
from autofuse_ir.target import load_target
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.groups import Chosen, interpret_schedule
from autofuse_schedule.force import only_alternative, only_template, template_names
from autofuse_schedule.stage import schedule
from autofuse_testkit.joint import (
    GRAPHS,
    ROW_SIZES,
    Array,
    Joint,
    bits,
    chain,
    crossed,
    diamond,
    lowered,
    runner,
    sides,
    values_for,
)
from autofuse_tiling.evaluate import choose_groups
from autofuse_tiling.stage import tile

SMALL = tuple((n, m) for n, m in ROW_SIZES if n * m < 30_000)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    autofuse.set_num_threads(1)


@pytest.fixture(scope="module", params=GRAPHS)
def joint(request: pytest.FixtureRequest) -> Joint:
    graph = GRAPHS[request.param]()
    return Joint(lowered(graph, False), lowered(graph, True))


def interpreted(
    result: ScheduleResult, facts: object, target: str, arrays: list[Array], n: int, m: int, seed: int = 0
) -> list[Array]:
    """Run the planned groups, with the tile sizes that the tiling function would choose."""
    sizes = {"n": n, "m": m}
    choices = choose_groups(tile(result, facts, load_target(target)), sizes, cores=4)
    chosen = {name: Chosen(choice.implementation, choice.sizes) for name, choice in choices.items()}
    return interpret_schedule(result, arrays, sizes, chosen, seed)


def test_one_launch_gives_the_bits_of_separate_kernels_on_any_number_of_threads(joint: Joint) -> None:
    apart, together = runner(joint.apart), runner(joint.together)
    assert len(joint.apart.bundles) > len(joint.together.bundles) == 1
    for n, m in ROW_SIZES:
        arrays = values_for(joint.apart.source, {"n": n, "m": m})
        autofuse.set_num_threads(1)
        wanted = bits(apart(*arrays))
        for count in (1, 2, 3, 4, 8):
            autofuse.set_num_threads(count)
            assert bits(together(*arrays)) == wanted, (n, m, count)


def test_the_interpreter_tier_runs_all_parts(joint: Joint) -> None:
    apart, together = runner(joint.apart, "interpreter"), runner(joint.together, "interpreter")
    for n, m in SMALL:
        arrays = values_for(joint.apart.source, {"n": n, "m": m})
        assert bits(together(*arrays)) == bits(apart(*arrays)), (n, m)


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
@pytest.mark.parametrize("make", [sides, crossed, chain, diamond])
def test_plans_run_in_any_order_that_they_allow(make: object, target: str) -> None:
    """Every legal order gives the same bits; the CPU's are those of the graphs evaluated one by one."""
    made = lowered(make(), True)  # type: ignore[operator]
    (node,) = made.fused.nodes
    result = schedule(node, made.fused.facts, load_target(target))  # type: ignore[arg-type]
    assert findings(result) == ()
    for n, m in ((0, 3), (1, 1), (5, 66)):
        arrays = values_for(made.source, {"n": n, "m": m})
        wanted = runner(made, "interpreter")(*arrays)
        for seed in range(3):
            found = interpreted(result, made.fused.facts, target, arrays, n, m, seed)
            for got, want in zip(found, wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6)
            if target == "cpu":
                assert bits(found) == bits(wanted), (n, m, seed)


@pytest.mark.parametrize("make", [crossed, chain, diamond])
def test_an_order_that_is_left_out_is_found_by_the_verifier_and_by_running(make: object) -> None:
    made = lowered(make(), True)  # type: ignore[operator]
    result = only_alternative(made.schedules[0], "general")
    (alternative,) = result.alternatives
    arrays = values_for(made.source, {"n": 6, "m": 7})
    for late in [group for group in alternative.groups if group.after]:
        groups = tuple(evolve(group, after=()) if group is late else group for group in alternative.groups)
        broken = evolve(
            result,
            alternatives=(Alternative(alternative.name, groups, alternative.applies),),
            workspace_bytes=result.workspace_bytes * 4,  # without the order, less of it is shared
        )
        assert any("does not wait for" in finding.what for finding in findings(broken))
        with pytest.raises(InterpreterFault, match="reads"):  # noqa: PT012
            for seed in range(40):
                interpreted(broken, made.fused.facts, "cpu", arrays, 6, 7, seed)


def test_values_whose_readers_are_done_share_workspace() -> None:
    """Of the two values that pass inside the chain, the second lies where the first was."""
    made = lowered(chain(), True)
    (result,) = made.schedules
    assert len(result.internals) == 2
    assert evaluate(result.workspace_bytes, {"n": 5000, "m": 5000}) == 4 * 5000 * 5000
    apart = lowered(chain(), False)
    sizes = {"n": 5000, "m": 5000}
    assert evaluate(made.program.peak_bytes, sizes) <= evaluate(apart.program.peak_bytes, sizes)


def test_too_little_workspace_is_a_fault() -> None:
    made = lowered(crossed(), True)
    (result,) = made.schedules
    arrays = values_for(made.source, {"n": 6, "m": 7})
    with pytest.raises(InterpreterFault, match="outside of 0 bytes of workspace"):
        interpreted(evolve(result, workspace_bytes=result.workspace_bytes * 0), made.fused.facts, "cpu", arrays, 6, 7)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float64, dt.int8, dt.int64, dt.uint16], ids=str)
def test_values_of_all_dtypes_pass_between_parts(dtype: DType) -> None:
    apart = runner(lowered(crossed(dtype), False), "interpreter")
    together = runner(lowered(crossed(dtype), True))
    for n, m in ((1, 1), (3, 130), (200, 9)):
        arrays = values_for(crossed(dtype), {"n": n, "m": m})
        assert bits(apart(*arrays)) == bits(together(*arrays)), (n, m)


@pytest.mark.parametrize("template", ["all-load", "common", "r-core"])
def test_every_template_gives_the_same_bits_beside_others(template: str) -> None:
    """Groups that must wait between their phases run by themselves, all others side by side."""
    made = lowered(diamond(), True)
    (result,) = made.schedules
    if template not in template_names(result):
        template = "common"
    only = only_template(result, template)
    model = tile(only, made.fused.facts, load_target("cpu"))
    bundle = emit(only, model, made.fused.facts, load_target("cpu"))
    forced = evolve(made, schedules=(only,), tilings=(model,), bundles=(bundle,))
    one, other = runner(made), runner(forced)
    for n, m in ((3, 4001), (4000, 40)):
        arrays = values_for(made.source, {"n": n, "m": m})
        wanted = bits(one(*arrays))
        for count in (1, 3):
            autofuse.set_num_threads(count)
            assert bits(other(*arrays)) == wanted


def test_outputs_take_over_inputs_only_where_no_other_part_reads_them() -> None:
    """`sides` reads its input in both parts, which have no order: neither result may overwrite it."""
    (bundle,) = lowered(sides(), True).bundles
    assert bundle.safe_aliases == ()
    (last,) = lowered(chain(), True).bundles
    assert last.safe_aliases == ((0, 0), (1, 0))


def test_bytes_that_pass_between_parts_count_and_launches_do_not() -> None:
    apart, together = (report_of(lowered(crossed(), joined)) for joined in (False, True))
    assert (apart.launches, together.launches) == (2, 1)
    assert apart.bytes_moved == together.bytes_moved
