"""Random networks with all of their kernels as parts of one launch: the bits of launches one by one.

The default run takes a few networks with fixed seeds; `nox -s on_device -- --all` takes many on every chip.
"""

import numpy as np
import pytest
from autofuse.compiler import load_lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir.errors import AutofuseError
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.target import load_target
from autofuse_testkit.joint import lowered
from random_networks import calls, network_of

MOST_PARTS = 12
SLICE = {"ascend-a2": (3, 6), "ascend-350": (21,)}
WHOLE = range(100)


def parts_of(seed: int, target: str, sizes: int) -> int:
    """Compare network ``seed``; return how many parts its launch has, 0 where it has no two kernels or a host step.

    Networks with an even seed are fused first, others have a kernel for each operator.
    """
    network = network_of(seed)
    options = FusionOptions(numerics="strict", enable=seed % 2 == 0, max_parts=1)
    apart = lowered(network.graph, False, target, options)
    nodes = apart.fused.nodes
    if not all(isinstance(node, AscBackend) for node in nodes) or not 1 < len(nodes) <= MOST_PARTS:
        return 0
    one = load_lowered(apart, load_target(target))
    other = load_lowered(lowered(network.graph, True, target, options), load_target(target))
    for named, arrays in calls(network, seed, sizes):
        given = [arrays[value.name] for value in network.graph.inputs]
        try:
            wanted = one(*given)
        except AutofuseError as error:  # an extreme of nothing, say
            with pytest.raises(type(error)):
                other(*given)
            continue
        found = other(*given)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for got, want in pairs:
            assert np.asarray(got).tobytes() == np.asarray(want).tobytes(), (seed, named)
    return len(nodes)


@pytest.mark.parametrize("target", SLICE)
def test_parts_of_one_launch_give_the_bits_of_launches_one_by_one(target: str, is_whole: bool) -> None:
    seeds = WHOLE if is_whole else SLICE[target]
    counts = [parts_of(seed, target, 5 if is_whole else 3) for seed in seeds]
    assert all(count > 1 for count in counts) or is_whole
    assert sum(counts) > len(SLICE[target])
