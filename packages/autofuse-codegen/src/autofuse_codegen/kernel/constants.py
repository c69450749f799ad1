"""Floating-point constants of kernels that differ in nothing else: one code, and a launch for each set of them.

    k3: y = x * 0.25        k7: y = x * 0.5        one function:  y = x * constants->scalar0

Constants that are equal in all of the kernels stay in the code.
"""

from collections.abc import Callable, Iterator

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import ImplGraph, ScheduleResult

from autofuse_codegen.kernel.names import Names

LiteralOf = Callable[[float | int | bool, DType], str]
"""Returns the text of a constant, which tells apart all that differ in a bit."""


@frozen
class Constants:
    """What kernels of equal form call their constants.

    ``members`` are type and name of those that differ; ``names`` has their names by node, for each implementation in
    order. ``sets`` are the values of ``members`` as literals, and ``set_of`` the number of the set of each kernel.
    """

    members: tuple[tuple[DType, str], ...] = ()
    names: tuple[dict[str, str], ...] = ()
    sets: tuple[tuple[str, ...], ...] = ((),)
    set_of: tuple[int, ...] = (0,)

    def of(self, implementation: int) -> dict[str, str]:
        """Return the names of the constants of an implementation, by number, that are not the same in all kernels."""
        return self.names[implementation] if self.members else {}


def is_constant(node: AscNode) -> bool:
    """Return whether kernels may differ in the value of ``node`` and still share their code."""
    return node.op == "Scalar" and node.dtype.is_float


def implementations_of(schedule: ScheduleResult) -> Iterator[ImplGraph]:
    """Yield the implementations of all alternatives, in the order in which they are numbered."""
    for alternative in schedule.alternatives:
        for group in alternative.groups:
            yield from group.implementations


def constants_of(alike: tuple[ScheduleResult, ...], literal: LiteralOf) -> Constants:
    """Return the constants of kernels that differ in names and constants only."""
    columns = list(zip(*(_values(schedule, literal) for schedule in alike), strict=True))
    members: dict[tuple[str, ...], tuple[DType, str]] = {}
    names: list[dict[str, str]] = []
    taken = Names()
    at = 0
    for number, impl in enumerate(implementations_of(alike[0])):
        names.append({})
        for node in filter(is_constant, impl.nodes):
            column, at = columns[at], at + 1
            if len(set(column)) == 1:
                continue
            if column not in members:
                members[column] = node.dtype, taken.of(f"{number} {node.name}", node.name)
            names[-1][node.name] = members[column][1]
    if not members:
        return Constants(set_of=(0,) * len(alike))
    rows = list(zip(*members, strict=True))
    sets = tuple(dict.fromkeys(rows))
    return Constants(tuple(members.values()), tuple(names), sets, tuple(map(sets.index, rows)))


def _values(schedule: ScheduleResult, literal: LiteralOf) -> tuple[str, ...]:
    found: list[str] = []
    for impl in implementations_of(schedule):
        for node in filter(is_constant, impl.nodes):
            value = node.attr("value")
            assert isinstance(value, bool | int | float)
            found.append(literal(value, node.dtype))
    return tuple(found)
