"""How the elements of a tile lie in local memory: dense, or in rows that start at whole blocks."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.nest import Nest


@frozen
class Rows:
    """Rows along the innermost axis of a value with several start at multiples of ``multiple`` elements.

    A value as a whole takes a multiple of ``granule`` elements and of ``block_bytes``.
    """

    multiple: int
    granule: int
    block_bytes: int

    def elements_of(self, node: AscNode, nest: Nest) -> Dim:
        """Return the elements of one tile of the value, gaps between its rows included."""
        sizes = [axis.size for axis in nest.varying(node)]
        if len(sizes) > 1:
            sizes[-1] = rounded_up(sizes[-1], self.multiple)
        return rounded_up(product(sizes), self.granule)

    def bytes_of(self, node: AscNode, nest: Nest) -> Dim:
        """Return the bytes of one tile of the value."""
        return rounded_up(self.elements_of(node, nest) * node.dtype.itemsize, self.block_bytes)


def rows_for(nodes: tuple[AscNode, ...], nests: tuple[Nest, ...], target: TargetSpec) -> Rows:
    """Return the layout of local values: dense on a CPU.

    A vector core works on whole blocks of memory, and compares whole vectors. All values of one shape have one layout,
    so the narrowest type decides: what is a whole number of blocks for it is one for all.
    """
    if target.kind is TargetKind.CPU:
        return Rows(1, 1, target.block_bytes)
    narrowest = min((node.dtype.itemsize for node in nodes), default=1)
    has_rows = any(len(nest.vectorised) > 1 for nest in nests)
    multiple = target.block_bytes // narrowest if has_rows else 1
    return Rows(max(1, multiple), max(1, target.vector_bytes // narrowest), target.block_bytes)


def rounded_up(dim: Dim, multiple: int) -> Dim:
    """Return the least multiple of ``multiple`` that is no less than ``dim``."""
    return dim if multiple == 1 else ceildiv(dim, const(multiple)) * multiple
