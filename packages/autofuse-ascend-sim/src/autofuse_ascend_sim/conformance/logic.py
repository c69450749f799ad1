"""Cases of the element-wise functions that only 350 has, and of running sums."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY, count_steps
from autofuse_ascend_sim.conformance.meanings import whole_number
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function, functions

Numbers = Any
LOGICAL: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "LogicalAnd": lambda a, b: (a != 0) & (b != 0),
    "LogicalOr": lambda a, b: (a != 0) | (b != 0),
    "LogicalXor": lambda a, b: (a != 0) ^ (b != 0),
}
CLASSES: dict[str, Callable[[Numbers], Numbers]] = {"IsNan": np.isnan, "IsInf": np.isinf, "IsFinite": np.isfinite}
SUM_SHAPES = ((1, 16), (5, 32), (16, 64), (17, 48))


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every case of an architecture."""
    for row in functions(architecture):
        if row.uncovered or row.topic not in ("math", "elementwise", "compare"):
            continue
        for instance in row.instantiations:
            arguments = dict(instance.arguments)
            case = _case(row, arguments, counts)
            if case is not None:
                yield case


def _case(row: Function, arguments: dict[str, str], counts: Sequence[int]) -> Case | None:
    match row.name:
        case "LogicalAnd" | "LogicalOr" | "LogicalXor":
            return _logical(row, ELEMENTS[arguments["U"]], counts)
        case "LogicalNot":
            source = ELEMENTS[arguments["U"]]
            return _map(
                row, (source.name,), ELEMENTS["bool"], (_small(source, "src0", 1),), "src0", counts, lambda a: a == 0
            )
        case "LogicalAnds" | "LogicalOrs":
            return _logical_scalar(row, arguments, counts)
        case "IsNan" | "IsInf":
            return _classify(row, ELEMENTS[arguments["U"]], ELEMENTS[arguments["T"]], counts)
        case "IsFinite":
            return _classify(row, ELEMENTS[arguments["T"]], ELEMENTS[arguments["U"]], counts)
        case "BitwiseNot":
            element = ELEMENTS[arguments["T"]]
            return _map(row, (element.name,), element, (_any(element, "src0", 1),), "src0", counts, lambda a: ~a)
        case "Fma":
            return _fma(row, ELEMENTS[arguments["T"]], counts)
        case "Truncate":
            element = ELEMENTS[arguments["T"]]
            explicit = f"Truncate<{element.name}, RoundMode::CAST_RINT>(dst, src0, p[0]);"
            return _map(row, (element.name,), element, (_any(element, "src0", 1),), "src0", counts,
                        lambda a: whole_number("R", a), explicit)  # fmt: skip
        case "FusedMulsCast":
            explicit = "FusedMulsCast<half, float, DEFAULT_BINARY_CONFIG>(dst, src0, 1.5f, p[0]);"
            source = ELEMENTS["float"]
            return _map(row, ("half", "float"), ELEMENTS["half"], (_any(source, "src0", 1),), "src0", counts,
                        lambda a: a * 1.5, explicit)  # fmt: skip
        case "Mull":
            return _mull(row, ELEMENTS[arguments["T"]], counts)
        case "SinCos":
            return _sin_cos(row, ELEMENTS[arguments["T"]], counts)
        case "Clamp":
            return _clamp(row, arguments, counts)
        case "Where":
            return _where(row, arguments, counts)
        case "CumSum" if len(row.parameters) == 5:
            return _running_sum(row, ELEMENTS[arguments["T"]])
        case _:
            return None


def _any(element: Element, name: str, seed: int) -> Operand:
    return Operand(name, element, element.samples(CAPACITY, seed))


def _small(element: Element, name: str, seed: int) -> Operand:
    """Elements of which many are zero."""
    drawn = np.random.default_rng(seed).integers(0, 3, CAPACITY)
    return Operand(
        name,
        element,
        element.encode(drawn.astype(np.float64)) if element.is_floating else drawn.astype(element.storage),
    )


def _flags(target: Element, flags: Numbers) -> Numbers:
    return flags.astype(np.float64) if target.is_floating else flags


def _map(
    row: Function,
    types: tuple[str, ...],
    target: Element,
    inputs: tuple[Operand, ...],
    operands: str,
    counts: Sequence[int],
    of: Callable[..., Numbers],
    code: str = "",
    ulp: int = 0,
) -> Case:
    dst = target_of(target)
    with np.errstate(all="ignore"):
        results = target.encode(of(*(operand.element.decode(operand.values) for operand in inputs)))

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[: step[0]] = results[: step[0]]
        return ((after,),)

    text = code or f"{row.name}(dst, {operands}, p[0]);"
    return Case(row.name, row.architecture, types, "count", text, inputs, (dst,), count_steps(counts), expectation, ulp)


def _logical(row: Function, source: Element, counts: Sequence[int]) -> Case:
    inputs = (_small(source, "src0", 1), _small(source, "src1", 2))
    return _map(row, (source.name,), ELEMENTS["bool"], inputs, "src0, src1", counts, LOGICAL[row.name])


def _logical_scalar(row: Function, arguments: dict[str, str], counts: Sequence[int]) -> Case:
    element = ELEMENTS[arguments["U"].removeprefix("LocalTensor<").removesuffix(">")]
    inputs = (_small(element, "src0", 1), _small(element, "src1", 2))
    literal = "true" if element.name == "bool" else "1"
    first, second = (_side(arguments[k], name, literal, element) for k, name in (("U", "src0"), ("S", "src1")))
    of = LOGICAL[row.name.removesuffix("s")]

    def result(a: Numbers, b: Numbers) -> Numbers:
        return of(a if first == "src0" else np.ones_like(a), b if second == "src1" else np.ones_like(b))

    code = f"{row.name}(dst, {first}, {second}, p[0]);"
    return _map(row, tuple(arguments.values()), ELEMENTS["bool"], inputs, "", counts, result, code)


def _classify(row: Function, source: Element, target: Element, counts: Sequence[int]) -> Case:
    of = CLASSES[row.name]
    return _map(row, (target.name, source.name), target, (_any(source, "src0", 1),), "src0", counts,
                lambda a: _flags(target, of(a)))  # fmt: skip


def _fma(row: Function, element: Element, counts: Sequence[int]) -> Case:
    inputs = tuple(Operand(f"src{k}", element, element.samples(CAPACITY, k + 1, specials=False)) for k in range(3))
    # One rounding: the product of two floats is exact in float64, its sum nearly so.
    return _map(row, (element.name,), element, inputs, "src0, src1, src2", counts, lambda a, b, c: a * b + c, ulp=1)


def _mull(row: Function, element: Element, counts: Sequence[int]) -> Case:
    inputs = (_any(element, "src0", 1), _any(element, "src1", 2))
    outputs = tuple(Operand(name, element, element.samples(CAPACITY, 9, specials=False)) for name in ("low", "high"))
    products = [int(a) * int(b) for a, b in zip(*(operand.values for operand in inputs), strict=True)]
    halves = [
        np.array([(p >> shift) & 0xFFFF_FFFF for p in products], np.uint32).view(element.storage) for shift in (0, 32)
    ]

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        found = []
        for operand, half in zip(outputs, halves, strict=True):
            after = operand.values.copy()
            after[: step[0]] = half[: step[0]]
            found.append((after,))
        return tuple(found)

    code = "Mull(low, high, src0, src1, p[0]);"
    return Case(
        row.name, row.architecture, (element.name,), "count", code, inputs, outputs, count_steps(counts), expectation
    )


def _sin_cos(row: Function, element: Element, counts: Sequence[int]) -> Case:
    src = Operand("src0", element, element.samples(CAPACITY, 1, -100, 100))
    outputs = tuple(Operand(name, element, element.samples(CAPACITY, 9, specials=False)) for name in ("sine", "cosine"))
    numbers = element.decode(src.values)
    with np.errstate(all="ignore"):
        results = [element.encode(of(numbers)) for of in (np.sin, np.cos)]

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        found = []
        for operand, result in zip(outputs, results, strict=True):
            after = operand.values.copy()
            after[: step[0]] = result[: step[0]]
            found.append((after,))
        return tuple(found)

    code = "SinCos(sine, cosine, src0, p[0]);"
    return Case(
        row.name, row.architecture, (element.name,), "count", code, (src,), outputs, count_steps(counts), expectation, 1
    )


def _side(text: str, name: str, value: str, element: Element) -> str:
    return name if text.startswith("LocalTensor") else f"static_cast<{element.name}>({value})"


def _clamp(row: Function, arguments: dict[str, str], counts: Sequence[int]) -> Case:
    element = ELEMENTS[arguments["T"]]
    drawn = (element.samples(CAPACITY, k, specials=False) for k in (1, 2, 3))
    values = [np.sort(x) if k == 0 else x for k, x in enumerate(drawn)]
    inputs = tuple(Operand(f"src{k}", element, x) for k, x in enumerate(values))
    low = _side(arguments["U"], "src1", "1", element)
    high = _side(arguments["S"], "src2", "5", element)

    def of(x: Numbers, a: Numbers, b: Numbers) -> Numbers:
        bottom = a if low == "src1" else x.dtype.type(1)
        top = b if high == "src2" else x.dtype.type(5)
        return np.minimum(np.maximum(x, bottom), top)

    types = tuple(arguments.values())
    return _map(row, types, element, inputs, "", counts, of, f"Clamp(dst, src0, {low}, {high}, p[0]);")


def _where(row: Function, arguments: dict[str, str], counts: Sequence[int]) -> Case:
    element = ELEMENTS[arguments["T"]]
    inputs = (_any(element, "src0", 1), _any(element, "src1", 2), _small(ELEMENTS["bool"], "condition", 3))
    first = _side(arguments["U"], "src0", "1", element)
    second = _side(arguments["S"], "src1", "5", element)

    def of(a: Numbers, b: Numbers, condition: Numbers) -> Numbers:
        yes = a if first == "src0" else a.dtype.type(1)
        no = b if second == "src1" else b.dtype.type(5)
        return np.where(condition, yes, no)

    types = tuple(arguments.values())
    return _map(row, types, element, inputs, "", counts, of, f"Where(dst, {first}, {second}, condition, p[0]);")


def _running_sum(row: Function, element: Element) -> Case:
    """Along both axes, with the last row written as well."""
    whole = element.encode(np.random.default_rng(1).integers(-2, 3, CAPACITY).astype(np.float64))
    src = Operand("src", element, whole)
    dst, last = (Operand(name, element, element.samples(CAPACITY, 9, specials=False)) for name in ("dst", "last"))
    numbers = element.decode(whole)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rows, columns, along_rows = step
        matrix = numbers[: rows * columns].reshape(rows, columns)
        sums = element.encode(np.cumsum(matrix, axis=1 if along_rows else 0))
        after, row_after = dst.values.copy(), last.values.copy()
        after[: sums.size] = sums.reshape(-1)
        row_after[:columns] = sums[-1]
        return ((after,), (row_after,))

    code = (
        "static constexpr CumSumConfig along = {true, false, true, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};\n"
        "static constexpr CumSumConfig across = {false, false, true, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};\n"
        "const CumSumInfo info = {p[0], p[1]};\n"
        f"if (p[2] != 0) {{\n    CumSum<{element.name}, along>(dst, last, src, tmp, info);\n}} else {{\n"
        f"    CumSum<{element.name}, across>(dst, last, src, tmp, info);\n}}"
    )
    steps = tuple((*shape, axis) for shape in SUM_SHAPES for axis in (0, 1))
    return Case(
        row.name,
        row.architecture,
        (element.name,),
        "both axes",
        code,
        (src,),
        (dst, last),
        steps,
        expectation,
        tmp_bytes=16384,
    )
