"""Cases of Compare, Compares, Select, GatherMask and the comparison mask register."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions

COMPARISONS = (np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal)
EQUAL = 2
SCALAR = 2.5


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture."""
    for row in functions(architecture):
        if row.topic != "compare":
            continue
        names = [p.name for p in row.parameters]
        for instance in row.instantiations:
            types = tuple(text for _, text in instance.arguments if text in ELEMENTS)
            if row.name in ("Compare", "Compares", "CompareScalar") and "dst" in names:
                yield from _compare(row, types, "mask" in names)
            elif row.name == "Compare":
                yield from _register(row, types)
            elif row.name == "Select" and "count" in names:
                yield from _select(row, types, counts)
            elif row.name == "Select" and "mask" in names and "info" not in names and "selMask" in names:
                yield from _select_masked(row, types)
            elif row.name == "Select" and "info" in names:
                yield from _select_bytes(row, types)
            elif row.name == "GatherMask":
                yield from _gather_mask(row, types)


def _unique(row: Function) -> bool:
    """Whether the row is the one of two masked rows whose mask is a number of lanes."""
    kinds = {p.name: p.kind for p in row.parameters}
    return not kinds["mask"].endswith("[]")


def _bits(flags: Any, before: Array) -> Array:
    after = before.copy()
    packed = np.packbits(flags.astype(np.uint8), bitorder="little")
    after.view(np.uint8)[: packed.size] = packed
    return after


def _compare(row: Function, types: tuple[str, ...], masked: bool) -> Iterator[Case]:
    element, flags = ELEMENTS[types[0]], ELEMENTS[types[1]]
    lanes = 256 // element.size
    has_scalar = row.name != "Compare"
    a, b = (_samples(element, seed) for seed in (1, 2))
    inputs = (Operand("src0", element, a), Operand("src1", element, b))
    dst = Operand("dst", flags, flags.samples(CAPACITY // 8, 9, specials=False))
    modes = [EQUAL] if element.name == "int32_t" and row.architecture == "2201" else range(6)
    repeats = (1, 3) if masked else (1, 2, 3, 4)
    steps = tuple((lanes * n, mode) for n in repeats for mode in modes if lanes * n <= CAPACITY)
    scalar = element.decode(element.encode(np.array([SCALAR if element.is_floating else 3])))[0]
    second = f"static_cast<{element.name}>({scalar}{'f' if element.is_floating else ''})" if has_scalar else "src1"
    numbers = [element.decode(operand.values) for operand in inputs]
    tail = "p[0]"
    prefix = ""
    if masked:
        params = "UnaryRepeatParams" if has_scalar else "BinaryRepeatParams"
        mask = f"static_cast<uint64_t>({lanes})" if _unique(row) else "mask"
        prefix = "" if _unique(row) else f"const uint64_t mask[2] = {{~0ULL, {'~0ULL' if lanes > 64 else '0'}}};\n"
        tail = f"{mask}, static_cast<uint8_t>(p[0] / {lanes}), {params}()"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        count, mode = step
        other = np.full(count, scalar) if has_scalar else numbers[1][:count]
        return ((_bits(COMPARISONS[mode](numbers[0][:count], other), dst.values),),)

    form = "count" if not masked else "mask" if _unique(row) else "bits"
    code = f"{prefix}{row.name}(dst, src0, {second}, static_cast<CMPMODE>(p[1]), {tail});"
    yield Case(row.name, row.architecture, types, form, code, inputs, (dst,), steps, expectation)


def _samples(element: Element, seed: int) -> Array:
    drawn = element.samples(CAPACITY, seed)
    if element.is_floating:
        drawn[500:1500] = element.encode(np.rint(element.decode(drawn[500:1500])))  # so that equals occur
    else:
        drawn[500:1500] = np.random.default_rng(seed).integers(0, 8, 1000)
    return drawn


def _register(row: Function, types: tuple[str, ...]) -> Iterator[Case]:
    """Compare into the register, then select by it."""
    if not _unique(row) or types[0] not in ("half", "float"):
        return
    element = ELEMENTS[types[0]]
    lanes = 256 // element.size
    inputs = tuple(Operand(f"src{i}", element, _samples(element, i + 1)) for i in range(2))
    dst = target_of(element)
    numbers = [element.decode(operand.values) for operand in inputs]
    code = (
        f"Compare(src0, src1, static_cast<CMPMODE>(p[0]), static_cast<uint64_t>({lanes}), BinaryRepeatParams());\n"
        "PipeBarrier<PIPE_V>();\n"
        f"Select<{element.name}, SELMODE::VSEL_CMPMASK_SPR>"
        f"(dst, src0, src1, {word('uint8_t', 1)}, BinaryRepeatParams());"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        flags = np.tile(COMPARISONS[step[0]](numbers[0][:lanes], numbers[1][:lanes]), step[1])
        after = dst.values.copy()
        after[: flags.size] = np.where(flags, inputs[0].values[: flags.size], inputs[1].values[: flags.size])
        return ((after,),)

    steps = tuple((mode, repeats) for mode in range(6) for repeats in (1, 3))
    yield Case("Compare", row.architecture, types, "register", code, inputs, (dst,), steps, expectation)


def _select(row: Function, types: tuple[str, ...], counts: Sequence[int]) -> Iterator[Case]:
    element, flags = ELEMENTS[types[0]], ELEMENTS[types[1]]
    lanes = 256 // element.size
    is_scalar = row.parameters[3].kind == "T"
    modes = ["VSEL_TENSOR_SCALAR_MODE"] if is_scalar else ["VSEL_TENSOR_TENSOR_MODE", "VSEL_CMPMASK_SPR"]
    bits = np.random.default_rng(3).integers(0, 256, CAPACITY // 8).astype(np.uint8)
    chosen = np.unpackbits(bits, bitorder="little").astype(bool)
    inputs = (
        Operand("bits", flags, bits.view(flags.storage)),
        Operand("src0", element, element.samples(CAPACITY, 1)),
        Operand("src1", element, element.samples(CAPACITY, 2)),
    )
    scalar = element.encode(np.array([3.0]))
    dst = target_of(element)
    for mode in modes:
        second = f"static_cast<{element.name}>(3)" if is_scalar else "src1"
        code = f"Select(dst, bits, src0, {second}, SELMODE::{mode}, p[0]);"

        def expectation(step: Step, mode: str = mode) -> tuple[tuple[Array, ...], ...]:
            (n,) = step
            flag = np.resize(chosen[:lanes], n) if mode == "VSEL_CMPMASK_SPR" else chosen[:n]
            other = np.resize(scalar, n) if is_scalar else inputs[2].values[:n]
            after = dst.values.copy()
            after[:n] = np.where(flag, inputs[1].values[:n], other)
            return ((after,),)

        steps = tuple((count,) for count in counts)
        yield Case("Select", row.architecture, types, f"{mode} count", code, inputs, (dst,), steps, expectation)


def _select_masked(row: Function, types: tuple[str, ...]) -> Iterator[Case]:
    element, flags = ELEMENTS[types[0]], ELEMENTS[types[1]]
    lanes = 256 // element.size
    is_scalar = row.parameters[3].kind == "T"
    bits = np.random.default_rng(3).integers(0, 256, CAPACITY // 8).astype(np.uint8)
    chosen = np.unpackbits(bits, bitorder="little").astype(bool)
    inputs = (
        Operand("bits", flags, bits.view(flags.storage)),
        Operand("src0", element, element.samples(CAPACITY, 1)),
        Operand("src1", element, element.samples(CAPACITY, 2)),
    )
    scalar = element.encode(np.array([3.0]))
    dst = target_of(element)
    mode = "VSEL_TENSOR_SCALAR_MODE" if is_scalar else "VSEL_TENSOR_TENSOR_MODE"
    active = np.zeros(lanes, bool)
    active[: lanes - 5] = True
    second = f"static_cast<{element.name}>(3)" if is_scalar else "src1"
    if _unique(row):
        prefix, mask = "", f"static_cast<uint64_t>({lanes - 5})"
    else:
        words = [sum(1 << (i - low) for i in range(low, min(low + 64, lanes - 5))) for low in (0, 64)]
        prefix, mask = f"uint64_t mask[2] = {{{words[0]}ULL, {words[1]}ULL}};\n", "mask"
    tail = f"{mask}, {word('uint8_t', 0)}, BinaryRepeatParams()"
    code = f"{prefix}Select(dst, bits, src0, {second}, SELMODE::{mode}, {tail});"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        n = lanes * step[0]
        other = np.resize(scalar, n) if is_scalar else inputs[2].values[:n]
        after = dst.values.copy()
        picked = np.where(chosen[:n], inputs[1].values[:n], other)
        after[:n] = np.where(np.tile(active, step[0]), picked, after[:n])
        return ((after,),)

    form = f"{mode} {'mask' if _unique(row) else 'bits'}"
    yield Case("Select", row.architecture, types, form, code, inputs, (dst,), ((1,), (2,), (4,)), expectation)


def _select_bytes(row: Function, types: tuple[str, ...]) -> Iterator[Case]:
    element, flags = ELEMENTS[types[0]], ELEMENTS[types[1]]
    is_scalar_first = row.parameters[1].kind == "T"
    shapes = ((1, 32, 32), (4, 96, 96), (3, 64, 96)) if element.size == 4 else ((1, 32, 32), (4, 96, 96), (3, 48, 96))
    mask = np.random.default_rng(4).integers(0, 2, CAPACITY).astype(flags.storage)
    inputs = (Operand("src", element, element.samples(CAPACITY, 1)), Operand("mask", flags, mask))
    dst = target_of(element)
    scalar = element.encode(np.array([3.0]))[0]
    operands = f"static_cast<{element.name}>(3), src" if is_scalar_first else f"src, static_cast<{element.name}>(3)"
    code = (
        "SelectWithBytesMaskShapeInfo info;\ninfo.firstAxis = p[0];\n"
        "info.srcLastAxis = p[1];\ninfo.maskLastAxis = p[2];\n"
        f"Select(dst, {operands}, mask, tmp, info);"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rows, columns, stride = step
        flag = mask[: rows * stride].reshape(rows, stride)[:, :columns].reshape(-1) == 0
        values = inputs[0].values[: rows * columns]
        after = dst.values.copy()
        after[: rows * columns] = np.where(flag, scalar, values) if is_scalar_first else np.where(flag, values, scalar)
        return ((after,),)

    form = "bytes mask, scalar first" if is_scalar_first else "bytes mask"
    yield Case("Select", row.architecture, types, form, code, inputs, (dst,), shapes, expectation, tmp_bytes=32768)


def _gather_mask(row: Function, types: tuple[str, ...]) -> Iterator[Case]:
    element = ELEMENTS[types[0]]
    lanes = 256 // element.size
    src = Operand("src", element, element.samples(CAPACITY, 1))
    dst = target_of(element)
    kept = Operand("kept", ELEMENTS["uint32_t"], np.zeros(8, np.uint32))
    by_tensor = len(types) > 1
    inputs: tuple[Operand, ...] = (src,)
    pattern = "static_cast<uint8_t>(p[0])"
    if by_tensor:
        bits = np.random.default_rng(5).integers(0, 256, 64).astype(np.uint8)
        inputs = (src, Operand("pattern", ELEMENTS[types[1]], bits.view(ELEMENTS[types[1]].storage)))
        user = np.unpackbits(bits, bitorder="little").astype(bool)
        pattern = "pattern"
    code = (
        "uint64_t count = 0;\n"
        f"GatherMask(dst, src, {pattern}, p[1] != 0, p[2], GatherMaskParams(1, {word('uint16_t', 3)}, 8, 0), count);\n"
        "kept.SetValue(0, static_cast<uint32_t>(count));"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        code_of_pattern, counts_elements, mask, repeats = step
        per_repeat = mask if counts_elements else lanes
        index = np.concatenate([np.arange(per_repeat) + r * lanes for r in range(repeats)])
        within = np.tile(np.arange(per_repeat), repeats)
        keeps = user[within] if by_tensor else _fixed_pattern(code_of_pattern, within)
        found = src.values[index[keeps]]
        after = dst.values.copy()
        after[: found.size] = found
        total = np.zeros(8, np.uint32)
        total[0] = found.size
        return ((after,), (total,))

    patterns = (0,) if by_tensor else range(1, 8)
    steps = tuple(
        (k, *shape) for k in patterns for shape in ((0, 0, 1), (0, 0, 3), (1, lanes // 2 + 3, 1), (1, lanes - 1, 2))
    )
    form = "tensor pattern" if by_tensor else "fixed pattern"
    yield Case("GatherMask", row.architecture, types, form, code, inputs, (dst, kept), steps, expectation)


def _fixed_pattern(code: int, index: Any) -> Any:
    match code:
        case 1:
            return index % 2 == 0
        case 2:
            return index % 2 == 1
        case 7:
            return np.ones(index.shape, bool)
        case _:
            return index % 4 == code - 3
