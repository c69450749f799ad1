"""Reductions with few results, or narrow ones, take little more time in the emulator than their bytes and the launch.

Blocks share the elements of a result, whichever axes are reduced, and copy engines move whole lines.
"""

import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.emulation import emulate
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.tensor_data import TensorData

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
