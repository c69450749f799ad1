"""One operator being lowered: what its decomposition is given."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue, Node
from autofuse_ir.operators import Operator, ParamKind, attr_of
from autofuse_ir.reduction import tree_for

from autofuse_fusion.index_map import Number
from autofuse_fusion.lower.space import SpaceOf, broadcast_space
from autofuse_fusion.lower.writer import KernelWriter, Tensor

Arguments: TypeAlias = Mapping[str, Tensor | tuple[Tensor, ...] | None]
"""Operands by parameter: a tuple for a list input, None for one that is missing."""


def arguments_of(op: Operator, found: Mapping[str, Sequence[Tensor]]) -> Arguments:
    """Return the arguments of ``op``; ``found`` holds, by parameter, the operands that are there."""
    arguments: dict[str, Tensor | tuple[Tensor, ...] | None] = {}
    for parameter in op.inputs:
        operands = tuple(found.get(parameter.name, ()))
        is_list = parameter.kind is ParamKind.DYNAMIC
        arguments[parameter.name] = operands if is_list else next(iter(operands), None)
    return arguments


_ONE = const(1)


@frozen
class Frame:
    """Where the operator's own loops lie in the kernel.

    ``shape`` is that of its space. It joins ``count`` elements along the axes ``reduced``, by their numbers;
    ``is_inner`` says whether its innermost loop is among them. ``indexed`` are, per dim whose positions it asks for,
    the axes of the dim, which are counted in ``index_dtype``; ``scanned`` is the axis it walks in order, if any.
    """

    shape: tuple[Dim, ...] = ()
    reduced: tuple[int, ...] = ()
    count: Dim = _ONE
    is_inner: bool = False
    indexed: Mapping[int, tuple[int, ...]] = {}
    scanned: tuple[int, ...] = ()
    index_dtype: DType = dt.int64


@frozen
class Call:
    """Inputs by name, in the dtype the operator computes in, and the declared dtypes of inputs and first result."""

    node: Node
    writer: KernelWriter
    tensors: Arguments
    dtypes: Mapping[str, DType]
    result: DType
    frame: Frame = Frame()

    def tensor(self, name: str) -> Tensor:
        """Return the input ``name``, which must be there."""
        value = self.tensors[name]
        assert isinstance(value, Tensor), f"{self.node.op}: input {name}"
        return value

    def optional(self, name: str) -> Tensor | None:
        """Return the input ``name``, or None where it is missing."""
        return None if self.tensors[name] is None else self.tensor(name)

    def tensors_of(self, name: str) -> tuple[Tensor, ...]:
        """Return the tensors of a list input."""
        value = self.tensors[name]
        assert isinstance(value, tuple), f"{self.node.op}: input {name}"
        return value

    def attr(self, name: str) -> AttrValue | None:
        """Return an attribute, or its default."""
        return attr_of(self.node, name)

    def number(self, name: str) -> float:
        """Return a float attribute."""
        value = self.attr(name)
        assert isinstance(value, int | float), f"{self.node.op}: attribute {name}"
        return float(value)

    def flag(self, name: str) -> bool:
        """Return a bool attribute."""
        return bool(self.attr(name))

    def apply(self, op: str, *inputs: Tensor) -> Tensor:
        """Return AscIR operator ``op`` of ``inputs``."""
        return self.writer.apply(op, *inputs)

    def scalar(self, value: Number, like: Tensor) -> Tensor:
        """Return ``value`` in the dtype of ``like``."""
        return self.writer.scalar(value, like.dtype)

    def cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        """Return ``tensor`` as ``dtype``."""
        return self.writer.cast(tensor, dtype)

    def select(self, condition: Tensor, if_true: Tensor, if_false: Tensor) -> Tensor:
        """Return ``if_true`` where ``condition`` holds, else ``if_false``."""
        return self.writer.apply("Select", condition, if_true, if_false)

    def reduce(self, op: str, tensor: Tensor) -> Tensor:
        """Return ``tensor`` joined by AscIR reduction ``op`` along the axes that the operator reduces."""
        tree = tree_for(tensor.dtype, self.frame.is_inner)
        return self.writer.reduce(op, tensor, self.frame.reduced, tree)

    def scan(self, op: str, tensor: Tensor, exclusive: bool, reverse: bool) -> Tensor:
        """Return ``tensor`` joined by AscIR scan ``op`` along the axis that the operator walks in order."""
        return self.writer.scan(op, tensor, self.frame.scanned, exclusive, reverse)

    def count(self, dtype: DType) -> Tensor:
        """Return how many elements the operator joins."""
        return self.size(self.frame.count, dtype)

    def size(self, expression: Dim, dtype: DType) -> Tensor:
        """Return the size ``expression`` in ``dtype``."""
        known = expression.constant_value
        if known is not None:
            return self.writer.scalar(known, dtype)
        return self.cast(self.writer.size(expression, dt.int64), dtype)

    def index(self, dim: int) -> Tensor:
        """Return the position along ``dim`` of the operator's space, which it declared as indexed."""
        return self.writer.position(self.frame.indexed[dim], self.frame.index_dtype)

    def truth(self, tensor: Tensor) -> Tensor:
        """Return where ``tensor`` is not 0."""
        return self.writer.cast(tensor, dt.bool_)


Results: TypeAlias = Tensor | tuple[Tensor, ...]
Decomposition: TypeAlias = Callable[[Call], Results]


@frozen
class Lowering:
    """How operator ``name`` is written in AscIR.

    ``moves``: it only moves elements, so 16-bit floats need no widening. ``unread``: inputs of which only the shape
    matters. ``accepts`` says whether this node's attributes have a lowering, ``space`` over which loops it runs.
    """

    name: str
    write: Decomposition
    moves: bool = False
    unread: tuple[str, ...] = ()
    accepts: Callable[[Node], bool] = lambda _: True
    space: SpaceOf = broadcast_space


def direct(name: str, op: str) -> Lowering:
    """Return the lowering of an operator of one input that AscIR has."""
    return Lowering(name, lambda call: call.apply(op, _input(call, 0)))


def direct2(name: str, op: str) -> Lowering:
    """Return the lowering of an operator of two inputs that AscIR has."""
    return Lowering(name, lambda call: call.apply(op, _input(call, 0), _input(call, 1)))


def _input(call: Call, position: int) -> Tensor:
    return call.tensor(list(call.tensors)[position])
