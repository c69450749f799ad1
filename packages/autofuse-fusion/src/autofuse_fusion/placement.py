"""Where every value of a group lies on the group's nest."""

from autofuse_fusion.axes import Layout, join
from autofuse_fusion.groups import Group
from autofuse_fusion.size_facts import SizeFacts
from autofuse_fusion.units import Read, Unit


def place(group: Group, sizes: SizeFacts) -> dict[int, tuple[Layout | None, ...]] | None:
    """Return, per unit (by its order), the layout of each operand on the group's nest; None where two readings differ.

    Results that leave the kernel cover the nest; from there the layouts follow the data backwards.
    """
    lies: dict[str, Layout] = dict.fromkeys(group.outputs, group.nest)
    inside = {name for unit in group.units for name in unit.outputs}
    placed: dict[int, tuple[Layout | None, ...]] = {}
    for unit in reversed(group.units):
        found = {lies[name] for name in unit.outputs if name in lies}
        if len(found) != 1:
            return None
        layouts = _operands(unit, found.pop(), group, sizes)
        if layouts is None:
            return None
        for operand, layout in zip(unit.operands, layouts, strict=True):
            if not isinstance(operand, Read) or layout is None or operand.value not in inside:
                continue
            if lies.setdefault(operand.value, layout) != layout:
                return None
        placed[unit.order] = layouts
    return placed


def _operands(unit: Unit, result: Layout, group: Group, sizes: SizeFacts) -> tuple[Layout | None, ...] | None:
    joined = join(unit.nest, group.nest, result, sizes)
    if joined is None or joined.nest != group.nest:
        return None
    layouts: list[Layout | None] = []
    for operand in unit.operands:
        layout = joined.first(operand.layout) if isinstance(operand, Read) else None
        if isinstance(operand, Read) and layout is None:
            return None
        layouts.append(layout)
    return tuple(layouts)
