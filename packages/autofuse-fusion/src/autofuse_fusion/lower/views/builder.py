"""Builds the nodes that views become, and carries index maps up through what makes the viewed value.

A view of an element-wise result is that operator on views of its operands; a view of a view is one view. So an index
map ends at a tensor in memory, and the operators behind it are computed where they are read, as often as that pays::

    slice(relu(x + b))   ->   relu(slice(x) + slice(b))
    pad(transpose(x))    ->   one leaf of x
"""

from collections.abc import Sequence

from attrs import define, evolve
from autofuse_ir.dims import const, product
from autofuse_ir.facts import ValueFact

from autofuse_fusion.index_map import Number, Place, Viewed, at, composed, plain, still
from autofuse_fusion.lower.table import VIEWS
from autofuse_fusion.lower.views.carrying import Views, carried, may_carry, pays
from autofuse_fusion.lower.views.gathering import gathered
from autofuse_fusion.lower.views.nodes import Shape
from autofuse_fusion.lower.views.reshapes import refined, unshaped

_ONE = const(1)


@define(eq=False)
class ViewBuilder(Views):
    """Makes views of values: leaves, or what makes the value at other indices, as ``options`` and ``model`` say."""

    def view(
        self,
        source: str,
        shape: Shape,
        places: tuple[Place, ...],
        partial: bool = False,
        name: str | None = None,
    ) -> str:
        """Return ``source`` at ``places``: itself, a leaf, or what makes it at other indices."""
        if self.is_scalar(source):
            return source
        source = self.behind(source)
        if self.is_scalar(source):
            return source
        own = self.shape_of(source)
        used = {dim for place in places for dim in place.dims}
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        if not partial and wide == own and self._is_plain(places, own):
            return source
        key = (source, wide, places, partial)
        if key not in self._seen:
            self._seen[key] = self._viewed(source, wide, places, partial, name)
        return self._seen[key]

    def filled(self, source: str, shape: Shape, places: tuple[Place, ...], fill: Number) -> str | None:
        """Return ``source`` at ``places``, and ``fill`` outside of it; None where that is no leaf."""
        whole = self.behind(source)
        if self.is_scalar(whole) or may_carry(self, whole, partial=True):
            return None
        leaf = self.values.leaves.get(whole)
        memory = self.shape_of(whole)
        if leaf is None:
            return self.leaf(Viewed(whole, memory, places, fill=fill), shape, self.values.fact(whole).dtype)
        if not isinstance(leaf, Viewed) or leaf.partial or leaf.fill is not None or leaf.gathers:
            return None
        if any(place.offset != 0 or any(step != 1 for _, step in place.terms) for place in leaf.places):
            return None
        walked = [dim for place in leaf.places for dim in place.dims]
        ends = [memory[place.dims[0]] if len(place.dims) == 1 else None for place in leaf.places]
        if len(walked) != len(memory) or len(set(walked)) != len(walked):
            return None
        if any(end is None or not self.values.sizes.equal(end, m) for end, m in zip(ends, leaf.memory, strict=True)):
            return None
        outer = composed(leaf, places, partial=False)
        assert isinstance(outer, Viewed)
        return self.leaf(evolve(outer, fill=fill), shape, self.values.fact(whole).dtype, whole)

    def flat(self, source: str, shape: Shape, place: Place) -> str:
        """Return ``source``, taken for a vector, at ``place``."""
        own = self.shape_of(source)
        used = set(place.dims)
        wide = tuple([size if dim in used else _ONE for dim, size in enumerate(shape)])
        return self.leaf(Viewed(source, (product(own),), (place,)), wide, self.values.fact(source).dtype)

    def gather(
        self, source: str, shape: Shape, places: tuple[Place, ...], indices: Sequence[str], name: str | None = None
    ) -> str:
        """Return ``source`` at ``places``, of which some are ``indices`` (values that broadcast to ``shape``)."""
        return gathered(self, source, shape, places, indices, name)

    def _is_plain(self, places: tuple[Place, ...], own: Shape) -> bool:
        """True where ``places`` are those of a tensor of shape ``own`` itself: a dim of size 1 has but one place."""
        is_one = self.values.sizes.is_one
        return all(
            place == each or (place == still() and is_one(size))
            for place, each, size in zip(places, plain(len(own)), own, strict=True)
        )

    def _is_reshape(self, own: Shape, shape: Shape, places: tuple[Place, ...]) -> bool:
        """True where ``places``, over the dims ``shape``, only leave out and add dims of size 1."""
        sizes = self.values.sizes
        kept = [(size, place) for size, place in zip(own, places, strict=True) if not sizes.is_one(size)]
        dims = [dim for dim, size in enumerate(shape) if not sizes.is_one(size)]
        return len(kept) == len(dims) and all(
            place == at(dim) and sizes.equal(size, shape[dim]) for (size, place), dim in zip(kept, dims, strict=True)
        )

    def _viewed(self, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None) -> str:
        fact = self.values.fact(source)
        inner = self.values.leaves.get(source)
        if inner is not None:
            found = composed(inner, places, partial)
            assert found is not None, "maps of views have no operands"
            if isinstance(found, Viewed) and found.is_whole(shape) and self.shape_of(found.source) == shape:
                return found.source
            return self.leaf(found, shape, fact.dtype, source)
        maker = self.makers.get(source)
        if maker is not None and maker.op in VIEWS:
            behind = maker.inputs[0]
            assert behind is not None
            direct = unshaped(self.shape_of(behind), self.shape_of(source), places, self.values.sizes)
            if direct is not None and all(len(place.terms) <= 1 for place in direct):
                return self.view(behind, shape, direct, partial, name)
            if self.behind(behind) in self.values.leaves or may_carry(self, behind, partial):
                reshaped = self._reshaped(behind, source, shape, places, partial, name)
                if reshaped is not None:
                    return reshaped
        if maker is not None and may_carry(self, source, partial) and pays(self, source, maker, shape, places):
            return carried(self, maker, shape, places, partial, name)
        if maker is not None and not partial and self._is_reshape(self.shape_of(source), shape, places):
            result = name or self.fresh(source)
            self.values.facts[result] = ValueFact(result, fact.dtype, shape)
            self.reshape(source, result)
            return result
        return self.leaf(Viewed(source, self.shape_of(source), places, partial), shape, fact.dtype)

    def _reshaped(
        self, behind: str, source: str, shape: Shape, places: tuple[Place, ...], partial: bool, name: str | None
    ) -> str | None:
        """Return the view of ``source``, which is ``behind`` under another shape, as one of ``behind``."""
        inner, outer, sizes = self.shape_of(behind), self.shape_of(source), self.values.sizes
        direct = unshaped(inner, outer, places, sizes)
        if direct is not None:
            return self.view(behind, shape, direct, partial, name)
        finer = refined(inner, outer, places, shape, sizes)
        if finer is None:
            return None
        value = self.view(behind, finer.shape, finer.places, partial)
        dtype = self.values.fact(source).dtype
        result = self.declare(source, shape, dtype) if name is None else name
        self.values.facts[result] = ValueFact(result, dtype, shape)
        self.reshape(self.in_memory_form(value, finer.shape), result)
        return result
