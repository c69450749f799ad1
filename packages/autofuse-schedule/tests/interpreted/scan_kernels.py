"""Kernels with scans."""

from kernel_builder import F32, Kernel


def running_sum() -> Kernel:
    b = Kernel("running_sum", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.scan("CumSum", b.op("Neg", x), "z1"), "y")
    return b


def running_columns() -> Kernel:
    b = Kernel("running_columns", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    b.write(b.apply("Mul", b.scan("CumSum", x, "z0", exclusive=True, reverse=True), b.scalar(2.0, F32)), "y")
    return b


def running_both_ways() -> Kernel:
    """Scans that run against each other, and a reduction of the second."""
    b = Kernel("running_both_ways", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    backward = b.scan("CumSum", b.scan("CumSum", x, "z1"), "z1", reverse=True)
    b.write(b.apply("Sub", backward, b.reduce("Max", backward, "z1")), "y")
    return b


def running_middle() -> Kernel:
    """A scan from the end along an axis with others on both sides, of a value that was broadcast."""
    b = Kernel("running_middle", {"z0": "n", "z1": "m", "z2": "k"})
    x = b.apply("Mul", b.read("x", "z0", "z1", "z2"), b.read("weight", "z1"))
    b.write(b.op("Neg", b.scan("CumProd", x, "z1", exclusive=True, reverse=True)), "y")
    return b


def running_softmax() -> Kernel:
    """A softmax of running sums: every sweep makes them again where they are not kept."""
    b = Kernel("running_softmax", {"z0": "n", "z1": "m"})
    total = b.scan("CumSum", b.read("x", "z0", "z1"), "z1")
    e = b.op("Exp", b.apply("Sub", total, b.reduce("Max", total, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def softmax_running() -> Kernel:
    """Running sums of a softmax, from the end."""
    b = Kernel("softmax_running", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    e = b.op("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.scan("CumSum", b.apply("Div", e, b.reduce("Sum", e, "z1")), "z1", reverse=True), "y")
    return b


def integral_image() -> Kernel:
    b = Kernel("integral_image", {"z0": "n", "z1": "m"})
    b.write(b.scan("CumSum", b.scan("CumSum", b.read("x", "z0", "z1"), "z0"), "z1", reverse=True), "y")
    return b


def running_columns_of_norms() -> Kernel:
    """Scans down the columns of rows that were divided by what they come to: other axes are joined in other ways."""
    b = Kernel("running_columns_of_norms", {"z0": "n", "z1": "m"})
    x = b.read("x", "z0", "z1")
    scaled = b.apply("Div", x, b.reduce("Max", b.op("Abs", x), "z1"))
    b.write(b.scan("CumSum", scaled, "z0", exclusive=True), "y")
    return b


KERNELS = (
    running_sum,
    running_columns,
    running_both_ways,
    running_middle,
    running_softmax,
    softmax_running,
    integral_image,
    running_columns_of_norms,
)
