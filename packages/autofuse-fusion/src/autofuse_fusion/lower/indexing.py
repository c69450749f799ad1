"""Where the loads of leaves read: an index map over the axes of a kernel.

An index that is one axis (or an operand) is a dim of the access map. Several axes in one index, as after a reshape, cut
the dim of the tensor where its size allows; what is left is computed and read as an index operand.
"""

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AccessDim, AccessMap, Axis, Bounds
from autofuse_ir.dims import Dim, const, eq, ge, lt, product, select
from autofuse_ir.dtypes import DType, bool_, int64
from autofuse_symshape.divisions import exact_quotient

from autofuse_fusion.axes import Layout, factorise, pair_axes
from autofuse_fusion.index_map import Number, Place, Viewed
from autofuse_fusion.lower.writer import KernelWriter, Tensor
from autofuse_fusion.size_facts import SizeFacts

_ZERO, _ONE = const(0), const(1)


@frozen
class Folded:
    """``(sum of weight * axis) // divisor % size``: one of several dims that are walked as one."""

    terms: tuple[tuple[int, Dim], ...]
    divisor: Dim
    size: Dim


@define
class Index:
    """``offset + sum(weight * axis) + sum(weight * folded) + scale * operand``."""

    offset: Dim
    linear: dict[int, Dim] = field(factory=dict)
    folded: list[tuple[Dim, Folded]] = field(factory=list)
    operand: int | None = None
    scale: Dim = _ONE

    @property
    def is_plain(self) -> bool:
        """True where it is one axis, or one operand, or a constant."""
        return not self.folded and len(self.linear) + (self.operand is not None) <= 1


@define(eq=False)
class LeafLoader:
    """Writes what leaves of ``shape`` are that lie on the axes as ``layout`` says."""

    writer: KernelWriter
    layout: Layout
    shape: tuple[Dim, ...]
    sizes: SizeFacts
    counting: DType = int64

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the kernel."""
        return self.writer.axes

    def load(self, data: str, dtype: DType, leaf: Viewed, operands: Sequence[Tensor] = ()) -> Tensor:
        """Return the elements of ``data`` at the places of ``leaf``, whose index operands are ``operands``."""
        memory: list[Dim] = []
        dims: list[AccessDim] = []
        indices: list[Tensor] = []
        for index, size in zip(self._indices(leaf.places), leaf.memory, strict=True):
            cut = self._cut(index, size)
            if cut is None:
                tensor = operands[index.operand] if index.is_plain and index.operand is not None else None
                if tensor is None:
                    tensor, scale, offset = self._written(index, self.counting, operands), _ONE, _ZERO
                else:
                    scale, offset = index.scale, index.offset
                cut = [(size, AccessDim(None, scale, offset, len(indices)))]
                indices.append(tensor)
            memory += [size for size, _ in cut]
            dims += [dim for _, dim in cut]
        bounds, fill = Bounds.INSIDE, None
        if leaf.gathers:
            bounds = Bounds.ERROR
        elif (leaf.partial or leaf.fill is not None) and not self._stays_inside(memory, dims):
            bounds, fill = Bounds.FILL, _number(leaf.fill, dtype)
        return self.writer.indexed_load(data, dtype, AccessMap(tuple(memory), tuple(dims), bounds), indices, fill)

    def _stays_inside(self, memory: Sequence[Dim], dims: Sequence[AccessDim]) -> bool:
        """True where no index along any dim leaves it, at no size: a slice of the inner part of a padded tensor."""
        extents = {axis.name: axis.size for axis in self.axes}
        holds = self.sizes.oracle.holds
        for size, dim in zip(memory, dims, strict=True):
            step = dim.step.constant_value
            if dim.operand is not None or step is None:
                return False
            last = dim.offset if dim.axis is None else dim.offset + step * (extents[dim.axis] - 1)
            low, high = (dim.offset, last) if step >= 0 else (last, dim.offset)
            if not (holds(ge(low, 0)) and holds(lt(high, size))):
                return False
        return True

    def position(self, place: Place, dtype: DType) -> Tensor:
        """Return an index as a value."""
        return self._written(self._indices((place,))[0], dtype, ())

    def _indices(self, places: Sequence[Place]) -> list[Index]:
        walks = self._walks()
        found: list[Index] = []
        for place in places:
            index = Index(place.offset, operand=place.operand, scale=place.scale)
            for dim, step in place.terms:
                walk = walks.get(dim, {})
                if isinstance(walk, Folded):
                    index.folded.append((step, walk))
                    continue
                for axis, weight in walk.items():
                    index.linear[axis] = index.linear.get(axis, _ZERO) + step * weight
            index.linear = {axis: index.linear[axis] for axis in sorted(index.linear) if index.linear[axis] != 0}
            found.append(index)
        return found

    def _walks(self) -> dict[int, Mapping[int, Dim] | Folded]:
        """Return, per dim of the leaf, the axes that make up its index; none for a dim of size 1."""
        dims = [k for k, size in enumerate(self.shape) if not self.sizes.is_one(size)]
        along = [k for k, entry in enumerate(self.layout) if entry is not None]
        own = tuple(self.shape[k] for k in dims)
        seen = tuple(entry for entry in self.layout if entry is not None)
        pieces = factorise(own, seen, self.sizes)
        assert pieces is not None, "the leaf lies on the axes"
        found: dict[int, Mapping[int, Dim] | Folded] = {}
        for piece in pieces:
            axes = [along[k] for k in piece.second]
            weights = [product(seen[k] for k in piece.second[n + 1 :]) for n in range(len(axes))]
            if len(piece.first) == 1:
                found[dims[piece.first[0]]] = self._stretched(axes, weights)
                continue
            parts = pair_axes(tuple(own[k] for k in piece.first), tuple(seen[k] for k in piece.second))
            for number, k in enumerate(piece.first):
                if parts is not None:
                    part = parts[number]
                    inner = [product(seen[piece.second[m]] for m in part[n + 1 :]) for n in range(len(part))]
                    found[dims[k]] = self._stretched([axes[m] for m in part], inner)
                else:
                    divisor = product(own[m] for m in piece.first[number + 1 :])
                    found[dims[k]] = Folded(tuple(zip(axes, weights, strict=True)), divisor, own[k])
        return found

    def _stretched(self, axes: Sequence[int], weights: Sequence[Dim]) -> dict[int, Dim]:
        """Return the weights of axes; 0 where the run finds that the leaf is 1 wide along a wider axis."""
        found: dict[int, Dim] = {}
        for axis, weight in zip(axes, weights, strict=True):
            entry = self.layout[axis]
            assert entry is not None
            found[axis] = weight if entry == self.axes[axis].size else weight * select(eq(entry, 1), 0, 1)
        return found

    def _cut(self, index: Index, size: Dim) -> list[tuple[Dim, AccessDim]] | None:
        """Return dims of memory, of one axis each, that are ``index`` into ``size``; None where there are none."""
        if index.folded or index.operand is not None:
            return None
        left, offset, rest = dict(index.linear), index.offset, size
        inner: list[tuple[Dim, AccessDim]] = []
        while len(left) > 1:
            axis = next((axis for axis, weight in left.items() if weight == 1), None)
            if axis is None:
                return None
            extent = self.axes[axis].size
            del left[axis]
            inner.insert(0, (extent, self._along(axis)))
            outer = {each: exact_quotient(weight, extent) for each, weight in left.items()}
            shift = exact_quotient(offset, extent) if offset != 0 else offset
            if shift is None or any(weight is None for weight in outer.values()):
                return None
            left = {each: weight for each, weight in outer.items() if weight is not None}
            offset = shift
            whole = product(extent for extent, _ in inner)
            found = exact_quotient(size, whole)
            if found is None and offset == 0 and all(weight == 1 for weight in left.values()) and len(left) == 1:
                last = self.axes[next(iter(left))].size
                found = last if self.sizes.equal(size, last * whole) else None
            if found is None and len(left) == 1:
                return None
            rest = rest if found is None else found
        axis = next(iter(left), None)
        if axis is None:
            return [(rest, AccessDim(None, _ZERO, offset)), *inner]
        return [(rest, AccessDim(self.axes[axis].name, left[axis], offset)), *inner]

    def _along(self, axis: int) -> AccessDim:
        return AccessDim(self.axes[axis].name, _ONE, _ZERO)

    def _written(self, index: Index, dtype: DType, operands: Sequence[Tensor]) -> Tensor:
        """Return ``index`` as primitives on the indices of the axes."""
        writer = self.writer
        total: Tensor | None = None
        if index.operand is not None:
            total = self._times(writer.cast(operands[index.operand], dtype), index.scale)
        for axis, weight in index.linear.items():
            total = self._plus(total, self._times(writer.position((axis,), dtype), weight))
        for weight, folded in index.folded:
            total = self._plus(total, self._times(self._of_folded(folded, dtype), weight))
        if total is None:
            return self._size(index.offset, dtype)
        return total if index.offset == 0 else writer.apply("Add", total, self._size(index.offset, dtype))

    def _of_folded(self, folded: Folded, dtype: DType) -> Tensor:
        total: Tensor | None = None
        for axis, weight in folded.terms:
            total = self._plus(total, self._times(self.writer.position((axis,), dtype), weight))
        assert total is not None
        if folded.divisor != 1:
            total = self.writer.apply("FloorDiv", total, self._size(folded.divisor, dtype))
        return self.writer.apply("Mod", total, self._size(folded.size, dtype))

    def _times(self, tensor: Tensor, weight: Dim) -> Tensor:
        return tensor if weight == 1 else self.writer.apply("Mul", tensor, self._size(weight, tensor.dtype))

    def _size(self, size: Dim, dtype: DType) -> Tensor:
        known = size.constant_value
        return self.writer.size(size, dtype) if known is None else self.writer.scalar(known, dtype)

    def _plus(self, total: Tensor | None, tensor: Tensor) -> Tensor:
        return tensor if total is None else self.writer.apply("Add", total, tensor)


def _number(fill: Number | None, dtype: DType) -> Number:
    value = 0 if fill is None else fill
    return float(value) if dtype.is_float else bool(value) if dtype == bool_ else int(value)
