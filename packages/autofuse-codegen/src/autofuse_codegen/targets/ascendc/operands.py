"""Operands of an instruction: tensors in UB, or one value that all lanes share."""

from typing import TypeAlias

from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.targets.ascendc.literals import literal, type_name


@frozen
class Tensor:
    """A value in UB: the expression of its tensor, its element type, and the memory it lies in."""

    text: str
    dtype: DType
    memory: str

    def seen_as(self, dtype: DType) -> str:
        """Return the tensor with its bytes read as elements of ``dtype``."""
        if type_name(dtype) == type_name(self.dtype):
            return self.text
        return f"{self.text}.ReinterpretCast<{type_name(dtype)}>()"


@frozen
class Number:
    """One value for all lanes: an expression, its type, and its value where that is known when compiling."""

    text: str
    dtype: DType
    value: bool | int | float | None = None

    def seen_as(self, dtype: DType) -> str:
        """Return the number with its bits read as ``dtype``, which is an integer as wide."""
        return self.text if dtype == self.dtype else f"static_cast<{type_name(dtype)}>({self.text})"

    def negated(self, view: DType) -> str:
        """Return its negative as ``view``, a type as wide; integers wrap."""
        if self.value is None:
            return f"static_cast<{type_name(view)}>(-{self.seen_as(view)})"
        if view.is_float:
            return literal(-float(self.value), view)
        low = -(2 ** (view.bits - 1)) if view.kind is dt.DTypeKind.SIGNED else 0
        return literal((-int(self.value) - low) % 2**view.bits + low, view)

    @property
    def may_be_zero(self) -> bool:
        """True unless it is known to be another number."""
        return self.value is None or self.value == 0


Operand: TypeAlias = Tensor | Number
