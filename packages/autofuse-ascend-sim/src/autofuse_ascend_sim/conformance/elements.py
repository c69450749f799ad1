"""Element types of tensors: how NumPy stores them, computes with them and compares them.

Floating-point elements are computed in float64 and rounded once; integers in their own type, where they wrap.
"""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Array = NDArray[Any]
Working = NDArray[Any]


@frozen
class Element:
    """An element type: its C++ name, the NumPy type that stores it, and whether it is a floating-point type."""

    name: str
    storage: str
    is_floating: bool

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return int(np.dtype(self.storage).itemsize)

    @property
    def is_bfloat16(self) -> bool:
        """Whether the storage holds the upper halves of float32 numbers."""
        return self.name == "bfloat16_t"

    def decode(self, stored: Array) -> Working:
        """Stored elements as numbers to compute with."""
        with np.errstate(invalid="ignore"):  # signalling NaN becomes quiet
            if self.is_bfloat16:
                return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            return stored.astype(np.float64) if self.is_floating else stored

    def encode(self, numbers: Working) -> Array:
        """Numbers rounded to the nearest element, ties to even; integers are truncated to their bits."""
        with np.errstate(all="ignore"):
            if self.is_bfloat16:
                return _bfloat16(numbers.astype(np.float32))
            return numbers.astype(self.storage)

    def samples(self, count: int, seed: int, low: float = -8.0, high: float = 8.0, specials: bool = True) -> Array:
        """Reproducible elements: special values first, then random ones; integers use half of their range."""
        rng = np.random.default_rng(seed)
        if not self.is_floating:
            if self.storage == "bool":
                return rng.integers(0, 2, size=count).astype(bool)
            limits = np.iinfo(self.storage)
            drawn = rng.integers(limits.min // 2, limits.max // 2, size=count, dtype=self.storage)
            edges = np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype=self.storage)
        else:
            drawn = self.encode(rng.uniform(low, high, size=count))
            edges = self.encode(np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e-7]))
        if specials:
            # Every special value meets every other where two operands are drawn with neighbouring seeds.
            pairs = np.repeat(edges, len(edges)) if seed % 2 else np.tile(edges, len(edges))
            kept = min(count, len(pairs))
            drawn[:kept] = pairs[:kept]
        return drawn

    def distance(self, actual: Array, expected: Array) -> NDArray[np.float64]:
        """How far elements are apart, in units of the last place; 0 for two NaNs, infinite for one."""
        if not self.is_floating:
            differs: NDArray[np.float64] = np.where(actual == expected, 0.0, np.inf)
            return differs
        bits = np.dtype(f"int{8 * self.size}")
        a, b = (_ordered(values.view(bits).astype(np.int64), self.size) for values in (actual, expected))
        apart: NDArray[np.float64] = np.abs(a - b).astype(np.float64)
        a_nan, b_nan = np.isnan(self.decode(actual)), np.isnan(self.decode(expected))
        apart[a_nan & b_nan] = 0
        apart[a_nan ^ b_nan] = np.inf
        return apart


def _bfloat16(values: NDArray[np.float32]) -> Array:
    bits = values.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), (bits >> 16).astype(np.uint16) | 0x40, rounded).astype(np.uint16)


def _ordered(bits: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Bit patterns of floating-point numbers as integers in the order of the numbers; both zeros are 0."""
    magnitude = bits & ((1 << (8 * size - 1)) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


ELEMENTS = {
    element.name: element
    for element in (
        Element("bool", "bool", False),
        Element("int8_t", "int8", False),
        Element("uint8_t", "uint8", False),
        Element("int16_t", "int16", False),
        Element("uint16_t", "uint16", False),
        Element("int32_t", "int32", False),
        Element("uint32_t", "uint32", False),
        Element("int64_t", "int64", False),
        Element("uint64_t", "uint64", False),
        Element("half", "float16", True),
        Element("bfloat16_t", "uint16", True),
        Element("float", "float32", True),
        Element("double", "float64", True),
    )
}
