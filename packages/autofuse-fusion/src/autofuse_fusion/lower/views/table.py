"""The lowering of every operator that moves elements, by name."""

from autofuse_fusion.lower.views import (
    batch_statistics,
    gated,
    gathers,
    joins,
    losses,
    made,
    padding,
    rearranged,
    repeats,
    rotary,
    slices,
    windows,
)
from autofuse_fusion.lower.views.call import ViewLowering

VIEW_LOWERINGS: dict[str, ViewLowering] = {
    **slices.LOWERINGS,
    **joins.LOWERINGS,
    **padding.LOWERINGS,
    **rearranged.LOWERINGS,
    **repeats.LOWERINGS,
    **gathers.LOWERINGS,
    **gated.LOWERINGS,
    **rotary.LOWERINGS,
    **losses.LOWERINGS,
    **windows.LOWERINGS,
    **batch_statistics.LOWERINGS,
    **made.LOWERINGS,
}
