"""May a kernel be a phase of another: do both keep the rows of the same tiles, whatever they reduce inside of them?

A softmax along one axis of [n, a, b], then along the other: blocks share n, and what passes from the one to the other
stays in local memory where a row [a, b] fits. Schedules decide in the end; here it is asked what a launch may gain.
"""

from autofuse_ir.dims import gt, product
from autofuse_ir.target import TargetSpec

from autofuse_fusion.groups import Group
from autofuse_fusion.joins import Join, join
from autofuse_fusion.moves import Path
from autofuse_fusion.values import Values


def may_be_phases(first: Group, second: Group, values: Values, target: TargetSpec) -> bool:
    """True where ``second``, which reads what ``first`` makes, can go on with the rows that ``first`` has at hand.

    Both walk some axis that neither reduces, in front of all others that are kept; and a row of what passes between
    them may fit local memory. Whether it does, sizes of the run decide.
    """
    made = {name for unit in first.units for name in unit.outputs}
    passed = [tensor for tensor in first.outputs if tensor in second.inputs]
    if not passed or not first.reduced or first.scanned or second.scanned:
        return False
    if any(tensor in values.leaves and values.behind(tensor) in made for tensor in second.inputs):
        return False  # it is read in another order
    if any(len(second.inputs[tensor]) > 1 for tensor in passed):
        return False
    joined = join(
        first.nest,
        second.nest,
        [(first.outputs[tensor], second.inputs[tensor][0]) for tensor in passed],
        [
            (mine, other)
            for t in first.inputs
            if t in second.inputs
            for mine in first.inputs[t]
            for other in second.inputs[t]
        ],
        values.sizes,
    )
    if joined is None or not (_keeps_axes(joined.first) and _keeps_axes(joined.second)):
        return False
    shared = _shared_axes(first, second, joined)
    if all(values.sizes.is_one(joined.nest[axis]) for axis in shared):
        return False
    row = product(size for axis, size in enumerate(joined.nest) if axis not in shared)
    widest = max(values.fact(tensor).dtype.itemsize for tensor in passed)
    return not values.sizes.oracle.holds(gt(row * widest, target.tile_bytes))


def _keeps_axes(path: Path) -> bool:
    """True where no axis is cut or united with others, and none is 1 or longer as the run decides."""
    return all(not move.stretched and all(len(old) == len(new) == 1 for old, new in move.pairs) for move in path.moves)


def _shared_axes(first: Group, second: Group, joined: Join) -> frozenset[int]:
    """Return the axes that both walk and neither reduces, in front of all that only one of them keeps."""
    walks: list[set[int]] = []
    reduced: set[int] = set()
    for group, path in ((first, joined.first), (second, joined.second)):
        walks.append(set(path.follow(tuple(range(len(group.nest)))) or ()))
        reduced |= set(path.follow(group.reduced) or ())
    found: set[int] = set()
    for axis in range(len(joined.nest)):
        if axis in reduced:
            continue
        if not all(axis in walk for walk in walks):
            break
        found.add(axis)
    return frozenset(found)
