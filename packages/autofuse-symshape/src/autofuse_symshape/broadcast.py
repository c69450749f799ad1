"""Broadcasting of symbolic shapes, without deciding at compile time which of two unknown sizes is 1."""

from collections.abc import Sequence

from autofuse_ir.dims import Dim, any_of, const, eq, select

from autofuse_symshape.call import Call, shown
from autofuse_symshape.known import Shape

_ONE = const(1)


def broadcast(call: Call, shapes: Sequence[Shape]) -> Shape:
    """The shape to which all ``shapes`` broadcast, aligned at the last axis.

    A relation that is not proved becomes one *assert* guard for each pair of dims; a contradiction is an error.
    """
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    rank = max(len(shape) for shape in shapes)
    result: list[Dim] = []
    for position in range(rank, 0, -1):
        dims = [shape[-position] for shape in shapes if len(shape) >= position]
        size = dims[0]
        for dim in dims[1:]:
            size = broadcast_dims(call, size, dim, shapes)
        result.append(size)
    return tuple(result)


def broadcast_dims(call: Call, a: Dim, b: Dim, shapes: Sequence[Shape]) -> Dim:
    """The size to which ``a`` and ``b`` broadcast (0 with 1 gives 0)."""
    if b in (a, _ONE):
        return a
    if a == _ONE:
        return b
    oracle = call.oracle
    a, b = oracle.normal(a), oracle.normal(b)
    # The sizes are unordered; the guard and the result must not depend on which operand came first.
    if b.sort_key() < a.sort_key():
        a, b = b, a
    equal, a_is_one, b_is_one = eq(a, b), eq(a, 1), eq(b, 1)
    # Where a is b, or is stretched to it, the result is b whatever the run. Constants are tried first: they sort last.
    if oracle.holds(any_of(equal, a_is_one)):
        return b
    if oracle.holds(any_of(equal, b_is_one)):
        return a

    def message() -> str:
        return f"{a} and {b} do not broadcast in {' and '.join(shown(shape) for shape in shapes)}: equal sizes or 1"

    if oracle.fails(b_is_one):
        call.require(any_of(equal, a_is_one), message)
        return b
    if oracle.fails(a_is_one):
        call.require(any_of(equal, b_is_one), message)
        return a
    call.require(any_of(equal, a_is_one, b_is_one), message)
    return select(a_is_one, b, a)


def broadcast_onto(call: Call, target: Shape, shape: Shape, what: str) -> None:
    """Make sure that ``shape`` broadcasts to ``target`` without changing it."""
    if len(shape) > len(target):
        call.fail(f"{what} of shape {shown(shape)} has a higher rank than {shown(target)}")
    for dim, size in zip(reversed(shape), reversed(target), strict=False):
        if dim in (size, _ONE):
            continue
        message = f"{what} of shape {shown(shape)} does not broadcast to {shown(target)}: {dim} is neither {size} nor 1"
        call.require(any_of(eq(dim, size), eq(dim, 1)), message)
