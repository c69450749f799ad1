"""Cases of the APIs that only move elements: fill, broadcast, sequences, copies, gather, scatter, transposition."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autofuse_ascend_sim.conformance.case import MASK_WORDS, Case, Expectation, Operand, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, indices, lanes_of, masked_steps
from autofuse_ascend_sim.signatures.table import Function, functions

COPY_TOPICS = ("fill", "gather", "layout")


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture."""
    for row in functions(architecture):
        if row.topic not in (*COPY_TOPICS, "copy") or row.listed_only:
            continue
        names = [p.name for p in row.parameters]
        for instance in row.instantiations:
            if not instance.arguments:
                continue
            case = _case(row, names, ELEMENTS[instance.arguments[0][1]], counts)
            if case is not None:
                yield case


def _case(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case | None:
    match row.name:
        case "Duplicate":
            return _duplicate(row, names, element, counts)
        case "Brcb":
            return _brcb(row, element)
        case "Broadcast" if "tiling" not in names:
            return _broadcast(row, names, element)
        case "CreateVecIndex":
            return _create_index(row, names, element, counts)
        case "Arange" | "ArithProgression":
            return _arange(row, element, counts)
        case "Gather":
            return _gather(row, names, element, counts)
        case "Gatherb":
            return _gatherb(row, element)
        case "Scatter":
            return _scatter(row, names, element, counts)
        case "Transpose" if len(names) == 2:
            return _transpose(row, element)
        case "TransDataTo5HD" if row.parameters[0].kind.endswith("[16]"):
            return _trans_data(row, element)
        case "Interleave" | "DeInterleave":
            return _interleave(row, names, element)
        case "Copy":
            return _copy(row, names, element, counts)
        case "DataCopy" if row.parameters[0].kind == row.parameters[1].kind == "const LocalTensor<T>&":
            return _local_copy(row, names, element)
        case _:
            return None


def _source(element: Element, name: str = "src", seed: int = 1) -> Operand:
    return Operand(name, element, element.samples(CAPACITY, seed))


def _target(element: Element, name: str = "dst") -> Operand:
    return Operand(name, element, element.samples(CAPACITY, 9, specials=False))


def _form(row: Function) -> str:
    kinds = {p.name: p.kind for p in row.parameters}
    return "count" if "mask" not in kinds else "bits" if kinds["mask"].endswith("[]") else "mask"


def _build(
    row: Function,
    element: Element,
    form: str,
    code: str,
    inputs: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    steps: tuple[Step, ...],
    expected: Expectation,
) -> Case:
    types = (element.name,)
    return Case(row.name, row.architecture, types, form, code, inputs, outputs, steps, expected, tmp_bytes=16384)


def _replaced(dst: Operand, index: Any, values: Any) -> tuple[tuple[Array, ...], ...]:
    after = dst.values.copy()
    after[index] = values
    return ((after,),)


def _mask(row: Function) -> tuple[str, str]:
    return (MASK_WORDS, "mask") if _form(row) == "bits" else ("", "static_cast<uint64_t>(p[0])")


def _duplicate(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = _target(element), _source(element)
    if "src" in names:
        code = f"Duplicate(dst, src, {word('int32_t', 0)});"
        return _build(row, element, "tensor", code, (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: _replaced(dst, np.arange(s[0]), src.values[0]))  # fmt: skip
    literal = "true" if element.name == "bool" else f"static_cast<{element.name}>(3)"
    value = element.encode(np.array([3.0]))[0] if element.is_floating else np.array([3]).astype(element.storage)[0]
    if "mask" not in names:
        code = f"Duplicate(dst, {literal}, static_cast<int32_t>(p[0]));"
        return _build(row, element, "count", code, (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: _replaced(dst, np.arange(s[0]), value))  # fmt: skip
    words, mask = _mask(row)
    bits = bool(words)
    tail = "static_cast<uint8_t>(p[4]), static_cast<uint16_t>(p[5]), static_cast<uint8_t>(p[6])"
    return _build(row, element, _form(row), f"{words}Duplicate(dst, {literal}, {mask}, {tail});", (src,), (dst,),
                  masked_steps((element.size,), bits),
                  lambda s: _replaced(dst, indices(s, (element.size,), bits)[0], value))  # fmt: skip


def _brcb(row: Function, element: Element) -> Case:
    dst, src = _target(element), _source(element)
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
    return _build(row, element, "repeat", code, (src,), (dst,), ((1, 1, 8), (3, 1, 8), (2, 2, 16)), expectation)


def _broadcast(row: Function, names: list[str], element: Element) -> Case:
    """Axis 1 of a matrix: every row repeats its one element."""
    dst, src = _target(element), _source(element)
    tmp = ", tmp" if "sharedTmpBuffer" in names else ""
    code = (
        "const uint32_t to[2] = {p[0], p[1]};\nconst uint32_t from[2] = {p[0], 1};\n"
        f"Broadcast<{element.name}, 2, 1>(dst, src, to, from{tmp});"
    )
    steps = ((1, 1), (4, 16), (3, 33), (16, 64))
    form = "axis 1 with temporary" if tmp else "axis 1"
    return _build(row, element, form, code, (src,), (dst,), steps,
                  lambda s: _replaced(dst, np.arange(s[0] * s[1]), np.repeat(src.values[: s[0]], s[1])))  # fmt: skip


def _sequence(element: Element, first: float, step: float, count: int) -> Array:
    numbers = first + step * np.arange(count)
    return element.encode(numbers if element.is_floating else numbers.astype(np.int64))


def _create_index(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = _target(element), _source(element)
    first = f"static_cast<{element.name}>(5)"
    if "mask" not in names:
        limit = 100 if element.size == 1 else 2000  # whole numbers that the element type holds exactly
        return _build(row, element, "count", f"CreateVecIndex(dst, {first}, p[0]);", (src,), (dst,),
                      tuple((n,) for n in counts if n <= limit),
                      lambda s: _replaced(dst, np.arange(s[0]), _sequence(element, 5, 1, s[0])))  # fmt: skip
    words, mask = _mask(row)
    bits = bool(words)
    lanes = lanes_of((element.size,))
    tail = "static_cast<uint8_t>(p[4]), static_cast<uint16_t>(p[5]), static_cast<uint8_t>(p[6])"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (touched,) = indices(step, (element.size,), bits)
        value = sum(int(word) << (32 * i) for i, word in enumerate(step[:4]))
        active = [i for i in range(lanes) if (value >> i & 1 if bits else i < value)]
        order = np.concatenate([np.array(active, np.int64) + r * lanes for r in range(step[4])]) if active else touched
        return _replaced(dst, touched, _sequence(element, 5, 1, 4096)[order])

    return _build(row, element, _form(row), f"{words}CreateVecIndex(dst, {first}, {mask}, {tail});", (src,), (dst,),
                  masked_steps((element.size,), bits), expectation)  # fmt: skip


def _arange(row: Function, element: Element, counts: Sequence[int]) -> Case:
    dst, src = _target(element), _source(element)
    code = (
        f"{row.name}(dst, static_cast<{element.name}>(5), static_cast<{element.name}>(2), static_cast<int32_t>(p[0]));"
    )
    return _build(row, element, "count", code, (src,), (dst,), tuple((n,) for n in counts if n <= 1000),
                  lambda s: _replaced(dst, np.arange(s[0]), _sequence(element, 5, 2, s[0])))  # fmt: skip


def _offsets(element: Element, name: str, permutation: bool) -> Operand:
    rng = np.random.default_rng(4)
    drawn = rng.permutation(CAPACITY - 8) if permutation else rng.integers(0, CAPACITY - 8, CAPACITY - 8)
    padded = np.zeros(CAPACITY, np.uint32)
    padded[: drawn.size] = drawn * element.size
    return Operand(name, ELEMENTS["uint32_t"], padded)


def _gather(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src, offsets = _target(element), _source(element), _offsets(element, "offsets", False)
    index = offsets.values.astype(np.int64) // element.size + 32 // element.size
    code = "Gather(dst, src, offsets, static_cast<uint32_t>(32), p[0]);"
    if element.size == 8:
        index = index % (CAPACITY // 2)
        offsets = Operand("offsets", offsets.element, ((index - 4) % (CAPACITY // 2 - 4) * 8).astype(np.uint32))
        index = offsets.values.astype(np.int64) // 8 + 4
    usable = np.minimum(index, CAPACITY - 1)
    if (index >= CAPACITY).any():
        clipped = ((usable - 32 // element.size) * element.size).astype(np.uint32)
        offsets = Operand("offsets", offsets.element, clipped)
        index = usable
    if "mask" not in names:
        return _build(row, element, "count", code, (src, offsets), (dst,), tuple((n,) for n in counts),
                      lambda s: _replaced(dst, np.arange(s[0]), src.values[index[: s[0]]]))  # fmt: skip
    words, mask = _mask(row)
    bits = bool(words)
    lanes = lanes_of((element.size,))
    tail = f"{mask}, {word('uint8_t', 4)}, {word('uint16_t', 6)}"
    code = f"{words}Gather(dst, src, offsets, static_cast<uint32_t>(32), {tail});"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (touched,) = indices(step, (element.size,), bits)
        value = sum(int(word) << (32 * i) for i, word in enumerate(step[:4]))
        active = np.array([i for i in range(lanes) if (value >> i & 1 if bits else i < value)], np.int64)
        order = np.concatenate([active + r * lanes for r in range(step[4])])
        return _replaced(dst, touched, src.values[index[order]])

    steps = tuple(s for s in masked_steps((element.size,), bits) if s[5] == 1)
    return _build(row, element, _form(row), code, (src, offsets), (dst,), steps, expectation)


def _gatherb(row: Function, element: Element) -> Case:
    dst, src = _target(element), _source(element)
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
    return _build(row, element, "repeat", code, (src, offsets), (dst,), ((1, 1, 8), (3, 1, 8), (2, 2, 16)), expectation)


def _scatter(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case | None:
    if "mask" in names:
        return None
    dst, src, offsets = _target(element), _source(element), _offsets(element, "offsets", True)
    index = offsets.values.astype(np.int64) // element.size
    return _build(row, element, "count", "Scatter(dst, src, offsets, static_cast<uint32_t>(0), p[0]);", (src, offsets),
                  (dst,), tuple((n,) for n in counts),
                  lambda s: _replaced(dst, index[: s[0]], src.values[: s[0]]))  # fmt: skip


def _transpose(row: Function, element: Element) -> Case:
    dst, src = _target(element), _source(element)
    turned = src.values[:256].reshape(16, 16).T.reshape(-1)
    return _build(row, element, "16 x 16", "Transpose(dst, src);", (src,), (dst,), ((0,),),
                  lambda _: _replaced(dst, np.arange(256), turned))  # fmt: skip


def _trans_data(row: Function, element: Element) -> Case | None:
    if element.size == 1:
        return None  # half blocks: covered by the kernels that use them
    dst, src = _target(element), _source(element)
    per_block = 32 // element.size
    code = f"LocalTensor<{element.name}> to[16];\nLocalTensor<{element.name}> from[16];\n"
    code += "for (uint32_t i = 0; i < 16; ++i) {\n"
    if element.size == 2:
        code += "    to[i] = dst[i * 16];\n    from[i] = src[i * 16];\n}\n"
        result = src.values[:256].reshape(16, 16).T.reshape(-1)
    else:
        # Sixteen rows of eight become eight columns of sixteen, each written as two blocks.
        code += f"    to[i] = dst[i * {per_block}];\n    from[i] = src[i * {per_block}];\n}}\n"
        result = src.values[:128].reshape(16, 8).T.reshape(-1)
    code += "TransDataTo5HD<" + element.name + ">(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));"
    return _build(row, element, "tensor lists", code, (src,), (dst,), ((0,),),
                  lambda _: _replaced(dst, np.arange(result.size), result))  # fmt: skip


def _interleave(row: Function, names: list[str], element: Element) -> Case:
    outputs = (_target(element, "dst0"), _target(element, "dst1"))
    inputs = (_source(element, "src0", 1), _source(element, "src1", 2))
    steps = tuple((n,) for n in (256 // element.size, 512 // element.size, 2048 // element.size) if n <= CAPACITY)
    both = "src1" in names
    operands = "src0, src1" if both else "src0"
    code = f"{row.name}(dst0, dst1, {operands}, static_cast<int32_t>(p[0]));"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        (n,) = step
        a, b = (operand.values[:n] for operand in inputs)
        if row.name == "Interleave":
            mixed = np.stack([a, b], axis=1).reshape(-1)
            low, high = mixed[:n], mixed[n:]
        elif both:
            joined = np.concatenate([a, b])
            low, high = joined[0::2], joined[1::2]
        else:
            low, high = a[0::2], a[1::2]
        return (
            _replaced(outputs[0], np.arange(low.size), low)[0],
            _replaced(outputs[1], np.arange(high.size), high)[0],
        )

    form = "two sources" if both else "one source"
    return _build(row, element, form, code, inputs, outputs, steps, expectation)


def _copy(row: Function, names: list[str], element: Element, counts: Sequence[int]) -> Case:
    dst, src = _target(element), _source(element)
    if "mask" not in names:
        return _build(row, element, "count", "Copy(dst, src, p[0]);", (src,), (dst,), tuple((n,) for n in counts),
                      lambda s: _replaced(dst, np.arange(s[0]), src.values[: s[0]]))  # fmt: skip
    words, mask = _mask(row)
    bits = bool(words)
    sizes = (element.size, element.size)
    strides = ", ".join(f"static_cast<uint16_t>(p[{k}])" for k in (5, 6, 7, 8))

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        written, read = indices(step, sizes, bits)
        return _replaced(dst, written, src.values[read])

    code = f"{words}Copy(dst, src, {mask}, static_cast<uint8_t>(p[4]), CopyRepeatParams({strides}));"
    return _build(row, element, _form(row), code, (src,), (dst,), masked_steps(sizes, bits), expectation)


def _local_copy(row: Function, names: list[str], element: Element) -> Case:
    dst, src = _target(element), _source(element)
    per_block = 32 // element.size
    if "count" in names:
        return _build(row, element, "UB to UB count", "DataCopy(dst, src, p[0]);", (src,), (dst,),
                      tuple((n * per_block,) for n in (1, 3, 32)),
                      lambda s: _replaced(dst, np.arange(s[0]), src.values[: s[0]]))  # fmt: skip

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        blocks, length, src_gap, dst_gap = step
        within = np.arange(length * per_block)
        read = np.concatenate([b * (length + src_gap) * per_block + within for b in range(blocks)])
        written = np.concatenate([b * (length + dst_gap) * per_block + within for b in range(blocks)])
        return _replaced(dst, written, src.values[read])

    fields = ", ".join(f"static_cast<uint16_t>(p[{k}])" for k in range(4))
    code = f"DataCopy(dst, src, DataCopyParams({fields}));"
    steps = ((1, 4, 0, 0), (3, 2, 1, 2), (5, 1, 3, 0))
    return _build(row, element, "UB to UB blocks", code, (src,), (dst,), steps, expectation)
