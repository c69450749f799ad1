"""Cases of the copies that only 350 has: several dimensions, loops around a copy, compact padding."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Step
from autofuse_ascend_sim.conformance.copies import copied_operands
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.operands import replaced, target_of

TYPES = ("int8_t", "half", "float", "int64_t")


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of 350."""
    del counts
    if architecture != "3510":
        return
    for name in TYPES:
        element = ELEMENTS[name]
        yield _dimensions(element, nearest=False)
        yield _dimensions(element, nearest=True)
        yield _loops(element)
        yield _compact(element)
        yield _again(element)


def _dimensions(element: Element, nearest: bool) -> Case:
    """A matrix is read by columns, with one row of padding before and two after."""
    src, _ = copied_operands(element)
    dst = target_of(element)
    prelude = "static constexpr NdDmaConfig config = {true, 0xffff, 0xffff, false};\n" if nearest else ""
    explicit = f"{element.name}, 2, config" if nearest else f"{element.name}, 2"
    code = (
        f"{prelude}MultiCopyParams<{element.name}, 2> params;\n"
        "params.loopInfo.loopSrcStride[0] = p[1];\nparams.loopInfo.loopSrcStride[1] = 1;\n"
        "params.loopInfo.loopDstStride[0] = 1;\nparams.loopInfo.loopDstStride[1] = p[0] + 3;\n"
        "params.loopInfo.loopSize[0] = p[0];\nparams.loopInfo.loopSize[1] = p[1];\n"
        "params.loopInfo.loopLpSize[0] = 1;\nparams.loopInfo.loopRpSize[0] = 2;\n"
        f"params.constantValue = static_cast<{element.name}>(3);\n"
        f"DataCopy<{explicit}>(dst, src_global[0], params);"
    )
    three = element.encode(np.array([3.0])) if element.is_floating else np.array([3]).astype(element.storage)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rows, columns = step
        turned = src.values[: rows * columns].reshape(rows, columns).T
        if nearest:
            padded = np.pad(turned, ((0, 0), (1, 2)), mode="edge")
        else:
            padded = np.pad(turned, ((0, 0), (1, 2)), constant_values=three[0])
        return replaced(dst, np.arange(padded.size), padded.reshape(-1))

    form = "two dimensions, nearest" if nearest else "two dimensions"
    return Case("DataCopy", "3510", (element.name,), form, code, (src,), (dst,), ((1, 1), (5, 7), (16, 8)), expectation)


def _loops(element: Element) -> Case:
    """Two loops around a copy of one block, with strides in bytes."""
    src, _ = copied_operands(element)
    dst = target_of(element)
    per_block = 32 // element.size
    code = (
        "LoopModeParams loops;\nloops.loop1Size = 3;\nloops.loop2Size = 2;\nloops.loop1SrcStride = 64;\n"
        "loops.loop1DstStride = 32;\nloops.loop2SrcStride = 256;\nloops.loop2DstStride = 128;\n"
        "SetLoopModePara(loops, DataCopyMVType::OUT_TO_UB);\n"
        f"DataCopyPad(dst, src_global[0], DataCopyExtParams(1, 32, 0, 0, 0), DataCopyPadExtParams<{element.name}>());\n"
        "ResetLoopModePara(DataCopyMVType::OUT_TO_UB);"
    )

    def expectation(_: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        for outer in range(2):
            for inner in range(3):
                at, start = (outer * 4 + inner) * per_block, (outer * 8 + inner * 2) * per_block
                after[at : at + per_block] = src.values[start : start + per_block]
        return ((after,),)

    return Case("SetLoopModePara", "3510", (element.name,), "loads", code, (src,), (dst,), ((0,),), expectation)


def _compact(element: Element) -> Case:
    """Blocks follow each other without padding; together they fill whole 32-byte blocks."""
    src, _ = copied_operands(element)
    dst = target_of(element)
    code = (
        f"DataCopyPad<{element.name}, PaddingMode::Compact>(dst, src_global[0], "
        f"DataCopyExtParams(8, {4 * element.size}, {2 * element.size}, 0, 0), DataCopyPadExtParams<{element.name}>());"
    )
    index = np.concatenate([b * 6 + np.arange(4) for b in range(8)])
    return Case("DataCopyPad", "3510", (element.name,), "compact", code, (src,), (dst,), ((0,),),
                lambda _: replaced(dst, np.arange(32), src.values[index]))  # fmt: skip


def _again(element: Element) -> Case:
    """A negative gap reads the same block for every block of the destination."""
    src, _ = copied_operands(element)
    dst = target_of(element)
    per_block = 32 // element.size
    code = (
        f"DataCopyPad(dst, src_global[0], DataCopyExtParams(5, 32, -32, 0, 0), DataCopyPadExtParams<{element.name}>());"
    )
    return Case("DataCopyPad", "3510", (element.name,), "same block", code, (src,), (dst,), ((0,),),
                lambda _: replaced(dst, np.arange(5 * per_block), np.tile(src.values[:per_block], 5)))  # fmt: skip
