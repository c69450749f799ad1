"""Reductions and scans of integers and truth values of every width, on one core and on all, against the interpreter."""

import numpy as np
import pytest
from ascend_kernels import TARGETS, Kernel, build, compile_all, inputs_of
from autofuse_ir import dtypes as dt
from autofuse_reference.asc_graph.interpret import interpret

SIZES = ({"n": 1, "m": 1}, {"n": 17, "m": 700}, {"n": 2, "m": 9_000})
ALONG = (("z1",), ("z0",), ("z0", "z1"))
INTEGERS = tuple(d for d in dt.TENSOR_DTYPES if d.is_integer)
OPERATORS = {
    **dict.fromkeys(INTEGERS, ("Sum", "Prod", "Max", "Min")),
    dt.bool_: ("Any", "All", "Max", "Min"),
}


def reduction(op, dtype, axes):
    b = Kernel(f"{op}_{dtype.text}_{'_'.join(axes)}".lower(), {"z0": "n", "z1": "m"})
    value = b.reduce(op, b.read("x", dtype, "z0", "z1"), *axes)
    kept = [axis for axis in b.axes if axis not in axes]
    b.store(value, "y", tuple(b.axes[a] for a in kept) or (1,), tuple(kept) or (0,))
    return b


def scan(op, dtype, axis):
    b = Kernel(f"{op}_{dtype.text}_{axis}".lower(), {"z0": "n", "z1": "m"})
    b.write(b.scan(op, b.read("x", dtype, "z0", "z1"), axis), "y")
    return b


def counts():
    """64-bit sums that are proved to fit 32: a truth value each, and the positions where it holds."""
    b = Kernel("counts", {"z0": "n", "z1": "m"})
    x = b.read("x", dt.bool_, "z0", "z1")
    number = b.cast(x, dt.int64)
    place = b.apply("Select", x, b.axis_index("z1", dt.int64), b.size("m"))
    for name, value in (("sum", b.reduce("Sum", number, "z1")), ("first", b.reduce("Min", place, "z1"))):
        b.store(value, name, ("n",), ("z0",))
    return b


def check(kernels, target, folder, sizes=SIZES):
    emulated = compile_all(build(kernels, target), folder, target)
    for name, built in emulated.kernels.items():
        for number, each in enumerate(sizes):
            arrays = inputs_of(built, each, np.random.default_rng(number), special=True)
            wanted = interpret(built.graph, arrays, each)
            for cores in (None, 1):
                for found, expected in zip(emulated.run(name, arrays, each, cores), wanted, strict=True):
                    np.testing.assert_array_equal(found, expected, err_msg=f"{name} at {each}")


def test_integers_of_every_width_are_reduced(tmp_path):
    some = [(op, d) for d, ops in OPERATORS.items() for op in ops]
    kernels = [reduction(op, d, ALONG[i % 3]) for i, (op, d) in enumerate(some[::4])]
    check([*kernels, scan("CumSum", dt.int64, "z1")], "ascend-a2", tmp_path, SIZES[1:2])


def test_what_is_proved_to_fit_is_joined_in_32_bits(tmp_path):
    built = build([counts()])["counts"]
    (group,) = built.scheduled.alternatives[0].groups
    joined = [n for impl in group.implementations for n in impl.nodes if n.op in ("Sum", "Min") and n.attr("axes")]
    assert {node.dtype for node in joined} == {dt.int32}
    check([counts()], "ascend-a2", tmp_path)


def lengthened(op):
    """An extreme in 64 bits of what 32 hold."""
    b = Kernel(f"{op}_lengthened".lower(), {"z0": "n", "z1": "m"})
    b.store(b.reduce(op, b.cast(b.read("x", dt.int32, "z0", "z1"), dt.int64), "z1"), "y", ("n",), ("z0",))
    return b


def test_extremes_of_nothing_are_those_of_their_type(tmp_path):
    """Whatever types they are joined in."""
    types = (dt.bool_, dt.int8, dt.uint8, dt.int16, dt.uint16, dt.uint32, dt.int64)
    kernels = [reduction(op, d, ("z1",)) for op in ("Max", "Min") for d in types]
    check([*kernels, lengthened("Max"), lengthened("Min")], "ascend-a2", tmp_path, ({"n": 3, "m": 0}, {"n": 5, "m": 9}))


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_every_reduction_and_scan_of_integers(target, tmp_path):
    kernels = [reduction(op, d, axes) for d, ops in OPERATORS.items() for op in ops for axes in ALONG]
    kernels += [scan(op, d, axis) for d in INTEGERS for op in ("CumSum", "CumProd") for axis in ("z0", "z1")]
    check([k for k in kernels if "cum" in k.name], target, tmp_path / "scans", SIZES[:2])
    check([k for k in kernels if "cum" not in k.name], target, tmp_path / "reductions")
