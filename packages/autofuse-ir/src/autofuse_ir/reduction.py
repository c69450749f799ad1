"""The reduction tree: the order in which a reduction joins its elements, whatever the template, ISA or core count.

Elements are numbered row-major over the reduced axes (outer to inner, as the node lists them). They are cut into
*leaves* of ``leaf`` elements, the last one shorter. Inside a leaf, virtual partial ``j`` starts from the identity and
takes the elements whose number in the leaf is ``j`` modulo ``partials``, in order; then the partials are halved until
one is left: ``p[j] = p[j] op p[j + half]`` for ``half = partials / 2, ..., 2, 1``. Leaves are joined level by level,
each even one with its right neighbour; an odd one at the end moves up as it is.

The identity of Sum is -0.0 (+0.0 would lose the sign of a sum of negative zeros), that of Prod 1, of Max the lowest
value of the dtype (-inf), of Min the highest, of Any false, of All true. A Sum of nothing is +0.0; all other empty
reductions are the identity.
"""

from attrs import frozen

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr

INNER_LEAF = 4096
INNER_PARTIAL_BYTES = 256
OUTER_LEAF = 64


@frozen
class Tree:
    """``leaf`` elements a leaf, a multiple of ``partials``; both powers of two."""

    leaf: int
    partials: int

    def attrs(self) -> tuple[Attr, ...]:
        """Return the tree as the attributes of a reduction."""
        return (Attr("leaf", self.leaf), Attr("partials", self.partials))


def tree_for(dtype: DType, is_inner: bool) -> Tree:
    """Return the tree of a reduction that accumulates in ``dtype``.

    ``is_inner``: the innermost dim of more than one element is among those that the source operator reduces. Otherwise
    whole rows are added up, which needs no partials: every column has a chain of its own.
    """
    if is_inner:
        return Tree(INNER_LEAF, INNER_PARTIAL_BYTES // dtype.itemsize)
    return Tree(OUTER_LEAF, 1)


def tree_of(node: AscNode) -> Tree:
    """Return the tree that reduction ``node`` states; ``checks`` finds those without one."""
    leaf, partials = node.attr("leaf"), node.attr("partials")
    assert isinstance(leaf, int), node.name
    assert isinstance(partials, int), node.name
    return Tree(leaf, partials)


def reduced_axes(node: AscNode) -> tuple[str, ...]:
    """Return the axes that reduction ``node`` joins, outer to inner; none for other nodes."""
    axes = node.attr("axes", ())
    assert isinstance(axes, tuple)
    return tuple(axis for axis in axes if isinstance(axis, str))
