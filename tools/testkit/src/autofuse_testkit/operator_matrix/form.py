"""How an operator is called, and at which ranks."""

from collections.abc import Callable, Sequence

from attrs import frozen
from autofuse_ir.dtypes import DType

from autofuse_testkit.operator_matrix.call import Call


@frozen
class Form:
    """``build`` adds the operator's inputs and calls it; ``rank`` counts the dims of its largest input (or result)."""

    build: Callable[[Call], Sequence[str]]
    least: int = 0
    most: int = 6
    types: tuple[DType, ...] = ()
    """Element types of the cases, where they are not those of the input type ``T`` (or of the first input)."""
