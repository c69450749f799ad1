"""Contents of reductions and scans."""

from collections.abc import Callable

from autofuse_ir.dims import const

from autofuse_symshape.known import Content, Element, Real
from autofuse_symshape.rules.reduce import reduced_axes
from autofuse_symshape.values.elements import Arithmetic
from autofuse_symshape.values.layout import indices, position
from autofuse_symshape.values.model import Contents, Follow, Kernel

Combine = Callable[[Arithmetic, Element, Element], Element | None]


def _reduction(combine: Combine, identity: int | None) -> Kernel:
    """The kernel that combines the elements along the reduced axes; ``identity`` stands for none."""

    def kernel(follow: Follow) -> Contents:
        call, content, shape = follow.call, follow.content("x"), follow.sizes("x")
        if content is None or shape is None:
            return ()
        axes = reduced_axes(call, len(shape))
        arithmetic = follow.arithmetic(call.dtype("x"))
        kept = tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
        groups: dict[int, list[Element | None]] = {place: [] for place in range(_count(kept))}
        for index in indices(shape):
            target = position([0 if axis in axes else i for axis, i in enumerate(index)], kept)
            groups[target].append(content[position(index, shape)])
        return (tuple([_combined(arithmetic, combine, group, identity, follow) for group in groups.values()]),)

    return kernel


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _combined(
    arithmetic: Arithmetic, combine: Combine, group: list[Element | None], identity: int | None, follow: Follow
) -> Element | None:
    if not group:
        if identity is None:
            return None
        return Real(const(identity)) if follow.dtype.is_float else const(identity)
    result = group[0]
    for element in group[1:]:
        result = None if result is None or element is None else combine(arithmetic, result, element)
    return result


def _scan(combine: Combine, identity: int) -> Kernel:
    """The kernel of a scan along the only axis of a vector."""

    def kernel(follow: Follow) -> Contents:
        call, content = follow.call, follow.content("x")
        if content is None or len(follow.result) != 1:
            return ()
        arithmetic = follow.arithmetic()
        running: Element | None = Real(const(identity)) if follow.dtype.is_float else const(identity)
        results: list[Element | None] = []
        ordered = tuple(reversed(content)) if call.flag("reverse") else content
        for element in ordered:
            after = None if running is None or element is None else combine(arithmetic, running, element)
            results.append(running if call.flag("exclusive") else after)
            running = after
        found: Content = tuple(reversed(results)) if call.flag("reverse") else tuple(results)
        return (found,)

    return kernel


_KERNELS: dict[str, Kernel] = {
    "ReduceSum": _reduction(Arithmetic.add, 0),
    "ReduceProd": _reduction(Arithmetic.multiply, 1),
    "ReduceMax": _reduction(Arithmetic.greatest, None),
    "ReduceMin": _reduction(Arithmetic.least, None),
}

KERNELS: dict[str, Kernel] = {
    **_KERNELS,
    **{f"{name}D": kernel for name, kernel in _KERNELS.items()},
    "Cumsum": _scan(Arithmetic.add, 0),
    "Cumprod": _scan(Arithmetic.multiply, 1),
}
