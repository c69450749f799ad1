"""Arithmetic on single elements of contents: exact, or not followed.

Integers are followed as if they did not wrap: sizes that do not fit the element type are no sizes. Floats are followed
where every rounding is known to change nothing: numerators stay within the mantissa, or the result is only used
rounded to an integer (see `quotient`).
"""

from collections.abc import Callable

from autofuse_ir.dims import Cond, Dim, Select, all_of, any_of, ceildiv, floordiv, ge, le, mod, ne, negate
from autofuse_ir.dtypes import DType, DTypeKind, bfloat16, float16, float32, float64

from autofuse_symshape.call import Call
from autofuse_symshape.divisions import divided
from autofuse_symshape.known import Element, Real
from autofuse_symshape.simplify import ONE, ZERO, chosen, larger, smaller, truth
from autofuse_symshape.values.ratios import over_one_denominator, reduced

MANTISSA = {bfloat16: 8, float16: 11, float32: 24, float64: 53}
"""Bits of the integers that a float type holds exactly."""

_LARGEST_ODD_FACTOR = 255
"""Largest odd factor that a size is multiplied by with a guard: beyond, the guard would refuse ordinary sizes."""


class Arithmetic:
    """Operations on elements of one element type, in the name of one node."""

    def __init__(self, call: Call, dtype: DType, *, guarded: bool) -> None:
        self._call = call
        self._oracle = call.oracle
        self._bits = MANTISSA.get(dtype)
        self._dtype = dtype
        self._guarded = guarded

    # -- exactness

    def exact(self, value: Real, odd_part: Dim | None = None) -> Real | None:
        """``value`` where the float type holds it exactly: proved, or guarded where the content is needed."""
        assert self._bits is not None
        magnitude = value.numerator if odd_part is None else odd_part
        limit = 2**self._bits
        fits = all_of(le(magnitude, limit), ge(magnitude, -limit))
        if self._oracle.holds(fits):
            return value
        if not self._guarded or self._oracle.fails(fits):
            return None
        self._call.require(
            fits, f"{magnitude} is computed with in {self._dtype.name}, which holds integers up to {limit} exactly"
        )
        return value

    # -- arithmetic

    def add(self, a: Element, b: Element) -> Element | None:
        """``a + b``."""
        if isinstance(a, Dim) and isinstance(b, Dim):
            return a + b
        if not isinstance(a, Real) or not isinstance(b, Real) or a.rounded or b.rounded:
            return None
        left, right, common = over_one_denominator(a, b)
        return self.exact(Real(left + right, common))

    def negative(self, a: Element) -> Element | None:
        """``-a``."""
        return -a if isinstance(a, Dim) else Real(-a.numerator, a.denominator) if not a.rounded else None

    def subtract(self, a: Element, b: Element) -> Element | None:
        """``a - b``."""
        negative = self.negative(b)
        return None if negative is None else self.add(a, negative)

    def multiply(self, a: Element, b: Element) -> Element | None:
        """``a * b``."""
        if isinstance(a, Dim) and isinstance(b, Dim):
            return a * b
        if not isinstance(a, Real) or not isinstance(b, Real) or a.rounded or b.rounded:
            return None
        if a.numerator.is_constant:
            a, b = b, a
        factor = b.numerator.constant_value
        if factor is None:
            return self.exact(Real(a.numerator * b.numerator, a.denominator * b.denominator))
        odd = abs(factor)
        while odd and odd % 2 == 0:
            odd //= 2
        if odd > _LARGEST_ODD_FACTOR and not a.numerator.is_constant:
            return None
        product = reduced(a.numerator * factor, a.denominator * b.denominator)
        return self.exact(product, a.numerator * odd)

    def quotient(self, a: Element, b: Element) -> Element | None:
        """``a / b``: integers truncate towards zero; floats divide.

        A correctly rounded quotient of integers a and b with a + b within the mantissa lies on the same side of every
        integer as the exact one: it may be rounded down or up to an integer afterwards.
        """
        if isinstance(a, Dim) and isinstance(b, Dim):
            return self._truncated(a, b)
        if not isinstance(a, Real) or not isinstance(b, Real) or a.rounded or b.rounded:
            return None
        divisor = b.numerator.constant_value
        if divisor is None or divisor <= 0 or a.denominator != 1 or b.denominator & (b.denominator - 1):
            return None
        result = reduced(a.numerator * b.denominator, divisor)
        if result.denominator & (result.denominator - 1) == 0:
            return self.exact(result, a.numerator)
        if b.denominator != 1:
            return None
        sound = self.exact(Real(a.numerator + divisor))
        return None if sound is None else Real(result.numerator, result.denominator, rounded=True)

    def _truncated(self, a: Dim, b: Dim) -> Dim | None:
        if b == ZERO:
            return None
        if self._never_negative(a) and self._never_negative(b):
            return divided(a, b) if self._divides(b) else None
        if not b.is_constant:
            return None
        return chosen(self._oracle, ge(a, 0), floordiv(a, b), ceildiv(a, b))

    def floor_quotient(self, a: Element, b: Element) -> Element | None:
        """``floor(a / b)`` of integers."""
        if not isinstance(a, Dim) or not isinstance(b, Dim) or not self._divides(b):
            return None
        return divided(a, b)

    def remainder(self, a: Element, b: Element, *, sign_of_dividend: bool) -> Element | None:
        """The remainder of integers, with the sign of the divisor, or of the dividend."""
        if not isinstance(a, Dim) or not isinstance(b, Dim) or not self._divides(b):
            return None
        if not sign_of_dividend or (self._never_negative(a) and self._never_negative(b)):
            return mod(a, b)
        quotient = self._truncated(a, b)
        return None if quotient is None else a - b * quotient

    def power(self, a: Element, b: Element) -> Element | None:
        """``a ** b`` for small constant exponents."""
        exponent = b if isinstance(b, Dim) else b.numerator if b.denominator == 1 else None
        count = None if exponent is None else exponent.constant_value
        if count is None or not 0 <= count <= 8:
            return None
        result: Element | None = ONE if isinstance(a, Dim) else Real(ONE)
        for _ in range(count):
            result = None if result is None else self.multiply(result, a)
        return result

    def absolute(self, a: Element) -> Element | None:
        """``|a|``."""
        if isinstance(a, Real):
            return None if a.rounded else Real(larger(self._oracle, a.numerator, -a.numerator), a.denominator)
        return larger(self._oracle, a, -a)

    def sign(self, a: Element) -> Element | None:
        """-1, 0 or 1."""
        numerator = a if isinstance(a, Dim) else a.numerator
        sign = truth(self._oracle, ge(numerator, 1)) - truth(self._oracle, le(numerator, -1))
        return sign if isinstance(a, Dim) else Real(sign)

    def least(self, a: Element, b: Element) -> Element | None:
        """The smaller one."""
        return self._extreme(a, b, smaller)

    def greatest(self, a: Element, b: Element) -> Element | None:
        """The larger one."""
        return self._extreme(a, b, larger)

    def _extreme(self, a: Element, b: Element, pick: Callable[..., Dim]) -> Element | None:
        if isinstance(a, Dim) and isinstance(b, Dim):
            return pick(self._oracle, a, b)
        if isinstance(a, Real) and isinstance(b, Real) and not a.rounded and not b.rounded:
            left, right, common = over_one_denominator(a, b)
            return reduced(pick(self._oracle, left, right), common)
        return None

    # -- rounding and conversion

    def floor(self, a: Element) -> Element | None:
        """Rounded towards minus infinity."""
        return a if isinstance(a, Dim) else Real(floordiv(a.numerator, a.denominator))

    def ceil(self, a: Element) -> Element | None:
        """Rounded towards plus infinity."""
        return a if isinstance(a, Dim) else Real(ceildiv(a.numerator, a.denominator))

    def truncate(self, a: Element) -> Element | None:
        """Rounded towards zero."""
        return a if isinstance(a, Dim) else Real(self._toward_zero(a))

    def nearest(self, a: Element) -> Element | None:
        """Rounded to the nearest integer, halves to even."""
        if isinstance(a, Dim) or a.denominator == 1:
            return a
        if a.rounded:
            return None
        down = floordiv(a.numerator, a.denominator)
        twice = (a.numerator - down * a.denominator) * 2 - a.denominator
        is_up = any_of(ge(twice, 1), all_of(ge(twice, 0), ne(mod(down, 2), 0)))
        return Real(down + truth(self._oracle, is_up))

    def cast(self, a: Element, target: DType) -> Element | None:
        """``a`` in another element type."""
        if target.name == "bool":
            if isinstance(a, Real) and a.rounded:
                return None
            return truth(self._oracle, ne(a if isinstance(a, Dim) else a.numerator, 0))
        if target.is_float:
            return self.exact(Real(a) if isinstance(a, Dim) else a) if not _is_rounded(a) else None
        if not target.is_integer:
            return None
        whole = a if isinstance(a, Dim) else self._toward_zero(a)
        return whole if self._fits(whole, target) else None

    def _fits(self, whole: Dim, target: DType) -> bool:
        if target.bits >= 32 and not whole.is_constant:
            return True
        is_signed = target.kind is DTypeKind.SIGNED
        low = -(1 << (target.bits - 1)) if is_signed else 0
        high = (1 << (target.bits - is_signed)) - 1
        value = whole.constant_value
        if value is not None:
            return low <= value <= high
        return self._oracle.holds(all_of(ge(whole, low), le(whole, high)))

    def _toward_zero(self, a: Real) -> Dim:
        down = floordiv(a.numerator, a.denominator)
        return chosen(self._oracle, ge(a.numerator, 0), down, ceildiv(a.numerator, a.denominator))

    # -- truth

    def compare(self, a: Element, b: Element, relation: Callable[[Dim, Dim], Cond]) -> Element | None:
        """``a relation b`` as 1 or 0."""
        if isinstance(a, Dim) and isinstance(b, Dim):
            return truth(self._oracle, relation(a, b))
        if isinstance(a, Real) and isinstance(b, Real) and not a.rounded and not b.rounded:
            return truth(self._oracle, relation(a.numerator * b.denominator, b.numerator * a.denominator))
        return None

    def select(self, condition: Element, a: Element, b: Element) -> Element | None:
        """``condition ? a : b``."""
        cond = as_cond(condition)
        if cond is None:
            return None
        if self._oracle.holds(cond) or a == b:
            return a
        if self._oracle.fails(cond):
            return b
        if isinstance(a, Dim) and isinstance(b, Dim):
            return chosen(self._oracle, cond, a, b)
        if isinstance(a, Real) and isinstance(b, Real) and not a.rounded and not b.rounded:
            left, right, common = over_one_denominator(a, b)
            return reduced(chosen(self._oracle, cond, left, right), common)
        return None

    def logical(self, parts: tuple[Element, ...], join: Callable[..., Cond]) -> Element | None:
        """Conditions joined by ``join``, as 1 or 0."""
        conds = [as_cond(part) for part in parts]
        if any(cond is None for cond in conds):
            return None
        return truth(self._oracle, join(*conds))

    def _never_negative(self, dim: Dim) -> bool:
        return self._oracle.holds(ge(dim, 0))

    def _divides(self, dim: Dim) -> bool:
        """Whether ``dim`` is not 0: proved, or guarded where the content is needed, as nothing has a quotient then."""
        nonzero = ne(dim, 0)
        if self._oracle.holds(nonzero):
            return True
        if not self._guarded or self._oracle.fails(nonzero):
            return False
        self._call.require(nonzero, f"{dim} is 0, by which integers are divided")
        return True


def as_cond(element: Element) -> Cond | None:
    """``element != 0``; the condition itself where the element was made from one."""
    if isinstance(element, Real):
        return None if element.rounded else ne(element.numerator, 0)
    atom = element.atom
    if isinstance(atom, Select):
        if (atom.if_true, atom.if_false) == (ONE, ZERO):
            return atom.cond
        if (atom.if_true, atom.if_false) == (ZERO, ONE):
            return negate(atom.cond)
    return ne(element, 0)


def _is_rounded(a: Element) -> bool:
    return isinstance(a, Real) and a.rounded
