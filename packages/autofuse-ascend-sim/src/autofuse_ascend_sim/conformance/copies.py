"""Cases of copies between GM and UB: whole blocks with gaps, bytes with padding, both directions."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions

EXT = "DataCopyExtParams(static_cast<uint16_t>(p[0]), p[1], p[2], p[3], 0)"
PARAMS = ", ".join(f"static_cast<uint16_t>(p[{k}])" for k in range(4))


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every copy of an architecture; the sizes do not depend on `counts`."""
    del counts
    for row in functions(architecture):
        if row.topic != "copy" or row.name not in ("DataCopy", "DataCopyPad"):
            continue
        kinds = [p.kind for p in row.parameters]
        for instance in row.instantiations:
            element = ELEMENTS[instance.arguments[0][1]]
            is_load, is_store = "Global" in kinds[1], "Global" in kinds[0]
            if "MultiCopyParams" in kinds[2] or not (is_load or is_store):
                continue
            if row.name == "DataCopy":
                yield _blocks(row, element, is_load, kinds[2].startswith("const DataCopyParams"))
            elif kinds[2].startswith("const DataCopyExtParams"):
                yield _load_bytes(row, element) if is_load else _store_bytes(row, element)
            else:
                yield _legacy(row, element, is_load)


def copied_operands(element: Element) -> tuple[Operand, Operand]:
    """Source and destination: copies move bits, so special values would only show how NaN payloads compare."""
    return (
        Operand("src", element, element.samples(CAPACITY, 1, specials=False)),
        target_of(element),
    )


def _store_code(call: str) -> str:
    """A copy into the step's slot of GM, read back into UB so that the kernel's own store keeps it."""
    return f"{call}\nPipeBarrier<PIPE_ALL>();\nDataCopy(dst, dst_global[step * dst.GetSize()], dst.GetSize());"


def _case(
    row: Function, element: Element, form: str, code: str, steps: tuple[Step, ...], after: dict[Step, Array]
) -> Case:
    src, dst = copied_operands(element)
    return Case(
        row.name, row.architecture, (element.name,), form, code, (src,), (dst,), steps, lambda s: ((after[s],),)
    )


def _blocks(row: Function, element: Element, is_load: bool, has_params: bool) -> Case:
    src, dst = copied_operands(element)
    per_block = 32 // element.size
    steps: tuple[Step, ...] = (
        ((1, 4, 0, 0), (3, 2, 1, 2), (5, 1, 3, 0)) if has_params else ((1, 2, 0, 0), (1, 32, 0, 0))
    )
    after: dict[Step, Array] = {}
    for step in steps:
        blocks, length, src_gap, dst_gap = step
        within = np.arange(length * per_block)
        result = dst.values.copy()
        for b in range(blocks):
            result[b * (length + dst_gap) * per_block + within] = src.values[
                b * (length + src_gap) * per_block + within
            ]
        after[step] = result
    tail = f"DataCopyParams({PARAMS})" if has_params else f"p[1] * {per_block}"
    if is_load:
        code = f"DataCopy(dst, src_global[0], {tail});"
    else:
        code = _store_code(f"DataCopy(dst_global[step * dst.GetSize()], src, {tail});")
    form = ("GM to UB" if is_load else "UB to GM") + (" blocks" if has_params else " count")
    return _case(row, element, form, code, steps, after)


def _load_bytes(row: Function, element: Element) -> Case:
    """Blocks of bytes land on 32-byte blocks; padding fills what is left of the last one."""
    src, dst = copied_operands(element)
    size, per_block = element.size, 32 // element.size
    left, right = (1, 2) if size < 8 else (0, 0)  # 64-bit padding must be 0 and has no room beside three elements
    lengths = (5, per_block, 3 * per_block + 1) if size < 8 else (per_block, 2 * per_block)
    steps = tuple((blocks, n * size, gap * size, 1, left, right) for n in lengths for blocks, gap in ((1, 0), (3, 4)))
    value = element.encode(np.array([3.0]))[0] if element.is_floating else np.array(3).astype(element.storage)
    after: dict[Step, Array] = {}
    for step in steps:
        blocks, length, gap = step[0], step[1] // size, step[2] // size
        result = dst.values.copy()
        whole = -(-(left + length + right) // per_block) * per_block
        for b in range(blocks):
            at, start = b * (whole + per_block), b * (length + gap)
            if left + right:
                result[at : at + whole] = value
            result[at + left : at + left + length] = src.values[start : start + length]
        after[step] = result
    literal = f"static_cast<{element.name}>({3 if size < 8 else 0})"
    sides = f"p[4] != 0, {word('uint8_t', 4)}, {word('uint8_t', 5)}"
    pad = f"DataCopyPadExtParams<{element.name}>({sides}, {literal})"
    return _case(row, element, "GM to UB bytes", f"DataCopyPad(dst, src_global[0], {EXT}, {pad});", steps, after)


def _store_bytes(row: Function, element: Element) -> Case:
    src, dst = copied_operands(element)
    size, per_block = element.size, 32 // element.size
    steps = tuple(
        (blocks, n * size, 1, gap * size) for n in (1, 5, 3 * per_block + 1) for blocks, gap in ((1, 0), (3, 4))
    )
    after: dict[Step, Array] = {}
    for step in steps:
        blocks, length, gap = step[0], step[1] // size, step[3] // size
        whole = -(-length // per_block) * per_block
        result = dst.values.copy()
        for b in range(blocks):
            at, start = b * (length + gap), b * (whole + per_block)
            result[at : at + length] = src.values[start : start + length]
        after[step] = result
    code = _store_code(f"DataCopyPad(dst_global[step * dst.GetSize()], src, {EXT});")
    return _case(row, element, "UB to GM bytes", code, steps, after)


def _legacy(row: Function, element: Element, is_load: bool) -> Case:
    src, dst = copied_operands(element)
    steps: tuple[Step, ...] = ((1, 64, 0, 0), (2, 96, 0, 0))
    after: dict[Step, Array] = {}
    for step in steps:
        count = step[0] * step[1] // element.size
        result = dst.values.copy()
        result[:count] = src.values[:count]
        after[step] = result
    if is_load:
        code = f"DataCopyPad(dst, src_global[0], DataCopyParams({PARAMS}), DataCopyPadParams(false, 0, 0, 0));"
    else:
        code = _store_code(f"DataCopyPad(dst_global[step * dst.GetSize()], src, DataCopyParams({PARAMS}));")
    return _case(
        row, element, "GM to UB, 16-bit lengths" if is_load else "UB to GM, 16-bit lengths", code, steps, after
    )
