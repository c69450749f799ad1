"""Host steps between kernels, values of unknown size, objects, constants, guards that wait."""

import gc
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import as_dim, le
from autofuse_ir.facts import Guard, GuardKind
from autofuse_ir.graph import Constant, Node, Payload
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    Copy,
    Free,
    HostCall,
    KernelCall,
    ProgramRegion,
    WriteSizes,
)
from autofuse_ir.tensor_data import TensorData
from autofuse_runtime.errors import InputValueError, RuntimeInputError, ToolMissingError


class Host:
    """A backend whose regions are functions given by name."""

    def __init__(self, **functions: Any) -> None:
        self.functions = functions
        self.compiled: list[str] = []
        self.payloads: dict[str, Payload] = {}

    def compile(self, region: ProgramRegion, payloads: Any, constants: Any = None) -> Any:
        self.compiled.append(region.name)
        self.payloads = dict(payloads)
        return self.functions[region.name]


def region(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> ProgramRegion:
    return ProgramRegion(name, "fake", inputs, outputs, (Node(name, "Host", inputs, outputs),))


def select_program(kit: Any, guards: bool = False) -> Any:
    """t = 2a; p = host(t) of unknown size u; c = 2p: a kernel on each side of a data-dependent step."""
    buffers = [
        kit.buffer("a", "input"),
        kit.buffer("t", "intermediate"),
        kit.buffer("p", "intermediate", "u,2"),
        kit.buffer("q", "intermediate", "2*u", alias_of="p"),
        kit.buffer("d", "intermediate", "2*u"),
        kit.buffer("c", "output", "u,2", alias_of="d"),
    ]
    guard = Guard(GuardKind.ASSERT, le(as_dim("2*u"), as_dim("n")), "Select_7", "no more rows than half of n")
    steps = [
        KernelCall("scale", ("a",), ("t",)),
        HostCall("select", ("t",), ("p",)),
        Free("t"),
        BindSymbol("u", "p", 0, None, 0, 50),
        *([AssertGuard(guard)] if guards else []),
        BindSymbol("w", "p", 0, None, 0, 50),
        Alias("p", "q"),
        KernelCall("twice", ("q",), ("d",)),
        Alias("d", "c"),
    ]
    kernels = [
        kit.kernel("scale", ["n"], ["n"]),
        kit.kernel("twice", ["2*u"], ["2*u"], symbols=["m2"]),
    ]
    # The kernel wants the number of elements: bound from a size tensor.
    buffers.append(kit.buffer("e", "intermediate", "1", dt.int64))
    steps[6 + guards : 6 + guards] = [WriteSizes("e", (as_dim("2*u"),)), BindSymbol("m2", "e", None, 0, 0, 100)]
    return kit.program(
        buffers,
        steps,
        ["c"],
        [kit.fact("n", ("a", 0))],
        kernels,
        regions=(region("select", ("t",), ("p",)),),
        payloads=(Payload("node", "test", TensorData(dt.uint8, (2,), b"hi")),),
    )


def positive_pairs(values: list[Any]) -> list[Any]:
    (t,) = values
    kept = t[t > 0]
    return [np.stack([kept, kept], axis=1)]


def test_a_host_step_between_kernels_makes_a_size(kit: Any) -> None:
    host = Host(select=positive_pairs)
    fn = kit.run(select_program(kit), {"fake": host})
    assert host.compiled == ["select"]
    assert list(host.payloads) == ["node"]
    for values in ([1, -2, 3, -4], [-1, -1, -1, -1], [1, 2, 3, 4], [5]):
        a = np.array(values, np.float32)
        kept = a[a > 0]
        np.testing.assert_array_equal(fn(a), np.stack([4 * kept] * 2, axis=1))
    out = np.zeros((2, 2), np.float32)
    assert fn(np.float32([1, -2, 3, -4]), out=out) is out
    assert out.tolist() == [[4, 4], [12, 12]]
    with pytest.raises(InputValueError, match="out= for output 'c' has another shape than the output at n = 4, u = 1"):
        fn(np.float32([1, -2, -3, -4]), out=out)


def test_a_guard_on_such_a_size_is_checked_when_it_is_known(kit: Any) -> None:
    fn = kit.run(select_program(kit, guards=True), {"fake": Host(select=positive_pairs)})
    assert fn(np.float32([1, -2, 3, -4])).shape == (2, 2)
    with pytest.raises(InputValueError, match="operator Select_7: no more rows than half of n"):
        fn(np.float32([1, 2, 3, -4]))


def test_such_a_size_is_held_to_its_range(kit: Any) -> None:
    fn = kit.run(select_program(kit), {"fake": Host(select=positive_pairs)})
    with pytest.raises(InputValueError, match=r"size u became 60 in value 'p', outside its range 0\.\.50"):
        fn(np.ones(60, np.float32))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda t: [np.zeros((3, 3), np.float32)], "3 at dim 1, but 2 is expected"),
        (lambda t: [np.zeros(3, np.float32)], "1 dims, 2 are expected"),
        (lambda t: [np.zeros((3, 2))], "dtype float64, float32 is expected"),
        (lambda t: ["text"], "came back as str"),
        (lambda t: [], "0 results came back, 1 are expected"),
    ],
)
def test_results_a_host_gets_wrong_are_named(kit: Any, result: Any, words: str) -> None:
    fn = kit.run(select_program(kit), {"fake": Host(select=result)})
    with pytest.raises(RuntimeInputError, match=words):
        fn(np.ones(4, np.float32))


def test_errors_of_a_host_pass_through_and_keep_no_memory(kit: Any) -> None:
    def fail(values: list[Any]) -> list[Any]:
        raise KeyError("from the backend")

    fn = kit.run(select_program(kit), {"fake": Host(select=fail)})
    in_use = kit.extension.memory_stats(False)["bytes_in_use"]
    for _ in range(2):
        with pytest.raises(KeyError, match="from the backend"):
            fn(np.ones(4, np.float32))
        gc.collect()
        # What stays is the tile sizes of the frame, not buffers.
        assert kit.extension.memory_stats(False)["bytes_in_use"] <= in_use + 1024


def test_a_missing_backend_is_named(kit: Any) -> None:
    with pytest.raises(ToolMissingError, match="the program needs the host backend 'fake'") as caught:
        kit.module(select_program(kit))
    assert caught.value.exit_code == 3


def test_views_a_host_keeps_stay_valid(kit: Any) -> None:
    kept = []

    def keep(values: list[Any]) -> list[Any]:
        kept.append(values[0])
        return positive_pairs(values)

    fn = kit.run(select_program(kit), {"fake": Host(select=keep)})
    for value in (1, 2, 3):
        fn(np.full(4, value, np.float32))
    assert [view.tolist() for view in kept] == [[2.0] * 4, [4.0] * 4, [6.0] * 4]


def host_program(kit: Any, dtype: dt.DType = dt.float32) -> Any:
    buffers = [kit.buffer("a", "input", "n", dtype), kit.buffer("c", "output", "n", dtype)]
    return kit.program(
        buffers,
        [HostCall("h", ("a",), ("c",))],
        ["c"],
        [kit.fact("n", ("a", 0))],
        regions=(region("h", ("a",), ("c",)),),
    )


def test_a_result_the_host_still_holds_is_copied(kit: Any) -> None:
    table = np.arange(4, dtype=np.float32)
    fn = kit.run(host_program(kit), {"fake": Host(h=lambda values: [table])})
    result = fn(np.zeros(4, np.float32))
    result[:] = -1
    assert table.tolist() == [0, 1, 2, 3]
    a = np.arange(4, dtype=np.float32)
    same = kit.run(host_program(kit), {"fake": Host(h=lambda values: values)})(a)
    same[:] = -1
    assert a.tolist() == [0, 1, 2, 3]


def test_the_host_sees_the_caller_s_array_and_its_strides_do_not_matter(kit: Any) -> None:
    seen = []

    def look(values: list[Any]) -> list[Any]:
        seen.append(values[0])
        return [values[0][::-1]]

    fn = kit.run(host_program(kit), {"fake": Host(h=look)})
    a = np.arange(4, dtype=np.float32)
    assert fn(a).tolist() == [3, 2, 1, 0]
    assert seen[0] is a
    assert fn(a[::2]).tolist() == [2, 0]
    out = np.zeros(4, np.float32)
    assert fn(a, out=out).tolist() == [3, 2, 1, 0]
    # out= is the input itself: the host step must not see it half-written.
    assert fn(out, out=out).tolist() == [0, 1, 2, 3]


def test_bfloat16_reaches_the_host_and_comes_back(kit: Any) -> None:
    seen = []

    def look(values: list[Any]) -> list[Any]:
        seen.append(values[0].dtype)
        return [values[0] + values[0]]

    fn = kit.run(host_program(kit, dt.bfloat16), {"fake": Host(h=look)})
    a = np.array([1, 2], ml_dtypes.bfloat16)
    result = fn(a)
    assert seen == [np.dtype(ml_dtypes.bfloat16)]
    assert result.dtype == np.dtype(ml_dtypes.bfloat16)
    assert result.astype(int).tolist() == [2, 4]


def test_objects_pass_between_host_steps(kit: Any) -> None:
    buffers = [
        kit.buffer("in_text", "object", "", dt.opaque),
        kit.buffer("s", "object", "", dt.opaque),
        kit.buffer("s2", "object", "", dt.opaque, alias_of="s"),
        kit.buffer("copy", "object", "", dt.opaque),
        kit.buffer("length", "output", "", dt.int64),
    ]
    steps = [
        HostCall("split", ("in_text",), ("s",)),
        Alias("s", "s2"),
        Copy("s", "copy"),
        HostCall("count", ("s2",), ("length",)),
    ]
    regions = (region("split", ("in_text",), ("s",)), region("count", ("s2",), ("length",)))
    program = kit.program(buffers, steps, ["length", "copy"], [], regions=regions)
    host = Host(split=lambda v: [v[0].split()], count=lambda v: [np.array(len(v[0]), np.int64)])
    fn = kit.run(program, {"fake": host})
    length, words = fn("three small words")
    assert int(length) == 3
    assert words == ["three", "small", "words"]
    with pytest.raises(TypeError, match="output 'copy' is no tensor"):
        fn("a b", out=(None, np.zeros(1)))


def test_arrays_of_other_element_types_give_sizes_by_their_shape(kit: Any) -> None:
    buffers = [kit.buffer("in_rare", "object", "n,m", dt.opaque), kit.buffer("count", "output", "n,m", dt.int64)]
    program = kit.program(
        buffers,
        [HostCall("count", ("in_rare",), ("count",))],
        ["count"],
        [kit.fact("n", ("in_rare", 0)), kit.fact("m", ("in_rare", 1), hi=5)],
        regions=(region("count", ("in_rare",), ("count",)),),
    )
    program = evolve(program, inputs=(evolve(program.inputs[0], shape=(as_dim("n"), as_dim("m"))),))
    fn = kit.run(program, {"fake": Host(count=lambda v: [np.arange(v[0].size, dtype=np.int64).reshape(v[0].shape)])})
    for shape in ((3, 5), (2, 1), (0, 4)):
        result = fn(np.zeros(shape, ml_dtypes.float8_e5m2))
        np.testing.assert_array_equal(result, np.arange(shape[0] * shape[1]).reshape(shape))
    with pytest.raises(ValueError, match=r"has no shape \(list\), but 2 dims \[n, m\] are expected"):
        fn([[1, 2]])
    with pytest.raises(ValueError, match=r"has shape \[3\], but 2 dims"):
        fn(np.zeros(3, ml_dtypes.float8_e5m2))
    with pytest.raises(ValueError, match=r"dim 1 of input 'in_rare' is 6"):
        fn(np.zeros((1, 6), ml_dtypes.float8_e5m2))


@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16])
def test_constants_are_read_by_kernels_and_hosts(kit: Any, dtype: dt.DType) -> None:
    numpy_type = ml_dtypes.bfloat16 if dtype == dt.bfloat16 else np.float32
    data = np.array([1, 2, 3], numpy_type)
    kernel_name = "keep_bfloat16" if dtype == dt.bfloat16 else "add_float32"
    buffers = [
        kit.buffer("a", "input", "3", dtype),
        kit.buffer("k", "constant", "3", dtype),
        kit.buffer("c", "output", "3", dtype),
        kit.buffer("h", "output", "3", dtype),
        kit.buffer("kc", "output", "3", dtype),
    ]
    steps = [KernelCall(kernel_name, ("a", "k"), ("c",)), HostCall("same", ("k",), ("h",)), Copy("k", "kc")]
    facts = [kit.fact("three", lo=3, hi=3)]
    kernel = kit.kernel(kernel_name, ["3", "3"], ["3"], symbols=["three"], dtype=dtype)
    program = kit.program(
        buffers,
        steps,
        ["c", "h", "kc"],
        facts,
        [kernel],
        regions=(region("same", ("k",), ("h",)),),
        constants=(Constant("k", TensorData(dtype, (3,), data.tobytes())),),
    )
    seen = []
    fn = kit.run(program, {"fake": Host(same=lambda values: [seen.append(values[0]) or values[0]])})
    a = np.array([10, 20, 30], numpy_type)
    c, h, kc = fn(a)
    expected = a if dtype == dt.bfloat16 else a + data
    np.testing.assert_array_equal(c, expected)
    h[:] = 0
    kc[:] = 0
    c2, h2, kc2 = fn(a)
    np.testing.assert_array_equal(c2, expected)
    np.testing.assert_array_equal(h2, data)
    np.testing.assert_array_equal(kc2, data)
    assert not seen[0].flags.writeable


def test_calls_may_nest_in_a_host_step_and_run_side_by_side(kit: Any) -> None:
    fn: Any = None

    def again(values: list[Any]) -> list[Any]:
        if values[0].size <= 1:
            return [values[0].copy()]
        rest = fn(values[0][1:].copy())
        return [np.concatenate([values[0][:1], rest])]

    fn = kit.run(host_program(kit), {"fake": Host(h=again)})
    failures: list[str] = []

    def work(seed: int) -> None:
        for size in range(1, 20):
            a = np.random.default_rng(seed + size).standard_normal(size).astype(np.float32)
            if fn(a).tolist() != a.tolist():
                failures.append(f"{seed} {size}")

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("maker", ["host", "kernel"])
def test_an_output_made_as_a_view_of_another_shape_takes_its_own(kit: Any, maker: str) -> None:
    # The linker lets a maker write into an output under the maker's own shape: v[u, 2] is the output c[2*u].
    buffers = [
        kit.buffer("a", "input"),
        kit.buffer("p", "intermediate", "u,2"),
        kit.buffer("c", "output", "2*u"),
        kit.buffer("v", "intermediate", "u,2", alias_of="c"),
    ]
    made = "v" if maker == "host" else "p"
    steps: list[Any] = [HostCall("select", ("a",), (made,)), BindSymbol("u", made, 0, None, 0, 50)]
    kernels = []
    if maker == "kernel":
        steps += [BindSymbol("m2", "p", 0, None, 0, 50), KernelCall("scale", ("p",), ("v",))]
        kernels = [kit.kernel("scale", ["u,2"], ["u,2"], symbols=["m2"])]
    program = kit.program(
        buffers, steps, ["c"], [kit.fact("n", ("a", 0))], kernels, regions=(region("select", ("a",), (made,)),)
    )
    fn = kit.run(program, {"fake": Host(select=positive_pairs)})
    for values in ([1, -2, 3], [-1, -1], [4, 5]):
        a = np.array(values, np.float32)
        result = fn(a)
        assert result.shape == (2 * int((a > 0).sum()),)
        if maker == "host":
            assert result.tolist() == np.repeat(a[a > 0], 2).tolist()
        out = np.zeros(result.shape, np.float32)
        fn(a, out=out)
        assert maker == "kernel" or out.tolist() == result.tolist()
        with pytest.raises(InputValueError, match="out= for output 'c' has another shape"):
            fn(a, out=np.zeros(7, np.float32))


def test_a_host_result_that_does_not_fill_its_output_is_refused(kit: Any) -> None:
    buffers = [
        kit.buffer("a", "input"),
        kit.buffer("c", "output", "2*n"),
        kit.buffer("v", "intermediate", "n,2", alias_of="c"),
    ]
    program = kit.program(
        buffers,
        [HostCall("h", ("a",), ("v",))],
        ["c"],
        [kit.fact("n", ("a", 0))],
        regions=(region("h", ("a",), ("v",)),),
    )
    fn = kit.run(program, {"fake": Host(h=lambda values: [np.stack([values[0]] * 2, axis=1)[1:]])})
    with pytest.raises(InputValueError, match="value 'c'"):
        fn(np.ones(4, np.float32))
    ok = kit.run(program, {"fake": Host(h=lambda values: [np.stack([values[0]] * 2, axis=1)])})
    assert ok(np.ones(4, np.float32)).shape == (8,)
