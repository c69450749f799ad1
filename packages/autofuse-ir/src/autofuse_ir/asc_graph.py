"""The AscGraph: one fused kernel as loads, computations and stores over one tuple of axes.

The *HintGraph* form made here says what is computed, not in which order: all nodes live on the graph's ``axes`` (the
root tuple). ``repeats`` has one entry per axis: the axis' size, or 1 where the value does not vary along it.
"""

from enum import Enum

from attrs import frozen

from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr, AttrValue


class AxisKind(Enum):
    """How an axis came to be: as written, or by a schedule's splits and merges."""

    ORIGINAL = "original"
    MERGED = "merged"
    TILE_OUTER = "tile_outer"
    TILE_INNER = "tile_inner"
    BLOCK_OUTER = "block_outer"
    BLOCK_INNER = "block_inner"
    RANGE_OUTER = "range_outer"
    RANGE_INNER = "range_inner"


@frozen
class Axis:
    """A loop axis.

    ``parents`` are the axes it was made from: none for an original one, the parts from outer to inner for a merged one,
    the one split axis for each half of a split. With ``i`` the index of a half,
    ``index(parent) = i(outer) * size(inner) + i(inner)``, and iterations at or past the parent's size do not exist.
    A merged axis counts its parts in row-major order.

    The outer half of a range limits what is walked by other means: where a nest loops over it, and over the parent or
    its parts, only those points of the parent exist whose index over the inner half's size is that of the outer half.
    """

    name: str
    kind: AxisKind
    size: Dim
    parents: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The root axis that this vectorised axis walks: the one that a tile's inner half was cut from, or itself."""
        return self.parents[0] if self.kind is AxisKind.TILE_INNER else self.name


class Bounds(Enum):
    """What happens where an access leaves its data."""

    INSIDE = "inside"
    """It never does: proved for all sizes."""
    FILL = "fill"
    """Nothing is read there: the value is the Load's attribute ``fill``."""
    ERROR = "error"
    """The launch fails with a status; what is read there is of no consequence."""


@frozen
class AccessDim:
    """Index of one data dim: ``offset + step * axis`` (``axis`` None: the constant ``offset``).

    With ``operand`` k the k-th index operand of the Load (its input ``1 + k``) stands in place of the axis: a gather.
    ``step`` 0 is a broadcast that only the actual sizes decide (``select(d == 1, 0, 1)``); a negative step is a flip.
    """

    axis: str | None
    step: Dim
    offset: Dim
    operand: int | None = None


@frozen
class AccessMap:
    """Where a Load reads or a Store writes: one ``AccessDim`` per dim of the data, outer to inner.

    The data is row-major with shape ``memory`` (dims), so its element offset is the sum over dims of index times the
    product of the dims to the right. ``bounds`` holds for each dim by itself.
    """

    memory: tuple[Dim, ...]
    dims: tuple[AccessDim, ...]
    bounds: Bounds = Bounds.INSIDE


@frozen
class AscNode:
    """One AscIR operator and the one tensor it makes, which has the node's name.

    * ``Data``, ``Output``: attribute ``index`` is the argument position among the kernel's inputs or outputs (in
      ImplGraphs of several groups, `autofuse_ir.kernel_memory` has other sources).
    * ``Scalar``: attribute ``value``; ``IndexExpr``: attribute ``expression`` (a size).
    * ``AxisIndex``: the position along attribute ``axis``, as an integer.
    * ``Load``, ``Store``: ``access`` says which element belongs to each point of the axes; a Load's inputs after its
      ``Data`` are index operands.
    * ``Broadcast``: attribute ``axis``, exactly one.
    * ``Sum``, ``Prod``, ``Max``, ``Min``, ``Any``, ``All``: over attribute ``axes`` (names, outer to inner), along
      which the result has repeat 1; attributes ``leaf`` and ``partials`` are the tree (`autofuse_ir.reduction`).
    * ``CumSum``, ``CumProd``: along attribute ``axis``; attributes ``exclusive`` and ``reverse`` (bool).
    * ``Cast``: to ``dtype``; ``IsInf``: attributes ``positive`` and ``negative`` (bool).

    ``repeats`` and ``strides`` (elements of the dense value, 0 along axes it does not vary on) follow the graph's axes.
    ``source`` names the operators of the user's graph it came from.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    dtype: DType
    repeats: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    attrs: tuple[Attr, ...] = ()
    access: AccessMap | None = None
    source: tuple[str, ...] = ()

    def attr(self, name: str, default: AttrValue | None = None) -> AttrValue | None:
        """Return the value of attribute ``name``, or ``default``."""
        for attr in self.attrs:
            if attr.name == name:
                return attr.value
        return default

    @property
    def argument_index(self) -> int:
        """The argument position of a ``Data`` or ``Output`` node; 0 where it states none."""
        index = self.attr("index", 0)
        assert isinstance(index, int), "checks.check_indices finds others"
        return index


@frozen
class AscGraph:
    """A kernel's computation in HintGraph form: ``nodes`` in topological order over ``axes`` (outer to inner)."""

    name: str
    axes: tuple[Axis, ...]
    nodes: tuple[AscNode, ...]
