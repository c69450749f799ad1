"""May two groups share a kernel, and what would that kernel be? Rules stand in the order they are asked.

A rule answers with a reason, never with a bare no.
"""

from collections.abc import Collection
from typing import TypeAlias

from attrs import evolve, frozen
from autofuse_ir.fused_graph import Reason
from autofuse_ir.schedule import TilingGroup
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling_group import merge as merge_tiling_groups

from autofuse_fusion.axes import Layout, Nest, varies
from autofuse_fusion.benefit import CostModel, repetitions, work_again
from autofuse_fusion.groups import Group, tiling_group
from autofuse_fusion.joins import Join, join
from autofuse_fusion.lower.views.marks import origin_of
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.size_facts import SizeFacts
from autofuse_fusion.units import Unit, moved_unit
from autofuse_fusion.values import Values


@frozen
class Refused:
    """Why not; ``detail`` holds the numbers or axes in question."""

    reason: Reason
    detail: str


@frozen(eq=False)
class Fused:
    """The group that two would make, and the cycles it is predicted to save."""

    group: Group
    gain: float


Outcome: TypeAlias = Fused | Refused


def fused(
    first: Group,
    second: Group,
    outside: frozenset[str],
    values: Values,
    target: TargetSpec,
    options: FusionOptions,
    model: CostModel,
) -> Outcome:
    """Return the kernel of ``first`` and ``second`` (which runs later), or why there is none.

    ``outside`` are the outputs of both that somebody else reads.
    """
    refused = None if parts_of_one(first, second) else _switched_off(first, second, options)
    if refused is not None:
        return refused
    count = len({unit.node.name for unit in (*first.units, *second.units)})
    if count > options.max_operators:
        return Refused(Reason.TOO_LARGE, f"{count} operators, at most {options.max_operators}")
    refused = _moved(first, second, values)
    if refused is not None:
        return refused
    passed = [tensor for tensor in first.outputs if tensor in second.inputs]
    shared = [tensor for tensor in first.inputs if tensor in second.inputs]
    joined = _joined(first, second, passed, shared, values.sizes)
    if isinstance(joined, Refused):
        return joined
    spread = joined.first(first.nest)
    inputs = _inputs(first, second, joined, passed)
    if spread is None or inputs is None:
        return Refused(Reason.AXES_DO_NOT_MAP, _axes_text(first, second))
    roles = _roles(first, second, joined)
    if isinstance(roles, Refused):
        return roles
    reduced, scanned = roles
    outputs = _outputs(first, second, joined, reduced, outside)
    if isinstance(outputs, Refused):
        return outputs
    refused = _limits({values.behind(tensor) for tensor in inputs} - {None}, outputs, target, options)
    if refused is not None:
        return refused
    waits = any(first.outputs[tensor][axis] is None for tensor in passed for axis in first.reduced)
    levels = first.levels + second.levels if waits else max(first.levels, second.levels)
    times = repetitions(first.nest, spread, joined.nest, values.sizes)
    work = first.work * times + second.work
    wide = [tensor for tensor in passed if _is_along(joined.first(first.outputs[tensor]), reduced)]
    # Where nothing waits, the first sweep of ``second`` is one that ``first`` makes.
    further = second.sweeps - (not waits)
    again = first.again + second.again
    if wide and further:
        again += further * times * work_again(first.units, wide, values, model)
    needs = {**first.needs, **second.needs}
    group = Group([], joined.nest, inputs, outputs, work, first.scope, needs, reduced, scanned, levels, again)
    gain = model.of(first, values) + model.of(second, values) - model.of(group, values)
    if gain <= 0 and not parts_of_one(first, second):
        return Refused(Reason.NO_BENEFIT, f"computing {first.name} again for every repetition costs {-gain:.0f} cycles")
    units = _units(first, second, joined)
    if units is None:
        return Refused(Reason.AXES_DO_NOT_MAP, _axes_text(first, second))
    return Fused(evolve(group, units=units), gain)


def parts_of_one(first: Group, second: Group) -> bool:
    """True where both hold parts of one operator of the user's graph, and nothing else."""
    return len({unit.node.name for unit in (*first.units, *second.units)}) == 1


def _switched_off(first: Group, second: Group, options: FusionOptions) -> Refused | None:
    for group in (first, second):
        node = group.units[0].node
        # Only single units can be switched off: nothing ever joined them.
        if len(group.units) == 1 and not options.allows(node.name, origin_of(node)):
            return Refused(Reason.SWITCHED_OFF, f"{node.op} {node.name}")
    if options.scopes and (first.scope is None or first.scope != second.scope):
        return Refused(Reason.OUTSIDE_SCOPE, f"{first.scope} and {second.scope}")
    return None


def _moved(first: Group, second: Group, values: Values) -> Refused | None:
    """Refuse a ``second`` that reads what ``first`` makes in another order: all of it has to be there before."""
    made = {name for unit in first.units for name in unit.outputs}
    for tensor in second.inputs:
        if tensor in values.leaves and values.behind(tensor) in made:
            detail = f"{second.name} reads {values.behind(tensor)} in another order than {first.name} makes it"
            return Refused(Reason.AXES_DO_NOT_MAP, detail)
    return None


def _joined(first: Group, second: Group, passed: list[str], shared: list[str], sizes: SizeFacts) -> Join | Refused:
    """Return one nest for both, as the tensors that pass between them, or that both read, say."""
    for tensor in passed:
        if len(second.inputs[tensor]) > 1:
            return Refused(Reason.AXES_DO_NOT_MAP, f"{second.name} reads {tensor} along different axes")
    joined = join(
        first.nest,
        second.nest,
        [(first.outputs[tensor], second.inputs[tensor][0]) for tensor in passed],
        [(mine, other) for tensor in shared for mine in first.inputs[tensor] for other in second.inputs[tensor]],
        sizes,
    )
    return joined or Refused(Reason.AXES_DO_NOT_MAP, _axes_text(first, second))


def _roles(first: Group, second: Group, joined: Join) -> tuple[tuple[int, ...], tuple[int, ...]] | Refused:
    """Return the axes that the joined kernel reduces, and those it walks in order."""
    mine, others = tiling_group(first, joined.first), tiling_group(second, joined.second)
    if mine is None or others is None:
        return Refused(Reason.AXES_DO_NOT_MAP, _axes_text(first, second))
    if (mine.r or others.r) and (mine.n or others.n):
        detail = f"a reduction and a scan, of {first.name} and of {second.name}"
        return Refused(Reason.TILING_GROUPS_DO_NOT_MERGE, detail)
    if mine.n and others.n and (mine.n, first.directions) != (others.n, second.directions):
        # One pass over rows of any length can follow one axis in one direction.
        detail = f"scans of {first.name} and of {second.name}, which go along different axes or against each other"
        return Refused(Reason.TILING_GROUPS_DO_NOT_MERGE, detail)
    merged = merge_tiling_groups(mine, others)
    if merged is None or len(merged.y) + len(merged.r) + len(merged.n) < len(joined.nest):
        detail = f"{_group_text(mine)} of {first.name} against {_group_text(others)} of {second.name}"
        return Refused(Reason.TILING_GROUPS_DO_NOT_MERGE, detail)
    names = {f"z{k}": k for k in range(len(joined.nest))}
    return tuple(sorted(names[axis] for axis in merged.r)), tuple(sorted(names[axis] for axis in merged.n))


def _outputs(
    first: Group, second: Group, joined: Join, reduced: tuple[int, ...], outside: frozenset[str]
) -> dict[str, Layout] | Refused:
    """Return what the joined kernel stores, and how it lies: each element once."""
    outputs: dict[str, Layout] = {}
    for group, path in ((first, joined.first), (second, joined.second)):
        for tensor, layout in group.outputs.items():
            if group is first and tensor not in outside:
                continue
            moved = path(layout)
            if moved is None:
                return Refused(Reason.AXES_DO_NOT_MAP, _axes_text(first, second))
            for k, (entry, size) in enumerate(zip(moved, joined.nest, strict=True)):
                if entry != size and not (entry is None and k in reduced):
                    detail = f"{tensor} is read elsewhere, too, and does not cover all axes of the kernel"
                    return Refused(Reason.AXES_DO_NOT_MAP, detail)
            outputs[tensor] = moved
    return outputs


def _units(first: Group, second: Group, joined: Join) -> list[Unit] | None:
    """Return the units of both on the joined nest, in the order of the graph; None where one does not fit there."""
    units: list[Unit] = []
    for group, path in ((first, joined.first), (second, joined.second)):
        for unit in group.units:
            placed = moved_unit(unit, path)
            if placed is None:
                return None
            units.append(placed)
    return sorted(units, key=lambda unit: unit.order)


def _inputs(first: Group, second: Group, joined: Join, passed: list[str]) -> dict[str, tuple[Layout, ...]] | None:
    """Return what the joined kernel reads, and how; None where some layout does not lie on its axes."""
    inputs: dict[str, tuple[Layout, ...]] = {}
    for group, move in ((first, joined.first), (second, joined.second)):
        for tensor, layouts in group.inputs.items():
            if tensor in passed and group is second:
                continue
            moved = [layout if move.keeps else move(layout) for layout in layouts]
            known = inputs.get(tensor, ())
            for layout in moved:
                if layout is None:
                    return None
                if layout not in known:
                    known = (*known, layout)
            inputs[tensor] = known
    return inputs


def _is_along(layout: Layout | None, axes: tuple[int, ...]) -> bool:
    return layout is not None and varies(layout, axes)


def _limits(
    inputs: Collection[str | None], outputs: Collection[str], target: TargetSpec, options: FusionOptions
) -> Refused | None:
    most_inputs, most_outputs = options.most_inputs(target), options.most_outputs(target)
    if len(inputs) > most_inputs:
        return Refused(Reason.TOO_MANY_INPUTS, f"{len(inputs)} inputs, at most {most_inputs}")
    if len(outputs) > most_outputs:
        return Refused(Reason.TOO_MANY_OUTPUTS, f"{len(outputs)} outputs, at most {most_outputs}")
    if len(inputs) + len(outputs) > (most := target.limits.arguments):
        return Refused(Reason.TOO_MANY_INPUTS, f"{len(inputs)} inputs and {len(outputs)} outputs, at most {most}")
    return None


def _axes_text(first: Group, second: Group) -> str:
    return f"{_text(first.nest)} of {first.name} against {_text(second.nest)} of {second.name}"


def _group_text(group: TilingGroup) -> str:
    """Return ``group`` as messages show it."""
    shown = (("y", group.y), ("r", group.r), ("n", group.n))
    return " ".join(f"{role}=({', '.join(axes)})" for role, axes in shown if axes) or "no axes"


def _text(nest: Nest) -> str:
    return f"({', '.join(map(str, nest))})"
