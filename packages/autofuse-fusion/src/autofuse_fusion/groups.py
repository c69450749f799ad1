"""Groups: units that share a kernel, as far as their borders tell."""

from attrs import define, field
from autofuse_ir.operators import Flag, operator
from autofuse_ir.schedule import TilingGroup

from autofuse_fusion.axes import Layout, Nest, varies
from autofuse_fusion.lower.table import ONE_SWEEP
from autofuse_fusion.moves import Path
from autofuse_fusion.units import Unit


@define(eq=False)
class Group:
    """A kernel in the making.

    ``units`` lie on its ``nest``. ``inputs`` says for each tensor it reads from outside how that lies there, possibly
    in several ways, ``outputs`` for each value that others read how it does: along all axes but ``reduced`` ones.
    ``work`` is its arithmetic at the hints, in additions; ``again`` is what costs something of it when it is done
    again, where rows do not stay in local memory between the sweeps over them. ``levels`` is how many reductions wait
    for one another.
    """

    units: list[Unit]
    nest: Nest
    inputs: dict[str, tuple[Layout, ...]]
    outputs: dict[str, Layout]
    work: float = 1.0
    scope: str | None = None
    needs: dict[str, None] = field(factory=dict)
    reduced: tuple[int, ...] = ()
    scanned: tuple[int, ...] = ()
    levels: int = 0
    again: float = 0.0

    @property
    def sweeps(self) -> int:
        """How often its rows are walked: for each reduction that waits for another, and for what waits for the last."""
        wide = any(varies(layout, self.reduced) for layout in self.outputs.values())
        return max(1, self.levels + wide)

    @property
    def name(self) -> str:
        """The operator it began with, for messages."""
        return self.units[0].node.name

    @property
    def directions(self) -> frozenset[bool]:
        """The directions of its scans: True for those that begin with the last element."""
        return frozenset(bool(unit.node.attr("reverse")) for unit in self.units if unit.scanned)


def group_of(unit: Unit, needed: set[str], work: float, scope: str | None) -> Group:
    """Return the group of one unit; ``needed`` are the values that anybody reads."""
    inputs: dict[str, tuple[Layout, ...]] = {}
    for read in unit.reads:
        known = inputs.get(read.value, ())
        if read.layout not in known:
            inputs[read.value] = (*known, read.layout)
    is_composite = operator(unit.node.op).has(Flag.COMPOSITE)
    waits = is_composite and unit.node.op not in ONE_SWEEP and _is_wide(unit)
    levels = 0 if not unit.reduced else 1 + waits
    outputs = {name: layout for name, layout in zip(unit.node.outputs, unit.results, strict=True) if name in needed}
    needs = dict.fromkeys(unit.needs)
    return Group([unit], unit.nest, inputs, outputs, work, scope, needs, unit.reduced, unit.scanned, levels)


def _is_wide(unit: Unit) -> bool:
    """True where a result varies along what is reduced: the elements were needed again."""
    return any(varies(layout, unit.reduced) for layout in unit.results)


def tiling_group(group: Group, path: Path) -> TilingGroup | None:
    """Return the roles of the axes of ``group`` on the nest that ``path`` leads to; None where its axes do not fit.

    Element-wise work runs in parallel along all axes there are. A reduction runs along its own: along others it would
    be computed again and again.
    """
    reduced, scanned = path.follow(group.reduced), path.follow(group.scanned)
    if reduced is None or scanned is None:
        return None
    fixed = group.reduced or group.scanned
    own = path.follow(tuple(range(len(group.nest)))) if fixed else tuple(range(len(path.new)))
    if own is None:
        return None

    def names(axes: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(f"z{k}" for k in axes)

    return TilingGroup(
        y=names(tuple(k for k in own if k not in reduced and k not in scanned)), r=names(reduced), n=names(scanned)
    )
