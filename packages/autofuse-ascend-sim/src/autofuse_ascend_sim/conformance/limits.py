"""Cases of NumericLimits: each limit as a fill of a tensor, and as a value behind it."""

from collections.abc import Iterator, Sequence

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.operands import source_of, target_of

INTEGERS = ("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t")
VALUE_AT = 1100


def cases(architecture: str, counts: Sequence[int]) -> Iterator[Case]:
    """Every limit of every element type of an architecture."""
    floating = ("half", "float", "bfloat16_t") if architecture == "3510" else ("half", "float")
    for name in INTEGERS:
        limits = np.iinfo(ELEMENTS[name].storage)
        for limit, value in (("Max", limits.max), ("Lowest", limits.min), ("Min", limits.min)):
            yield _case(architecture, ELEMENTS[name], limit, np.array([value], ELEMENTS[name].storage), counts)
    for name in floating:
        element = ELEMENTS[name]
        for limit, number in _numbers(element).items():
            yield _case(architecture, element, limit, element.encode(np.array([number])), counts)


def _numbers(element: Element) -> dict[str, float]:
    if element.is_bfloat16:
        largest, normal, smallest = (2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133
    else:
        info = np.finfo(element.storage)
        largest, normal, smallest = float(info.max), float(info.smallest_normal), float(info.smallest_subnormal)
    return {
        "Max": largest,
        "Lowest": -largest,
        "Min": normal,
        "Infinity": np.inf,
        "NegativeInfinity": -np.inf,
        "QuietNaN": np.nan,
        "SignalingNaN": np.nan,
        "DeNormMin": smallest,
    }


def _case(architecture: str, element: Element, limit: str, value: Array, counts: Sequence[int]) -> Case:
    dst = target_of(element)
    api = f"NumericLimits<{element.name}>::{limit}"
    code = f"{api}(dst, p[0]);\nPipeBarrier<PIPE_ALL>();\ndst.SetValue({VALUE_AT}, {api}());"

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        after = dst.values.copy()
        after[: step[0]] = after[VALUE_AT] = value[0]
        return ((after,),)

    steps = tuple((count,) for count in counts)
    inputs = (source_of(element),)
    return Case("NumericLimits", architecture, (element.name,), limit, code, inputs, (dst,), steps, expectation)
