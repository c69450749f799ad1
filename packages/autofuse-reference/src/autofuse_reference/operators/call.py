"""One evaluation of one operator: what its NumPy function is given."""

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeAlias

import numpy as np
from attrs import field, frozen
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue
from autofuse_ir.operators import Operator

from autofuse_reference.arrays import Array
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.precision import Precision


@frozen(eq=False)
class Call:
    """Inputs and attributes by name.

    ``arrays`` are the inputs in the dtype the operator computes in (lists as tuples), ``dtypes`` their declared types.
    """

    op: Operator
    attrs: Mapping[str, AttrValue | None]
    arrays: Mapping[str, Array | tuple[Array, ...] | None]
    dtypes: Mapping[str, DType]
    precision: Precision
    where: str = field(default="")

    def array(self, name: str) -> Array:
        """Return the input ``name``, which must be there."""
        value = self.arrays[name]
        assert isinstance(value, np.ndarray), f"{self.op.name}: input {name}"
        return value

    def optional(self, name: str) -> Array | None:
        """Return the input ``name``, or None when it is missing."""
        return None if self.arrays[name] is None else self.array(name)

    def tensors(self, name: str) -> tuple[Array, ...]:
        """Return the arrays of list input ``name``."""
        value = self.arrays[name]
        assert isinstance(value, tuple), f"{self.op.name}: input {name}"
        return value

    def operand(self, name: str) -> tuple[int, ...]:
        """Return an index input (shape, axes, ...) as ints, whatever its rank."""
        return tuple(int(i) for i in self.array(name).reshape(-1))

    def integer(self, name: str) -> int:
        """Return an int attribute."""
        value = self.attrs[name]
        if not isinstance(value, int):
            self.fail(f"attribute {name!r} must be known as an int, but is {value}")
        return value

    def number(self, name: str) -> float:
        """Return a float attribute."""
        value = self.attrs[name]
        assert isinstance(value, int | float), f"{self.op.name}: attribute {name}"
        return float(value)

    def flag(self, name: str) -> bool:
        """Return a bool attribute."""
        return bool(self.attrs[name])

    def text(self, name: str) -> str:
        """Return a string attribute."""
        value = self.attrs[name]
        assert isinstance(value, str), f"{self.op.name}: attribute {name}"
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a list-of-ints attribute."""
        value = self.attrs[name]
        if not isinstance(value, tuple) or not all(isinstance(i, int) for i in value):
            self.fail(f"attribute {name!r} must be known as ints, but is {value}")
        return tuple(int(i) for i in value if isinstance(i, int))

    def fail(self, what: str, fix: str = "") -> NoReturn:
        """Raise the error of this evaluation."""
        raise EvaluationError(what, where=self.where or f"operator {self.op.name}", fix=fix)


Results: TypeAlias = Array | tuple[Array, ...]
Function: TypeAlias = Callable[[Call], Results]
"""The meaning of an operator: its outputs in any dtype; the evaluator rounds them to the declared ones."""


@frozen
class Meaning:
    """The NumPy function of operator ``name``; ``moves``: it only moves elements, so it sees them unconverted."""

    name: str
    function: Function
    moves: bool = False


def unary(name: str, function: Callable[[Array], Array]) -> Meaning:
    """Return the meaning of an operator that is ``function`` of its first input."""
    return Meaning(name, lambda call: function(call.array(call.op.inputs[0].name)))


def binary(name: str, function: Callable[[Array, Array], Array]) -> Meaning:
    """Return the meaning of an operator that is ``function`` of its first two inputs."""
    return Meaning(name, lambda call: function(call.array(call.op.inputs[0].name), call.array(call.op.inputs[1].name)))
