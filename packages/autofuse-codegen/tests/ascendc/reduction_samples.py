"""Kernels with reductions, one for each way in which a template joins elements, and sizes to run them at."""

from collections.abc import Callable, Mapping

from ascend_kernels import Built, Kernel, backend_of
from attrs import frozen
from autofuse_codegen.stage import emit
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import Bounds
from autofuse_ir.checks import verify
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import Tree
from autofuse_ir.target import load_target
from autofuse_schedule.force import only_template
from autofuse_schedule.stage import schedule
from autofuse_tiling.stage import tile

F = dt.float32
TEMPLATES = ("all-load", "common", "r-core")


@frozen
class Reduced:
    """A kernel, the template that it is scheduled by, and (sizes, cores) to run it at."""

    make: Callable[[], Kernel]
    template: str
    runs: tuple[tuple[dict[str, int], int], ...]


def store(b: Kernel, value: str, name: str) -> None:
    """Store ``value`` over the axes that it varies along."""
    along = [a for a, repeat in zip(b.axes, b.node(value).repeats, strict=True) if repeat != const(1)]
    b.store(value, name, tuple(b.axes[a] for a in along) or (1,), tuple(along) or (0,))


def alone(
    name: str, op: str, dtype: DType, axes: Mapping[str, str | int], reduced: tuple[str, ...], tree: Tree | None = None
) -> Kernel:
    """One reduction of what is loaded, stored."""
    b = Kernel(name, axes)
    store(b, b.reduce(op, b.read("x", dtype, *axes), *reduced, tree=tree), "y")
    return b


def softmax(name: str = "softmax") -> Kernel:
    b = Kernel(name, {"z0": "n", "z1": "m"})
    x = b.read("x", F, "z0", "z1")
    e = b.apply("Exp", b.apply("Sub", x, b.reduce("Max", x, "z1")))
    b.write(b.apply("Div", e, b.reduce("Sum", e, "z1")), "y")
    return b


def layer_norm() -> Kernel:
    """Sums of two levels, work on rows alone, rows of scale and shift; the mean is stored as well."""
    b = Kernel("layer_norm", {"z0": "n", "z1": "m"})
    x, scale, shift = b.read("x", F, "z0", "z1"), b.read("scale", F, "z1"), b.read("shift", F, "z1")
    count = b.broadcast(b.cast(b.size("m"), F), "z0")
    mean = b.op("Div", b.reduce("Sum", x, "z1"), count)
    centred = b.apply("Sub", x, mean)
    variance = b.op("Div", b.reduce("Sum", b.op("Mul", centred, centred), "z1"), count)
    deviation = b.op("Sqrt", b.op("Add", variance, b.broadcast(b.scalar(1e-5, F), "z0")))
    b.write(b.apply("Add", b.apply("Mul", b.apply("Div", centred, deviation), scale), shift), "y")
    store(b, mean, "mean")
    return b


def below_peak(name: str) -> Kernel:
    """Each column less its largest element."""
    b = Kernel(name, {"z0": "n", "z1": "m"})
    x = b.read("x", F, "z0", "z1")
    b.write(b.apply("Sub", x, b.reduce("Max", x, "z0")), "y")
    return b


def padded_ends() -> Kernel:
    """Rows with filled ends, less what they and others sum up to; a weight and the position of each column."""
    b = Kernel("padded_ends", {"z0": "n", "z1": 2, "z2": "m + 3"})
    x = b.load(b.input("x", F), ("n", 2, "m"), ("z0", "z1", ("z2", 1, -2)), bounds=Bounds.FILL, fill=0.5)
    x = b.apply("Mul", x, b.read("w", F, "z2"))
    x = b.apply("Add", x, b.cast(b.axis_index("z2", dt.int32), F))
    b.write(b.apply("Sub", x, b.reduce("Sum", x, "z0", "z2")), "y")
    return b


PLANE = {"z0": "n", "z1": "m"}
GROUPS = {"z0": "n", "z1": 3, "z2": 7, "z3": "m"}
DEEP = Tree(4096, 64)

SAMPLES: dict[str, Reduced] = {
    "softmax": Reduced(
        softmax, "all-load", (({"n": 300, "m": 37}, 1), ({"n": 3, "m": 9_001}, 1), ({"n": 40, "m": 200}, 2))
    ),
    "softmax_in_pieces": Reduced(
        lambda: softmax("softmax_in_pieces"), "common", (({"n": 5, "m": 30_001}, 1), ({"n": 300, "m": 37}, 1))
    ),
    "layer_norm": Reduced(
        layer_norm, "all-load", (({"n": 300, "m": 37}, 1), ({"n": 40, "m": 200}, 1), ({"n": 3, "m": 5_001}, 1))
    ),
    "outer_sum": Reduced(
        lambda: alone("outer_sum", "Sum", F, PLANE, ("z0",)),
        "common",
        (({"n": 1_000, "m": 37}, 1), ({"n": 200, "m": 5_001}, 1), ({"n": 3, "m": 2_500}, 1)),
    ),
    "outer_product": Reduced(
        lambda: alone("outer_product", "Prod", F, PLANE, ("z0",), DEEP),
        "common",
        (({"n": 9_000, "m": 9}, 1), ({"n": 150, "m": 37}, 1)),
    ),
    "shared_sum": Reduced(
        lambda: alone("shared_sum", "Sum", F, PLANE, ("z1",)),
        "r-core",
        (({"n": 2, "m": 600_001}, 4), ({"n": 3, "m": 5}, 2)),
    ),
    "shared_ends": Reduced(
        lambda: alone("shared_ends", "Sum", F, {"z0": "n", "z1": 2, "z2": "m"}, ("z0", "z2")),
        "r-core",
        (({"n": 3, "m": 9_001}, 6), ({"n": 500, "m": 60}, 4), ({"n": 2, "m": 5}, 2), ({"n": 3, "m": 100_000}, 4)),
    ),
    "padded_ends": Reduced(
        padded_ends, "r-core", (({"n": 3, "m": 5_001}, 4), ({"n": 150, "m": 60}, 4), ({"n": 2, "m": 0}, 2))
    ),
    "shared_integers": Reduced(
        lambda: alone("shared_integers", "Sum", dt.int64, PLANE, ("z0",)),
        "r-core",
        (({"n": 5_000, "m": 3}, 4), ({"n": 3, "m": 5}, 2)),
    ),
    "shared_middle": Reduced(
        lambda: alone("shared_middle", "Max", F, {"z0": 3, "z1": "n", "z2": "m"}, ("z1",)),
        "r-core",
        (({"n": 200, "m": 75}, 6), ({"n": 7, "m": 64}, 48), ({"n": 3, "m": 5}, 2)),
    ),
    "shared_columns": Reduced(
        lambda: below_peak("shared_columns"), "r-core", (({"n": 9_000, "m": 37}, 4), ({"n": 3, "m": 5}, 2))
    ),
    "groups": Reduced(
        lambda: alone("groups", "Sum", F, GROUPS, ("z2", "z3")),
        "all-load",
        (({"n": 5, "m": 37}, 1), ({"n": 1, "m": 900}, 1), ({"n": 9, "m": 64}, 1)),
    ),
    "one_by_one": Reduced(
        lambda: alone("one_by_one", "Sum", F, {"z0": 3, "z1": "n", "z2": "m"}, ("z2",), Tree(64, 1)),
        "all-load",
        (({"n": 9, "m": 150}, 1), ({"n": 2, "m": 5}, 1)),
    ),
}


def build_forced(kernel: Kernel, template: str, target: str = "ascend-a2") -> dict[str, Built]:
    """Schedule ``kernel`` by one template alone, and emit it."""
    spec = load_target(target)
    graph = kernel.build()
    verify(graph)
    node, facts = backend_of(graph)
    scheduled = only_template(schedule(node, facts, spec), template)
    verify(scheduled)
    return {graph.name: Built(graph, scheduled, emit(scheduled, tile(scheduled, facts, spec), facts, spec))}
