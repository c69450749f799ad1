"""The loops an operator runs over, and where its operands and results lie on them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType, int32, int64
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, input_names, operator

from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.values import Values

Lies: TypeAlias = tuple[tuple[int, ...], ...]
"""Per dim of a value the dims of the space that it is walked by: one, several where it is cut, none for a size 1."""


@frozen
class Space:
    """The iteration space of one operator: ``shape``, row-major.

    ``operands`` stand beside the node's inputs, ``results`` beside its outputs. Elements along the dims ``reduced`` are
    joined. ``indexed`` are dims whose positions the decomposition asks for, ``scanned`` one that is walked in order.
    """

    shape: tuple[Dim, ...]
    operands: tuple[Lies | None, ...]
    results: tuple[Lies, ...]
    reduced: tuple[int, ...] = ()
    indexed: tuple[int, ...] = ()
    scanned: tuple[int, ...] = ()

    def index_dtype(self, values: Values) -> DType:
        """Return the integer type that holds every position along the indexed dims, and one past the last."""
        return int32 if all(values.sizes.fits_int32(self.shape[dim]) for dim in self.indexed) else int64


SpaceOf: TypeAlias = Callable[[Node, Values], Space | None]
"""None where an operand that shapes the loops is not known when compiling."""


def broadcast_space(node: Node, values: Values) -> Space:
    """Return the space of an element-wise operator: its result, to which operands broadcast."""
    shape = values.shape(next(name for name in node.outputs if name))
    operands: list[Lies | None] = []
    for param, value in zip(input_names(operator(node.op), len(node.inputs)), node.inputs, strict=True):
        own = None if value is None else values.fact(value).shape
        operands.append(None if own is None else one_each(positions(node, param, len(own), len(shape))))
    results = tuple(one_each(range(len(shape))) for _ in node.outputs)
    return Space(shape, tuple(operands), results)


def space(
    node: Node,
    values: Values,
    shape: tuple[Dim, ...],
    reduced: tuple[int, ...] = (),
    lies: Mapping[str, Lies] | None = None,
    indexed: tuple[int, ...] = (),
    scanned: tuple[int, ...] = (),
) -> Space:
    """Return a space over ``shape``.

    Values lie as ``lies`` says by parameter (``"-> name"`` for results), on the last dims where it says nothing.
    """
    op = operator(node.op)
    given = lies or {}
    operands: list[Lies | None] = []
    for param, value in zip(input_names(op, len(node.inputs)), node.inputs, strict=True):
        own = None if value is None else values.fact(value).shape
        operands.append(None if own is None else given.get(param, trailing(len(own), shape)))
    results: list[Lies] = []
    for place, name in enumerate(node.outputs):
        rank = len(values.shape(name)) if name else 0
        param = op.outputs[min(place, len(op.outputs) - 1)].name
        results.append(given.get(f"-> {param}", trailing(rank, shape)))
    return Space(shape, tuple(operands), tuple(results), reduced, indexed, scanned)


def one_each(dims: Iterable[int]) -> Lies:
    """Return that each dim of a value lies on one dim of the space; negative ones are sizes 1 left of it."""
    return tuple((dim,) if dim >= 0 else () for dim in dims)


def trailing(rank: int, shape: tuple[Dim, ...]) -> Lies:
    """Return that a value of ``rank`` lies on the last dims of ``shape``."""
    return one_each(range(len(shape) - rank, len(shape)))


def kept(rank: int, reduced: tuple[int, ...], keep_dims: bool) -> Lies:
    """Return where the result of a reduction of ``rank`` dims lies: nowhere along those ``reduced``."""
    dims = [() if k in reduced else (k,) for k in range(rank)]
    return tuple(dim for dim in dims if keep_dims or dim)


def axes_attr(node: Node, name: str, rank: int) -> tuple[int, ...] | None:
    """Return the dims that attribute ``name`` (an int, or ints) names, in order; None where they are not known."""
    value = attr_of(node, name)
    listed = value if isinstance(value, tuple) else () if value is None else (value,)
    return normalised(tuple(as_int(each) for each in listed), rank)


def axes_input(node: Node, name: str, rank: int, values: Values) -> tuple[int, ...] | None:
    """Return the dims that index input ``name`` names; none where it is missing, None where they are not known."""
    names = input_names(operator(node.op), len(node.inputs))
    value = dict(zip(names, node.inputs, strict=True)).get(name)
    if value is None:
        return ()
    numbers = values.numbers(value)
    return None if numbers is None else normalised(numbers, rank)


def as_int(value: object) -> int | None:
    """Return ``value`` where it is a number known when compiling."""
    if isinstance(value, Dim):
        return value.constant_value
    return value if isinstance(value, int) else None


def normalised(axes: tuple[int | None, ...], rank: int) -> tuple[int, ...] | None:
    """Return ``axes`` as numbers from 0, sorted; None where one is not known."""
    found = [axis + rank if axis < 0 else axis for axis in axes if axis is not None]
    return tuple(sorted(set(found))) if len(found) == len(axes) else None
