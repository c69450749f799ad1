"""Operands, masks and results that the families of moving APIs share."""

from typing import Any

from autofuse_ascend_sim.conformance.case import MASK_WORDS, Case, Expectation, Operand, Step
from autofuse_ascend_sim.conformance.elements import Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.signatures.table import Function


def source_of(element: Element, name: str = "src", seed: int = 1) -> Operand:
    """Samples to read."""
    return Operand(name, element, element.samples(CAPACITY, seed))


def target_of(element: Element, name: str = "dst") -> Operand:
    """What a destination holds before the call."""
    return Operand(name, element, element.samples(CAPACITY, 9, specials=False))


def form_of(row: Function) -> str:
    """count, mask or bits."""
    kinds = {p.name: p.kind for p in row.parameters}
    return "count" if "mask" not in kinds else "bits" if kinds["mask"].endswith("[]") else "mask"


def case_of(
    row: Function,
    element: Element,
    form: str,
    code: str,
    inputs: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    steps: tuple[Step, ...],
    expected: Expectation,
) -> Case:
    """A case of one element type with a temporary."""
    types = (element.name,)
    return Case(row.name, row.architecture, types, form, code, inputs, outputs, steps, expected, tmp_bytes=36864)


def replaced(dst: Operand, index: Any, values: Any) -> tuple[tuple[Array, ...], ...]:
    """The destination with some elements replaced, as the only acceptable result."""
    after = dst.values.copy()
    after[index] = values
    return ((after,),)


def mask_of(row: Function) -> tuple[str, str]:
    """C++ before the call and the mask argument of a masked form."""
    return (MASK_WORDS, "mask") if form_of(row) == "bits" else ("", "static_cast<uint64_t>(p[0])")
