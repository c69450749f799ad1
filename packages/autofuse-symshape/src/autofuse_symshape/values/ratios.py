"""Ratios of sizes, which floats are followed as."""

from math import gcd, lcm

from autofuse_ir.dims import Dim, const, floordiv

from autofuse_symshape.known import Real


def reduced(numerator: Dim, denominator: int) -> Real:
    """Return the ratio with common powers and factors of numerator and denominator taken out."""
    common = gcd(denominator, *[factor for _, factor in numerator.terms])
    if common <= 1:
        return Real(numerator, denominator if numerator.terms else 1)
    return Real(floordiv(numerator, const(common)), denominator // common)


def over_one_denominator(a: Real, b: Real) -> tuple[Dim, Dim, int]:
    """Return the numerators of both over their least common denominator, and that."""
    common = lcm(a.denominator, b.denominator)
    return a.numerator * (common // a.denominator), b.numerator * (common // b.denominator), common
