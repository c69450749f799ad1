"""How many lanes a strip has."""

from autofuse_ir.asc_graph import AscNode

COMPUTE = ("Data", "Output", "Scalar", "IndexExpr")


def lanes_of(nodes: tuple[AscNode, ...], vector_bytes: int) -> int:
    """Return lanes per strip: one register of the widest element, or of 4-byte elements where narrower ones mix in.

    All dtypes of a strip share it, so wider elements take several registers and narrower ones part of one.
    """
    sizes = {node.dtype.itemsize for node in nodes if node.op not in COMPUTE}
    widest, narrowest = max(sizes, default=4), min(sizes, default=4)
    unit = widest if widest == narrowest else min(widest, 4)
    return max(1, vector_bytes // unit)
