"""Random networks of all families at once, on every chip, at many sizes: right values, and no rule of a chip broken.

The default run takes a slice with fixed seeds; `nox -s on_device -- --all` takes 500 networks at 20 sizes per chip.
"""

from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from checked_kernels import WrongValueError, compiled, emitted
from survey import Outcome, summary, survey

ARCHITECTURES = (("ascend-a2", "ascend-a3"), ("ascend-350",))
"""Chips that share compiled kernels."""

NETWORKS, SIZES = 500, 20
SLICE, SLICE_SIZES = 12, 4


def surveyed(seeds: range, targets: tuple[str, ...], folder: Path, sizes: int) -> list[Outcome]:
    outcomes = list(survey(seeds, targets, folder, sizes))
    print(summary(outcomes))
    wrong = [f"network {o.seed} on {o.target}: {o.fault}" for o in outcomes if o.fault]
    assert not wrong, "\n".join(wrong)
    return outcomes


@pytest.mark.parametrize("targets", ARCHITECTURES, ids=" and ".join)
def test_random_networks_are_right(targets: tuple[str, ...], is_whole: bool, tmp_path: Path) -> None:
    count, sizes, chips = (NETWORKS, SIZES, targets) if is_whole else (SLICE, SLICE_SIZES, targets[:1])
    outcomes = surveyed(range(count), chips, tmp_path, sizes)
    assert len(outcomes) == count * len(chips)
    assert not [o for o in outcomes if o.refused]
    assert sum(o.launches for o in outcomes) > count * sizes / 4


def test_a_wrong_kernel_is_noticed(tmp_path: Path) -> None:
    """The comparison itself: additions that subtract are reported."""
    b = GraphBuilder("sums")
    graph = b.build({"y": b.op("Add", b.input("x", ("n",), dt.float32), b.input("w", ("n",), dt.float32))})
    made = emitted(graph, "ascend-a2", FusionOptions(), "wrong")
    (kernel,) = made.program.kernels
    given = [np.arange(40, dtype=np.float32), np.ones(40, np.float32)]
    compiled([made], tmp_path / "right", "ascend-a2").run(kernel, given, {"n": 40})
    (bundle,) = made.bundles
    files = tuple(evolve(f, text=f.text.replace("Add(", "Sub(")) for f in bundle.files)
    assert files != bundle.files
    broken = evolve(made, bundles=(evolve(bundle, files=files),))
    with pytest.raises(WrongValueError, match="40 of 40 elements are wrong"):
        compiled([broken], tmp_path / "wrong", "ascend-a2").run(kernel, given, {"n": 40})
