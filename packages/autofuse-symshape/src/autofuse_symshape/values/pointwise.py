"""Contents of element-wise operators."""

from collections.abc import Callable, Sequence

from autofuse_ir.dims import all_of, any_of, eq, ge, gt, le, lt, ne, negate
from autofuse_ir.dtypes import dtype_of_ascend_code

from autofuse_symshape.constants import real
from autofuse_symshape.known import Content, Element, Real, static
from autofuse_symshape.values.elements import Arithmetic, as_cond
from autofuse_symshape.values.layout import stretched
from autofuse_symshape.values.model import Contents, Follow, Kernel

ElementFunction = Callable[..., Element | None]
"""(arithmetic, elements...) -> element."""


def pointwise(function: ElementFunction, *, on_inputs: bool = False) -> Kernel:
    """Return the kernel of an operator that does ``function`` to every element of its broadcast inputs.

    ``on_inputs``: arithmetic in the type of the first input, not of the output (comparisons).
    """

    def kernel(follow: Follow) -> Contents:
        call = follow.call
        columns = _columns(follow, [value for value in call.node.inputs if value is not None])
        if columns is None:
            return ()
        first = call.node.inputs[0]
        arithmetic = follow.arithmetic(call.dtype_of(first) if on_inputs and first is not None else None)
        return (_mapped(arithmetic, function, columns),)

    return kernel


def _columns(follow: Follow, values: Sequence[str]) -> list[Content] | None:
    """The contents of ``values`` stretched to the result; None where one is not known at all."""
    columns = []
    for value in values:
        content = follow.call.content_of(value)
        shape = static(follow.call.shape_of(value))
        if content is None or shape is None:
            return None
        columns.append(stretched(content, shape, follow.result))
    return columns


def _mapped(arithmetic: Arithmetic, function: ElementFunction, columns: Sequence[Content]) -> Content:
    results: list[Element | None] = []
    for row in zip(*columns, strict=True):
        results.append(None if any(element is None for element in row) else function(arithmetic, *row))
    return tuple(results)


def _cast(follow: Follow) -> Contents:
    code = follow.call.int_attr("dst_type")
    target = dtype_of_ascend_code(code)
    columns = _columns(follow, [follow.call.value("x")])
    if target is None or columns is None:
        return ()
    return (_mapped(follow.arithmetic(), lambda arithmetic, a: arithmetic.cast(a, target), columns),)


def _scaled(function: Callable[[Arithmetic, Element, Element], Element | None]) -> Kernel:
    """Muls and Adds: the second operand is a float attribute, rounded to the element type first."""

    def kernel(follow: Follow) -> Contents:
        value = follow.call.attr("value")
        columns = _columns(follow, [follow.call.value("x")])
        if columns is None or not isinstance(value, int | float):
            return ()
        scalar: Element | None = real(float(value))
        arithmetic = follow.arithmetic()
        if scalar is None:
            return ()
        if follow.dtype.is_integer:
            scalar = arithmetic.cast(scalar, follow.dtype)
        elif isinstance(scalar, Real) and scalar.numerator.constant_value is not None:
            scalar = arithmetic.exact(scalar)
        if scalar is None:
            return ()
        return (_mapped(arithmetic, lambda each, a: function(each, a, scalar), columns),)

    return kernel


def _select(arithmetic: Arithmetic, condition: Element, a: Element, b: Element) -> Element | None:
    return arithmetic.select(condition, a, b)


def _clip(follow: Follow) -> Contents:
    call = follow.call
    low, high = ("min", "max") if call.op.name == "Clip" else ("clip_value_min", "clip_value_max")
    columns = _columns(follow, [call.value("x")])
    if columns is None:
        return ()
    arithmetic = follow.arithmetic()
    result = columns[0]
    # Clip lets the upper bound win, ClipByValue the lower one: the winner comes last.
    bounds = [(low, Arithmetic.greatest), (high, Arithmetic.least)]
    for name, pick in bounds if call.op.name == "Clip" else reversed(bounds):
        if not call.has(name):
            continue
        bound = _columns(follow, [call.value(name)])
        if bound is None:
            return ()
        result = _mapped(arithmetic, pick, [result, bound[0]])
    return (result,)


def _not(arithmetic: Arithmetic, a: Element) -> Element | None:
    cond = as_cond(a)
    return None if cond is None else arithmetic.logical((a,), negate)


def _xor(arithmetic: Arithmetic, a: Element, b: Element) -> Element | None:
    first, second = as_cond(a), as_cond(b)
    if first is None or second is None:
        return None
    return arithmetic.logical((a, b), lambda x, y: any_of(all_of(x, negate(y)), all_of(negate(x), y)))


def _relation(relation: Callable[..., object]) -> Kernel:
    return pointwise(lambda arithmetic, a, b: arithmetic.compare(a, b, relation), on_inputs=True)


def _add_n(follow: Follow) -> Contents:
    columns = _columns(follow, follow.call.values("x"))
    if columns is None:
        return ()
    total = columns[0]
    for column in columns[1:]:
        total = _mapped(follow.arithmetic(), Arithmetic.add, [total, column])
    return (total,)


def _same(follow: Follow) -> Contents:
    return (follow.content(follow.call.op.inputs[0].name),)


KERNELS: dict[str, Kernel] = {
    "Identity": _same,
    "StopGradient": _same,
    "TensorMove": _same,
    "Cast": _cast,
    "Muls": _scaled(Arithmetic.multiply),
    "Adds": _scaled(Arithmetic.add),
    "Neg": pointwise(Arithmetic.negative),
    "Abs": pointwise(Arithmetic.absolute),
    "Sign": pointwise(Arithmetic.sign),
    "Square": pointwise(lambda arithmetic, a: arithmetic.multiply(a, a)),
    "Floor": pointwise(Arithmetic.floor),
    "Ceil": pointwise(Arithmetic.ceil),
    "Trunc": pointwise(Arithmetic.truncate),
    "Rint": pointwise(Arithmetic.nearest),
    "Relu": pointwise(lambda arithmetic, a: arithmetic.greatest(a, arithmetic.subtract(a, a))),
    "Add": pointwise(Arithmetic.add),
    "AddV2": pointwise(Arithmetic.add),
    "AddN": _add_n,
    "Sub": pointwise(Arithmetic.subtract),
    "Mul": pointwise(Arithmetic.multiply),
    "Div": pointwise(Arithmetic.quotient),
    "RealDiv": pointwise(Arithmetic.quotient),
    "TruncateDiv": pointwise(Arithmetic.quotient),
    "FloorDiv": pointwise(Arithmetic.floor_quotient),
    "FloorMod": pointwise(lambda arithmetic, a, b: arithmetic.remainder(a, b, sign_of_dividend=False)),
    "Mod": pointwise(lambda arithmetic, a, b: arithmetic.remainder(a, b, sign_of_dividend=True)),
    "TruncateMod": pointwise(lambda arithmetic, a, b: arithmetic.remainder(a, b, sign_of_dividend=True)),
    "Pow": pointwise(Arithmetic.power),
    "Maximum": pointwise(Arithmetic.greatest),
    "Minimum": pointwise(Arithmetic.least),
    "Clip": _clip,
    "ClipByValue": _clip,
    "SelectV2": pointwise(_select),
    "Equal": _relation(eq),
    "NotEqual": _relation(ne),
    "Greater": _relation(gt),
    "GreaterEqual": _relation(ge),
    "Less": _relation(lt),
    "LessEqual": _relation(le),
    "LogicalAnd": pointwise(lambda arithmetic, *parts: arithmetic.logical(parts, all_of), on_inputs=True),
    "LogicalOr": pointwise(lambda arithmetic, *parts: arithmetic.logical(parts, any_of), on_inputs=True),
    "LogicalXor": pointwise(_xor, on_inputs=True),
    "LogicalNot": pointwise(_not, on_inputs=True),
}
