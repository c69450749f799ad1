"""Cases of the element-wise APIs, one for every row of the signature table and every set of element types."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import MASK_WORDS, Case, Expectation, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, count_steps, indices, masked_steps
from autofuse_ascend_sim.conformance.meanings import MEANINGS, Call, Meaning
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every element-wise case of an architecture; the count forms run at all `counts`."""
    for row in functions(architecture):
        if row.topic != "elementwise" or row.name not in MEANINGS or row.form == "flexible_scalar":
            continue
        for instance in row.instantiations:
            types = tuple(text for _, text in instance.arguments)
            yield _case(row, types, counts)
    if architecture == "3510":
        yield from _flexible(counts)


def _case(row: Function, types: tuple[str, ...], counts: Sequence[int]) -> Case:
    meaning = MEANINGS[row.name]
    family, _, shape = row.form.partition("_")
    target, source = ELEMENTS[types[0]], ELEMENTS[types[-1]]
    is_binary = family in ("binary", "mixed")
    has_scalar = family in ("scalar", "axpy") or row.form.startswith("shift_right")
    if row.form == "shift_tensor":
        source = target
        is_binary = True
    inputs = _inputs(meaning, source, is_binary, ELEMENTS[types[-1]] if row.form == "shift_tensor" else source)
    sizes = (target.size, *(operand.element.size for operand in inputs))
    bits = row.form.endswith("bits")
    is_masked = bits or row.form.endswith("mask")
    steps = masked_steps(sizes, bits) if is_masked else count_steps(counts)
    dst = target_of(target)
    scalar = _scalar(meaning, source, "divides" in row.form) if has_scalar else None
    arguments = ["dst", *(operand.name for operand in inputs)]
    if scalar is not None:
        arguments.append(f"static_cast<{source.name}>({_literal(meaning, source)})")
    arguments += _tail(shape, bits, is_masked, len(sizes))
    prefix = meaning.prefix + "\n" if meaning.prefix else ""
    if bits:
        prefix += MASK_WORDS
    return Case(
        api=row.name,
        architecture=row.architecture,
        types=types,
        form=row.form,
        code=f"{prefix}{row.name}({', '.join(arguments)});",
        inputs=inputs,
        outputs=(dst,),
        steps=steps,
        expected=_expected(meaning, dst, inputs, scalar, sizes, bits if is_masked else None),
        ulp=meaning.ulp,
    )


def _inputs(meaning: Meaning, source: Element, is_binary: bool, second: Element) -> tuple[Operand, ...]:
    a = Operand("src0", source, _samples(meaning, source, 1))
    if not is_binary:
        if meaning.divides and not source.is_floating:
            a = Operand("src0", source, _without_zero(source, 1))
        return (a,)
    b = _samples(meaning, second, 2)
    if meaning.divides and not second.is_floating:
        a, b = Operand("src0", source, _without_edges(source, 1)), _without_zero(second, 2)
    if meaning.shifts:
        b = (np.abs(second.samples(CAPACITY, 2, specials=False).astype(np.int64)) % (8 * source.size)).astype(
            second.storage
        )
    return (a, Operand("src1", second, b))


def _samples(meaning: Meaning, element: Element, seed: int) -> Array:
    if "small" in meaning.tags:
        return np.random.default_rng(seed).integers(-20000, 20000, CAPACITY).astype(element.storage)
    return element.samples(CAPACITY, seed, meaning.low, meaning.high, meaning.has_specials)


def _without_edges(element: Element, seed: int) -> Array:
    return element.samples(CAPACITY, seed, specials=False)


def _without_zero(element: Element, seed: int) -> Array:
    drawn = np.random.default_rng(seed).integers(1, 60, CAPACITY).astype(element.storage)
    if np.dtype(element.storage).kind == "i":
        drawn[::3] = -drawn[::3]
    return drawn


def _literal(meaning: Meaning, element: Element) -> str:
    return f"{meaning.scalar}f" if element.is_floating and element.size <= 4 else str(int(meaning.scalar))


def _scalar(meaning: Meaning, element: Element, _: bool) -> Array:
    return element.decode(element.encode(np.array([meaning.scalar])))


def _tail(shape: str, bits: bool, is_masked: bool, operands: int) -> list[str]:
    if not is_masked:
        kind = "uint32_t" if shape.endswith("unsigned") else "int32_t"
        return [f"static_cast<{kind}>(p[0])"]
    params = "BinaryRepeatParams" if operands == 3 else "UnaryRepeatParams"
    narrow = "uint8_t" if operands == 3 else "uint16_t"
    strides = [f"static_cast<{narrow}>(p[{5 + i}])" for i in range(operands)]
    strides += [f"static_cast<uint8_t>(p[{5 + operands + i}])" for i in range(operands)]
    mask = "mask" if bits else "static_cast<uint64_t>(p[0])"
    return [mask, "static_cast<uint8_t>(p[4])", f"{params}({', '.join(strides)})"]


def _expected(
    meaning: Meaning,
    dst: Operand,
    inputs: tuple[Operand, ...],
    scalar: Array | None,
    sizes: tuple[int, ...],
    bits: bool | None,
) -> Expectation:
    numbers = [operand.element.decode(operand.values) for operand in inputs]
    before = dst.element.decode(dst.values)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        if bits is None:
            touched = tuple(np.arange(step[0]) for _ in sizes)
        else:
            touched = indices(step, sizes, bits)
        lanes = [values[index] for values, index in zip(numbers, touched[1:], strict=True)]
        second = lanes[1] if len(lanes) > 1 else scalar
        call = Call(dst.element, inputs[0].element, before[touched[0]], lanes[0], second, scalar)
        results = []
        with np.errstate(all="ignore"):
            for numbers_of_lanes in meaning.apply(call):
                after = dst.values.copy()
                after[touched[0]] = dst.element.encode(numbers_of_lanes)
                results.append(after)
        return (tuple(results),)

    return expectation


def _flexible(counts: Sequence[int]) -> Iterator[Case]:
    """350: a scalar on either side."""
    for row in functions("3510"):
        if row.form != "flexible_scalar":
            continue
        meaning = MEANINGS[row.name]
        for instance in row.instantiations:
            bound = dict(instance.arguments)
            element = ELEMENTS[bound["U"].removeprefix("LocalTensor<").removesuffix(">")]
            left = not bound["S"].startswith("LocalTensor")
            yield _flexible_case(row, meaning, element, left, counts)


def _flexible_case(row: Function, meaning: Meaning, element: Element, left: bool, counts: Sequence[int]) -> Case:
    (source,) = _inputs(meaning, element, False, element)
    dst = target_of(element)
    scalar = _scalar(meaning, element, False)
    literal = f"static_cast<{element.name}>({_literal(meaning, element)})"
    operands = f"{literal}, src0" if left else f"src0, {literal}"
    numbers, before = element.decode(source.values), element.decode(dst.values)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        tensor = numbers[: step[0]]
        fixed = np.full(step[0], scalar[0])
        a, b = (fixed, tensor) if left else (tensor, fixed)
        with np.errstate(all="ignore"):
            (result,) = meaning.apply(Call(element, element, before[: step[0]], a, b, b))
        after = dst.values.copy()
        after[: step[0]] = element.encode(result)
        return ((after,),)

    return Case(
        api=row.name,
        architecture="3510",
        types=(element.name,),
        form="scalar_left" if left else "scalar_right",
        code=f"{row.name}(dst, {operands}, static_cast<int32_t>(p[0]));",
        inputs=(source,),
        outputs=(dst,),
        steps=count_steps(counts),
        expected=expectation,
        ulp=meaning.ulp,
    )
