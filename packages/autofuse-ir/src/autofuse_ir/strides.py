"""Strides of the tensors that kernels work on: row-major, counted in elements."""

from autofuse_ir.dims import Dim, const


def dense_strides(repeats: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the row-major strides, in elements, of a tensor with ``repeats``; 0 where a repeat is provably 1.

    >>> from autofuse_ir.dims import as_dim
    >>> [str(stride) for stride in dense_strides((as_dim("n"), as_dim(1), as_dim(4)))]
    ['4', '0', '1']
    """
    strides: list[Dim] = []
    running = const(1)
    for repeat in reversed(repeats):
        strides.append(const(0) if repeat == const(1) else running)
        running = running * repeat
    return tuple(reversed(strides))
