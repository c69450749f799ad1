"""Which elements an instruction touches: counts, continuous masks and bit masks over repeats with strides.

A step of the count form is `(count,)`. A step of a masked form is
`(low 32 bits, next, next, high 32 bits, repeats, block stride of each operand..., repeat stride of each operand...)`;
the mask is a number of lanes in the continuous form and 128 bits in the other. Strides are in 32-byte blocks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

CAPACITY = 2048  # elements of every operand
ALL_COUNTS = tuple(range(1, 1025))


def count_steps(counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Steps of the count form."""
    return tuple((count,) for count in counts)


def lanes_of(sizes: Sequence[int]) -> int:
    """Lanes of a repeat for operands of these element sizes; 8-bit operands take the width of 16 bits."""
    return 256 // max(2, *sizes)


def masked_steps(sizes: Sequence[int], bits: bool) -> tuple[tuple[int, ...], ...]:
    """Steps of a masked form: whole and partial masks, one and several repeats, gaps, and operands read again."""
    lanes, operands = lanes_of(sizes), len(sizes)
    ones, eights = (1,) * operands, (8,) * operands
    full = (1 << lanes) - 1
    shapes = [
        (full, 1, ones, eights),
        (full, 5, ones, eights),
        (1, 3, ones, eights),
        ((1 << (lanes - 3)) - 1, 2, ones, eights),
        (full, 2, ones, (16,) + (8,) * (operands - 1)),
        ((1 << (lanes // 2 + 1)) - 1, 2, (2, *ones[1:]), (16, *eights[1:])),
    ]
    if operands > 1:
        shapes.append((full, 3, ones, (*eights[:-1], 0)))  # the last source is read again for every repeat
        shapes.append((full, 2, (*ones[:-1], 0), eights))  # and here one block of it for the whole repeat
        shapes.append((full, 2, (1, *(2 for _ in ones[1:])), (8, *(16 for _ in ones[1:]))))
    if bits:
        pattern = 0xA5A5_5A5A_0FF0_1234_8000_0001_AAAA_5555 & full
        shapes += [(0, 2, ones, eights), (pattern, 2, ones, eights), (full & ~pattern, 4, ones, eights)]
    steps = []
    for mask, repeats, blocks, strides in shapes:
        value = mask if bits else mask.bit_length()
        words = tuple((value >> shift) & 0xFFFF_FFFF for shift in (0, 32, 64, 96))
        steps.append((*words, repeats, *blocks, *strides))
    return tuple(steps)


def indices(step: Sequence[int], sizes: Sequence[int], bits: bool) -> tuple[Index, ...]:
    """The element of each operand that every active lane of every repeat touches, in order."""
    lanes, operands = lanes_of(sizes), len(sizes)
    value = sum(int(word) << (32 * i) for i, word in enumerate(step[:4]))
    mask = value if bits else (1 << value) - 1
    active = np.array([lane for lane in range(lanes) if mask >> lane & 1], np.int64)
    repeats = np.arange(step[4], dtype=np.int64)[:, None]
    found = []
    for operand, size in enumerate(sizes):
        per_block = 32 // size
        block_stride, repeat_stride = step[5 + operand], step[5 + operands + operand]
        blocks = active // per_block * block_stride + repeats * repeat_stride
        found.append((blocks * per_block + active % per_block).reshape(-1))
    return tuple(found)
