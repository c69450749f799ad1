"""Cases of state that outlives an instruction: the mask register, the comparison mask, results of reductions."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step, word
from autofuse_ascend_sim.conformance.comparisons import COMPARISONS
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.operands import target_of

FLOATING = ("half", "float")


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture."""
    for name in FLOATING:
        element = ELEMENTS[name]
        yield _counter_mode(architecture, element, counts)
        yield _normal_mode(architecture, element, by_length=False)
        yield _normal_mode(architecture, element, by_length=True)
        yield _get_compare_mask(architecture, element)
        yield _set_compare_mask(architecture, element)
        for api in ("GetAccVal", "GetReduceRepeatSumSpr"):
            yield _sum_register(architecture, element, api, counts)
        if architecture == "2201":
            for api in ("GetReduceMaxMinCount", "GetReduceRepeatMaxMinSpr"):
                yield _extreme_register(architecture, element, api, counts)
    yield _scalar_cast(architecture)


def _operands(element: Element) -> tuple[tuple[Operand, Operand], Operand]:
    inputs = (
        Operand("src0", element, element.samples(CAPACITY, 1, specials=False)),
        Operand("src1", element, element.samples(CAPACITY, 2, specials=False)),
    )
    return inputs, target_of(element)


def _counter_mode(architecture: str, element: Element, counts: Sequence[int]) -> Case:
    """In counter mode the register holds the number of elements and the repeat count does not matter."""
    inputs, dst = _operands(element)
    total = element.encode(element.decode(inputs[0].values) + element.decode(inputs[1].values))
    code = (
        f"SetMaskCount();\nSetVectorMask<{element.name}, MaskMode::COUNTER>(0, p[0]);\n"
        f"Add<{element.name}, false>(dst, src0, src1, MASK_PLACEHOLDER, 1, BinaryRepeatParams());\n"
        "SetMaskNorm();\nResetMask();"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[: step[0]] = total[: step[0]]
        return ((after,),)

    steps = tuple((count,) for count in counts)
    return Case("SetMaskCount", architecture, (element.name,), "counter", code, inputs, (dst,), steps, expectation)


def _normal_mode(architecture: str, element: Element, by_length: bool) -> Case:
    inputs, dst = _operands(element)
    lanes = 256 // element.size
    total = element.encode(element.decode(inputs[0].values) + element.decode(inputs[1].values))
    words = (
        "static_cast<int32_t>(p[0])"
        if by_length
        else "p[0] | static_cast<uint64_t>(p[1]) << 32, p[2] | static_cast<uint64_t>(p[3]) << 32"
    )
    code = (
        f"SetMaskNorm();\nSetVectorMask<{element.name}, MaskMode::NORMAL>({words});\n"
        f"Add<{element.name}, false>(dst, src0, src1, MASK_PLACEHOLDER, 2, BinaryRepeatParams());\nResetMask();"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        high, low = step[0] | step[1] << 32, step[2] | step[3] << 32
        bits = (1 << step[0]) - 1 if by_length else high << 64 | low
        after = dst.values.copy()
        for lane in range(2 * lanes):
            if bits >> (lane % lanes) & 1:
                after[lane] = total[lane]
        return ((after,),)

    if by_length:
        steps: tuple[Step, ...] = ((1, 0, 0, 0), (lanes // 2 + 1, 0, 0, 0), (lanes, 0, 0, 0))
    else:
        high = (0x0F0F_0001, 0x8000_0000) if lanes == 128 else (0, 0)
        steps = ((*high, 0xAAAA_5555, 0x1234_5678), (0, 0, 1, 0))
    form = "normal by length" if by_length else "normal by bits"
    return Case("SetVectorMask", architecture, (element.name,), form, code, inputs, (dst,), steps, expectation)


def _get_compare_mask(architecture: str, element: Element) -> Case:
    inputs, _ = _operands(element)
    lanes = 256 // element.size
    flags = ELEMENTS["uint8_t"]
    dst = Operand("dst", flags, flags.samples(64, 9, specials=False))
    a, b = (element.decode(operand.values[:lanes]) for operand in inputs)
    code = (
        f"Compare(src0, src1, static_cast<CMPMODE>(p[0]), static_cast<uint64_t>({lanes}), BinaryRepeatParams());\n"
        "PipeBarrier<PIPE_V>();\nGetCmpMask(dst);"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        packed = np.packbits(COMPARISONS[step[0]](a, b).astype(np.uint8), bitorder="little")
        after = dst.values.copy()
        after[: packed.size] = packed
        cleared = after.copy()
        cleared[packed.size : 16] = 0  # the rest of the 128-bit register, which 32-bit elements do not fill
        return ((after, cleared),)

    steps: tuple[Step, ...] = ((0,), (3,))
    return Case("GetCmpMask", architecture, (element.name,), "register", code, inputs, (dst,), steps, expectation)


def _set_compare_mask(architecture: str, element: Element) -> Case:
    inputs, dst = _operands(element)
    lanes = 256 // element.size
    flags = ELEMENTS["uint8_t"]
    bits = Operand("bits", flags, flags.samples(32, 5, specials=False))
    chosen = np.unpackbits(bits.values, bitorder="little").astype(bool)[:lanes]
    code = (
        "SetCmpMask(bits);\nPipeBarrier<PIPE_V>();\n"
        f"Select<{element.name}, SELMODE::VSEL_CMPMASK_SPR>"
        f"(dst, src0, src1, {word('uint8_t', 0)}, BinaryRepeatParams());"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        n = lanes * step[0]
        after = dst.values.copy()
        after[:n] = np.where(np.tile(chosen, step[0]), inputs[0].values[:n], inputs[1].values[:n])
        return ((after,),)

    operands = (*inputs, bits)
    return Case(
        "SetCmpMask", architecture, (element.name,), "register", code, operands, (dst,), ((1,), (2,)), expectation
    )


def _sum_register(architecture: str, element: Element, api: str, counts: Sequence[int]) -> Case:
    """The register repeats what the reduction wrote."""
    inputs, dst = _operands(element)
    whole = element.encode(np.random.default_rng(1).integers(-2, 3, CAPACITY).astype(np.float64))
    src = Operand("src0", element, whole)
    code = (
        f"ReduceSum(dst, src0, tmp.ReinterpretCast<{element.name}>(), static_cast<int32_t>(p[0]));\n"
        f"PipeBarrier<PIPE_ALL>();\ndst.SetValue(16, {api}<{element.name}>());"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[0] = after[16] = element.encode(np.array([element.decode(whole[: step[0]]).sum()]))[0]
        return ((after,),)

    steps = tuple((count,) for count in counts)
    return Case(
        api,
        architecture,
        (element.name,),
        "after ReduceSum",
        code,
        (src, inputs[1]),
        (dst,),
        steps,
        expectation,
        tmp_bytes=8192,
    )


def _extreme_register(architecture: str, element: Element, api: str, counts: Sequence[int]) -> Case:
    inputs, dst = _operands(element)
    code = (
        f"ReduceMax(dst, src0, tmp.ReinterpretCast<{element.name}>(), static_cast<int32_t>(p[0]), true);\n"
        f"PipeBarrier<PIPE_ALL>();\n{element.name} value = 0;\n{element.name} index = 0;\n"
        f"{api}<{element.name}>(value, index);\n"
        "dst.SetValue(16, value);\ndst.SetValue(17, index);"
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        index = int(np.argmax(element.decode(inputs[0].values[: step[0]])))
        raw = np.array([index], f"uint{8 * element.size}").view(element.storage)[0]
        after = dst.values.copy()
        after[0] = after[16] = inputs[0].values[index]
        after[1] = after[17] = raw
        return ((after,),)

    steps = tuple((count,) for count in counts)
    return Case(
        api, architecture, (element.name,), "after ReduceMax", code, inputs, (dst,), steps, expectation, tmp_bytes=8192
    )


def _scalar_cast(architecture: str) -> Case:
    """Conversions of single values, in two rounding modes."""
    source, target = ELEMENTS["float"], ELEMENTS["int32_t"]
    numbers = np.zeros(64, np.float32)
    numbers[:12] = [0.5, 1.5, -0.5, -1.5, 2.5, 1e10, -1e10, 0.0, 3.7, -3.7, 7.0, -0.2]
    src = Operand("src", source, numbers)
    dst = Operand("dst", target, target.samples(64, 9, specials=False))
    code = "\n".join(
        f"if (p[0] == {k}) {{\n    for (uint32_t i = 0; i < 12; ++i) {{\n"
        f"        dst.SetValue(i, ScalarCast<float, int32_t, RoundMode::{mode}>(src.GetValue(i)));\n    }}\n}}"
        for k, mode in enumerate(("CAST_RINT", "CAST_FLOOR", "CAST_TRUNC"))
    )

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rounded = (np.rint, np.floor, np.trunc)[step[0]](numbers[:12].astype(np.float64))
        after = dst.values.copy()
        after[:12] = np.clip(rounded, -(2.0**31), 2.0**31 - 1).astype(np.int32)
        return ((after,),)

    return Case(
        "ScalarCast",
        architecture,
        ("float", "int32_t"),
        "scalar",
        code,
        (src,),
        (dst,),
        ((0,), (1,), (2,)),
        expectation,
    )
