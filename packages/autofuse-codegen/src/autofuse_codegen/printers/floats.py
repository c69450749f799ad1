"""Floats as decimal text."""

import math
import struct


def round_to_float32(value: float) -> float:
    """Return ``value`` rounded to float32, infinite where it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest_float32(value: float) -> str:
    """Return the shortest decimal that reads back as ``value``, a finite float32; it has a point or an exponent."""
    text = repr(value)
    for digits in range(1, 10):
        shorter = f"{value:.{digits}g}"
        if round_to_float32(float(shorter)) == value:
            text = shorter
            break
    return text if "." in text or "e" in text else f"{text}.0"
