"""``autofuse.fused_graph``: the network as kernels, host regions and views, and why no more was fused."""

from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import Dim
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Constant, GraphOutput, Node, Payload, Value


class Reason(Enum):
    """Every reason for not fusing, or for running on the host. The list is closed."""

    HOST_OPERATOR = "host-operator"
    """The operator, or the form that its attributes ask for, has no vector form (convolution, control flow, ...)."""
    DTYPE_NOT_SUPPORTED = "dtype-not-supported"
    """A dtype that kernels of this target cannot hold."""
    RANK_UNKNOWN = "rank-unknown"
    """Not even the rank is known when compiling."""
    STRUCTURAL_OPERAND_UNKNOWN = "structural-operand-unknown"
    """An operand that shapes the loop nest (axes, perm, number of pieces) is only known at run time."""
    AXES_DO_NOT_MAP = "axes-do-not-map"
    """The values of both do not lie on one ordered tuple of axes."""
    WOULD_MAKE_CYCLE = "would-make-cycle"
    """A path through another node leads from one to the other."""
    TOO_MANY_INPUTS = "too-many-inputs"
    TOO_MANY_OUTPUTS = "too-many-outputs"
    TOO_LARGE = "too-large"
    """The kernel would have more operators than ``FusionOptions.max_operators``."""
    TILING_GROUPS_DO_NOT_MERGE = "tiling-groups-do-not-merge"
    NO_BENEFIT = "no-benefit"
    """The cost model predicts no gain."""
    MORE_PEAK_MEMORY = "more-peak-memory"
    SWITCHED_OFF = "switched-off"
    """``FusionOptions`` excludes the operator, its type or its family."""
    OUTSIDE_SCOPE = "outside-scope"


@frozen
class AscBackend:
    """One kernel: reads ``inputs``, makes ``outputs`` (value names; ``Data``/``Output`` index into them)."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    graph: AscGraph
    operators: tuple[str, ...]


@frozen
class FusedAscBackend:
    """Several AscGraphs in one launch: ``parts`` in an order that respects their data flow.

    ``internal`` are values that one part makes and another reads; they live in workspace.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parts: tuple[AscBackend, ...]
    internal: tuple[str, ...]


@frozen
class HostReason:
    """Why ``operator`` (a node name) runs on the host."""

    operator: str
    reason: Reason


@frozen
class HostRegion:
    """A convex set of operators that a host backend runs in one call.

    ``backend`` is the name of an ``autofuse.hosts`` entry point ("onnxruntime", "reference"). ``reasons`` says, per
    operator, why it is not in a kernel.
    """

    name: str
    backend: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operators: tuple[Node, ...]
    reasons: tuple[HostReason, ...]


@frozen
class ViewNode:
    """``output`` is ``input`` under another shape: the same bytes, nothing is moved."""

    name: str
    input: str
    output: str
    operators: tuple[str, ...]


@frozen
class SizesNode:
    """``output`` is a small integer tensor whose ``elements`` are sizes, written by the program itself."""

    name: str
    output: str
    elements: tuple[Dim, ...]
    operators: tuple[str, ...]


FusedNode: TypeAlias = AscBackend | FusedAscBackend | HostRegion | ViewNode | SizesNode


@frozen
class Refusal:
    """Two nodes that share a tensor and were not fused.

    ``first`` and ``second`` are operator names, ``tensor`` the shared value, ``shape`` its dims, ``bytes_saved`` what
    fusing would have saved. ``detail`` holds the inequality, the limit or the axes in question.
    """

    first: str
    second: str
    tensor: str
    reason: Reason
    detail: str
    shape: tuple[Dim, ...]
    bytes_saved: Dim


@frozen
class RemovedRounding:
    """A rounding of the source program that the numerics policy dropped: ``operator``'s result to ``dtype_name``."""

    kernel: str
    operator: str
    dtype_name: str


@frozen
class FusedGraph:
    """The network after fusion. ``nodes`` stand in topological order; ``facts`` are re-inferred for it."""

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[GraphOutput, ...]
    nodes: tuple[FusedNode, ...]
    facts: SymbolFacts
    constants: tuple[Constant, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    removed_roundings: tuple[RemovedRounding, ...] = ()
    numerics: str = "auto"
    payloads: tuple[Payload, ...] = field(default=(), repr=False)
