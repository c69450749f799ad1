"""Cases of Cast: every pair of element types, every rounding mode, counts and masks."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from autofuse_ascend_sim.conformance.case import MASK_WORDS, Case, Expectation, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, count_steps, indices, masked_steps
from autofuse_ascend_sim.conformance.meanings import whole_number
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import TYPE_NAMES, Rounding, roundings

MODES = {
    "N": "CAST_NONE", "R": "CAST_RINT", "F": "CAST_FLOOR", "C": "CAST_CEIL", "A": "CAST_ROUND", "Z": "CAST_TRUNC",
    "O": "CAST_ODD",
}  # fmt: skip


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every conversion of an architecture."""
    for pair in roundings(architecture):
        for mode in pair.modes:
            yield _case(architecture, pair, mode, "count", count_steps(counts))
        target, source = (ELEMENTS[TYPE_NAMES[name]] for name in (pair.target, pair.source))
        is_narrow = architecture == "3510" and 8 in (target.size, source.size)
        is_byte = architecture == "3510" and 1 in (target.size, source.size)
        if not is_narrow and not is_byte:
            for form in ("mask", "bits"):
                steps = masked_steps((target.size, source.size), form == "bits")
                yield _case(architecture, pair, pair.modes[0], form, steps)


def _case(architecture: str, pair: Rounding, mode: str, form: str, steps: tuple[Step, ...]) -> Case:
    target, source = (ELEMENTS[TYPE_NAMES[name]] for name in (pair.target, pair.source))
    scales = pair.source == "i32" and pair.target == "h"
    src = Operand("src", source, _samples(source, target, mode))
    dst = target_of(target)
    code = "SetDeqScale(static_cast<half>(0.5f));\n" if scales else ""
    if form == "bits":
        code += MASK_WORDS
    if form == "count":
        tail = "p[0]"
    else:
        mask = "mask" if form == "bits" else "static_cast<uint64_t>(p[0])"
        tail = (
            f"{mask}, static_cast<uint8_t>(p[4]), UnaryRepeatParams(static_cast<uint16_t>(p[5]), "
            "static_cast<uint16_t>(p[6]), static_cast<uint8_t>(p[7]), static_cast<uint8_t>(p[8]))"
        )
    numbers = source.decode(src.values)
    with np.errstate(all="ignore"):
        converted = convert(source, target, mode, numbers * 0.5 if scales else numbers)
    return Case(
        api="Cast",
        architecture=architecture,
        types=(target.name, source.name),
        form=f"{MODES[mode]} {form}",
        code=f"{code}Cast(dst, src, RoundMode::{MODES[mode]}, {tail});",
        inputs=(src,),
        outputs=(dst,),
        steps=steps,
        expected=_expected(dst, src, converted, form),
    )


def _expected(dst: Operand, src: Operand, converted: Array, form: str) -> Expectation:
    sizes = (dst.element.size, src.element.size)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        if form == "count":
            after[: step[0]] = converted[: step[0]]
        else:
            written, read = indices(step, sizes, form == "bits")
            after[written] = converted[read]
        return ((after,),)

    return expectation


def _samples(source: Element, target: Element, mode: str) -> Array:
    rng = np.random.default_rng(1)
    if source.is_floating:
        drawn = source.samples(CAPACITY, 1, -300, 300, specials=True)
        whole = source.encode(np.arange(-40, 40) / 2)
        drawn[200 : 200 + whole.size] = whole  # halves, which rounding modes treat differently
        if target.is_floating or target.size < 8:
            large = np.array([7e4, -7e4, 3e9, -3e9, 40000.0, -40000.0]) if mode in "RN" else np.array([3e3, -3e3])
            drawn[300 : 300 + large.size] = source.encode(large)
        return drawn
    if source.size == 8:
        return rng.integers(-(1 << 52), 1 << 52, CAPACITY).astype(source.storage)
    if source.size == 4 and target.name == "half":
        return rng.integers(-30000, 30000, CAPACITY).astype(source.storage)
    return source.samples(CAPACITY, 1)


def convert(source: Element, target: Element, mode: str, x: NDArray[np.generic]) -> Array:
    """Elements `x` converted with a rounding mode, named by its letter."""
    if target.is_floating and not (source.is_floating and source.name == target.name):
        return directed(target, x.astype(np.float64), mode)
    if target.is_floating:
        return target.encode(whole_number(mode, x.astype(np.float64)))
    limits = np.iinfo(target.storage)
    if not source.is_floating:
        low, high = max(limits.min, np.iinfo(source.storage).min), min(limits.max, np.iinfo(source.storage).max)
        clipped: Array = np.clip(x, low, high).astype(target.storage)
        return clipped
    rounded = np.nan_to_num(whole_number(mode, x.astype(np.float64)), nan=0.0, posinf=2.0**70, neginf=-(2.0**70))
    inside = np.clip(rounded, float(limits.min), float(limits.max) if target.size < 8 else 2.0**63 - 1024)
    result: Array = inside.astype(target.storage)
    result[rounded >= float(limits.max)] = limits.max
    return result


def directed(target: Element, x: NDArray[np.float64], mode: str) -> Array:
    """`x` rounded to a floating-point element: to nearest even, or to one of its two neighbours by the mode."""
    nearest = target.encode(x)
    if mode in "RN":
        return nearest
    bits = nearest.view(f"int{8 * target.size}").copy()
    value = target.decode(nearest)
    is_beyond = np.abs(value) > np.abs(x)
    bits[is_beyond] -= 1  # the neighbour towards zero
    towards_zero = target.decode(bits.view(target.storage))
    is_exact = (towards_zero == x) | ~np.isfinite(x)
    away = target.decode((bits + 1).view(target.storage))
    match mode:
        case "F":
            goes_away = x < 0
        case "C":
            goes_away = x > 0
        case "A":
            goes_away = np.abs(x - towards_zero) >= np.abs(away - x)
        case "O":
            goes_away = (bits & 1) == 0  # an inexact result gets an odd last bit
        case _:
            goes_away = np.zeros(x.shape, bool)
    bits[goes_away & ~is_exact] += 1
    return bits.view(target.storage)
