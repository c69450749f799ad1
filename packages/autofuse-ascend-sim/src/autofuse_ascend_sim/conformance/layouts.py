"""Cases of transposition and interleaving."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Step, word
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.operands import case_of, replaced, source_of, target_of
from autofuse_ascend_sim.signatures.table import Function, functions

TOPICS = ("layout",)


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
    del counts  # layouts have shapes of their own
    match row.name:
        case "Transpose" if len(names) == 2:
            yield _transpose(row, element)
        case "Transpose":
            yield from _transpose_images(row, element)
        case "TransDataTo5HD":
            yield from _trans_data(row, element)
        case "Interleave" | "DeInterleave":
            yield _interleave(row, names, element)
        case _:
            return


def _transpose(row: Function, element: Element) -> Case:
    dst, src = target_of(element), source_of(element)
    turned = src.values[:256].reshape(16, 16).T.reshape(-1)
    return case_of(row, element, "16 x 16", "Transpose(dst, src);", (src,), (dst,), ((0,),),
                  lambda _: replaced(dst, np.arange(256), turned))  # fmt: skip


LISTS = {
    "[16]": (
        "LocalTensor<{kind}> to[16];\nLocalTensor<{kind}> from[16];\n"
        "for (uint32_t i = 0; i < 16; ++i) {{\n    to[i] = dst[i * {step}];\n    from[i] = src[i * {step}];\n}}\n"
    ),
    "[]": (
        "uint64_t to[16];\nuint64_t from[16];\nfor (uint32_t i = 0; i < 16; ++i) {{\n"
        "    to[i] = dst[i * {step}].GetPhyAddr();\n    from[i] = src[i * {step}].GetPhyAddr();\n}}\n"
    ),
    "&": (
        "LocalTensor<uint64_t> to = tmp.ReinterpretCast<uint64_t>();\n"
        "LocalTensor<uint64_t> from = to[16];\nfor (uint32_t i = 0; i < 16; ++i) {{\n"
        "    to.SetValue(i, dst[i * {step}].GetPhyAddr());\n    from.SetValue(i, src[i * {step}].GetPhyAddr());\n}}\n"
        "PipeBarrier<PIPE_ALL>();\n"
    ),
}
LIST_FORMS = {"[16]": "tensor lists", "[]": "address arrays", "&": "address lists in UB"}


def _trans_data(row: Function, element: Element) -> Iterator[Case]:
    """Sixteen blocks of the source, one after the other; repeats take the sixteen blocks that follow."""
    kind = row.parameters[0].kind
    ending = next(e for e in LISTS if kind.endswith(e) and not (e == "&" and kind.endswith("[16]")))
    dst, src = target_of(element), source_of(element)
    per_block = 32 // element.size
    params = f"p[0] != 0, p[1] != 0, {word('uint8_t', 2)}, {word('uint16_t', 3)}, {word('uint16_t', 4)}"
    code = LISTS[ending].format(kind=element.name, step=per_block)
    code += f"TransDataTo5HD<{element.name}>(to, from, TransDataTo5HDParams({params}));"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        high_dst, high_src, repeats, dst_stride, src_stride = step
        after = dst.values.copy()
        for r in range(repeats):
            rows = src.values[r * src_stride * per_block :][: 16 * per_block].reshape(16, per_block)
            at = r * dst_stride * per_block
            if element.size == 1:
                half_rows = rows[:, 16 * high_src : 16 * high_src + 16]
                columns = after[at : at + 512].reshape(16, 32)
                columns[:, 16 * high_dst : 16 * high_dst + 16] = half_rows.T
            else:
                # 32-bit elements: eight columns of sixteen, each in two neighbouring blocks.
                after[at : at + 16 * per_block] = rows.T.reshape(-1)
        return ((after,),)

    halves = ((0, 0), (0, 1), (1, 0), (1, 1)) if element.size == 1 else ((0, 0),)
    steps = (*((*half, 1, 0, 0) for half in halves), (0, 0, 2, 16, 16))
    yield case_of(row, element, LIST_FORMS[ending], code, (src,), (dst,), steps, expectation)


def _transpose_images(row: Function, element: Element) -> Iterator[Case]:
    """Channels behind the positions of an image and back; n, c, h, w are the step."""
    dst, src = target_of(element), source_of(element)
    fields = "".join(f"params.{name}Size = {word('uint16_t', k)};\n" for k, name in enumerate("nchw"))
    width = 32 // element.size
    steps = ((1, 1, 1, width), (2, 3, 2, width), (1, 16, 1, 2 * width))
    for kind in ("NCHW2NHWC", "NHWC2NCHW"):
        code = (
            f"TransposeParamsExt params;\n{fields}"
            f"params.transposeType = TransposeType::TRANSPOSE_{kind};\nTranspose(dst, src, tmp, params);"
        )

        def expectation(step: Step, kind: str = kind) -> tuple[tuple[Array, ...], ...]:
            n, c, h, w = step
            shape = (n, c, h * w) if kind == "NCHW2NHWC" else (n, h * w, c)
            turned = src.values[: n * c * h * w].reshape(shape).transpose(0, 2, 1)
            return replaced(dst, np.arange(turned.size), turned.reshape(-1))

        yield case_of(row, element, kind, code, (src,), (dst,), steps, expectation)


def _interleave(row: Function, names: list[str], element: Element) -> Case:
    outputs = (target_of(element, "dst0"), target_of(element, "dst1"))
    inputs = (source_of(element, "src0", 1), source_of(element, "src1", 2))
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
            replaced(outputs[0], np.arange(low.size), low)[0],
            replaced(outputs[1], np.arange(high.size), high)[0],
        )

    form = "two sources" if both else "one source"
    return case_of(row, element, form, code, inputs, outputs, steps, expectation)
