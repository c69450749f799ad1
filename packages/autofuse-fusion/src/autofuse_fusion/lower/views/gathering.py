"""Makes gathers: of what lies in memory, and of element-wise results where fewer elements are computed so."""

from collections.abc import Sequence

from attrs import evolve
from autofuse_ir.dims import const, product
from autofuse_ir.graph import Node
from autofuse_ir.operators import input_names, operator

from autofuse_fusion.index_map import Place, Viewed, at, composed, still
from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.lower.views.carrying import Views, again, may_carry
from autofuse_fusion.lower.views.marks import SOFTMAXES, is_part, origin_of
from autofuse_fusion.lower.views.nodes import Shape

_ONE = const(1)
_NEXT_TO_NOTHING = 1 / 8
"""The part of the elements of a tensor that a gather may compute again."""


def gathered(
    b: Views, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None = None
) -> str:
    """Return ``source`` at ``places``, of which some are ``indices`` (values that broadcast to ``shape``)."""
    moved = _gathered_before(b, source, shape, places, indices, name)
    if moved is not None:
        return moved
    used = sorted({place.operand for place in places if place.operand is not None})
    places = tuple([p if p.operand is None else evolve(p, operand=used.index(p.operand)) for p in places])
    dims = {dim for place in places for dim in place.dims}
    wide = tuple([size if dim in dims else _ONE for dim, size in enumerate(shape)])
    dtype = b.values.fact(source).dtype
    table = b.leaf(_table(b, source, places), wide, dtype, b.behind(source))
    listed = [indices[number] for number in used]
    return b.emit("Index", (table, None, None, *listed), shape, dtype, name, placed=True)


def _gathered_before(
    b: Views, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None
) -> str | None:
    """Return the gather of an element-wise result as that operator on gathers, where it is less work so."""
    whole = b.behind(source)
    maker = b.makers.get(whole)
    own, sizes = b.shape_of(whole), b.values.sizes
    if maker is None or not _may_follow(maker) or not may_carry(b, whole, partial=False):
        return None
    # What others read, too, is made in any case: it is computed again where that is next to nothing.
    most = 1 if b.readers.get(whole, 1) <= 1 else _NEXT_TO_NOTHING
    if sizes.hint(product(shape)) > sizes.hint(product(own)) * most:
        return None
    lowering = lowering_of(maker.op)
    assert lowering is not None
    listed: list[tuple[str, tuple[Place, ...]] | None] = []
    for param, given in zip(input_names(operator(maker.op), len(maker.inputs)), maker.inputs, strict=True):
        if given is None or param in lowering.unread:
            listed.append(None)
            continue
        behind = b.shape_of(given)
        lies = positions(maker, param, len(behind), len(own))
        dims = [(size, dim) for size, dim in zip(behind, lies, strict=True)]
        if not all(dim < 0 or sizes.is_one(size) or sizes.equal(size, own[dim]) for size, dim in dims):
            return None
        listed.append((given, tuple([still() if d < 0 or sizes.is_one(n) else places[d] for n, d in dims])))
    if any(not _is_table(b, each[0]) for each in listed if each and any(p.operand is not None for p in each[1])):
        return None
    operands = {place.operand for place in places}
    if not any(each is not None and operands <= {*(p.operand for p in each[1]), None} for each in listed):
        return None  # nothing would notice an index out of range
    b.depth += 1
    inputs: list[str | None] = []
    for each in listed:
        if each is None:
            inputs.append(None)
        elif any(place.operand is not None for place in each[1]):
            inputs.append(gathered(b, each[0], shape, each[1], indices))
        else:
            inputs.append(b.view(each[0], shape, each[1]))
    b.depth -= 1
    return again(b, maker, inputs, shape, name)


def _may_follow(maker: Node) -> bool:
    """True for what the graph computes, and for steps of softmaxes: those of views may stand on parts of tensors."""
    return not is_part(maker) or origin_of(maker) in SOFTMAXES


def _is_table(b: Views, value: str) -> bool:
    """True for what lies in memory, or is read from there element by element."""
    leaf = b.values.leaves.get(b.behind(value))
    if leaf is None:
        return True
    return isinstance(leaf, Viewed) and not leaf.partial and leaf.fill is None and not leaf.gathers


def _table(b: Views, source: str, places: tuple[Place, ...]) -> Viewed:
    """Return what a gather reads: behind a view where that keeps what is out of range."""
    whole = b.behind(source)
    leaf = b.values.leaves.get(whole)
    if isinstance(leaf, Viewed) and _is_table(b, whole):
        shape = b.shape_of(whole)
        kept = True
        for place, size in zip(leaf.places, leaf.memory, strict=True):
            if any(places[dim].operand is not None for dim in place.dims):
                is_whole = place == at(place.dims[0]) and b.values.sizes.equal(shape[place.dims[0]], size)
                kept = kept and is_whole
        found = composed(leaf, places, partial=False) if kept else None
        if isinstance(found, Viewed):
            return found
    elif leaf is None and not b.is_scalar(whole):
        return Viewed(whole, b.shape_of(whole), places)
    real = b.in_memory_form(source, b.shape_of(source)) if source in b.values.leaves else source
    return Viewed(real, b.shape_of(source), places)
