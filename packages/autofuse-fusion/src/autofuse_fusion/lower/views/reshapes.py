"""Index maps through a reshape: what an index into a tensor is under its other shape."""

from attrs import frozen
from autofuse_ir.dims import Dim, const, product

from autofuse_fusion.axes import factorise, pair_axes
from autofuse_fusion.index_map import Place, at, renumbered, still, summed
from autofuse_fusion.size_facts import SizeFacts

Shape = tuple[Dim, ...]


@frozen
class Refined:
    """A view over dims that are cut finer than it was asked for: row-major the same elements."""

    shape: Shape
    places: tuple[Place, ...]


def unshaped(inner: Shape, outer: Shape, places: tuple[Place, ...], sizes: SizeFacts) -> tuple[Place, ...] | None:
    """Return the indices into a tensor of shape ``inner`` that ``places`` are into it under shape ``outer``.

    None where a dim of ``outer`` walks several of ``inner``: that takes divisions, see ``refined``.
    """
    inner_dims, outer_dims = _wide(inner, sizes), _wide(outer, sizes)
    a, b = tuple(inner[k] for k in inner_dims), tuple(outer[k] for k in outer_dims)
    pieces = factorise(a, b, sizes)
    if pieces is None:
        return None
    found = [still()] * len(inner)
    for piece in pieces:
        if len(piece.first) == 1:
            parts: tuple[tuple[int, ...], ...] | None = (tuple(range(len(piece.second))),)
        else:
            parts = pair_axes(tuple(a[k] for k in piece.first), tuple(b[k] for k in piece.second))
        if parts is None:
            return None
        for k, part in zip(piece.first, parts, strict=True):
            dims = [outer_dims[piece.second[p]] for p in part]
            weights = [product(outer[d] for d in dims[p + 1 :]) for p in range(len(dims))]
            found[inner_dims[k]] = summed((places[d], weight) for d, weight in zip(dims, weights, strict=True))
    return tuple(found)


def refined(inner: Shape, outer: Shape, places: tuple[Place, ...], shape: Shape, sizes: SizeFacts) -> Refined | None:
    """Return the view of ``shape`` at ``places`` into ``outer`` as one into ``inner``, its dims cut as ``inner`` is.

    None where a dim that has to be cut is not walked from end to end by a dim of the view.
    """
    cuts = _cuts(inner, outer, sizes)
    walkers = [dim for place in places for dim in place.dims]
    parts: dict[int, tuple[Dim, ...]] = {}
    for dim, part in cuts.items():
        walker = next(iter(places[dim].dims), None)
        if walker is None or places[dim] != at(walker) or walkers.count(walker) > 1:
            return None
        if not sizes.equal(shape[walker], outer[dim]):
            return None
        parts[walker] = part
    begins = [sum(len(parts.get(j, (const(1),))) for j in range(k)) for k in range(len(shape))]
    finer: list[Dim] = []
    fine_places: list[Place] = []
    for dim, size in enumerate(outer):
        part = cuts.get(dim, (size,))
        finer += part
        if dim in cuts:
            first = begins[places[dim].dims[0]]
            fine_places += [at(first + number) for number in range(len(part))]
        else:
            fine_places.append(renumbered(places[dim], dict(enumerate(begins))))
    found = unshaped(inner, tuple(finer), tuple(fine_places), sizes)
    if found is None or not cuts:
        return None
    return Refined(tuple(part for k, size in enumerate(shape) for part in parts.get(k, (size,))), found)


def _cuts(inner: Shape, outer: Shape, sizes: SizeFacts) -> dict[int, tuple[Dim, ...]]:
    """Return the dims of ``outer`` that walk several of ``inner`` as one, with the sizes they have to be cut into."""
    inner_dims, outer_dims = _wide(inner, sizes), _wide(outer, sizes)
    pieces = factorise(tuple(inner[k] for k in inner_dims), tuple(outer[k] for k in outer_dims), sizes)
    cuts: dict[int, tuple[Dim, ...]] = {}
    for piece in pieces or ():
        parts = pair_axes(tuple(outer[outer_dims[k]] for k in piece.second), piece.sizes)
        for k, part in zip(piece.second, parts or (), strict=False):
            if len(part) > 1 and len(piece.first) > 1:
                cuts[outer_dims[k]] = tuple(piece.sizes[p] for p in part)
    return cuts


def _wide(shape: Shape, sizes: SizeFacts) -> list[int]:
    return [k for k, size in enumerate(shape) if not sizes.is_one(size)]
