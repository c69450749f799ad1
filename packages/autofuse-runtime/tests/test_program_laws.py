"""Random programs on random, overlapping memory give what NumPy gives step by step on copies."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from autofuse_ir.graph import GraphOutput
from autofuse_ir.program import Copy, HostCall, KernelCall, ProgramRegion
from autofuse_runtime.load import load_program
from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
INPUTS = ("a", "b")
ROOM = 24


@frozen
class Step:
    """One operation on values by number: the inputs are 0 and 1, step k makes value k + 2."""

    kind: str
    left: int
    right: int


def meaning(step: Step, values: list[Any]) -> Any:
    left, right = values[step.left], values[step.right]
    match step.kind:
        case "add_float32":
            return left + right
        case "scale":
            return left * 2
        case "shifted":
            return left + left[:1]
        case "reverse" | "host":
            return left[::-1].copy()
        case _:
            return left.copy()


class Reverse:
    """A host backend that gives its argument back: reversed, or as it is."""

    def compile(self, region: Any, payloads: Any, constants: Any = None) -> Any:
        return lambda values: [values[0][::-1]] if region.name.startswith("host") else [values[0]]


@st.composite
def programs(draw: st.DrawFn) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    steps = []
    for position in range(draw(st.integers(1, 6))):
        known = st.integers(0, position + 1)
        kind = draw(st.sampled_from(["add_float32", "scale", "shifted", "reverse", "host", "same", "copy"]))
        steps.append(Step(kind, draw(known), draw(known)))
    made = st.integers(0, len(steps) + 1)
    return tuple(steps), tuple(draw(st.lists(made, min_size=1, max_size=3)))


@pytest.fixture(scope="session")
def kernels(kit: Any) -> Any:
    """All kernels, in one library that every program below takes what it needs from."""
    table = {
        "add_float32": kit.kernel("add_float32", ["n", "n"], ["n"]),
        "scale": kit.kernel("scale", ["n"], ["n"], safe=((0, 0),)),
        "shifted": kit.kernel("shifted", ["n"], ["n"], safe=()),
        "reverse": kit.kernel("reverse", ["n"], ["n"], workspace="4*n", safe=((0, 0),)),
    }
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output")]
    whole = kit.program(
        buffers, [KernelCall("scale", ("a",), ("c",))], ["c"], [kit.fact("n", ("a", 0))], table.values()
    )
    return table, kit.library(whole).path


def built(kit: Any, kernels: Any, steps: tuple[Step, ...], outputs: tuple[int, ...]) -> Any:
    table, library = kernels
    names = [*INPUTS, *(f"v{k}" for k in range(len(steps)))]
    buffers = [kit.buffer(name, "input") for name in INPUTS]
    calls: list[Any] = []
    regions = []
    for position, step in enumerate(steps):
        target = f"v{position}"
        buffers.append(kit.buffer(target, "output" if position + 2 in outputs else "intermediate"))
        left, right = names[step.left], names[step.right]
        match step.kind:
            case "host" | "same":
                regions.append(ProgramRegion(f"{step.kind}{position}", "reverse", (left,), (target,), ()))
                calls.append(HostCall(f"{step.kind}{position}", (left,), (target,)))
            case "copy":
                calls.append(Copy(left, target))
            case "add_float32":
                calls.append(KernelCall(step.kind, (left, right), (target,)))
            case _:
                calls.append(KernelCall(step.kind, (left,), (target,)))
    used = [kernel for name, kernel in table.items() if any(step.kind == name for step in steps)]
    program = kit.program(
        buffers,
        calls,
        ["a"],
        [kit.fact("n", ("a", 0), ("b", 0))],
        used,
        regions=tuple(regions),
    )
    program = evolve(program, outputs=tuple(GraphOutput(f"o{k}", names[value]) for k, value in enumerate(outputs)))
    return load_program(program, library, kit.extension, hosts={"reverse": Reverse()}).function


def results_of(steps: tuple[Step, ...], outputs: tuple[int, ...], a: Any, b: Any) -> list[Any]:
    values = [a.copy(), b.copy()]
    for step in steps:
        values.append(meaning(step, values))
    return [values[value] for value in outputs]


views = st.tuples(st.integers(0, 8), st.sampled_from([1, 1, 1, 2, -1]))


def view(room: Any, n: int, start: int, stride: int) -> Any:
    """``n`` elements of ``room`` from ``start`` on, ``stride`` apart."""
    return room[start : start + n * stride : stride] if stride > 0 else room[start : start + n][::-1]


@given(
    made=programs(),
    n=st.integers(0, 8),
    placed=st.tuples(views, views),
    outs=st.lists(st.none() | views, min_size=3, max_size=3),
)
@SETTINGS
def test_programs_mean_the_same_wherever_their_arrays_lie(
    kit: Any, kernels: Any, made: Any, n: int, placed: Any, outs: list[Any]
) -> None:
    steps, outputs = made
    fn = built(kit, kernels, steps, outputs)
    for _ in range(2):  # the second call runs on what the first one remembered
        room = np.arange(1, ROOM + 1, dtype=np.float32)
        a, b = (view(room, n, *place) for place in placed)
        expected = results_of(steps, outputs, a, b)
        # Outputs lie apart from one another, each where it may overlap the inputs: the first in the same room.
        rooms = [room, *(np.zeros(ROOM, np.float32) for _ in outputs[1:])]
        given_outs = tuple(
            None if place is None else view(rooms[k], n, *place) for k, place in enumerate(outs[: len(outputs)])
        )
        results = fn(a, b, out=given_outs)
        for k, result in enumerate(results if len(outputs) > 1 else (results,)):
            np.testing.assert_array_equal(result, expected[k])
            assert given_outs[k] is None or result is given_outs[k]
