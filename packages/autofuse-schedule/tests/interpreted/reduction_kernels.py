"""Kernels with reductions."""

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import Operand
from autofuse_ir.asc_graph import Bounds
from kernel_builder import F32, Kernel


def softmax() -> Kernel:
    b = Kernel("softmax", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def layer_norm() -> Kernel:
    """Residual + layer norm with weights; the sum and the inverse deviation are outputs, too."""
    b = Kernel("layer_norm", {"z0": "n", "z1": "m"})
    x = b.op("Add", b.read("x", "z0", "z1"), b.read("r", "z0", "z1"))
    count = b.count("m", "z0")
    mean = b.op("Div", b.reduce("Sum", x, "z1"), count)
    centred = b.apply("Sub", x, mean)
    variance = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z1"), count)
    scale = b.op("Rsqrt", b.op("Add", variance, b.scalar(1e-5, F32)))
    y = b.apply("Mul", b.apply("Mul", centred, scale), b.read("gamma", "z1"))
    b.write(b.apply("Add", y, b.read("beta", "z1")), "y")
    b.write(x, "sum")
    b.write(scale, "rstd")
    return b


def column_sum() -> Kernel:
    b = Kernel("column_sum", {"z0": "n", "z1": "m"})
    b.write(b.reduce("Sum", b.read("x", "z0", "z1"), "z0"), "y")
    return b


def column_softmax() -> Kernel:
    b = Kernel("column_softmax", {"z0": "n", "z1": "m"})
    x = b.apply("Add", b.read("x", "z0", "z1"), b.read("c", "z1"))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z0")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z0")), "y")
    return b


def middle_variance() -> Kernel:
    b = Kernel("middle_variance", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.read("x", "z0", "z1", "z2")
    count = b.count("m", "z0", "z2")
    centred = b.apply("Sub", x, b.op("Div", b.reduce("Sum", x, "z1"), count))
    b.write(b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z1"), count), "y")
    return b


def batch_norm() -> Kernel:
    """Statistics over axes that are not neighbours."""
    b = Kernel("batch_norm", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.read("x", "z0", "z1", "z2")
    count = b.count("n*k", "z1")
    mean = b.op("Div", b.reduce("Sum", x, "z0", "z2"), count)
    centred = b.apply("Sub", x, mean)
    variance = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z0", "z2"), count)
    scale = b.op("Mul", b.op("Rsqrt", b.op("Add", variance, b.scalar(1e-3, F32))), b.read("gamma", "z1"))
    b.write(b.apply("Mul", centred, scale), "y")
    b.write(mean, "mean")
    return b


def full_sum() -> Kernel:
    b = Kernel("full_sum", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    total = b.reduce("Sum", b.op("Mul", x, x), "z0", "z1")
    b.write(b.op("Sqrt", total), "norm")
    return b


def full_normalise() -> Kernel:
    b = Kernel("full_normalise", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.apply("Div", x, b.op("Sqrt", b.reduce("Sum", b.op("Mul", x, x), "z0", "z1"))), "y")
    return b


def rms_norm_half() -> Kernel:
    b = Kernel("rms_norm_half", {"z0": "n", "z1": "m"})
    x = b.cast(b.read("x", "z0", "z1", dtype=dt.float16), F32)
    mean = b.op("Div", b.reduce("Sum", b.op("Mul", x, x), "z1"), b.count("m", "z0"))
    y = b.apply("Mul", x, b.op("Rsqrt", b.op("Add", mean, b.scalar(1e-6, F32))))
    weight = b.cast(b.read("w", "z1", dtype=dt.float16), F32)
    b.write(b.cast(b.apply("Mul", y, weight), dt.float16), "y")
    return b


def integer_reductions() -> Kernel:
    b = Kernel("integer_reductions", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1", dtype=dt.int32)
    b.write(b.reduce("Sum", x, "z1"), "sum")
    b.write(b.reduce("Max", x, "z1"), "max")
    flags = b.op("Lt", x, b.scalar(50, dt.int32))
    b.write(b.reduce("All", flags, "z1"), "all")
    b.write(b.reduce("Any", flags, "z1"), "any")
    return b


def arg_max() -> Kernel:
    b = Kernel("arg_max", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    hit = b.apply("Eq", x, b.reduce("Max", x, "z1"))
    index = b.apply("Select", hit, b.axis_index("z1", dt.int32), b.cast(b.size("m"), dt.int32))
    b.write(b.reduce("Min", index, "z1"), "y")
    return b


def masked_softmax() -> Kernel:
    """A mask for each row length, from positions; the mask is a comparison with a gathered value a row."""
    b = Kernel("masked_softmax", {"z0": "n", "z1": "m"})
    length = b.read("length", "z0", dtype=dt.int32)
    mask = b.apply("Lt", b.axis_index("z1", dt.int32), length)
    x = b.op("Select", mask, b.read("x", "z0", "z1"), b.wide(b.scalar(-1e9, F32)))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def embedding_norm() -> Kernel:
    b = Kernel("embedding_norm", {"z0": "n", "z1": "m"})
    rows = b.read("rows", "z0", dtype=dt.int32)
    table = b.input("table", F32)
    x = b.load(table, (7, "m"), (Operand(0), "z1"), indices=(rows,), bounds=Bounds.ERROR)
    mean = b.op("Div", b.reduce("Sum", x, "z1"), b.count("m", "z0"))
    b.write(b.apply("Sub", x, mean), "y")
    return b


def padded_row_sum() -> Kernel:
    b = Kernel("padded_row_sum", {"z0": "n", "z1": "m + 3"})
    x = b.load(b.input("x", F32), ("n", "m"), ("z0", ("z1", 1, -2)), bounds=Bounds.FILL, fill=0.5)
    b.write(b.apply("Sub", x, b.reduce("Sum", x, "z1")), "y")
    return b


def group_norm() -> Kernel:
    b = Kernel("group_norm", {"z0": "n", "z1": 2, "z2": "m", "z3": "k"})
    x = b.load(b.input("x", F32), ("n", 2, "m", "k"), ("z0", "z1", "z2", "z3"))
    count = b.count("m*k", "z0", "z1")
    mean = b.op("Div", b.reduce("Sum", x, "z2", "z3"), count)
    centred = b.apply("Sub", x, mean)
    power = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z2", "z3"), count)
    y = b.apply("Mul", centred, b.op("Rsqrt", b.op("Add", power, b.scalar(1e-3, F32))))
    b.write(b.apply("Mul", y, b.read("weight", "z1", "z2")), "y")
    return b


def outer_product_sum() -> Kernel:
    """A value that is reduced before it meets an axis that only later values have."""
    b = Kernel("outer_product_sum", {"z0": "n", "z1": "m", "z2": "k"})
    total = b.reduce("Sum", b.read("x", "z0", "z1"), "z1")
    b.write(b.apply("Mul", b.as_wide_as(total, "z2"), b.as_wide_as(b.read("w", "z2"), "z0")), "y")
    return b


def weighted_normalise() -> Kernel:
    """All axes are reduced, and none can be merged."""
    b = Kernel("weighted_normalise", {"z0": "n", "z1": "m"})
    x = b.apply("Mul", b.read("x", "z0", "z1"), b.read("row", "z1"))
    b.write(b.apply("Div", x, b.op("Sqrt", b.reduce("Sum", b.op("Mul", x, x), "z0", "z1"))), "y")
    return b


def transposed_softmax() -> Kernel:
    b = Kernel("transposed_softmax", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", F32), ("m", "n"), ("z1", "z0"))
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


KERNELS = (
    softmax,
    layer_norm,
    column_sum,
    column_softmax,
    middle_variance,
    batch_norm,
    full_sum,
    full_normalise,
    rms_norm_half,
    integer_reductions,
    arg_max,
    masked_softmax,
    embedding_norm,
    padded_row_sum,
    group_norm,
    outer_product_sum,
    weighted_normalise,
    transposed_softmax,
)
