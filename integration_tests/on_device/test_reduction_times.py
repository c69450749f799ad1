"""Reductions with few results, or narrow ones, take little more time in the emulator than their bytes and the launch.

Blocks share the elements of a result, whichever axes are reduced, and copy engines move whole lines. Tiles that take
many instructions do not keep copies waiting that are for the next one.
"""

import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.emulation import emulate
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.tensor_data import TensorData
from autofuse_testkit.families import CASES as CASES_OF_FAMILIES

ALLOWED = 1.35
CASES = {
    "narrow_columns": ((4096, 1024), (0,)),
    "wide_columns": ((1024, 4096), (0,)),
    "few_long_rows": ((8, 1_000_000), (1,)),
    "ends_of_long_rows": ((3, 2, 1_000_000), (0, 2)),
    "ends_of_many_rows": ((64, 8, 16_384), (0, 2)),
}
SLICE = ("narrow_columns", "ends_of_long_rows")


@pytest.mark.parametrize("target_name", ["ascend-a2", "ascend-350"])
def test_long_reductions_keep_all_cores_at_work(target_name: str, is_whole: bool) -> None:
    target = chosen_target(target_name)
    for name in CASES if is_whole else SLICE:
        shape, reduced = CASES[name]
        b = GraphBuilder(name)
        for axis in range(len(shape)):
            b.symbol("abc"[axis], 0, 2**24, 64)
        x = b.input("x", tuple("abc"[: len(shape)]), dt.float32)
        axes = b.constant(TensorData(dt.int64, (len(reduced),), np.array(reduced, np.int64).tobytes()))
        lowered = lower_graph(b.build({"y": b.op("ReduceSum", x, axes)}), target, chosen_options())
        given = np.zeros(shape, np.float32)
        (launch,) = emulate(lowered, target, [given], timing_only=True).launches
        moved = given.nbytes / target.quantity("bytes_per_cycle_read") / target.cores
        least = (target.quantity("launch_cycles") + moved) / target.quantity("clock_hz") * 1e6
        print(f"{name} on {target_name}: {launch.microseconds:.1f} us, {launch.microseconds / least:.2f} of the least")
        assert launch.microseconds <= ALLOWED * least, name


WAITING_ALLOWED = 0.05
"""Of the cycles in which a copy engine loads: those that it waits for its next instruction."""
LONG_TILES = ("05a_softmax_1024", "06a_res_ln_768", "07_rmsnorm_bf16", "14_embed_add_ln")
"""Networks of `autofuse_testkit.families` whose tiles have more instructions than the vector unit's queue holds."""


@pytest.mark.parametrize("target_name", ["ascend-a2", "ascend-350"])
def test_copies_for_the_next_tile_do_not_wait_for_the_instructions_of_one(target_name: str, is_whole: bool) -> None:
    target = chosen_target(target_name)
    for case in (case for case in CASES_OF_FAMILIES if case.name in (LONG_TILES if is_whole else LONG_TILES[::2])):
        lowered = lower_graph(case.build(), target, chosen_options())
        given = case.inputs("medium", np.random.default_rng(0))
        arguments = [given[value.name] for value in lowered.graph.inputs]
        (launch,) = emulate(lowered, target, arguments, timing_only=True).launches
        waited = sum(cycles for pipe, cause, cycles in launch.stall_cycles if (pipe, cause) == ("MTE2", "issue"))
        loading = dict(launch.busy_cycles)["MTE2"]
        print(f"{case.name} on {target_name}: {waited / loading:.2f} of {loading:.0f} cycles")
        assert waited <= WAITING_ALLOWED * loading, case.name
