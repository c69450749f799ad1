"""out= may overlap inputs: written through where the kernels prove it safe, by way of a temporary elsewhere."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir.program import HostCall, KernelCall, ProgramRegion


def chain(kit: Any, *steps: tuple[str, tuple[str, ...], str], safe: Any = ((0, 0), (0, 1))) -> Any:
    """A program over a and b of size n; the last step makes c."""
    made = [output for _, _, output in steps]
    buffers = [kit.buffer("a", "input"), kit.buffer("b", "input")]
    buffers += [kit.buffer(name, "output" if name == "c" else "intermediate") for name in made]
    calls = [KernelCall(kernel, inputs, (output,)) for kernel, inputs, output in steps]
    kernels = {
        kernel: kit.kernel(kernel, ["n"] * len(inputs), ["n"], safe=safe if kernel != "shifted" else ())
        for kernel, inputs, _ in steps
    }
    facts = [kit.fact("n", ("a", 0), ("b", 0))]
    return kit.run(kit.program(buffers, calls, ["c"], facts, list(kernels.values())))


def fresh() -> tuple[Any, Any]:
    return np.arange(1, 9, dtype=np.float32), np.arange(10, 18, dtype=np.float32)


def test_in_place_where_the_kernel_allows_it_copies_nothing(kit: Any) -> None:
    fn = chain(kit, ("add_float32", ("a", "b"), "c"))
    for pick in (0, 1):
        arrays = fresh()
        expected = arrays[0] + arrays[1]
        assert fn(*arrays, out=arrays[pick]) is arrays[pick]
        np.testing.assert_array_equal(arrays[pick], expected)
    both = fresh()[0]
    fn(both, both, out=both)
    np.testing.assert_array_equal(both, 2 * fresh()[0])
    assert fn.stats.copies == 0


def test_in_place_where_the_kernel_does_not_allow_it_goes_through_a_temporary(kit: Any) -> None:
    fn = chain(kit, ("shifted", ("a",), "c"))
    a, b = fresh()
    expected = a + a[0]
    fn(a, b, out=a)
    np.testing.assert_array_equal(a, expected)
    assert fn.stats.copies == 1


@pytest.mark.parametrize("shift", [-3, -1, 1, 3])
def test_partial_overlap_goes_through_a_temporary(kit: Any, shift: int) -> None:
    fn = chain(kit, ("add_float32", ("a", "b"), "c"))
    room = np.arange(20, dtype=np.float32)
    b = fresh()[1]
    a, out = room[4:12], room[4 + shift : 12 + shift]
    expected = a + b
    fn(a, b, out=out)
    np.testing.assert_array_equal(out, expected)
    assert fn.stats.copies == 1


def test_an_input_read_later_is_not_overwritten(kit: Any) -> None:
    # c is written first, then a is read again: t makes the last value.
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output"), kit.buffer("d", "output")]
    calls = [KernelCall("scale", ("a",), ("c",)), KernelCall("add_float32", ("a", "c"), ("d",))]
    kernels = [kit.kernel("scale", ["n"], ["n"], safe=((0, 0),)), kit.kernel("add_float32", ["n", "n"], ["n"])]
    fn = kit.run(kit.program(buffers, calls, ["c", "d"], [kit.fact("n", ("a", 0))], kernels))
    a = fresh()[0]
    c, d = fn(a, out=(a, None))
    assert c is a
    np.testing.assert_array_equal(c, 2 * fresh()[0])
    np.testing.assert_array_equal(d, 3 * fresh()[0])


def test_an_input_whose_reads_are_over_may_be_overwritten_anyhow(kit: Any) -> None:
    fn = chain(kit, ("shifted", ("a",), "t"), ("scale", ("t",), "c"))
    room = np.arange(1, 20, dtype=np.float32)
    for offset in (0, 2):
        a, b = room[:8].copy(), fresh()[1]
        whole = np.concatenate([a, np.zeros(8, np.float32)])
        source, out = whole[:8], whole[offset : offset + 8]
        expected = 2 * (source + source[0])
        fn(source, b, out=out)
        np.testing.assert_array_equal(out, expected)
    assert fn.stats.copies == 0


def test_strided_out_that_overlaps_its_input(kit: Any) -> None:
    fn = chain(kit, ("add_float32", ("a", "b"), "c"))
    room = np.arange(16, dtype=np.float32)
    b = fresh()[1]
    expected = room[:8] + b
    fn(room[:8], b, out=room[::2])
    np.testing.assert_array_equal(room[::2], expected)


class Same:
    """A host backend that gives its argument back as it is."""

    def compile(self, region: Any, payloads: Any, constants: Any = None) -> Any:
        return lambda values: [values[0]]


def test_an_input_that_a_host_step_passed_on_is_not_overwritten(kit: Any) -> None:
    buffers = [
        kit.buffer("a", "input"),
        kit.buffer("h", "intermediate"),
        kit.buffer("c", "output"),
        kit.buffer("d", "output"),
    ]
    calls = [HostCall("r", ("a",), ("h",)), KernelCall("twice", ("h",), ("c",)), KernelCall("scale", ("h",), ("d",))]
    kernels = [kit.kernel("twice", ["n"], ["n"], safe=()), kit.kernel("scale", ["n"], ["n"], safe=())]
    regions = (ProgramRegion("r", "same", ("a",), ("h",), ()),)
    program = kit.program(buffers, calls, ["c", "d"], [kit.fact("n", ("a", 0))], kernels, regions=regions)
    fn = kit.run(program, {"same": Same()})
    a = fresh()[0]
    c, d = fn(a, out=(a, None))
    np.testing.assert_array_equal(c, 2 * fresh()[0])
    np.testing.assert_array_equal(d, 2 * fresh()[0])
