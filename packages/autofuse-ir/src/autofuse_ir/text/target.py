"""The text form of a TargetSpec."""

from collections.abc import Iterator

import attrs

from autofuse_ir.target import OperatorCost, OperatorSupport, Quantity, TargetSpec
from autofuse_ir.text.values import aligned, word


def target_lines(target: TargetSpec) -> Iterator[str]:
    """Yield the lines of ``target``: the machine, its limits, then a table of operators and one of quantities."""
    memory = target.local_memory
    yield f"target {word(target.name)} ({target.kind.value}): {target.description}"
    yield f"  cores {target.cores or 'known at run time'}"
    yield f"  bytes: vector {target.vector_bytes}, block {target.block_bytes}, cache line {target.cache_line_bytes}"
    yield f"  {word(memory.name)} {memory.bytes} bytes, {memory.reserved} reserved  ({memory.source})"
    limits = attrs.asdict(target.limits)
    yield f"  at most {', '.join(f'{name} {limit}' for name, limit in limits.items())}"
    for storage, compute in target.compute_dtypes:
        yield f"  {storage} is computed in {compute}"
    yield from aligned(_support_row(row) for row in target.support)
    yield from aligned(_cost_row(row) for row in target.costs)
    yield from aligned(_quantity_row(row) for row in target.quantities)


def _support_row(row: OperatorSupport) -> tuple[str, str, str]:
    room = f"temporary {row.temporary_bytes_per_element} bytes an element + {row.temporary_bytes}  "
    has_room = row.temporary_bytes_per_element or row.temporary_bytes
    dtypes = " ".join(map(str, row.dtypes)) or "none"
    return f"operator {row.op}", dtypes, (room if has_room else "") + _source(row.source, row.known)


def _cost_row(row: OperatorCost) -> tuple[str, str, str, str]:
    cycles = f"{row.per_element!r} cycles an element + {row.per_call!r}"
    return f"cost {row.op}", str(row.dtype), cycles, _source(row.source, row.known)


def _quantity_row(row: Quantity) -> tuple[str, str, str]:
    return f"quantity {row.name}", f"{row.value!r} {row.unit}", _source(row.source, row.known)


def _source(source: str, known: bool) -> str:
    return source if known else f"stand-in: {source}"
