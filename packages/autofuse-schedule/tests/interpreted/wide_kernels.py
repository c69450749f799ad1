"""Kernels without reductions: values that are the same along some axes, and transposes."""

from autofuse_ir import dtypes as dt
from kernel_builder import F32, Kernel


def transposed_sum() -> Kernel:
    b = Kernel("transposed_sum", {"z0": "k", "z1": "m", "z2": "n"})
    x = b.load(b.input("x", F32), ("k", "n", "m"), ("z0", "z2", "z1"))
    b.write(b.op("Add", x, b.read("c", "z0", "z1", "z2")), "y")
    return b


def bias() -> Kernel:
    b = Kernel("bias", {"z0": "n", "z1": "m"})
    b.write(b.apply("Add", b.read("x", "z0", "z1"), b.read("row", "z1")), "y")
    return b


def column_factor() -> Kernel:
    b = Kernel("column_factor", {"z0": "n", "z1": "m"})
    b.write(b.apply("Mul", b.read("x", "z0", "z1"), b.op("Exp", b.read("factor", "z0"))), "y")
    return b


def wide_number() -> Kernel:
    b = Kernel("wide_number", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.op("Select", b.apply("Lt", x, b.scalar(0.0, F32)), b.wide(b.scalar(1.5, F32)), x), "y")
    b.write(b.wide(b.scalar(2.5, F32)), "full")
    return b


def expand() -> Kernel:
    b = Kernel("expand", {"z0": "n", "z1": "m"})
    b.write(b.wide(b.read("row", "z1")), "y")
    return b


def position_mask() -> Kernel:
    b = Kernel("position_mask", {"z0": "n", "z1": "m"})
    mask = b.apply("Lt", b.axis_index("z1", dt.int32), b.read("length", "z0", dtype=dt.int32))
    b.write(b.op("Select", mask, b.read("x", "z0", "z1"), b.wide(b.scalar(0.0, F32))), "y")
    return b


def row_and_column() -> Kernel:
    """A number, a column and a row: each is the same for other tiles."""
    b = Kernel("row_and_column", {"z0": "n", "z1": "m"})
    x = b.apply("Sub", b.read("x", "z0", "z1"), b.read("column", "z0"))
    b.write(b.op("Select", b.apply("Lt", x, b.read("row", "z1")), x, b.wide(b.scalar(1.0, F32))), "y")
    return b


KERNELS = (transposed_sum, bias, column_factor, wide_number, expand, position_mask, row_and_column)
