"""Groups: units that share a kernel, as far as their borders tell."""

from attrs import define, field
from autofuse_ir.schedule import TilingGroup

from autofuse_fusion.axes import Layout, Nest
from autofuse_fusion.units import Unit


@define(eq=False)
class Group:
    """A kernel in the making.

    ``inputs`` says for each tensor it reads from outside how that lies on ``nest``, possibly in several ways.
    ``outputs`` are the values that others read; each covers the whole nest. ``work`` is its arithmetic at the hints, in
    additions.
    """

    units: list[Unit]
    nest: Nest
    inputs: dict[str, tuple[Layout, ...]]
    outputs: dict[str, None]
    work: float = 1.0
    scope: str | None = None
    needs: dict[str, None] = field(factory=dict)

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
    outputs = dict.fromkeys(name for name in unit.outputs if name in needed)
    return Group([unit], unit.nest, inputs, outputs, work, scope, dict.fromkeys(unit.needs))


def tiling_group(nest: Nest) -> TilingGroup:
    """Return the roles of the axes in a kernel over ``nest``: element-wise work runs in parallel along all of them."""
    return TilingGroup(y=tuple(f"z{k}" for k in range(len(nest))))
