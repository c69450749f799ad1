"""What a kernel's functions are given in global memory: inputs, outputs, and values that pass between its groups."""

from typing import TypeAlias

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.kernel_memory import Memory, source_of, users_of_internals
from autofuse_ir.schedule import ScheduleResult

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.names import Names

Place: TypeAlias = tuple[str, int]
"""``("Data", 1)`` is the kernel's second input, ``("Output", 0)`` its first output, ``("internal", 0)`` a value."""


def place_of(node: AscNode) -> Place:
    """Return what the ``Data`` or ``Output`` node reads or writes; ``CodegenError`` where it does not say."""
    source = source_of(node)
    if source is None:
        raise CodegenError(
            "it does not say which argument it is",
            where=f"node {node.name}",
            fix="state one of index, output, internal",
        )
    match source.memory:
        case Memory.ARGUMENT:
            return node.op, source.index
        case Memory.OUTPUT:
            return "Output", source.index
        case Memory.INTERNAL:
            return "internal", source.index


def parameters_of(schedule: ScheduleResult) -> dict[Place, str]:
    """Return the names of all that the functions of the kernel read and write, arguments first."""
    names = Names()
    found: dict[Place, str] = {}
    for argument in schedule.arguments:
        place = ("Output" if argument.is_output else "Data", argument.index)
        found[place] = names.of(str(place), argument.name)
    used = users_of_internals(tuple(group for alternative in schedule.alternatives for group in alternative.groups))
    for value in schedule.internals:
        if value.index not in used:
            continue
        place = ("internal", value.index)
        found[place] = names.of(str(place), value.name)
    return found
