"""A case: one call of one API on given operands, repeated with several parameters, and what it must leave behind."""

from collections.abc import Callable, Sequence

import numpy as np
from attrs import field, frozen

from autofuse_ascend_sim.conformance.elements import Array, Element

PARAMETERS = 16  # 32-bit words a step

# The 128 bits of a mask, from the first four words of a step.
MASK_WORDS = (
    "uint64_t mask[2] = {p[0] | static_cast<uint64_t>(p[1]) << 32, p[2] | static_cast<uint64_t>(p[3]) << 32};\n"
)

Step = tuple[int, ...]
Expectation = Callable[[Step], tuple[tuple[Array, ...], ...]]


@frozen(eq=False)
class Operand:
    """A tensor in UB: its C++ name, its element type and its contents before the call."""

    name: str
    element: Element
    values: Array

    @property
    def bytes(self) -> int:
        """Bytes, rounded up to whole 32-byte blocks."""
        return -(-self.values.nbytes // 32) * 32


@frozen(eq=False)
class Case:
    """One kernel of the conformance set.

    `code` is C++ that sees the operands as LocalTensors, the step's words as `p` and a temporary as `tmp`. `expected`
    gives, for a step, the acceptable contents of each output: one array, or several where rounding may differ.
    `ulp` is how many units in the last place an element may be off.
    """

    api: str
    architecture: str
    types: tuple[str, ...]
    form: str
    code: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    steps: tuple[Step, ...]
    expected: Expectation
    ulp: int = 0
    tmp_bytes: int = field(default=0)

    @property
    def label(self) -> str:
        """API, element types and form, for people."""
        return f"{self.api}<{', '.join(self.types)}> {self.form}"

    def step_words(self) -> Array:
        """The parameters of all steps, padded to whole 64-byte records."""
        words = np.zeros((len(self.steps), PARAMETERS), np.uint32)
        for row, step in zip(words, self.steps, strict=True):
            row[: len(step)] = step
        return words

    def arguments(self) -> list[Array]:
        """What the kernel gets: the steps, the inputs, and a slot for every step of every output."""
        return [
            self.step_words().reshape(-1),
            *(_padded(operand) for operand in self.inputs),
            *(np.tile(_padded(operand), len(self.steps)) for operand in self.outputs),
        ]

    def differences(self, results: Sequence[Array]) -> list[str]:
        """Compares what a run left in the output slots; one line for every step and output that is wrong."""
        found = []
        for number, operand in enumerate(self.outputs):
            slots = results[number].reshape(len(self.steps), -1)[:, : operand.values.size]
            for step, slot in zip(self.steps, slots, strict=True):
                accepted = self.expected(step)[number]
                apart = [operand.element.distance(slot, array) for array in accepted]
                wrong = np.min(np.stack(apart), axis=0) > self.ulp
                if wrong.any():
                    at = int(np.argmax(wrong))
                    shown = operand.element.decode(slot[at : at + 1])[0]
                    wanted = [operand.element.decode(array[at : at + 1])[0] for array in accepted]
                    found.append(
                        f"{self.label} step {step}: {int(wrong.sum())} wrong in {operand.name}, the first at {at}: "
                        f"{shown!r} instead of {wanted}, {apart[0][at]:g} ULP apart"
                    )
        return found


def word(kind: str, index: int) -> str:
    """C++ of a step's word as a `kind`."""
    return f"static_cast<{kind}>(p[{index}])"


def _padded(operand: Operand) -> Array:
    whole = np.zeros(operand.bytes // operand.element.size, operand.values.dtype)
    whole[: operand.values.size] = operand.values
    return whole
