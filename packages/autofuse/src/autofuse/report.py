"""What fusion did to a model, as data."""

from attrs import frozen
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedAscBackend,
    HostRegion,
    Refusal,
    RemovedRounding,
)

from autofuse.pipeline import Lowered


@frozen
class KernelReport:
    """One kernel: the operators it runs, and the bytes it reads and writes in a call (a formula over the sizes)."""

    name: str
    operators: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    bytes_moved: Dim


@frozen
class RegionReport:
    """One host region: its backend, operators, and the bytes that go in and out."""

    name: str
    backend: str
    operators: tuple[str, ...]
    bytes_handled: Dim


@frozen
class Report:
    """Kernels and host regions of a model, what was not fused and why, and which roundings were removed."""

    name: str
    operators: int
    kernels: tuple[KernelReport, ...]
    regions: tuple[RegionReport, ...]
    refusals: tuple[Refusal, ...]
    roundings: tuple[RemovedRounding, ...]
    peak_bytes: Dim

    @property
    def launches(self) -> int:
        """Kernels launched in a call."""
        return len(self.kernels)

    @property
    def bytes_moved(self) -> Dim:
        """Bytes all kernels read and write in a call."""
        return sum((k.bytes_moved for k in self.kernels), const(0))

    def why_not(self, a: str, b: str) -> tuple[Refusal, ...]:
        """Return the refusals between operators ``a`` and ``b``, in either order."""
        return tuple(r for r in self.refusals if {r.first, r.second} == {a, b})


def report_of(lowered: Lowered) -> Report:
    """Return the report of what ``lower`` made."""
    fused = lowered.fused
    shapes = {v.name: (v.shape, v.dtype.itemsize) for v in fused.facts.values}

    def size(names: tuple[str, ...]) -> Dim:
        total = const(0)
        for name in names:
            shape, itemsize = shapes[name]
            if shape is not None:
                total = total + product(shape) * itemsize
        return total

    kernels = tuple(
        KernelReport(n.name, operators_of(n), n.inputs, n.outputs, size((*n.inputs, *n.outputs)))
        for n in fused.nodes
        if isinstance(n, (AscBackend, FusedAscBackend))
    )
    regions = tuple(
        RegionReport(n.name, n.backend, tuple(o.name for o in n.operators), size((*n.inputs, *n.outputs)))
        for n in fused.nodes
        if isinstance(n, HostRegion)
    )
    return Report(
        name=fused.name,
        operators=len(lowered.graph.nodes),
        kernels=kernels,
        regions=regions,
        refusals=fused.refusals,
        roundings=fused.removed_roundings,
        peak_bytes=lowered.program.peak_bytes,
    )


def operators_of(node: AscBackend | FusedAscBackend) -> tuple[str, ...]:
    """Return the names of the operators a backend node runs."""
    if isinstance(node, FusedAscBackend):
        return tuple(o for part in node.parts for o in part.operators)
    return node.operators
