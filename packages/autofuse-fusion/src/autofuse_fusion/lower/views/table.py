"""The lowering of every operator that moves elements, by name."""

from autofuse_fusion.lower.views import gathers, joins, made, padding, rearranged, slices
from autofuse_fusion.lower.views.call import ViewLowering

VIEW_LOWERINGS: dict[str, ViewLowering] = {
    **slices.LOWERINGS,
    **joins.LOWERINGS,
    **padding.LOWERINGS,
    **rearranged.LOWERINGS,
    **gathers.LOWERINGS,
    **made.LOWERINGS,
}
