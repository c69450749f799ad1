"""Size arithmetic of the solver on Python integers: int64, saturating, total.

The laws are those of ``af_size_*`` in ``af_tiling_solver.h``: a result beyond int64 is the nearest end of the range,
division floors, ``x // 0`` is 0 and ``x mod 0`` is ``x``. Doubles follow IEEE 754, also where Python would raise.
"""

from math import copysign, inf, isnan, nan

LARGEST = 2**63 - 1
SMALLEST = -(2**63)


def saturate(value: int) -> int:
    """Return the int64 that is nearest to ``value``."""
    return LARGEST if value > LARGEST else SMALLEST if value < SMALLEST else value


def floordiv(a: int, b: int) -> int:
    """``a / b`` rounded towards minus infinity; 0 where ``b`` is 0."""
    return saturate(a // b) if b else 0


def ceildiv(a: int, b: int) -> int:
    """``a / b`` rounded towards plus infinity; 0 where ``b`` is 0."""
    return saturate(-(-a // b)) if b else 0


def mod(a: int, b: int) -> int:
    """Remainder of :func:`floordiv`, with the sign of ``b``; ``a`` where ``b`` is 0."""
    return a % b if b else a


def divide(a: float, b: float) -> float:
    """IEEE 754 division: a division by zero is an infinity, ``0 / 0`` is NaN."""
    if b != 0.0:
        return a / b
    if a == 0.0 or isnan(a) or isnan(b):
        return nan
    return copysign(inf, a) * copysign(1.0, b)
