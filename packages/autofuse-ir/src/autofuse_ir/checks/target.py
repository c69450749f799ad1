"""Invariants of a TargetSpec."""

from collections.abc import Iterator
from math import isfinite

import attrs

from autofuse_ir.asc_ops import asc_op
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.target import ANY_OPERATOR, TargetSpec


def target_findings(target: TargetSpec) -> Iterator[Finding]:
    """Yield every broken invariant of ``target``."""
    yield from check_machine(target)
    yield from check_operators(target)
    yield from check_costs(target)
    yield from check_quantities(target)


def check_machine(target: TargetSpec) -> Iterator[Finding]:
    """Sizes are positive, limits not negative, and what is reserved is inside the memory."""
    for name in ("vector_bytes", "block_bytes", "cache_line_bytes"):
        if getattr(target, name) <= 0:
            yield Finding(name, f"it is {getattr(target, name)}", "use 1 or more", "bytes: ")
    for name, limit in attrs.asdict(target.limits).items():
        if limit < 0:
            yield Finding(f"limit {name}", f"it is {limit}", "use 0 or more", "at most ")
    memory = target.local_memory
    if not 0 <= memory.reserved < memory.bytes:
        yield Finding(f"memory {memory.name}", f"{memory.reserved} of {memory.bytes} bytes are reserved", "")


def check_operators(target: TargetSpec) -> Iterator[Finding]:
    """Rows of the operator table are AscIR operators, once each, with bytes that are not negative."""
    for name in duplicates(row.op for row in target.support):
        yield Finding(f"operator {name}", "it has two rows", "", f"operator {name} ")
    for row in target.support:
        if asc_op(row.op) is None:
            yield Finding(f"operator {row.op}", "AscIR has no such operator", "", f"operator {row.op} ")
        if row.temporary_bytes < 0 or row.temporary_bytes_per_element < 0:
            yield Finding(f"operator {row.op}", "its temporary bytes are negative", "", f"operator {row.op} ")


def check_costs(target: TargetSpec) -> Iterator[Finding]:
    """Costs are finite, not negative, once per operator and dtype; "*" stands for every other operator."""
    for name in duplicates(f"{row.op} {row.dtype}" for row in target.costs):
        yield Finding(f"cost {name}", "it has two rows", "", f"cost {name.split()[0]} ")
    for row in target.costs:
        if row.op != ANY_OPERATOR and asc_op(row.op) is None:
            yield Finding(f"cost {row.op}", "AscIR has no such operator", "", f"cost {row.op} ")
        if not all(isfinite(cycles) and cycles >= 0 for cycles in (row.per_element, row.per_call)):
            yield Finding(f"cost {row.op}", "its cycles are negative or not finite", "", f"cost {row.op} ")


def check_quantities(target: TargetSpec) -> Iterator[Finding]:
    """Numbers have names of their own, a unit and a source."""
    for name in duplicates(row.name for row in target.quantities):
        yield Finding(f"quantity {name}", "there are two of them", "", f"quantity {name} ")
    for row in target.quantities:
        if not row.unit or not row.source or not isfinite(row.value):
            yield Finding(f"quantity {row.name}", "it lacks a unit, a source or a value", "", f"quantity {row.name} ")
