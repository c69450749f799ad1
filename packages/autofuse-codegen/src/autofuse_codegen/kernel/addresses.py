"""Addresses of loads and stores: an offset that depends on outer loops, and a step along the strip."""

from attrs import frozen
from autofuse_ir.asc_graph import AccessMap
from autofuse_ir.dims import Dim, const


@frozen
class Address:
    """Element offset ``constant + sum(coefficient * index)`` over root axes."""

    constant: Dim
    coefficients: tuple[tuple[str, Dim], ...]

    def step_along(self, root: str) -> Dim:
        """Return how far one step along ``root`` moves, in elements."""
        return dict(self.coefficients).get(root, const(0))


def strides_of(access: AccessMap) -> tuple[Dim, ...]:
    """Return how many elements one step along each dim of the data moves."""
    strides: list[Dim] = []
    running = const(1)
    for size in reversed(access.memory):
        strides.append(running)
        running = running * size
    return tuple(reversed(strides))


def address(access: AccessMap) -> Address:
    """Return the row-major address of ``access``; what its index operands add is left out."""
    constant = const(0)
    coefficients: dict[str, Dim] = {}
    for dim, stride in zip(access.dims, strides_of(access), strict=True):
        if dim.operand is not None:
            continue
        constant = constant + dim.offset * stride
        if dim.axis is not None:
            coefficients[dim.axis] = coefficients.get(dim.axis, const(0)) + dim.step * stride
    kept = tuple((axis, step) for axis, step in coefficients.items() if step != const(0))
    return Address(constant, kept)
