"""Cases of fill, broadcast, sequences and copies inside UB."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import indices, lanes_of, masked_steps
from autofuse_ascend_sim.conformance.operands import case_of, form_of, mask_of, replaced, source_of, target_of
from autofuse_ascend_sim.signatures.table import Function, functions

TOPICS = ("fill", "copy")


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
        case "Duplicate":
            yield _duplicate(row, names, element, counts)
        case "Brcb":
            yield _brcb(row, element)
        case "Broadcast":
            yield _broadcast(row, names, element)
            yield _broadcast_rows(row, names, element)
            yield _broadcast_scalar(row, names, element)
        case "CreateVecIndex":
            yield _create_index(row, names, element, counts)
        case "Arange" | "ArithProgression":
            yield _arange(row, element, counts)
        case "Copy":
            yield _copy(row, names, element, counts)
        case "DataCopy" if row.parameters[0].kind == row.parameters[1].kind == "const LocalTensor<T>&":
            yield _local_copy(row, names, element)
        case _:
            return


def _duplicate(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = target_of(element), source_of(element)
    if "src" in names:
        code = f"Duplicate(dst, src, {word('int32_t', 0)});"
        return case_of(row, element, "tensor", code, (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: replaced(dst, np.arange(s[0]), src.values[0]))  # fmt: skip
    literal = "true" if element.name == "bool" else f"static_cast<{element.name}>(3)"
    value = element.encode(np.array([3.0]))[0] if element.is_floating else np.array([3]).astype(element.storage)[0]
    if "mask" not in names:
        code = f"Duplicate(dst, {literal}, static_cast<int32_t>(p[0]));"
        return case_of(row, element, "count", code, (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: replaced(dst, np.arange(s[0]), value))  # fmt: skip
    words, mask = mask_of(row)
    bits = bool(words)
    tail = "static_cast<uint8_t>(p[4]), static_cast<uint16_t>(p[5]), static_cast<uint8_t>(p[6])"
    return case_of(row, element, form_of(row), f"{words}Duplicate(dst, {literal}, {mask}, {tail});", (src,), (dst,),
                  masked_steps((element.size,), bits),
                  lambda s: replaced(dst, indices(s, (element.size,), bits)[0], value))  # fmt: skip


def _brcb(row: Function, element: Element) -> Case:
    dst, src = target_of(element), source_of(element)
    per_block = 32 // element.size

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        repeats, block_stride, repeat_stride = step
        after = dst.values.copy()
        for r in range(repeats):
            for k in range(8):
                at = (r * repeat_stride + k * block_stride) * per_block
                after[at : at + per_block] = src.values[8 * r + k]
        return ((after,),)

    params = f"BrcbRepeatParams({word('uint16_t', 1)}, {word('uint16_t', 2)})"
    code = f"Brcb(dst, src, {word('uint8_t', 0)}, {params});"
    return case_of(row, element, "repeat", code, (src,), (dst,), ((1, 1, 8), (3, 1, 8), (2, 2, 16)), expectation)


def _broadcast(row: Function, names: list[str], element: Element) -> Case:
    """Axis 1 of a matrix: every row repeats its one element."""
    dst, src = target_of(element), source_of(element)
    tmp = ", tmp" if "sharedTmpBuffer" in names else ""
    code = (
        "const uint32_t to[2] = {p[0], p[1]};\nconst uint32_t from[2] = {p[0], 1};\n"
        f"Broadcast<{element.name}, 2, 1>(dst, src, to, from{tmp});"
    )
    steps = ((1, 1), (4, 16), (3, 33), (16, 64))
    form = "axis 1 with temporary" if tmp else "axis 1"
    return case_of(row, element, form, code, (src,), (dst,), steps,
                  lambda s: replaced(dst, np.arange(s[0] * s[1]), np.repeat(src.values[: s[0]], s[1])))  # fmt: skip


def _sequence(element: Element, first: float, step: float, count: int) -> Array:
    numbers = first + step * np.arange(count)
    return element.encode(numbers if element.is_floating else numbers.astype(np.int64))


def _create_index(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = target_of(element), source_of(element)
    first = f"static_cast<{element.name}>(5)"
    if "mask" not in names:
        limit = 100 if element.size == 1 else 2000  # whole numbers that the element type holds exactly
        return case_of(row, element, "count", f"CreateVecIndex(dst, {first}, p[0]);", (src,), (dst,),
                      tuple((n,) for n in counts if n <= limit),
                      lambda s: replaced(dst, np.arange(s[0]), _sequence(element, 5, 1, s[0])))  # fmt: skip
    words, mask = mask_of(row)
    bits = bool(words)
    lanes = lanes_of((element.size,))
    tail = "static_cast<uint8_t>(p[4]), static_cast<uint16_t>(p[5]), static_cast<uint8_t>(p[6])"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (touched,) = indices(step, (element.size,), bits)
        value = sum(int(word) << (32 * i) for i, word in enumerate(step[:4]))
        active = [i for i in range(lanes) if (value >> i & 1 if bits else i < value)]
        order = np.concatenate([np.array(active, np.int64) + r * lanes for r in range(step[4])]) if active else touched
        return replaced(dst, touched, _sequence(element, 5, 1, 4096)[order])

    return case_of(row, element, form_of(row), f"{words}CreateVecIndex(dst, {first}, {mask}, {tail});", (src,), (dst,),
                  masked_steps((element.size,), bits), expectation)  # fmt: skip


def _arange(row: Function, element: Element, counts: Sequence[int]) -> Case:
    dst, src = target_of(element), source_of(element)
    code = (
        f"{row.name}(dst, static_cast<{element.name}>(5), static_cast<{element.name}>(2), static_cast<int32_t>(p[0]));"
    )
    return case_of(row, element, "count", code, (src,), (dst,), tuple((n,) for n in counts if n <= 1000),
                  lambda s: replaced(dst, np.arange(s[0]), _sequence(element, 5, 2, s[0])))  # fmt: skip


def _copy(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = target_of(element), source_of(element)
    if "mask" not in names:
        return case_of(row, element, "count", "Copy(dst, src, p[0]);", (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: replaced(dst, np.arange(s[0]), src.values[: s[0]]))  # fmt: skip
    words, mask = mask_of(row)
    bits = bool(words)
    sizes = (element.size, element.size)
    strides = ", ".join(f"static_cast<uint16_t>(p[{k}])" for k in (5, 6, 7, 8))

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        written, read = indices(step, sizes, bits)
        return replaced(dst, written, src.values[read])

    code = f"{words}Copy(dst, src, {mask}, static_cast<uint8_t>(p[4]), CopyRepeatParams({strides}));"
    return case_of(row, element, form_of(row), code, (src,), (dst,), masked_steps(sizes, bits), expectation)


def _local_copy(row: Function, names: list[str], element: Element) -> Case:
    dst, src = target_of(element), source_of(element)
    per_block = 32 // element.size
    if "count" in names:
        return case_of(row, element, "UB to UB count", "DataCopy(dst, src, p[0]);", (src,), (dst,),
                      tuple((n * per_block,) for n in (1, 3, 32)),
                      lambda s: replaced(dst, np.arange(s[0]), src.values[: s[0]]))  # fmt: skip

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        blocks, length, src_gap, dst_gap = step
        within = np.arange(length * per_block)
        read = np.concatenate([b * (length + src_gap) * per_block + within for b in range(blocks)])
        written = np.concatenate([b * (length + dst_gap) * per_block + within for b in range(blocks)])
        return replaced(dst, written, src.values[read])

    fields = ", ".join(f"static_cast<uint16_t>(p[{k}])" for k in range(4))
    code = f"DataCopy(dst, src, DataCopyParams({fields}));"
    steps = ((1, 4, 0, 0), (3, 2, 1, 2), (5, 1, 3, 0))
    return case_of(row, element, "UB to UB blocks", code, (src,), (dst,), steps, expectation)


def _broadcast_rows(row: Function, names: list[str], element: Element) -> Case:
    """Axis 0 of a matrix: one row, which fills whole blocks, is repeated."""
    dst, src = target_of(element), source_of(element)
    tmp = ", tmp" if "sharedTmpBuffer" in names else ""
    code = (
        "const uint32_t to[2] = {p[0], p[1]};\nconst uint32_t from[2] = {1, p[1]};\n"
        f"Broadcast<{element.name}, 2, 0>(dst, src, to, from{tmp});"
    )
    steps = ((1, 32), (4, 32), (7, 96))
    form = "axis 0 with temporary" if tmp else "axis 0"
    return case_of(row, element, form, code, (src,), (dst,), steps,
                   lambda s: replaced(dst, np.arange(s[0] * s[1]), np.tile(src.values[: s[1]], s[0])))  # fmt: skip


def _broadcast_scalar(row: Function, names: list[str], element: Element) -> Case:
    """One element becomes a vector."""
    dst, src = target_of(element), source_of(element)
    tmp = ", tmp" if "sharedTmpBuffer" in names else ""
    code = (
        "const uint32_t to[1] = {p[0]};\nconst uint32_t from[1] = {1};\n"
        f"Broadcast<{element.name}, 1, 0>(dst, src, to, from{tmp});"
    )
    form = "vector with temporary" if tmp else "vector"
    return case_of(row, element, form, code, (src,), (dst,), ((1,), (33,), (1000,)),
                   lambda s: replaced(dst, np.arange(s[0]), src.values[0]))  # fmt: skip
