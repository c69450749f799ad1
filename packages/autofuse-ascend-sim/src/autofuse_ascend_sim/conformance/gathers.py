"""Cases of gather and scatter inside UB."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, indices, lanes_of, masked_steps
from autofuse_ascend_sim.conformance.operands import case_of, form_of, mask_of, replaced, source_of, target_of
from autofuse_ascend_sim.signatures.table import Function, functions

TOPICS = ("gather",)


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture."""
    for row in functions(architecture):
        if row.topic not in TOPICS or row.listed_only or row.uncovered:
            continue
        names = [p.name for p in row.parameters]
        for instance in row.instantiations:
            if instance.arguments:
                yield from _cases(row, names, ELEMENTS[instance.arguments[0][1]], counts)


def _cases(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Iterator[Case]:
    match row.name:
        case "Gather":
            yield _gather(row, names, element, counts)
        case "Gatherb":
            yield _gatherb(row, element)
        case "Scatter":
            yield _scatter(row, names, element, counts)
        case _:
            return


def _offsets(element: Element, drawn: Array) -> Operand:
    padded = np.zeros(CAPACITY, np.uint32)
    padded[: drawn.size] = drawn * element.size
    return Operand("offsets", ELEMENTS["uint32_t"], padded)


def _lane_order(step: Step, element: Element, bits: bool) -> Array:
    """The numbers of the active lanes, counted through all repeats."""
    lanes = lanes_of((element.size,))
    value = sum(int(part) << (32 * i) for i, part in enumerate(step[:4]))
    active = np.array([i for i in range(lanes) if (value >> i & 1 if bits else i < value)], np.int64)
    return np.concatenate([active + r * lanes for r in range(step[4])])


def _gather(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    """Offsets count from a base of one block."""
    per_block = 32 // element.size
    drawn = np.random.default_rng(4).integers(0, CAPACITY - per_block, CAPACITY)
    dst, src, offsets = target_of(element), source_of(element), _offsets(element, drawn)
    gathered = src.values[drawn + per_block]
    if "mask" not in names:
        code = "Gather(dst, src, offsets, static_cast<uint32_t>(32), p[0]);"
        return case_of(row, element, "count", code, (src, offsets), (dst,), tuple((n,) for n in counts),
                       lambda s: replaced(dst, np.arange(s[0]), gathered[: s[0]]))  # fmt: skip
    words, mask = mask_of(row)
    bits = bool(words)
    tail = f"{mask}, {word('uint8_t', 4)}, {word('uint16_t', 6)}"
    code = f"{words}Gather(dst, src, offsets, static_cast<uint32_t>(32), {tail});"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (touched,) = indices(step, (element.size,), bits)
        return replaced(dst, touched, gathered[_lane_order(step, element, bits)])

    steps = tuple(s for s in masked_steps((element.size,), bits) if s[5] == 1)
    return case_of(row, element, form_of(row), code, (src, offsets), (dst,), steps, expectation)


def _gatherb(row: Function, element: Element) -> Case:
    dst, src = target_of(element), source_of(element)
    per_block = 32 // element.size
    blocks = np.random.default_rng(4).integers(0, CAPACITY // per_block, 64).astype(np.uint32)
    offsets = Operand("offsets", ELEMENTS["uint32_t"], blocks * 32)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        repeats, block_stride, repeat_stride = step
        after = dst.values.copy()
        for r in range(repeats):
            for k in range(8):
                at = (r * repeat_stride + k * block_stride) * per_block
                start = int(blocks[8 * r + k]) * per_block
                after[at : at + per_block] = src.values[start : start + per_block]
        return ((after,),)

    params = "GatherRepeatParams(static_cast<uint8_t>(p[1]), static_cast<uint8_t>(p[2]))"
    code = f"Gatherb(dst, src, offsets, static_cast<uint8_t>(p[0]), {params});"
    return case_of(
        row, element, "repeat", code, (src, offsets), (dst,), ((1, 1, 8), (3, 1, 8), (2, 2, 16)), expectation
    )


def _scatter(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    """To distinct places: duplicate offsets have no defined winner."""
    drawn = np.random.default_rng(4).permutation(CAPACITY)
    dst, src, offsets = target_of(element), source_of(element), _offsets(element, drawn)
    if "mask" not in names:
        code = "Scatter(dst, src, offsets, static_cast<uint32_t>(0), p[0]);"
        return case_of(row, element, "count", code, (src, offsets), (dst,), tuple((n,) for n in counts),
                       lambda s: replaced(dst, drawn[: s[0]], src.values[: s[0]]))  # fmt: skip
    words, mask = mask_of(row)
    bits = bool(words)
    tail = f"{mask}, {word('uint8_t', 4)}, {word('uint8_t', 6)}"
    code = f"{words}Scatter(dst, src, offsets, static_cast<uint32_t>(0), {tail});"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (read,) = indices(step, (element.size,), bits)
        return replaced(dst, drawn[_lane_order(step, element, bits)], src.values[read])

    steps = tuple(s for s in masked_steps((element.size,), bits) if s[5] == 1)
    return case_of(row, element, form_of(row), code, (src, offsets), (dst,), steps, expectation)
