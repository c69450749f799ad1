"""Division and remainder of sizes, normalised.

Every rewrite here holds for all integer values of the symbols. Notably ``(a * b) // b`` and ``a // a`` stay as they
are: at ``b == 0`` they have no value. Whoever knows more about the symbols simplifies further.
"""

from math import gcd

from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Mod
from autofuse_ir.dims_polynomial import INT64_MAX, Dim, Monomial, Term, const, polynomial, scaled
from autofuse_ir.errors import IrError


def floordiv(left: Dim, right: Dim) -> Dim:
    """``left / right`` rounded towards minus infinity; raises `IrError` when ``right`` is the constant zero."""
    divisor = right.constant_value
    if divisor is not None:
        return _floordiv_by(left, divisor)
    left, right = _reduced(left, right)[1:]
    if _leads_negative(right):
        left, right = -left, -right
    # a // b == -ceildiv(-a, b): one of the two names for each pair.
    return -CeilDiv(-left, right).dim if _leads_negative(left) else FloorDiv(left, right).dim


def ceildiv(left: Dim, right: Dim) -> Dim:
    """``left / right`` rounded towards plus infinity; raises `IrError` when ``right`` is the constant zero."""
    return -floordiv(-left, right)


def mod(left: Dim, right: Dim) -> Dim:
    """``left - right * (left // right)``; raises `IrError` when ``right`` is the constant zero."""
    divisor = right.constant_value
    if divisor is not None:
        return _mod_by(left, divisor)
    scale, left, right = _reduced(left, right)
    if _leads_negative(right):
        return scaled(Mod(-left, -right).dim, -scale)
    return scaled(Mod(left, right).dim, scale)


def _leads_negative(dim: Dim) -> bool:
    return bool(dim.terms) and dim.terms[0][1] < 0


def _reduced(left: Dim, right: Dim) -> tuple[int, Dim, Dim]:
    """The greatest common factor of all coefficients, and both sides divided by it."""
    scale = gcd(*[factor for _, factor in left.terms], *[factor for _, factor in right.terms])
    if scale == 1:
        return 1, left, right
    return scale, _exact_quotient(left.terms, scale), _exact_quotient(right.terms, scale)


def _exact_quotient(terms: tuple[Term, ...], divisor: int) -> Dim:
    return polynomial([(monomial, factor // divisor) for monomial, factor in terms])


def _zero_divisor(left: Dim) -> IrError:
    return IrError("division by the constant zero", where=f"{left} // 0", fix="guard the divisor before dividing")


def _floordiv_by(left: Dim, divisor: int) -> Dim:
    if divisor == 0:
        raise _zero_divisor(left)
    if divisor < 0:
        left, divisor = -left, -divisor
    if divisor == 1:
        return left
    # What the divisor divides leaves the quotient; the constant leaves a rest in [0, divisor).
    whole: list[Term] = []
    rest: list[Term] = []
    offset = 0
    for monomial, factor in left.terms:
        if not monomial:
            offset = factor % divisor
            whole.append((monomial, factor // divisor))
        elif factor % divisor == 0:
            whole.append((monomial, factor // divisor))
        else:
            rest.append((monomial, factor))
    quotient = polynomial(whole)
    if not rest:
        return quotient
    # (g*p + k) // (g*c) == (p + k//g) // c
    common = gcd(divisor, *[factor for _, factor in rest])
    divisor //= common
    offset //= common
    inner = polynomial([(monomial, factor // common) for monomial, factor in rest])
    if _leads_negative(inner):
        # p // c == -((-p + c-1) // c)
        return quotient - _proper_division(-inner, divisor - 1 - offset, divisor)
    return quotient + _proper_division(inner, offset, divisor)


def _proper_division(inner: Dim, offset: int, divisor: int) -> Dim:
    """``(inner + offset) // divisor`` where nothing comes out of the quotient any more."""
    merged = _merged_division(inner, offset, divisor)
    if merged is not None:
        return merged
    if offset == divisor - 1:
        return CeilDiv(inner, const(divisor)).dim
    return FloorDiv(inner + offset, const(divisor)).dim


def _merged_division(inner: Dim, offset: int, divisor: int) -> Dim | None:
    """``(p // m + k) // c == (p + k*m) // (m*c)`` for constants, or ``None`` where it does not apply."""
    atom = inner.atom
    if isinstance(atom, Mod):
        modulus = atom.right.constant_value
        return const(0) if modulus is not None and modulus - 1 + offset < divisor else None
    if not isinstance(atom, FloorDiv | CeilDiv):
        return None
    first = atom.right.constant_value
    if first is None or first * divisor > INT64_MAX:
        return None
    added = offset * first + (first - 1 if isinstance(atom, CeilDiv) else 0)
    # Both addends are below first * divisor, so only the sum with the inner constant can leave int64.
    if added + atom.left.offset > INT64_MAX:
        return None
    return _floordiv_by(atom.left + added, first * divisor)


def _mod_by(left: Dim, divisor: int) -> Dim:
    if divisor == 0:
        raise _zero_divisor(left)
    if divisor < 0:
        return -_mod_by(-left, -divisor)
    if divisor == 1:
        return const(0)
    rest: list[Term] = []
    offset = 0
    for monomial, factor in _without_inner_mods(left, divisor).terms:
        if not monomial:
            offset = factor % divisor
            continue
        kept = factor % divisor
        if kept:
            rest.append((monomial, kept - divisor if 2 * kept > divisor else kept))
    if not rest:
        return const(offset)
    # mod(g*p + k, g*c) == g * mod(p + k//g, c) + k % g
    common = gcd(divisor, *[factor for _, factor in rest])
    inner = polynomial([(monomial, factor // common) for monomial, factor in rest])
    divisor //= common
    kept_offset, added = offset // common, offset % common
    whole = inner + kept_offset
    if _is_remainder_below(inner, divisor - kept_offset):
        return scaled(whole, common) + added
    return scaled(Mod(whole, const(divisor)).dim, common) + added


def _is_remainder_below(inner: Dim, limit: int) -> bool:
    atom = inner.atom
    if not isinstance(atom, Mod):
        return False
    modulus = atom.right.constant_value
    return modulus is not None and modulus <= limit


def _without_inner_mods(left: Dim, divisor: int) -> Dim:
    """``left`` with ``t * mod(p, m)`` replaced by ``t * p`` where ``divisor`` divides ``t * m``."""
    changed: Dim | None = None
    for monomial, factor in left.terms:
        inner = _inner_mod(monomial)
        if inner is None:
            continue
        modulus = inner.right.constant_value
        if modulus is not None and factor * modulus % divisor == 0:
            # The coefficient may be reduced first: it only matters modulo the divisor.
            swapped = scaled(inner.left, factor % divisor) - polynomial([(monomial, factor)])
            changed = (left if changed is None else changed) + swapped
    return left if changed is None else changed


def _inner_mod(monomial: Monomial) -> Mod | None:
    return monomial[0] if len(monomial) == 1 and isinstance(monomial[0], Mod) else None
