"""Cases of the reductions: instructions over repeats, blocks and pairs, and count forms."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from autofuse_ascend_sim.conformance.case import Case, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.matrix_reductions import matrix_case, rows_case
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions

ORDERS = ("ORDER_VALUE_INDEX", "ORDER_INDEX_VALUE", "ORDER_ONLY_VALUE", "ORDER_ONLY_INDEX")
WHOLE = ("WholeReduceSum", "WholeReduceMax", "WholeReduceMin", "RepeatReduceSum")
GENERAL = {
    "ReduceRepeat": ("WholeReduceSum", "WholeReduceMax", "WholeReduceMin"),
    "ReduceDataBlock": ("BlockReduceSum", "BlockReduceMax", "BlockReduceMin"),
    "ReducePairElem": ("PairReduceSum",),
}
PARTS = ("BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum")


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every reduction of an architecture."""
    for row in functions(architecture):
        if row.topic != "reduce" or row.listed_only:
            continue
        names = [p.name for p in row.parameters]
        for instance in row.instantiations:
            types = tuple(text for _, text in instance.arguments if text in ELEMENTS)
            if row.level == "high" and "srcShape" in names:
                yield matrix_case(row, types[0], dict(instance.arguments)["pattern"])
            elif row.level == "high" and row.name in ("Sum", "Mean"):
                yield rows_case(row, types)
            elif row.name == "ReduceXorSum":
                yield _xor_sum(row, types[0], counts)
            elif row.name in WHOLE:
                yield from _whole(row, types[0])
            elif row.name in PARTS:
                yield _parts(row, types[0])
            elif row.name in GENERAL:
                yield from _general(row, types[0])
            elif row.name in ("ReduceSum", "ReduceMax", "ReduceMin") and "count" in names:
                yield from _counted(row, types[0], counts)


def tree(element: Element, values: Any, join: Callable[[Any, Any], Any]) -> Any:
    """Pairwise reduction of the last axis, rounded to the element type at every level; its length is a power of two."""
    while values.shape[-1] > 1:
        values = element.decode(element.encode(join(values[..., 0::2], values[..., 1::2])))
    return values[..., 0]


def _join(name: str) -> Callable[[Any, Any], Any]:
    return np.maximum if "Max" in name else np.minimum if "Min" in name else np.add


def _neutral(name: str, element: Element) -> float:
    if "Max" in name:
        return -np.inf if element.is_floating else float(np.iinfo(element.storage).min)
    if "Min" in name:
        return np.inf if element.is_floating else float(np.iinfo(element.storage).max)
    return 0.0


def _source(element: Element) -> Operand:
    return Operand("src", element, element.samples(CAPACITY, 1, specials=False))


def _mask_text(row: Function) -> tuple[str, str]:
    kind = next(p.kind for p in row.parameters if p.name == "mask")
    if not kind.endswith("[]"):
        return "", "static_cast<int32_t>(p[0])"
    words = (
        "const uint64_t low = p[0] >= 64 ? ~0ULL : (1ULL << p[0]) - 1;\n"
        "const uint64_t high = p[0] <= 64 ? 0 : p[0] >= 128 ? ~0ULL : (1ULL << (p[0] - 64)) - 1;\n"
        "const uint64_t mask[2] = {low, high};\n"
    )
    return words, "mask"


def _form(row: Function) -> str:
    kind = next(p.kind for p in row.parameters if p.name == "mask")
    return "bits" if kind.endswith("[]") else "mask"


def _repeats(values: Any, lanes: int, repeats: int, stride: int, per_block: int) -> Any:
    starts = np.arange(repeats)[:, None] * stride * per_block
    return values[starts + np.arange(lanes)]


def _whole(row: Function, kind: str) -> Iterator[Case]:
    element = ELEMENTS[kind]
    lanes, per_block = 256 // element.size, 32 // element.size
    src, dst = _source(element), target_of(element)
    numbers = element.decode(src.values)
    words, mask = _mask_text(row)
    is_sum = row.name.endswith("Sum")
    join, neutral = _join(row.name), _neutral(row.name, element)
    for order in ("",) if is_sum else ORDERS:
        width = {"ORDER_VALUE_INDEX": 2, "ORDER_INDEX_VALUE": 2}.get(order, 1)
        if order == "ORDER_ONLY_INDEX" and element.size == 2:
            width = 2  # the index is a 32-bit number
        if row.name == "RepeatReduceSum":
            arguments = f"p[1], {mask}, 1, 1, p[2], p[3]"
        else:
            arguments = f"{mask}, p[1], p[2], 1, p[3]" + (f", ReduceOrder::{order}" if order else "")

        def expectation(step: Step, order: str = order, width: int = width) -> tuple[tuple[Array, ...], ...]:
            active, repeats, dst_stride, src_stride = step
            rows = _repeats(numbers, lanes, repeats, src_stride, per_block).astype(
                np.float64 if element.is_floating else object
            )
            rows[:, active:] = neutral if element.is_floating else int(neutral)
            after = dst.values.copy()
            for r, row_values in enumerate(rows):
                at = r * dst_stride * width
                if order == "":
                    if element.is_floating:
                        after[at] = element.encode(np.array([tree(element, row_values, join)]))[0]
                    else:
                        after[at] = np.array(
                            [int(sum(row_values)) & ((1 << 8 * element.size) - 1)], f"uint{8 * element.size}"
                        ).view(element.storage)[0]
                    continue
                index = int((np.argmax if "Max" in row.name else np.argmin)(row_values[:active]))
                value = element.encode(
                    np.array([row_values[index]]).astype(np.float64 if element.is_floating else element.storage)
                )[0]
                raw = np.array([index], f"uint{8 * element.size}").view(element.storage)[0]
                match order:
                    case "ORDER_VALUE_INDEX":
                        after[at], after[at + 1] = value, raw
                    case "ORDER_INDEX_VALUE":
                        after[at], after[at + 1] = raw, value
                    case "ORDER_ONLY_VALUE":
                        after[at] = value
                    case _:
                        after.view(np.uint32)[r * dst_stride] = index
            return ((after,),)

        steps = (
            (lanes, 1, 1, 8),
            (lanes, 4, 1, 8),
            (1, 3, 1, 8),
            (lanes - 3, 3, 2, 8),
            (lanes, 2, 1, 16),
            (lanes, 3, 4, 0),
        )
        yield Case(row.name, row.architecture, (kind,), f"{order} {_form(row)}".strip(),
                   f"{words}{row.name}(dst, src, {arguments});", (src,), (dst,), steps, expectation)  # fmt: skip


def _parts(row: Function, kind: str) -> Case:
    element = ELEMENTS[kind]
    lanes, per_block = 256 // element.size, 32 // element.size
    src, dst = _source(element), target_of(element)
    numbers = element.decode(src.values)
    words, mask = _mask_text(row)
    join, neutral = _join(row.name), _neutral(row.name, element)
    part = 2 if row.name.startswith("Pair") else per_block
    results = lanes // part

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        active, repeats, dst_stride, src_stride = step
        rows = _repeats(numbers, lanes, repeats, src_stride, per_block)
        rows[:, active:] = neutral
        reduced = element.encode(tree(element, rows.reshape(repeats, results, part), join))
        after = dst.values.copy()
        # Parts without an active lane keep what was there; blocks on 350 get the neutral value instead.
        has_neutral = row.architecture == "3510" and part > 2
        filled = results if has_neutral else -(-active // part)
        for r in range(repeats):
            at = r * dst_stride * results
            after[at : at + filled] = reduced[r, :filled]
        return ((after,),)

    steps = ((lanes, 1, 1, 8), (lanes, 4, 1, 8), (lanes, 2, 2, 8), (lanes // 2, 3, 1, 8), (lanes, 2, 1, 16))
    code = f"{words}{row.name}(dst, src, p[1], {mask}, p[2], 1, p[3]);"
    return Case(row.name, row.architecture, (kind,), _form(row), code, (src,), (dst,), steps, expectation)


def _general(row: Function, kind: str) -> Iterator[Case]:
    """The newer names: the kind of reduction is a template argument and the mask comes before the repeats."""
    for old in GENERAL[row.name]:
        renamed = evolve(row, name=old)
        reduction = "SUM" if old.endswith("Sum") else old[-3:].upper()
        for case in _whole(renamed, kind) if old in WHOLE else (_parts(renamed, kind),):
            words, mask = _mask_text(row)
            order = next((name for name in ORDERS if case.form.startswith(name)), "")
            tail = f", ReduceOrder::{order}" if order else ""
            explicit = f"<ReduceType::{reduction}, {kind}, {kind}>"
            code = f"{words}{row.name}{explicit}(dst, src, {mask}, p[1], p[2], 1, p[3]{tail});"
            yield evolve(case, api=row.name, form=f"{reduction} {case.form}", code=code)


def _counted(row: Function, kind: str, counts: Sequence[int]) -> Iterator[Case]:
    element = ELEMENTS[kind]
    lanes = 256 // element.size
    src, dst = _source(element), target_of(element)
    numbers = element.decode(src.values)
    name = row.name

    def total(n: int) -> Array:
        if not element.is_floating:
            return np.array([np.sum(src.values[:n], dtype=src.values.dtype)])
        padded = np.zeros(-(-n // lanes) * lanes)
        padded[:n] = numbers[:n]
        sums = tree(element, padded.reshape(-1, lanes), np.add)
        running = 0.0
        for value in sums:
            running = float(element.decode(element.encode(np.array([running + value])))[0])
        return element.encode(np.array([running]))

    for with_index in (False,) if name == "ReduceSum" else (False, True):

        def expectation(step: Step, with_index: bool = with_index) -> tuple[tuple[Array, ...], ...]:
            (n,) = step
            after = dst.values.copy()
            if name == "ReduceSum":
                after[0] = total(n)[0]
                return ((after,),)
            index = int((np.argmax if name == "ReduceMax" else np.argmin)(numbers[:n]))
            after[0] = src.values[index]
            if with_index:
                after[1] = np.array([index], f"uint{8 * element.size}").view(element.storage)[0]
            return ((after,),)

        tail = ", true" if with_index else ""
        code = f"{name}(dst, src, tmp.ReinterpretCast<{kind}>(), static_cast<int32_t>(p[0]){tail});"
        steps = tuple((count,) for count in counts)
        form = "count with index" if with_index else "count"
        yield Case(name, row.architecture, (kind,), form, code, (src,), (dst,), steps, expectation, tmp_bytes=8192)


def _xor_sum(row: Function, kind: str, counts: Sequence[int]) -> Case:
    element = ELEMENTS[kind]
    inputs = tuple(Operand(f"src{i}", element, element.samples(CAPACITY, i + 1)) for i in range(2))
    dst = target_of(element)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[0] = np.sum(inputs[0].values[: step[0]] ^ inputs[1].values[: step[0]], dtype=element.storage)
        return ((after,),)

    steps = tuple((count,) for count in counts)
    code = "ReduceXorSum(dst, src0, src1, tmp, p[0]);"
    return Case(row.name, row.architecture, (kind,), "count", code, inputs, (dst,), steps, expectation, tmp_bytes=8192)
