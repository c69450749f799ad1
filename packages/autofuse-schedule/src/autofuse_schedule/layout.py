"""Row-major layouts of values over a tuple of axes."""

from autofuse_ir.dims import Dim, const


def dense_strides(repeats: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return row-major element strides of a value with ``repeats``; 0 where it does not vary (repeat provably 1)."""
    strides: list[Dim] = []
    running = const(1)
    for repeat in reversed(repeats):
        strides.append(const(0) if repeat == const(1) else running)
        running = running * repeat
    return tuple(reversed(strides))
