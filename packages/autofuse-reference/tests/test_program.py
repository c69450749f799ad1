"""Programs on NumPy: every step, every check of arguments, and memory that is gone when it was freed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.dims import TRUE, const, eq, le, symbol
from autofuse_ir.facts import Guard, GuardKind, InputDim, InputElement, SymbolFact
from autofuse_ir.graph import Constant, GraphOutput, Node, Payload, Value
from autofuse_ir.kernels import StatusMessage
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    HostCall,
    KernelCall,
    Program,
    ProgramBuffer,
    ProgramKernel,
    ProgramRegion,
    Step,
    Variant,
    WriteSizes,
)
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.executor import ProgramExecutor
from autofuse_reference.run import run

F = dt.float32
N, M, K = symbol("n"), symbol("m"), symbol("k")
X = np.arange(12, dtype=np.float32).reshape(3, 4)
BIAS = np.array([1, 2, 3, 4], np.float32)


def add_bias() -> AscGraph:
    b = AscGraphBuilder("add", {"z0": "n", "z1": 4})
    x = b.load(b.input("x", F), (N, 4), ("z0", "z1"))
    bias = b.broadcast(b.load(b.input("b", F), (4,), ("z1",)), "z0")
    b.store(b.op("Add", x, bias), "y", (N, 4), ("z0", "z1"))
    return b.build()


def double() -> AscGraph:
    b = AscGraphBuilder("double", {"z0": N * 4})
    x = b.load(b.input("x", F), (N * 4,), ("z0",))
    b.store(b.op("Add", x, x), "y", (N * 4,), ("z0",))
    return b.build()


def kernel(graph: AscGraph) -> ProgramKernel:
    return ProgramKernel(graph.name, "", "", 0, const(0), (), (), (), (), (graph,))


def buffer(name: str, kind: BufferKind, shape: tuple[Any, ...], alias_of: str | None = None) -> ProgramBuffer:
    return ProgramBuffer(name, kind, F, tuple(const(d) if isinstance(d, int) else d for d in shape), alias_of)


STEPS: tuple[Step, ...] = (
    KernelCall("add", ("x", "bias"), ("sum",)),
    Alias("sum", "flat"),
    KernelCall("double", ("flat",), ("y",)),
    Free("sum"),
    WriteSizes("sizes", (N, N * 4)),
    Copy("bias", "bias.out"),
)


def program(steps: tuple[Step, ...] = STEPS, **changes: Any) -> Program:
    made = Program(
        name="p",
        target="cpu",
        inputs=(Value("x", F, (N, const(4))),),
        outputs=(GraphOutput("y", "y"), GraphOutput("sizes", "sizes"), GraphOutput("bias", "bias.out")),
        symbols=(SymbolFact("n", 0, 100, 8, (InputDim("x", 0),)),),
        guards=(),
        buffers=(
            buffer("x", BufferKind.INPUT, (N, 4)),
            buffer("bias", BufferKind.CONSTANT, (4,)),
            buffer("sum", BufferKind.INTERMEDIATE, (N, 4)),
            buffer("flat", BufferKind.INTERMEDIATE, (N * 4,), "sum"),
            buffer("y", BufferKind.OUTPUT, (N * 4,)),
            ProgramBuffer("sizes", BufferKind.OUTPUT, dt.int64, (const(2),)),
            buffer("bias.out", BufferKind.OUTPUT, (4,)),
        ),
        variants=(Variant(TRUE, steps),),
        kernels=(kernel(add_bias()), kernel(double())),
        regions=(),
        peak_bytes=const(0),
        numerics="auto",
        constants=(Constant("bias", to_tensor_data(BIAS)),),
    )
    return evolve(made, **changes)


def test_a_view_may_have_another_dtype_of_the_same_bits() -> None:
    bits = ProgramBuffer("bits", BufferKind.OUTPUT, dt.int32, (N, const(4)), "x")
    made = program((Alias("x", "bits"),), outputs=(GraphOutput("bits", "bits"),), buffers=(*program().buffers, bits))
    (found,) = run(made, [X])
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, X.view(np.int32))


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_kernels_views_copies_and_sizes(rows: int) -> None:
    y, sizes, bias = run(program(), [X[:rows]])
    np.testing.assert_array_equal(y, ((X[:rows] + BIAS) * 2).reshape(-1))
    assert (sizes.dtype, sizes.tolist()) == (np.int64, [rows, rows * 4])
    np.testing.assert_array_equal(bias, BIAS)
    bias[:] = 0  # a result is nobody else's memory
    np.testing.assert_array_equal(run(program(), {"x": X})[2], BIAS)


def test_a_kernel_may_write_an_output_under_another_shape() -> None:
    buffers = tuple(
        buffer("sum", BufferKind.INTERMEDIATE, (N, 4), "y") if b.name == "sum" else b for b in program().buffers
    )
    steps = (STEPS[0], *STEPS[4:])
    np.testing.assert_array_equal(run(program(steps, buffers=buffers), [X])[0], (X + BIAS).reshape(-1))


def test_use_after_free_and_before_it_is_made_are_errors() -> None:
    freed = (STEPS[0], Free("sum"), *STEPS[1:3], *STEPS[4:])
    with pytest.raises(EvaluationError, match="value 'sum' is used, but its memory was freed before"):
        run(program(freed), [X])
    with pytest.raises(EvaluationError, match="value 'flat' is used, but its memory was not made before"):
        run(program(STEPS[2:]), [X])
    with pytest.raises(EvaluationError, match="'y' is no view of 'sum'"):
        run(program((STEPS[0], Alias("sum", "y"))), [X])


class Hosts:
    """A host backend that applies one function, and notes what it was given."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.seen: list[Any] = []

    def compile(
        self, region: ProgramRegion, payloads: Mapping[str, Payload], constants: object = None
    ) -> Callable[[list[Any]], Sequence[Any]]:
        def call(values: list[Any]) -> Sequence[Any]:
            self.seen += values
            return self.function(*values)

        return call


def host_program(steps: tuple[Step, ...], *buffers: ProgramBuffer) -> Program:
    region = ProgramRegion("r", "mine", ("x",), ("found",), (Node("a", "NonZero", ("x",), ("found",)),))
    return program(
        steps,
        regions=(region,),
        buffers=(buffer("x", BufferKind.INPUT, (N, 4)), buffer("found", BufferKind.INTERMEDIATE, (M,)), *buffers),
        outputs=(GraphOutput("found", "found"),),
        constants=(),
        kernels=(),
    )


CALL = HostCall("r", ("x",), ("found",))


def positive(x: Any) -> Any:
    return [x[x > 5]]


def test_host_results_bind_symbols_and_guards_are_checked_then() -> None:
    guard = Guard(GuardKind.ASSERT, le(M, 6), "/NonZero", "at most 6 may be found")
    bound = (CALL, BindSymbol("m", "found", 0, None, 0, 10), AssertGuard(guard))
    made = host_program(bound)
    np.testing.assert_array_equal(run(made, [X], hosts={"mine": Hosts(positive)})[0], X[X > 5])
    with pytest.raises(EvaluationError, match="operator /NonZero: at most 6 may be found"):
        run(made, [X + 1], hosts={"mine": Hosts(positive)})
    with pytest.raises(EvaluationError, match=r"size m became 11 in value 'found', outside its range 0..10"):
        run(made, [X + 5], hosts={"mine": Hosts(positive)})
    twice = host_program((*bound, BindSymbol("m", "x", 0, None, 0, 10)))
    with pytest.raises(EvaluationError, match="size m is 6, but 3 in value 'x'"):
        run(twice, [X], hosts={"mine": Hosts(positive)})
    element = host_program((CALL, BindSymbol("k", "found", None, 2, 0, 10)))
    assert run(element, [X], hosts={"mine": Hosts(positive)})[0].size == 6
    with pytest.raises(EvaluationError, match="element 2 of value 'found', which has 1"):
        run(element, [X - 5], hosts={"mine": Hosts(positive)})


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ([np.zeros(2)], "'found' of dtype float64, float32 is expected"),
        ([np.zeros((2, 2), np.float32)], "'found' with 2 dims, 1 are expected"),
        ([np.zeros(7, np.float32)], "'found' with 7 at dim 0, but n is expected"),
        ([], "gave 0 results, 1 are expected"),
    ],
)
def test_host_results_that_do_not_fit_are_errors(result: list[Any], told: str) -> None:
    made = host_program((CALL,))
    made = evolve(made, buffers=(made.buffers[0], buffer("found", BufferKind.INTERMEDIATE, (N,))))
    with pytest.raises(EvaluationError, match=told):
        run(made, [X], hosts={"mine": Hosts(lambda x: result)})


def test_objects_pass_between_hosts_untouched() -> None:
    thing = object()
    opaque = ProgramBuffer("found", BufferKind.OBJECT, dt.opaque, ())
    made = host_program((CALL,))
    made = evolve(made, buffers=(made.buffers[0], opaque))
    assert run(made, [X], hosts={"mine": Hosts(lambda x: [thing])})[0] is thing


def test_a_backend_that_is_not_there_is_named_with_its_operators() -> None:
    with pytest.raises(EvaluationError, match="operators NonZero need the host backend 'mine'"):
        run(host_program((CALL,)), [X])


def test_freed_bytes_are_poisoned_unless_a_host_still_shows_them() -> None:
    kept: list[Any] = []
    hosts = {"mine": Hosts(lambda x: (kept.append(x), [x.reshape(-1)])[1])}
    region = ProgramRegion("r", "mine", ("sum",), ("found",), ())
    steps: tuple[Step, ...] = (STEPS[0], HostCall("r", ("sum",), ("found",)), Free("sum"))
    made = program(
        steps,
        regions=(region,),
        buffers=(*program().buffers, buffer("found", BufferKind.INTERMEDIATE, (N * 4,))),
        outputs=(GraphOutput("found", "found"),),
    )
    np.testing.assert_array_equal(run(made, [X], hosts=hosts)[0], (X + BIAS).reshape(-1))
    assert np.all(kept[0].view(np.uint8) == 0xCB)
    ProgramExecutor(made, hosts)([X], {"n": 3})
    np.testing.assert_array_equal(kept[1], X + BIAS)  # without poison


def test_the_first_variant_whose_condition_holds_runs() -> None:
    made = program()
    short = Variant(eq(N, 1), (Copy("x", "y"), *STEPS[4:]))
    made = evolve(made, variants=(short, *made.variants))
    np.testing.assert_array_equal(run(made, [X[:1]])[0], X[0])
    np.testing.assert_array_equal(run(made, [X])[0], ((X + BIAS) * 2).reshape(-1))


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ([], "0 inputs were given, but there are 1"),
        ([X, X], "2 inputs were given, but there are 1"),
        ({"x": X, "z": X}, "there is no input 'z'"),
        ({}, "input 'x' is missing"),
        ([X.astype(np.float64)], "input 'x' has dtype float64, but float32 is expected"),
        ([X[0]], "input 'x' has 1 dims, but 2 dims"),
        ([X[:, :3]], "dim 1 of input 'x' is 3, but 4 = 4 is expected"),
        ([np.zeros((101, 4), np.float32)], r"dim 0 of input 'x' is 101, outside the range 0..100 of size n"),
        ([np.zeros((7, 4), np.float32)], "operator /Add: n must be at most 6"),
    ],
)
def test_arguments_that_do_not_fit_are_one_clear_error(arrays: Any, told: str) -> None:
    guard = Guard(GuardKind.ASSERT, le(N, 6), "/Add", "n must be at most 6")
    expected = Guard(GuardKind.EXPECT, le(N, 1), "/Add", "only short ones are fast")
    with pytest.raises(EvaluationError, match=told):
        run(program(guards=(guard, expected)), arrays)
    run(program(guards=(guard, expected)), [X])


def test_inputs_that_disagree_on_a_size_are_an_error() -> None:
    made = program(
        inputs=(Value("x", F, (N, const(4))), Value("count", dt.int64, (const(1),))),
        symbols=(SymbolFact("n", 0, 100, 8, (InputDim("x", 0), InputElement("count", 0))),),
        buffers=(*program().buffers, ProgramBuffer("count", BufferKind.INPUT, dt.int64, (const(1),))),
    )
    run(made, [X, np.array([3])])
    with pytest.raises(EvaluationError, match="inputs disagree on size n: dim 0 of input 'x' is 3, element 0 of input"):
        run(made, [X, np.array([4])])


def test_a_division_by_zero_in_a_kernel_names_it() -> None:
    b = AscGraphBuilder("div", {"z0": "n"})
    x = b.load(b.input("x", dt.int32), (N,), ("z0",))
    b.store(b.op("FloorDiv", x, x), "y", (N,), ("z0",))
    made = program(
        (KernelCall("div", ("x",), ("y",)),),
        inputs=(Value("x", dt.int32, (N,)),),
        kernels=(kernel(b.build()),),
        buffers=(
            ProgramBuffer("x", BufferKind.INPUT, dt.int32, (N,)),
            ProgramBuffer("y", BufferKind.OUTPUT, dt.int32, (N,)),
        ),
        outputs=(GraphOutput("y", "y"),),
        constants=(),
    )
    with pytest.raises(StatusError, match="running p, kernel div: an integer was divided by zero"):
        run(made, [np.zeros(2, np.int32)])


def test_status_errors_are_told_in_the_words_of_the_compiled_kernel() -> None:
    b = AscGraphBuilder("pick", {"z0": "n"})
    index = b.load(b.input("i", dt.int64), (N,), ("z0",))
    b.store(b.load(b.input("x", F), (4,), (Operand(0),), "picked", (index,), Bounds.ERROR), "y", (N,), ("z0",))
    pick = evolve(kernel(b.build()), status_messages=(StatusMessage(1, "an index is out of range"),))
    made = program(
        (KernelCall("pick", ("i", "bias"), ("y",), "scratch"),),
        inputs=(Value("i", dt.int64, (N,)),),
        symbols=(SymbolFact("n", 0, 100, 8, (InputDim("i", 0),)),),
        kernels=(pick,),
        buffers=(
            ProgramBuffer("i", BufferKind.INPUT, dt.int64, (N,)),
            buffer("bias", BufferKind.CONSTANT, (4,)),
            buffer("y", BufferKind.OUTPUT, (N,)),
            ProgramBuffer("scratch", BufferKind.WORKSPACE, dt.uint8, (const(64),)),
        ),
        outputs=(GraphOutput("y", "y"),),
    )
    assert run(made, [np.array([3, 0])])[0].tolist() == [4, 1]
    with pytest.raises(StatusError) as told:
        run(made, [np.array([0, 4])])
    assert (told.value.what, told.value.where) == ("an index is out of range", "running p, kernel pick")
    assert told.value.fix == "keep indices inside of the dim that they index"
    untold = evolve(made, kernels=(evolve(pick, status_messages=()),))
    with pytest.raises(StatusError, match="running p, kernel pick: an index is out of range"):
        run(untold, [np.array([0, 4])])


def test_a_kernel_may_reduce_to_fewer_dims() -> None:
    b = AscGraphBuilder("rows", {"z0": "n", "z1": 4})
    x = b.load(b.input("x", F), (N, 4), ("z0", "z1"))
    b.store(b.reduce("Sum", x, "z1"), "y", (N,), ("z0",))
    made = program(
        (KernelCall("rows", ("x",), ("y",)),),
        kernels=(kernel(b.build()),),
        buffers=(buffer("x", BufferKind.INPUT, (N, 4)), buffer("y", BufferKind.OUTPUT, (N,))),
        outputs=(GraphOutput("y", "y"),),
        constants=(),
    )
    assert run(made, [X])[0].tolist() == X.sum(1).tolist()
    assert run(made, [X[:0]])[0].shape == (0,)
