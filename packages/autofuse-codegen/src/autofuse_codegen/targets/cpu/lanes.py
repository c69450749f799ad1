"""How many lanes a strip has, as a constant of the machine a kernel is built for."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED

LANES = "L"
"""The name of the lane count inside generated functions."""


def lane_bytes(nodes: tuple[AscNode, ...]) -> int:
    """Return the bytes of one lane: a strip has ``AF_VECTOR_BYTES`` over it lanes.

    One register of the widest element, or of 4-byte elements where narrower ones mix in: all dtypes of a strip share
    its lanes, so wider elements take several registers and narrower ones part of one.
    """
    sizes = {node.dtype.itemsize for node in nodes if node.op not in NOT_EVALUATED}
    widest, narrowest = max(sizes, default=4), min(sizes, default=4)
    return widest if widest == narrowest else min(widest, 4)
