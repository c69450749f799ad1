"""Host regions: convex sets of host operators that one backend runs in one call.

Every operator gets a *stage*: walking along the data, the stage grows by one whenever the runner changes (kernels, ONNX
Runtime, the reference). Operators of one backend and one stage make one region. That is convex, and leaves no cycle
between regions and kernels: a path that leaves a region and comes back has changed the runner twice, so it comes back
in a later stage::

    Conv (0) -> Relu kernel (1) -> Conv (2) -> kernel (3)
    Conv (0) ----------------------^                          two regions: {Conv, Conv}, {Conv}
"""

from collections.abc import Iterable, Mapping

from attrs import frozen

from autofuse_fusion.backends import KERNELS, backend_of
from autofuse_fusion.network import HostOperator, Network


@frozen(eq=False)
class Region:
    """Host operators that one call of ``backend`` runs, in the order of the graph."""

    backend: str
    operators: tuple[HostOperator, ...]


def regions_of(network: Network) -> tuple[Region, ...]:
    """Return the host regions of ``network``."""
    runners: dict[int, str] = {}
    reads: dict[int, tuple[str, ...]] = {}
    makes: dict[int, tuple[str, ...]] = {}
    for unit in network.units:
        runners[unit.order] = KERNELS
        reads[unit.order] = (*(read.value for read in unit.reads), *unit.needs)
        makes[unit.order] = unit.outputs
    for view in network.views:
        runners[view.order], reads[view.order], makes[view.order] = KERNELS, (view.input,), (view.output,)
    for sizes in network.sizes:
        runners[sizes.order] = KERNELS
        reads[sizes.order] = (*reads.get(sizes.order, ()), *sizes.needs)
        makes[sizes.order] = (*makes.get(sizes.order, ()), sizes.output)
    for host in network.hosts:
        runners[host.order] = backend_of(host.node, host.reason)
        reads[host.order] = tuple(name for name in host.node.inputs if name)
        makes[host.order] = host.outputs
    stages = _stages(runners, reads, makes)
    gathered: dict[tuple[int, str], list[HostOperator]] = {}
    for host in network.hosts:
        gathered.setdefault((stages[host.order], runners[host.order]), []).append(host)
    return tuple(Region(backend, tuple(operators)) for (_, backend), operators in gathered.items())


def _stages(
    runners: Mapping[int, str], reads: Mapping[int, Iterable[str]], makes: Mapping[int, Iterable[str]]
) -> dict[int, int]:
    stages: dict[int, int] = {}
    maker: dict[str, int] = {}
    for order in sorted(runners):
        stage = 0
        for name in reads[order]:
            source = maker.get(name)
            if source is not None:
                stage = max(stage, stages[source] + (runners[source] != runners[order]))
        stages[order] = stage
        for name in makes[order]:
            maker[name] = order
    return stages
