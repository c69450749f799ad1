"""TargetSpec: what a machine can hold, do and not do, as data with the source of every number."""

import tomllib
from enum import Enum
from importlib.resources import files
from typing import Any

from attrs import frozen

from autofuse_ir.dtypes import DType, dtype_named
from autofuse_ir.errors import IrError

ANY_OPERATOR = "*"
"""Stands, in a row of costs, for every operator without a row of its own."""


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
    """Cost of one AscIR operator call that gives ``dtype``: ``per_element * n + per_call`` cycles on the vector pipe.

    ``op`` ``ANY_OPERATOR`` stands for every operator without a row. ``known`` is False for a stand-in.
    """

    op: str
    dtype: DType
    per_element: float
    per_call: float
    source: str = ""
    known: bool = True


@frozen
class OperatorSupport:
    """Dtypes an AscIR operator takes on this target, and its temporary bytes per element and fixed.

    Without dtypes the target cannot compute it; an operator without a row takes every dtype. ``known`` is False where
    the temporary is a stand-in.
    """

    op: str
    dtypes: tuple[DType, ...]
    temporary_bytes_per_element: int
    temporary_bytes: int
    source: str = ""
    known: bool = True


@frozen
class Limits:
    """Hard limits of a kernel on this target.

    ``inputs`` and ``outputs`` are what fusion keeps to, ``arguments`` what one launch can pass: inputs and outputs
    together. ``segment_nodes`` and ``segment_values`` bound what is evaluated together, strip by strip, in registers.
    """

    inputs: int
    outputs: int
    arguments: int
    queues: int
    segment_nodes: int
    segment_values: int
    tiling_bytes: int


@frozen
class TargetSpec:
    """A machine.

    ``cores`` is the number of blocks that run at once, 0 when only known at run time. ``vector_bytes`` is the width of
    one vector operation, ``block_bytes`` the alignment of local memory, ``cache_line_bytes`` the unit of global
    traffic.
    ``compute_dtypes`` maps a storage dtype to the dtype it is computed in (fp16 and bf16 to fp32 on a CPU). An operator
    without a row in ``support`` takes every dtype.
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

    @property
    def tile_bytes(self) -> int:
        """Bytes that one tile may fill: all of local memory; on a CPU also its last cache, which is slower."""
        if self.kind is TargetKind.CPU:
            return max(self.local_memory.usable, round(self.quantity("last_level_bytes")))
        return self.local_memory.usable

    def quantity(self, name: str) -> float:
        """Return the number called ``name`` (in its own unit)."""
        for quantity in self.quantities:
            if quantity.name == name:
                return quantity.value
        raise IrError(
            f"target {self.name} has no quantity {name!r}", where="TargetSpec", fix="add it to the target's TOML file"
        )

    def cost_of(self, op: str, dtype: DType) -> OperatorCost:
        """Return what AscIR operator ``op`` costs where it gives ``dtype``.

        That is its own row, else its row for another dtype, else that of ``ANY_OPERATOR``; ``IrError`` without any.
        """
        rows = [row for row in self.costs if row.op == op]
        rows = [row for row in rows if row.dtype == dtype] or rows
        rows = rows or [row for row in self.costs if row.op == ANY_OPERATOR]
        if not rows:
            raise IrError(
                f"target {self.name} states no cost for {op}",
                where="TargetSpec",
                fix=f'add a row for it, or one for "{ANY_OPERATOR}", to the target\'s TOML file',
            )
        return rows[0]

    def computes_in(self, dtype: DType) -> DType:
        """Return the dtype that arithmetic on ``dtype`` is done in."""
        for storage, compute in self.compute_dtypes:
            if storage == dtype:
                return compute
        return dtype


def target_names() -> tuple[str, ...]:
    """Return the names of the targets that ship with this package."""
    names = (entry.name for entry in files("autofuse_ir").joinpath("targets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_target(name: str) -> TargetSpec:
    """Return the shipped target called ``name`` ("cpu", "ascend-a2", ...).

    Raises ``IrError`` for an unknown name, listing the known ones.
    """
    if name not in target_names():
        raise IrError(
            f"there is no target {name!r}",
            where="load_target",
            fix=f"use one of {', '.join(target_names())}",
        )
    text = files("autofuse_ir").joinpath("targets", f"{name}.toml").read_text(encoding="utf-8")
    return parse_target(text)


def parse_target(text: str) -> TargetSpec:
    """Return the target that TOML ``text`` describes; ``IrError`` names the key that is missing or wrong."""
    try:
        data = tomllib.loads(text)
        return TargetSpec(
            name=data["name"],
            kind=TargetKind(data["kind"]),
            description=data["description"],
            cores=data["cores"],
            vector_bytes=data["vector_bytes"],
            block_bytes=data["block_bytes"],
            cache_line_bytes=data["cache_line_bytes"],
            local_memory=Memory(**data["local_memory"]),
            limits=Limits(**data["limits"]),
            compute_dtypes=tuple((dtype_named(k), dtype_named(v)) for k, v in data["compute_dtypes"].items()),
            support=tuple(_support(name, row, data.get("support_source", "")) for name, row in data["support"].items()),
            costs=tuple(_cost(row, data.get("costs_source", "")) for row in data["costs"]),
            quantities=tuple(_quantity(name, row) for name, row in data["quantities"].items()),
        )
    except (KeyError, TypeError, ValueError, tomllib.TOMLDecodeError) as error:
        raise IrError(
            f"the target description is malformed: {error}", where="TargetSpec", fix="correct the TOML"
        ) from error


def _support(name: str, row: dict[str, Any], source: str) -> OperatorSupport:
    return OperatorSupport(
        name,
        tuple(dtype_named(dtype) for dtype in row["dtypes"]),
        row.get("temporary_bytes_per_element", 0),
        row.get("temporary_bytes", 0),
        row.get("source", source),
        row.get("known", True),
    )


def _cost(row: dict[str, Any], source: str) -> OperatorCost:
    return OperatorCost(
        row["op"],
        dtype_named(row["dtype"]),
        float(row["per_element"]),
        float(row["per_call"]),
        row.get("source", source),
        row.get("known", True),
    )


def _quantity(name: str, row: dict[str, Any]) -> Quantity:
    return Quantity(name, float(row["value"]), row["unit"], row["source"], row.get("known", True))
