"""High-level functions refuse what the documentation forbids, and nothing before."""

import struct
from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

SOURCE = Path(__file__).parent / "limits.cpp"
RESERVED = 8192
UB = 196608
BENCH = 4096 + 4096 + 8192

# entry, value that is fine, value that is not, the rule that the second breaks
EDGES = [
    ("erf_temporary", 768, 736, "ub_bounds"),
    ("sum_temporary", 4 * 64 * 4, 4 * 64 * 4 - 32, "ub_bounds"),
    ("tanh_overlap", 256, 248, "overlap"),
    ("broadcast_rows", 16, 12, "alignment"),
    ("running_sum", 8, 12, "alignment"),
    ("reduce_unpadded", 1, 0, "usage"),
    ("transpose_stride", 0, 1, "limit"),
    ("sign_reserved", UB - RESERVED - BENCH, UB - RESERVED - BENCH + 32, "ub_capacity"),
    ("erf_barrier", 1, 0, "missing_sync"),
    ("select_mask_axis", 64, 48, "alignment"),
]


@pytest.fixture(scope="module")
def library() -> sim.Library:
    return sim.compile(SOURCE, "ascend-a2", flags=["-O0", "-Werror"])


def launch(library: sim.Library, entry: str, value: int) -> None:
    sim.run(library, entry, [], tiling=struct.pack("<I", value), workspace=0, timeline=False)


@pytest.mark.parametrize(("entry", "fine", "broken", "rule"), EDGES, ids=[edge[0] for edge in EDGES])
def test_a_high_level_function_is_stopped_exactly_at_its_limit(
    library: sim.Library, entry: str, fine: int, broken: int, rule: str
) -> None:
    launch(library, entry, fine)
    with pytest.raises(sim.RuleError) as caught:
        launch(library, entry, broken)
    assert caught.value.rule == rule
    assert caught.value.place.line > 0


def test_gelu_may_overwrite_its_source(library: sim.Library) -> None:
    launch(library, "gelu_in_place", 0)
