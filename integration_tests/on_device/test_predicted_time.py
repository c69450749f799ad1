"""Predicted time of element-wise kernels of 16 M elements: little more than bytes or arithmetic take at least.

The bound: bytes of arguments, each once, at the modelled bandwidth of GM, or cycles of the vector unit, whichever is
more, and the head of the launch. Short copies have less bandwidth: theirs counts where UB holds no tiles for long ones.
The emulator, which counts every instruction of the generated code and never reads the
tiling model, then says how far the prediction itself is off.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from attrs import frozen
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.emulation import emulate
from autofuse.pipeline import Lowered
from autofuse.prediction import PartPrediction, launch_cycles, predict
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.target import TargetSpec
from autofuse_reference.arrays import numpy_dtype
from autofuse_tiling.model.walks import walks_of

TARGETS = ("ascend-a2", "ascend-a3", "ascend-350")
DTYPES = (dt.float32, dt.float16, dt.bfloat16)
ALLOWED = 1.15
CALLS_ALLOWED = 1.3
"""How much longer the vector unit may take than its elements alone: tiles that are too small pay in calls."""

AT_SIXTEEN_MILLIONS = ({"n": 4096, "m": 4096}, {"n": 16384, "m": 1024}, {"n": 1600, "m": 10007})
Build = Callable[[GraphBuilder, DType], str]


def matrices(b: GraphBuilder, dtype: DType) -> tuple[str, str]:
    return b.input("x", ("n", "m"), dtype), b.input("w", ("n", "m"), dtype)


def chain_of_ten(b: GraphBuilder, dtype: DType) -> str:
    x, w = matrices(b, dtype)
    for op in ("Add", "Mul", "Sub", "Maximum", "Minimum") * 2:
        x = b.op(op, x, w)
    return x


def masked(b: GraphBuilder, dtype: DType) -> str:
    x, w = matrices(b, dtype)
    return b.op("SelectV2", b.op("Greater", x, w), b.op("Abs", x), w)


def bias_gelu(b: GraphBuilder, dtype: DType) -> str:
    total = b.op("Add", b.input("x", ("n", "m"), dtype), b.input("bias", ("m",), dtype))
    return b.op("GeluV2", total, approximate="none")


def scaled_rows(b: GraphBuilder, dtype: DType) -> str:
    return b.op("Mul", b.input("x", ("n", "m"), dtype), b.input("scale", ("n", 1), dtype))


def cast(b: GraphBuilder, dtype: DType) -> str:
    other = dt.float32 if dtype != dt.float32 else dt.float16
    return b.op("Cast", b.op("Tanh", b.input("x", ("n", "m"), dtype)), dst_type=other.ascend_code)


GRAPHS: Mapping[str, Build] = {
    "negative": lambda b, dtype: b.op("Neg", b.input("x", ("n", "m"), dtype)),
    "abs_add": lambda b, dtype: b.op("Abs", b.op("Add", *matrices(b, dtype))),
    "chain_of_ten": chain_of_ten,
    "masked": masked,
    "bias_gelu": bias_gelu,
    "scaled_rows": scaled_rows,
    "sigmoid": lambda b, dtype: b.op("Sigmoid", b.input("x", ("n", "m"), dtype)),
    "cast": cast,
}
SLICE = (
    ("bias_gelu", dt.float32, "ascend-a2"),
    ("masked", dt.bfloat16, "ascend-a2"),
    ("cast", dt.float32, "ascend-350"),
)


@frozen
class Work:
    """What a kernel must at least take, in cycles of one core."""

    memory: float
    elements: float


def lowered_for(name: str, dtype: DType, target: TargetSpec) -> Lowered:
    b = GraphBuilder(f"{name}_{dtype.name}")
    for size in ("n", "m"):
        b.symbol(size, 0, 2**24, 64)
    return lower_graph(b.build({"y": GRAPHS[name](b, dtype)}), target, chosen_options())


def loads_per_cycle(lowered: Lowered, target: TargetSpec, sizes: Mapping[str, int], part: PartPrediction) -> float:
    """Bytes that a core loads in a cycle when all are at work: by long copies, unless local memory is too small."""
    (scheduled,) = lowered.schedules
    impl = next(i for i in scheduled.alternatives[0].groups[0].implementations if i.name == part.case)
    values = {**sizes, **dict(part.tiles)}
    loads = [(walk, n) for walk in walks_of(impl) for n in walk.nodes if n.op == "Load"]
    most = max(evaluate(walk.elements(n), values) * n.dtype.itemsize for walk, n in loads)
    long = target.quantity("load_small_below_bytes")
    name, size = part.tiles[0]
    axis = {"z0z1t_size": sizes["n"] * sizes["m"], "z1t_size": sizes["m"]}.get(name)
    each = most / size
    if axis is None:  # rows
        enough = math.ceil(long / each) * each
    else:  # pieces of an axis, all of them long
        enough = axis * each / max(1, axis * each // long)
    if most >= long or part.local_bytes * enough <= part.local_limit * most:
        return target.quantity("bytes_per_cycle_read")
    shared = target.quantity("load_small_bytes_per_cycle")
    return shared + target.quantity("load_small_bytes_per_cycle_alone") / target.cores


def work_of(lowered: Lowered, target: TargetSpec, sizes: Mapping[str, int], part: PartPrediction) -> Work:
    (scheduled,) = lowered.schedules

    def moved(is_output: bool) -> int:
        shapes = [(a.shape, a.dtype.itemsize) for a in scheduled.arguments if a.is_output is is_output]
        return sum(int(np.prod([evaluate(d, sizes) for d in shape])) * itemsize for shape, itemsize in shapes)

    loads = moved(False) / loads_per_cycle(lowered, target, sizes, part)
    stores = moved(True) / target.quantity("bytes_per_cycle_write")
    impl = scheduled.alternatives[0].groups[0].implementations[0]
    computed = [
        n for n in impl.nodes if n.op not in ("Data", "Load", "Scalar", "IndexExpr", "Broadcast", "Store", "Output")
    ]
    per_element = sum(target.cost_of(n.op, n.dtype).per_element for n in computed)
    elements = sizes["n"] * sizes["m"]
    return Work(max(loads, stores) / target.cores, per_element * elements / target.cores)


def combinations() -> list[tuple[str, DType, str]]:
    return [(name, dtype, target) for name in GRAPHS for dtype in DTYPES for target in TARGETS]


def test_predicted_time_is_near_what_bytes_and_arithmetic_take(is_whole: bool) -> None:
    for name, dtype, target_name in combinations() if is_whole else SLICE:
        target = chosen_target(target_name)
        lowered = lowered_for(name, dtype, target)
        for sizes in AT_SIXTEEN_MILLIONS:
            (kernel,) = predict(lowered, target, sizes).kernels
            (part,) = kernel.parts
            least, vector = work_of(lowered, target, sizes, part), dict(part.pipe_cycles)["VEC"]
            head = launch_cycles(target) + target.cores * target.quantity("core_launch_cycles")
            bound = max(least.memory, vector) + head
            where = f"{name} of {dtype.name} on {target_name} at {sizes}"
            assert kernel.cycles + launch_cycles(target) <= ALLOWED * bound, f"{where}: {part}, {least}"
            assert vector <= max(CALLS_ALLOWED * least.elements, least.memory), f"{where}: {part}, {least}"
            print(f"{where}: {(kernel.cycles + launch_cycles(target)) / bound:.3f} of the bound")


def test_the_emulator_agrees_with_the_prediction(is_whole: bool) -> None:
    for name, dtype, target_name in combinations() if is_whole else SLICE:
        target = chosen_target(target_name)
        lowered = lowered_for(name, dtype, target)
        (kernel,) = lowered.program.kernels
        for sizes in ({"n": 64, "m": 100}, {"n": 1000, "m": 300}, AT_SIXTEEN_MILLIONS[0]):
            given = {v.name: np.empty([evaluate(d, sizes) for d in v.shape or ()], numpy_dtype(v.dtype))
                     for v in lowered.graph.inputs}  # fmt: skip
            (launch,) = emulate(lowered, target, list(given.values()), timing_only=True).launches
            (predicted,) = predict(lowered, target, sizes).kernels
            ratio = launch.microseconds / predicted.microseconds
            where = f"{kernel.name} of {dtype.name} on {target_name} at {sizes}"
            print(
                f"{where}: emulated {launch.microseconds:.1f} us, predicted {predicted.microseconds:.1f}, {ratio:.2f}"
            )
            assert 0.9 <= ratio <= 1.1, where
            assert launch.local_bytes <= predicted.parts[0].local_bytes, where
