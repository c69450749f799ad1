"""Reshape: sizes, copied dims (0) and one inferred dim (-1), also when they are only known at run time.

A size that shape arithmetic gives and that is never negative is taken as it is, 0 included: the program that reshapes
``[b, s, 4]`` to the computed ``[b * s, 4]`` means the size, and an empty tensor stays empty.
"""

from collections.abc import Callable
from typing import TypeAlias

from autofuse_ir.dims import Dim, eq, ge, le, mod, ne, product, select, total

from autofuse_symshape.call import Call, shown
from autofuse_symshape.divisions import divided, exact_quotient
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Rule, Shapes
from autofuse_symshape.simplify import ONE, ZERO, chosen, truth

Described: TypeAlias = Callable[[str], Callable[[], str]]
"""From a reason to the message that states it with both shapes."""


def _reshape(call: Call) -> Shapes:
    x, targets = call.shape("x"), call.sizes("shape")
    begin, end = _range(call, len(x))
    replaced = x[begin:end]
    sizes = _resolved(call, replaced, targets)
    return ((*x[:begin], *sizes, *x[end:]),)


def _range(call: Call, rank: int) -> tuple[int, int]:
    begin, count = call.int_attr("axis"), call.int_attr("num_axes")
    begin += rank + 1 if begin < 0 else 0
    end = rank if count == -1 else begin + count
    if not 0 <= begin <= end <= rank:
        call.fail(f"axis {call.int_attr('axis')} and num_axes {count} do not fit rank {rank}")
    return begin, end


def _resolved(call: Call, x: Shape, targets: tuple[Dim, ...]) -> Shape:
    copies = not call.flag("allowzero")

    def described(why: str) -> Callable[[], str]:
        return lambda: f"{shown(x)} does not reshape to {shown(targets)}: {why}"

    opens = [target for target in targets if not call.oracle.holds(ge(target, 0))]
    if sum(target == -1 for target in opens) > 1:
        call.fail(described("more than one -1")())
    given = [_copied(call, x, i, target, described) if copies else target for i, target in enumerate(targets)]
    whole = product(x)
    if not opens:
        call.require(eq(product(given), whole), described("the number of elements differs"))
        return tuple(given)
    for target in opens:
        call.require(ge(target, -1), described(f"{target} is less than -1"))
    if len(opens) > 1:
        count = total([truth(call.oracle, eq(target, -1)) for target in opens])
        call.require(le(count, 1), described("more than one -1"))
    known = product([chosen(call.oracle, eq(t, -1), ONE, size) for t, size in zip(targets, given, strict=True)])
    inferred = _inferred(call, whole, known, described)
    sizes = [chosen(call.oracle, eq(t, -1), inferred, size) for t, size in zip(targets, given, strict=True)]
    result = product(sizes)
    if result != whole and exact_quotient(whole, known) is None:
        call.require(eq(result, whole), described("the number of elements differs, or does not divide"))
    return tuple(sizes)


def _copied(call: Call, x: Shape, i: int, target: Dim, described: Described) -> Dim:
    if target == ZERO:
        if i >= len(x):
            call.fail(described(f"0 at {i} copies a dim that the input does not have")())
        return x[i]
    if target.is_constant or call.oracle.holds(ge(target, 0)):
        return target
    if i >= len(x):
        call.require(ne(target, 0), described(f"0 at {i} copies a dim that the input does not have"))
        return target
    return chosen(call.oracle, eq(target, 0), x[i], target)


def _inferred(call: Call, whole: Dim, known: Dim, described: Described) -> Dim:
    """The size in place of -1. Where it divides symbolically it is that also for empty tensors."""
    if known == ZERO:
        call.fail(described("any size in place of -1 would do, because another one is 0")())
    exact = exact_quotient(whole, known)
    if exact is not None:
        return exact
    if call.oracle.holds(ne(known, 0)):
        if known.is_constant:
            call.require(eq(mod(whole, known), 0), described(f"{known} does not divide {whole}"))
        return call.oracle.normal(divided(whole, known))
    return select(eq(known, 0), ZERO, divided(whole, known))


RULES: dict[str, Rule] = {"Reshape": _reshape}
