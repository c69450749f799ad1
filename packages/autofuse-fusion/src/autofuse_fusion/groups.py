"""Groups: units that share a kernel, as far as their borders tell."""

from attrs import define, field
from autofuse_ir.schedule import TilingGroup

from autofuse_fusion.axes import Layout, Nest
from autofuse_fusion.moves import Path
from autofuse_fusion.units import Unit


@define(eq=False)
class Group:
    """A kernel in the making.

    ``units`` lie on its ``nest``. ``inputs`` says for each tensor it reads from outside how that lies there, possibly
    in several ways, ``outputs`` for each value that others read how it does: along all axes but ``reduced`` ones.
    ``work`` is its arithmetic at the hints, in additions.
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

    @property
    def name(self) -> str:
        """The operator it began with, for messages."""
        return self.units[0].node.name


def group_of(unit: Unit, needed: set[str], work: float, scope: str | None) -> Group:
    """Return the group of one unit; ``needed`` are the values that anybody reads."""
    inputs: dict[str, tuple[Layout, ...]] = {}
    for read in unit.reads:
        known = inputs.get(read.value, ())
        if read.layout not in known:
            inputs[read.value] = (*known, read.layout)
    outputs = {name: layout for name, layout in zip(unit.node.outputs, unit.results, strict=True) if name in needed}
    return Group([unit], unit.nest, inputs, outputs, work, scope, dict.fromkeys(unit.needs), unit.reduced, unit.scanned)


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
