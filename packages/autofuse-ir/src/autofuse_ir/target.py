"""TargetSpec: what a machine can hold, do and not do, as data with the source of every number."""

import tomllib
from enum import Enum
from importlib.resources import files

from attrs import frozen

from autofuse_ir.dtypes import DType, dtype_named
from autofuse_ir.errors import IrError


class TargetKind(Enum):
    """Which emitter and launcher family a target belongs to."""

    CPU = "cpu"
    ASCEND = "ascend"


@frozen
class Quantity:
    """A number with its unit and where it comes from. ``known`` is False for a stand-in."""

    name: str
    value: float
    unit: str
    source: str
    known: bool


@frozen
class Memory:
    """A memory that one block can use: ``bytes`` in all, ``reserved`` of them not ours."""

    name: str
    bytes: int
    reserved: int
    source: str

    @property
    def usable(self) -> int:
        """Bytes a schedule may fill."""
        return self.bytes - self.reserved


@frozen
class OperatorCost:
    """Cost of one AscIR operator call on ``dtype``: ``per_element * n + per_call`` cycles on the vector pipe."""

    op: str
    dtype: DType
    per_element: float
    per_call: float


@frozen
class OperatorSupport:
    """Dtypes an AscIR operator takes on this target, and its temporary bytes per element and fixed."""

    op: str
    dtypes: tuple[DType, ...]
    temporary_bytes_per_element: int
    temporary_bytes: int


@frozen
class Limits:
    """Hard limits of a kernel on this target."""

    inputs: int
    outputs: int
    queues: int
    segment_nodes: int
    segment_values: int
    tiling_bytes: int


@frozen
class TargetSpec:
    """A machine.

    ``cores`` is the number of blocks that run at once, 0 when only known at run time. ``vector_bytes`` is the width of
    one vector operation, ``block_bytes`` the alignment of local memory, ``cache_line_bytes`` the unit of global traffic.
    ``compute_dtypes`` maps a storage dtype to the dtype it is computed in (fp16 and bf16 to fp32 on a CPU).
    """

    name: str
    kind: TargetKind
    description: str
    cores: int
    vector_bytes: int
    block_bytes: int
    cache_line_bytes: int
    local_memory: Memory
    limits: Limits
    compute_dtypes: tuple[tuple[DType, DType], ...]
    support: tuple[OperatorSupport, ...]
    costs: tuple[OperatorCost, ...]
    quantities: tuple[Quantity, ...]

    def quantity(self, name: str) -> float:
        """Return the number called ``name`` (in its own unit)."""
        for quantity in self.quantities:
            if quantity.name == name:
                return quantity.value
        raise IrError(f"target {self.name} has no quantity {name!r}", where="TargetSpec", fix="add it to the target's TOML file")

    def computes_in(self, dtype: DType) -> DType:
        """Return the dtype that arithmetic on ``dtype`` is done in."""
        for storage, compute in self.compute_dtypes:
            if storage == dtype:
                return compute
        return dtype
