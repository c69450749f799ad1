"""Which dim of its result each dim of an operand lies on."""

from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of

Positions = tuple[int, ...]


def positions(node: Node, param: str, rank: int, result_rank: int) -> Positions:
    """Return, per dim of the operand ``param`` of ``rank``, the dim of the result it lies on.

    Operands broadcast as NumPy's, aligned at the right, but for the bias of ``BiasAdd`` (the channel axis) and a
    condition of rank 1 in ``Select`` (axis 0). Dims left of the result's first (sizes 1 of an operand whose content is
    one element) get negative positions.
    """
    if node.op == "BiasAdd" and param == "bias":
        layout = attr_of(node, "data_format")
        return (result_rank - 1 if str(layout).endswith("C") else 1,)
    if node.op == "Select" and param == "condition" and rank == 1 and result_rank > 1:
        return (0,)
    return tuple(range(result_rank - rank, result_rank))
