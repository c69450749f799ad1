"""Float functions without an instruction, from those that have one.

Each function takes the writer and its operands, all float32 (or all half where that is said), and returns the result.
"""

import math

from autofuse_ir import dtypes as dt

from autofuse_schedule.legalise.writer import Writer


def reciprocal(w: Writer, x: str) -> str:
    """1 / x; the chip's own approximation misses the last digits."""
    return w.emit("Div", w.scalar(1.0, w.dtype(x)), x)


def rsqrt(w: Writer, x: str) -> str:
    """1 / sqrt(x); the chip's own approximation misses the last digits."""
    return reciprocal(w, w.emit("Sqrt", x))


def exp2(w: Writer, x: str) -> str:
    """2 to the power of x."""
    return w.emit("Pow", w.scalar(2.0, w.dtype(x)), x, dtype=w.dtype(x))


def sign(w: Writer, x: str) -> str:
    """-1, 0 or 1; NaN stays."""
    dtype = w.dtype(x)
    zero, one, minus = w.scalar(0.0, dtype), w.scalar(1.0, dtype), w.scalar(-1.0, dtype)
    positive = w.emit("Gt", x, zero, dtype=dt.bool_)
    negative = w.emit("Lt", x, zero, dtype=dt.bool_)
    is_zero = w.emit("Eq", x, zero, dtype=dt.bool_)
    rest = w.emit("Select", is_zero, zero, x, dtype=dtype)
    rest = w.emit("Select", negative, minus, rest, dtype=dtype)
    return w.emit("Select", positive, one, rest, dtype=dtype)


def log1p(w: Writer, x: str) -> str:
    """ln(1 + x) with u = 1 + x rounded: x * ln(u) / (u - 1), exact where u is 1 (Goldberg 1991, theorem 4)."""
    dtype = w.dtype(x)
    one, infinity = w.scalar(1.0, dtype), w.scalar(math.inf, dtype)
    u = w.emit("Add", x, one)
    log = w.emit("Ln", u)
    scaled = w.emit("Div", w.emit("Mul", x, log), w.emit("Sub", u, one))
    found = w.emit("Select", w.emit("Eq", u, one, dtype=dt.bool_), x, scaled, dtype=dtype)
    return w.emit("Select", w.emit("Eq", u, infinity, dtype=dt.bool_), log, found, dtype=dtype)


def expm1(w: Writer, x: str) -> str:
    """exp(x) - 1 with u = exp(x): (u - 1) * x / ln(u) (Kahan; Higham 2002, section 1.14.1).

    Exact where u is 1; where u is 0 or infinite, or x beyond 17, u - 1 itself is exact enough.
    """
    dtype = w.dtype(x)
    one = w.scalar(1.0, dtype)
    u = w.emit("Exp", x)
    less = w.emit("Sub", u, one)
    scaled = w.emit("Mul", less, w.emit("Div", x, w.emit("Ln", u)))
    is_small = w.emit("Lt", w.emit("Abs", x), w.scalar(17.0, dtype), dtype=dt.bool_)
    found = w.emit("Select", is_small, scaled, less, dtype=dtype)
    return w.emit("Select", w.emit("Eq", u, one, dtype=dt.bool_), x, found, dtype=dtype)


def atanh(w: Writer, x: str) -> str:
    """Inverse hyperbolic tangent: log1p(2 a / (1 - a)) / 2 of a = abs(x), with the sign of x."""
    dtype = w.dtype(x)
    a = w.emit("Abs", x)
    ratio = w.emit("Div", w.emit("Add", a, a), w.emit("Sub", w.scalar(1.0, dtype), a))
    half = w.emit("Mul", log1p(w, ratio), w.scalar(0.5, dtype))
    return _with_sign_of(w, half, x)


def floor_mod(w: Writer, a: str, b: str) -> str:
    """Remainder with the sign of b: that of fmod, plus b where the signs differ."""
    dtype = w.dtype(a)
    zero = w.scalar(0.0, dtype)
    rest = w.emit("Fmod", a, b)
    differ = _signs_differ(w, rest, b)
    moved = w.emit("Select", differ, w.emit("Add", rest, b), rest, dtype=dtype)
    return w.emit("Select", w.emit("Eq", moved, zero, dtype=dt.bool_), _zero_with_sign_of(w, b), moved, dtype=dtype)


def floor_divide(w: Writer, a: str, b: str) -> str:
    """a / b rounded down, of the exact quotient: what the remainder leaves of a is a whole number of times b."""
    dtype = w.dtype(a)
    zero = w.scalar(0.0, dtype)
    rest = w.emit("Fmod", a, b)
    quotient = w.emit("Div", w.emit("Sub", a, rest), b)
    lower = w.emit("Sub", quotient, w.scalar(1.0, dtype))
    quotient = w.emit("Select", _signs_differ(w, rest, b), lower, quotient, dtype=dtype)
    whole = w.emit("Floor", quotient)
    is_short = w.emit("Gt", w.emit("Sub", quotient, whole), w.scalar(0.5, dtype), dtype=dt.bool_)
    whole = w.emit("Select", is_short, w.emit("Add", whole, w.scalar(1.0, dtype)), whole, dtype=dtype)
    ratio = w.emit("Div", a, b)
    positive = w.emit("Gt", w.emit("Div", w.scalar(1.0, dtype), ratio), zero, dtype=dt.bool_)
    empty = w.emit("Select", positive, zero, w.scalar(-0.0, dtype), dtype=dtype)
    whole = w.emit("Select", w.emit("Eq", quotient, zero, dtype=dt.bool_), empty, whole, dtype=dtype)
    return w.emit("Select", w.emit("Eq", b, zero, dtype=dt.bool_), ratio, whole, dtype=dtype)


def atan2(w: Writer, y: str, x: str) -> str:
    """The angle of (x, y): atan of the smaller by the larger magnitude, moved to its eighth of the circle.

    pi and pi / 2 are sums of two numbers; with an angle taken away between them, the sum is exact enough.
    """
    dtype = w.dtype(y)
    zero, one = w.scalar(0.0, dtype), w.scalar(1.0, dtype)
    across, along = w.emit("Abs", x), w.emit("Abs", y)
    smaller, larger = w.emit("Minimum", along, across), w.emit("Maximum", along, across)
    ratio = w.emit("Div", smaller, larger)
    ratio = w.emit("Select", w.emit("Eq", larger, zero, dtype=dt.bool_), zero, ratio, dtype=dtype)
    is_endless = w.emit("Eq", smaller, w.scalar(math.inf, dtype), dtype=dt.bool_)
    angle = w.emit("Atan", w.emit("Select", is_endless, one, ratio, dtype=dtype))
    is_steep = w.emit("Gt", along, across, dtype=dt.bool_)
    angle = w.emit("Select", is_steep, _from(w, math.pi / 2, angle), angle, dtype=dtype)
    angle = w.emit("Select", _has_minus(w, x), _from(w, math.pi, angle), angle, dtype=dtype)
    return w.emit("Select", _has_minus(w, y), w.emit("Neg", angle), angle, dtype=dtype)


def _from(w: Writer, total: float, angle: str) -> str:
    """``total`` - ``angle``, rounded little more than once."""
    dtype = w.dtype(angle)
    high = w.value(w.scalar(total, dtype))
    assert isinstance(high, float)
    rest = w.emit("Sub", w.scalar(total, dtype), angle)
    return w.emit("Add", rest, w.scalar(total - high, dtype))


def _has_minus(w: Writer, x: str) -> str:
    """True below 0, and for a 0 of that sign: its reciprocal is below 0."""
    dtype = w.dtype(x)
    zero = w.scalar(0.0, dtype)
    below = w.emit("Lt", x, zero, dtype=dt.bool_)
    endless = w.emit("Lt", w.emit("Div", w.scalar(1.0, dtype), x), zero, dtype=dt.bool_)
    return w.emit("LogicalOr", below, endless)


def _signs_differ(w: Writer, a: str, b: str) -> str:
    zero = w.scalar(0.0, w.dtype(a))

    def is_(op: str, x: str) -> str:
        return w.emit(op, x, zero, dtype=dt.bool_)

    first = w.emit("LogicalAnd", is_("Lt", a), is_("Gt", b))
    second = w.emit("LogicalAnd", is_("Gt", a), is_("Lt", b))
    return w.emit("LogicalOr", first, second)


def _zero_with_sign_of(w: Writer, x: str) -> str:
    dtype = w.dtype(x)
    negative = w.emit("Lt", x, w.scalar(0.0, dtype), dtype=dt.bool_)
    return w.emit("Select", negative, w.scalar(-0.0, dtype), w.scalar(0.0, dtype), dtype=dtype)


def _with_sign_of(w: Writer, magnitude: str, x: str) -> str:
    """``magnitude`` with the sign of ``x``; where x is a zero of any sign, x itself."""
    dtype = w.dtype(x)
    zero = w.scalar(0.0, dtype)
    negative = w.emit("Lt", x, zero, dtype=dt.bool_)
    signed = w.emit("Select", negative, w.emit("Neg", magnitude), magnitude, dtype=dtype)
    return w.emit("Select", w.emit("Eq", x, zero, dtype=dt.bool_), x, signed, dtype=dtype)
