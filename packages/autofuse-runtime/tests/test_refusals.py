"""What wrong arguments get: an error that names the input, what was expected and what was given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import TRUE, any_of, as_dim, eq, ge
from autofuse_ir.facts import Guard, GuardKind, InputElement
from autofuse_ir.kernels import StatusMessage
from autofuse_ir.program import KernelCall, Variant
from autofuse_ir.status import MESSAGES, NO_MEMORY, Status, StatusError
from autofuse_runtime.errors import InputTypeError, InputValueError, InternalError, MemoryExhaustedError
from autofuse_runtime.faults import Fault, FaultReporter
from autofuse_runtime.module import CompiledModule
from autofuse_runtime.plan import make_plan

A = np.ones((3, 4), np.float32)
BIAS = np.ones(4, np.float32)
REPEATED = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (3, 4), (0, 4))


class NumpyExecutor:
    """Stands where the interpreter of autofuse-reference will: the argument checks must be the same."""

    tier = "interpreter"

    def __call__(self, values: Any, symbols: dict[str, int]) -> list[Any]:
        return [values[0] + values[1]]


@pytest.fixture(scope="session")
def row_add_program(kit: Any) -> Any:
    """c[n, m] = a[n, m] + b[m], m in 1..100, with the guard that m is 4 or n."""
    buffers = [kit.buffer("a", "input", "n,m"), kit.buffer("b", "input", "m"), kit.buffer("c", "output", "n,m")]
    kernel = kit.kernel("row_add", ["n,m", "m"], ["n,m"], symbols=["n", "m"], safe=((0, 0),))
    guard = Guard(
        GuardKind.ASSERT, any_of(eq(as_dim("m"), as_dim(4)), eq(as_dim("m"), as_dim("n"))), "Add_3", "m must be 4 or n"
    )
    facts = [kit.fact("n", ("a", 0)), kit.fact("m", ("a", 1), ("b", 0), lo=1, hi=100)]
    return kit.program(buffers, [KernelCall("row_add", ("a", "b"), ("c",))], ["c"], facts, [kernel], guards=(guard,))


@pytest.fixture(scope="session", params=["native", "interpreter"])
def row_add(request: Any, kit: Any, row_add_program: Any) -> Callable[..., Any]:
    if request.param == "native":
        return kit.run(row_add_program)
    return CompiledModule(row_add_program, NumpyExecutor()).function


def test_right_arguments_pass_on_both_tiers(row_add: Any) -> None:
    out = np.zeros((3, 4), np.float32)
    assert row_add(A, BIAS, out=out) is out
    assert out.tolist() == [[2.0] * 4] * 3


class PassesOn:
    """An executor whose results are the arguments themselves."""

    tier = "interpreter"

    def __call__(self, values: Any, symbols: dict[str, int]) -> list[Any]:
        return [values[1], values[0]]


def test_interpreted_results_are_apart_from_arguments(kit: Any) -> None:
    buffers = [kit.buffer(n, k) for n, k in (("a", "input"), ("b", "input"), ("c", "output"), ("d", "output"))]
    program = kit.program(buffers, [], ["c", "d"], [kit.fact("n", ("a", 0), ("b", 0))])
    fn = CompiledModule(program, PassesOn()).function
    a, b = np.float32([1, 2]), np.float32([3, 4])
    c, d = fn(a, b, out=(a, None))  # c is b's content written over a; d is what a was
    assert c is a
    assert (c.tolist(), d.tolist()) == ([3, 4], [1, 2])
    d[:] = 9
    assert a.tolist() == [3, 4]


CASES = [
    (lambda f: f(A), InputTypeError, "input 'b' is missing"),
    (lambda f: f(A, BIAS, BIAS), InputTypeError, "3 inputs were given, but the program has 2"),
    (lambda f: f(A, c=BIAS), InputTypeError, "there is no input 'c'"),
    (lambda f: f(A, BIAS, a=A), InputTypeError, "input 'a' is given twice"),
    (lambda f: f([[1.0]], BIAS), InputTypeError, "input 'a' is a list, not an array"),
    (lambda f: f(A.astype(np.float64), BIAS), InputTypeError, "input 'a' has dtype float64, but float32 is expected"),
    (lambda f: f(A.astype(">f4"), BIAS), InputTypeError, "input 'a' has dtype >f4, but float32 is expected"),
    (lambda f: f(A, BIAS.view(np.int32)), InputTypeError, "input 'b' has dtype int32, but float32 is expected"),
    (lambda f: f(A[0], BIAS), InputValueError, r"input 'a' has 1 dims \[4\], but 2 dims \[n, m\] are expected"),
    (
        lambda f: f(A, BIAS[:3]),
        InputValueError,
        "the inputs disagree on size m: dim 1 of input 'a' is 4, dim 0 of input 'b' is 3",
    ),
    (
        lambda f: f(np.ones((2, 101), np.float32), np.ones(101, np.float32)),
        InputValueError,
        r"dim 1 of input 'a' is 101, outside the range 1..100 of size m",
    ),
    (
        lambda f: f(np.ones((2, 0), np.float32), np.ones(0, np.float32)),
        InputValueError,
        r"dim 1 of input 'a' is 0, outside the range 1..100",
    ),
    (
        lambda f: f(np.ones((2, 3), np.float32), np.ones(3, np.float32)),
        InputValueError,
        "operator Add_3: m must be 4 or n",
    ),
    (lambda f: f(A, BIAS, out=A[:2].copy()), InputValueError, r"has shape \[2, 4\], but the output has \[3, 4\]"),
    (lambda f: f(A, BIAS, out=A.astype(np.int32)), InputTypeError, "has dtype int32, but the output is float32"),
    (lambda f: f(A, BIAS, out=(A, A)), InputTypeError, "out= holds 2 arrays, but the program has 1 outputs"),
    (lambda f: f(A, BIAS, out="no"), InputTypeError, "out= for output 'c' is a str, not an array"),
    (lambda f: f(A, BIAS, out=np.broadcast_to(A[0, 0], (3, 4))), InputValueError, "out= for output 'c' is read-only"),
    (lambda f: f(A, BIAS, out=REPEATED), InputValueError, "elements of out= for output 'c' share memory"),
    (lambda f: f(A, BIAS, out=np.float32(1)), InputValueError, "out= for output 'c' is read-only"),
]


@pytest.mark.parametrize(("call", "kind", "words"), CASES, ids=[words[:40] for _, _, words in CASES])
def test_wrong_arguments_are_named(row_add: Any, call: Callable[[Any], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        call(row_add)
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]
    # A refused call leaves nothing behind: the next one works.
    assert row_add(A, BIAS).tolist() == [[2.0] * 4] * 3


def test_refusals_are_type_and_value_errors(row_add: Any) -> None:
    with pytest.raises(TypeError):
        row_add(A)
    with pytest.raises(ValueError):
        row_add(A, BIAS[:3])


def test_refusals_keep_no_memory(kit: Any, row_add_program: Any) -> None:
    fn = kit.run(row_add_program)
    fn(A, BIAS)
    in_use = kit.extension.memory_stats(False)["bytes_in_use"]
    for _ in range(3):
        with pytest.raises(InputValueError):
            fn(np.asfortranarray(A), BIAS[:3])
    assert kit.extension.memory_stats(False)["bytes_in_use"] == in_use


def test_two_outputs_must_not_share_memory(kit: Any) -> None:
    buffers = [kit.buffer(n, k) for n, k in (("a", "input"), ("b", "input"), ("s", "output"), ("d", "output"))]
    kernels = [kit.kernel("add_sub", ["n", "n"], ["n", "n"])]
    steps = [KernelCall("add_sub", ("a", "b"), ("s", "d"))]
    fn = kit.run(kit.program(buffers, steps, ["s", "d"], [kit.fact("n", ("a", 0), ("b", 0))], kernels))
    out = np.zeros(5, np.float32)
    with pytest.raises(InputValueError, match="share memory"):
        fn(BIAS, BIAS, out=(out[:4], out[1:]))
    halves = np.zeros(8, np.float32)
    fn(BIAS, BIAS, out=(halves[::2], halves[1::2]))
    assert halves.tolist() == [2, 0] * 4


def test_a_fixed_dim_and_a_formula_are_checked(kit: Any) -> None:
    buffers = [kit.buffer("a", "input", "n"), kit.buffer("b", "input", "2*n + 1,7"), kit.buffer("c", "output", "n")]
    steps = [KernelCall("scale", ("a",), ("c",))]
    fn = kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0))], [kit.kernel("scale", ["n"], ["n"])]))
    fn(np.ones(3, np.float32), np.ones((7, 7), np.float32))
    with pytest.raises(InputValueError, match=r"dim 0 of input 'b' is 8, but 7 \(2\*n \+ 1 with n = 3\) is expected"):
        fn(np.ones(3, np.float32), np.ones((8, 7), np.float32))
    with pytest.raises(InputValueError, match="dim 1 of input 'b' is 6, but 7 is expected"):
        fn(np.ones(3, np.float32), np.ones((7, 6), np.float32))


def test_sizes_from_content_are_bound_and_checked(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("k", "input", "2", dt.int32), kit.buffer("c", "output", "m")]
    facts = [kit.fact("n", ("a", 0)), kit.fact("m", InputElement("k", 1), hi=5)]
    steps = [KernelCall("shifted", ("a",), ("c",))]
    kernel = kit.kernel("shifted", ["n"], ["m"], symbols=["m"], safe=())
    fn = kit.run(kit.program(buffers, steps, ["c"], facts, [kernel]))
    a = np.arange(1, 9, dtype=np.float32)
    for m in (3, 5, 0, 3):
        assert fn(a, np.array([9, m], np.int32)).tolist() == (a[:m] + 1).tolist()
    assert fn(a, np.array([9, 0, 2, 0], np.int32)[::2]).tolist() == [2, 3]
    with pytest.raises(InputValueError, match=r"element 1 of input 'k' is 6, outside the range 0..5 of size m"):
        fn(a, np.array([9, 6], np.int32))


def test_a_kernel_status_becomes_an_error_of_the_caller(kit: Any) -> None:
    buffers = [kit.buffer(n, k, dtype=dt.int32) for n, k in (("a", "input"), ("b", "input"), ("c", "output"))]
    messages = (StatusMessage(3, "words of the kernel"),)
    kernel = kit.kernel("divide", ["n", "n"], ["n"], dtype=dt.int32, messages=messages)
    fn = kit.run(
        kit.program(
            buffers, [KernelCall("divide", ("a", "b"), ("c",))], ["c"], [kit.fact("n", ("a", 0), ("b", 0))], [kernel]
        )
    )
    a = np.full(5000, 6, np.int32)
    b = np.full(5000, 3, np.int32)
    assert fn(a, b).tolist() == [2] * 5000
    b[4000] = 0
    with pytest.raises(StatusError, match="kernel divide: words of the kernel") as told:
        fn(a, b)
    assert told.value.status is Status.NEGATIVE_EXPONENT
    assert isinstance(told.value, ArithmeticError)
    b[4000] = 2
    assert fn(a, b)[4000] == 3


def test_sizes_past_int64_are_refused(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output", "n*n*n*n")]
    steps = [KernelCall("scale", ("a",), ("c",))]
    kernel = kit.kernel("scale", ["n"], ["n*n*n*n"], safe=())
    fn = kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0))], [kernel]))
    with pytest.raises(InputValueError, match=r"value 'c' of shape \[n\*n\*n\*n\] has no valid size"):
        fn(np.ones(60_000, np.float32))


def test_no_memory_is_an_error_with_the_size(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output", "n*n*n")]
    kernel = kit.kernel("scale", ["n"], ["n*n*n"], safe=())
    steps = [KernelCall("scale", ("a",), ("c",))]
    fn = kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0))], [kernel]))
    with pytest.raises(MemoryError, match="no memory for value 'c' of 4,000,000,000,000,000 bytes"):
        fn(np.ones(100_000, np.float32))


def test_unsolved_tilings_are_our_bug(kit: Any) -> None:
    buffers = [kit.buffer("a", "input", "k"), kit.buffer("c", "output", "k")]
    facts = [kit.fact("k", ("a", 0)), kit.fact("n", lo=2_000_000_000, hi=2_000_000_000)]
    kernel = kit.kernel("scale", ["k"], ["k"], symbols=["n"])
    fn = kit.run(kit.program(buffers, [KernelCall("scale", ("a",), ("c",))], ["c"], facts, [kernel]))
    with pytest.raises(InternalError, match="kernel scale has no tile sizes for k = 1, n = 2000000000"):
        fn(np.ones(1, np.float32))


def test_a_program_that_needs_an_unbound_size_is_refused_when_loaded(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output")]
    facts = [kit.fact("n", ("a", 0)), kit.fact("u")]
    kernel = kit.kernel("scale", ["n"], ["n"], symbols=["u"])
    program = kit.program(buffers, [KernelCall("scale", ("a",), ("c",))], ["c"], facts, [kernel])
    with pytest.raises(InternalError, match="needs the size u before anything binds it"):
        kit.module(program)


def test_the_more_general_variant_is_taken_and_counted(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("b", "input"), kit.buffer("c", "output")]
    kernels = [kit.kernel("add_float32", ["n", "n"], ["n"]), kit.kernel("scale", ["n"], ["n"])]
    fast = (KernelCall("add_float32", ("a", "b"), ("c",)),)
    plain = (KernelCall("scale", ("b",), ("c",)),)
    program = kit.program(buffers, fast, ["c"], [kit.fact("n", ("a", 0), ("b", 0))], kernels)
    fn = kit.run(evolve(program, variants=(Variant(ge(as_dim("n"), as_dim(4)), fast), Variant(TRUE, plain))))
    a, b = np.ones(6, np.float32), np.full(6, 5, np.float32)
    assert fn(a, b)[0] == 6
    assert fn.stats.guard_misses == 0
    assert fn(a[:3], b[:3])[0] == 10
    assert fn.stats.guard_misses == 1


@pytest.mark.parametrize(
    ("bits", "error", "words"),
    [
        ((Status.INDEX_OUT_OF_RANGE,), StatusError, "kernel divide: an index is out of range"),
        (tuple(Status), StatusError, "kernel divide: an integer was divided by zero"),
        ((Status.NEGATIVE_EXPONENT, NO_MEMORY), StatusError, "kernel divide: an integer was raised"),
        ((NO_MEMORY,), MemoryExhaustedError, "kernel divide: no memory"),
        ((7,), InternalError, "unknown status 0x80"),
    ],
)
def test_of_several_statuses_the_first_is_told(
    kit: Any, bits: tuple[int, ...], error: type[Exception], words: str
) -> None:
    messages = [StatusMessage(status, message) for status, message in MESSAGES.items()]
    kernel = kit.kernel("divide", ["n", "n"], ["n"], messages=(*messages, StatusMessage(NO_MEMORY, "no memory")))
    buffers = [kit.buffer("a", "input"), kit.buffer("b", "input"), kit.buffer("c", "output")]
    call = KernelCall("divide", ("a", "b"), ("c",))
    program = kit.program(buffers, [call], ["c"], [kit.fact("n", ("a", 0), ("b", 0))], [kernel])
    with pytest.raises(error, match=words):
        FaultReporter(program, make_plan(program, {}, {})).report(
            Fault.STATUS, 0, (3,), (sum(1 << bit for bit in bits), 0)
        )


class FailingExecutor:
    tier = "interpreter"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, values: Any, symbols: dict[str, int]) -> list[Any]:
        raise self.error


def test_an_interpreter_reports_values_without_a_result_as_a_kernel_does(row_add_program: Any) -> None:
    told = StatusError(Status.INDEX_OUT_OF_RANGE, where="running p, kernel k")
    with pytest.raises(StatusError, match="running p, kernel k: an index is out of range"):
        CompiledModule(row_add_program, FailingExecutor(told))(A, BIAS)
    with pytest.raises(ZeroDivisionError):  # of the interpreter itself
        CompiledModule(row_add_program, FailingExecutor(ZeroDivisionError("oops")))(A, BIAS)
