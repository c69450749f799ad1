"""Compiled functions given bad and odd input: the right result, or one paragraph that says what is wrong."""

import hashlib
import json
import os
import re
import shutil
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import symbol
from autofuse_ir.errors import AutofuseError
from autofuse_reference.arrays import to_tensor_data
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
Outputs = dict[str, str]
TIERS = ("jit", "interpreter")
F = np.float32


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cache of this module's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOFUSE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def compiled(define: Callable[[GraphBuilder], Outputs], name: str = "g", **options: Any) -> Any:
    """Return the graph that ``define`` builds, compiled."""
    builder = GraphBuilder(name)
    outputs = define(builder)
    return autofuse.compile(builder.build(outputs=outputs), **options)


def scaled_sum(b: GraphBuilder) -> Outputs:
    x, y = b.input("x", ("n", "m"), dt.float32), b.input("y", ("n", 1), dt.float32)
    return {"z": b.op("Add", x, y)}


@pytest.fixture(scope="module", params=TIERS)
def add(request: pytest.FixtureRequest) -> Any:
    """x [n, m] + y [n, 1] on every tier, n in 0..100, m in 1..50."""
    return compiled(scaled_sum, dims={"n": (0, 100), "m": (1, 50)}, tier=request.param)


X, Y = np.arange(20, dtype=F).reshape(4, 5), np.ones((4, 1), F)
READ_ONLY = np.broadcast_to(F(0), (4, 5))


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((X.astype(np.float64), Y), {}, "dtype float64"),
        ((X.astype(object), Y), {}, "dtype object"),
        ((X.astype(">f4"), Y), {}, "dtype >f4"),
        ((X[0], Y), {}, "1 dims"),
        ((F(3), Y), {}, "0 dims"),
        ((np.ones((101, 5), F), np.ones((101, 1), F)), {}, "0..100"),
        ((np.ones((4, 0), F), Y), {}, "1..50"),
        ((np.broadcast_to(F(1), (2**31, 5)), Y), {}, "2147483648"),
        ((X, np.ones((5, 1), F)), {}, "disagree on size n"),
        ((X, np.ones((4, 2), F)), {}, "1 is expected"),
        ((X,), {}, "'y' is missing"),
        ((X, Y, X), {}, "3 inputs"),
        ((X, Y), {"w": X}, "no input 'w'"),
        ((X, Y), {"x": X}, "twice"),
        (([[1.0]], Y), {}, "list"),
        ((None, Y), {}, "NoneType"),
        ((X, Y), {"out": READ_ONLY}, "read-only"),
        ((X, Y), {"out": np.empty((4, 6), F)}, "shape [4, 6]"),
        ((X, Y), {"out": np.empty((4, 5))}, "dtype float64"),
        ((X, Y), {"out": ()}, "0 arrays"),
        ((X, Y), {"out": "z"}, "str"),
    ],
)
def test_wrong_arguments_are_named_and_the_next_call_is_fine(
    add: Any, args: tuple[Any, ...], kwargs: dict[str, Any], words: str
) -> None:
    with pytest.raises(AutofuseError, match=re.escape(words)) as caught:
        add(*args, **kwargs)
    assert caught.value.exit_code == 2
    assert caught.value.where
    assert caught.value.fix
    np.testing.assert_array_equal(add(X, Y), X + Y)


def test_objects_that_fail_when_asked_are_no_arrays(add: Any) -> None:
    class Failing:
        def __dlpack_device__(self) -> tuple[int, int]:
            raise RuntimeError("no")

        def __dlpack__(self) -> object:
            raise RuntimeError("no")

    with pytest.raises(AutofuseError, match="not an array"):
        add(Failing(), Y)


def test_any_layout_of_inputs_and_outputs_gives_the_same_result(add: Any) -> None:
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(F).reshape(4, 5)
    views = (np.asfortranarray(X), X[::-1], X[:, ::-1], np.repeat(X, 2, 1)[:, ::2], np.broadcast_to(F(2), (4, 5)))
    for x in (*views, unaligned):
        np.testing.assert_array_equal(add(x, Y), x + Y)
    for out in (np.empty((4, 5), F, order="F"), np.empty((4, 5), F)[::-1, ::-1], X.copy()):
        np.testing.assert_array_equal(add(X, Y, out=out), X + Y)
    for shape in ((0, 5), (1, 1), (0, 1), (1, 50), (100, 1)):
        x, y = np.ones(shape, F), np.ones((shape[0], 1), F)
        np.testing.assert_array_equal(add(x, y), x + y)


@pytest.mark.parametrize("tier", TIERS)
def test_arrays_of_out_may_interleave_but_not_overlap(tier: str) -> None:
    def two(b: GraphBuilder) -> Outputs:
        x = b.input("x", ("n",), dt.float32)
        return {"a": b.op("Abs", x), "b": b.op("Neg", x)}

    fn = compiled(two, tier=tier)
    x = np.arange(5, dtype=F)
    pairs = np.zeros((5, 2), F)
    fn(x, out=(pairs[:, 0], pairs[:, 1]))
    np.testing.assert_array_equal(pairs, np.stack([x, -x], 1))
    fn(x, out=(pairs.reshape(-1)[4::-1], pairs.reshape(-1)[5:]))
    np.testing.assert_array_equal(pairs.reshape(-1), [*x[::-1], *-x])
    line = np.zeros(10, F)
    for outs in ((line[:5], line[4:9]), (line[::2], line[2:7]), (line[8::-2], line[2:7])):
        with pytest.raises(AutofuseError, match="share memory"):
            fn(x, out=outs)


@pytest.mark.parametrize("tier", TIERS)
def test_sizes_past_memory_and_past_int64_are_refused(tier: str) -> None:
    def outer(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n", 1), dt.float32), b.input("y", (1, "m"), dt.float32)
        return {"z": b.op("Add", x, y)}

    fn = compiled(outer, dims={"n": (0, 2**62), "m": (0, 2**62)}, tier=tier)
    for n, m in ((2**45, 2**45), (2**45, 2**10)):
        x, y = np.broadcast_to(F(1), (n, 1)), np.broadcast_to(F(1), (1, m))
        with pytest.raises(AutofuseError) as caught:
            fn(as_strided(x, (n, 1), (0, 4)), y)
        assert caught.value.exit_code == 2
    assert fn(np.ones((0, 1), F), np.broadcast_to(F(1), (1, 2**20))).shape == (0, 2**20)


@pytest.mark.parametrize("tier", TIERS)
def test_special_values_pass_as_in_numpy(tier: str) -> None:
    names = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "RealDiv": np.divide, "Maximum": np.maximum}

    def all_of(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n",), dt.float32), b.input("y", ("n",), dt.float32)
        return {name: b.op(name, x, y) for name in names}

    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1e-39, 3.4e38, -3.4e38, 1, -1], F)
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wanted = [function(x, y) for function in names.values()]
    # NumPy leaves it to the machine which of two zeros is the larger; here it is the first.
    wanted[list(names).index("Maximum")] = np.where((x == 0) & (y == 0), x, np.maximum(x, y))
    for found, want in zip(compiled(all_of, tier=tier)(x, y), wanted, strict=True):
        np.testing.assert_array_equal(found, want)
        is_number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(want)[is_number])


@pytest.mark.parametrize("tier", TIERS)
def test_division_by_zero_raises_in_the_callers_thread(tier: str) -> None:
    def divide(b: GraphBuilder) -> Outputs:
        return {"z": b.op("FloorDiv", b.input("x", ("n",), dt.int32), b.input("y", ("n",), dt.int32))}

    fn = compiled(divide, tier=tier)
    x = np.full(1 << 20, 7, np.int32)
    y = np.ones(1 << 20, np.int32)
    y[[0, 77, -1]] = 0
    with pytest.raises(AutofuseError, match="zero"):
        fn(x, y)
    np.testing.assert_array_equal(fn(x, x), np.ones_like(x))


def odd_outputs(b: GraphBuilder) -> Outputs:
    x = b.input("x", ("n",), dt.float32)
    b.input("unused", ("m", "k"), dt.int32)
    c = b.constant(to_tensor_data(np.arange(3, dtype=F)), "c")
    a = b.op("Abs", x)
    return {"a": a, "again": a, "x": x, "x2": x, "c": c, "cc": b.op("Add", c, c)}


@pytest.mark.parametrize("tier", TIERS)
def test_results_have_memory_of_their_own(tier: str) -> None:
    fn = compiled(odd_outputs, tier=tier)
    x, unused = np.arange(5, dtype=F), np.zeros((0, 3), np.int32)
    results = fn(x, unused)
    for k, result in enumerate(results):
        assert not np.shares_memory(result, x)
        assert not any(np.shares_memory(result, other) for other in results[:k])
        result[...] = -1
    wanted = (x, x, x, x, np.arange(3, dtype=F), 2 * np.arange(3, dtype=F))
    for found, want in zip(fn(x, unused), wanted, strict=True):
        np.testing.assert_array_equal(found, want)
    assert compiled(lambda b: {}, tier=tier)() == ()


@pytest.mark.parametrize(
    "name",
    ["for", "static_cast", "sizes", "z0t_size", "a b", 'a"b', "a'b", "é", "a\nint x;", "a\r\n#", "a\\", "*/", "?"],
)
def test_names_never_become_code(name: str, tmp_path: Path) -> None:
    """Of sizes, values, outputs and graphs; the bundle's C header and sources hold them too."""

    def named(b: GraphBuilder) -> Outputs:
        n = symbol(name)
        return {name: b.op("Add", b.input(name, (n, symbol(name + "_")), dt.float32), b.input("y", (n, 1), dt.float32))}

    fn = compiled(named, name=name)
    np.testing.assert_array_equal(fn(X, Y), X + Y)
    fn.save(tmp_path / "bundle")
    np.testing.assert_array_equal(autofuse.load(tmp_path / "bundle")(X, Y), X + Y)


def test_very_long_names_are_cut_in_file_names(tmp_path: Path) -> None:
    fn = compiled(scaled_sum, name="x" * 3000)
    fn.save(tmp_path / "bundle")
    np.testing.assert_array_equal(autofuse.load(tmp_path / "bundle")(X, Y), X + Y)


def test_sizes_that_differ_in_what_identifiers_drop_stay_apart() -> None:
    names = ("a b", "a-b", "a_b", "a.b")

    def many(b: GraphBuilder) -> Outputs:
        values = [b.input(f"v{n}", (symbol(n),) if k else (symbol(n), 1), dt.float32) for k, n in enumerate(names)]
        outer = b.op("Add", values[0], values[1])
        return {"a b": outer, "a-b": b.op("Neg", outer), "p": b.op("Abs", values[2]), "q": b.op("Abs", values[3])}

    fn = compiled(many)
    results = fn(np.ones((2, 1), F), np.ones(3, F), np.ones(4, F), np.ones(5, F))
    assert [r.shape for r in results] == [(2, 3), (2, 3), (4,), (5,)]


@pytest.mark.parametrize(
    "options",
    [
        {"dims": {"n": "x"}},
        {"dims": {"n": (1, 2, 3)}},
        {"dims": {"n": (1.5, 2)}},
        {"dims": {"n": True}},
        {"dims": {"n": (5, 2)}},
        {"dims": {"n": (0, 2**63)}},
        {"dims": {"q": 3}},
        {"dims": ["n"]},
        {"hints": {"n": "a"}},
        {"values": {"x": "abc"}},
        {"values": {"q": 3}},
        {"values": ["x"]},
        {"fusion": "all"},
        {"numerics": "loose"},
        {"target": "../cpu"},
        {"tier": "fast"},
        {"device": "moon"},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(AutofuseError) as caught:
        compiled(scaled_sum, **options)
    assert caught.value.exit_code == 2
    assert caught.value.fix


@pytest.mark.parametrize("model", [None, 3, "", "\0", "x" * 5000, b"", b"abc", "missing.onnx", "/", "/dev/null"])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(AutofuseError):
        autofuse.compile(model)
    if not isinstance(model, bytes):
        with pytest.raises(AutofuseError):
            autofuse.load(model)


def test_a_size_that_no_input_gives_is_the_users_to_declare() -> None:
    with pytest.raises(AutofuseError, match="no input gives m") as caught:
        compiled(lambda b: {"z": b.op("Abs", b.input("x", ("n * m",), dt.float32))})
    assert caught.value.exit_code == 2


def test_a_program_that_contradicts_itself_is_refused_though_its_digest_fits(tmp_path: Path) -> None:
    fn = compiled(scaled_sum)
    text = (fn.save(tmp_path / "bundle") / "program.json").read_text()
    for old, new in (
        ('"outputs":["Add_0"]', '"outputs":[]'),
        ('"inputs":["x","y"]', '"inputs":["x","nothing"]'),
        ('"inputs":["x","y"]', '"inputs":["x","y","y"]'),
        ('"dim":1', '"dim":7'),
    ):
        assert old in text
        folder = tmp_path / re.sub(r"\W+", "_", old + new)
        fn.save(folder)
        resign(folder, text.replace(old, new))
        with pytest.raises(AutofuseError):
            autofuse.load(folder)


def resign(folder: Path, program: str) -> None:
    """Write ``program`` and its digest into the bundle."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["program.json"] = hashlib.sha256(program.encode()).hexdigest()
    (folder / "program.json").write_text(program)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("tier", TIERS)
def test_threads_call_one_function_with_different_sizes(tier: str) -> None:
    fn = compiled(scaled_sum, tier=tier)
    wrong: list[tuple[int, ...]] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(40):
            shape = tuple(generator.integers(0, 150, 2))
            x, y = generator.standard_normal(shape).astype(F), generator.standard_normal((shape[0], 1)).astype(F)
            if not np.array_equal(fn(x, y), x + y):
                wrong.append(shape)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_forked_child_runs_what_its_parent_used() -> None:
    fn = compiled(scaled_sum)
    x, y = np.ones((2000, 500), F), np.ones((2000, 1), F)
    fn(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of newer Pythons: there are threads
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if (fn(x, y) == 2).all() else 3)
    assert os.waitpid(child, 0)[1] == 0


def test_a_cache_deleted_under_way_harms_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "cache"))
    fn = compiled(scaled_sum)
    shutil.rmtree(tmp_path / "cache")
    np.testing.assert_array_equal(fn(X, Y), X + Y)
    np.testing.assert_array_equal(compiled(scaled_sum)(X, Y), X + Y)


def test_six_dims_broadcast_both_ways() -> None:
    def six(b: GraphBuilder) -> Outputs:
        x = b.input("x", ("a", 1, "c", 1, "e", 1), dt.float32)
        return {"z": b.op("Add", x, b.input("y", (1, "b", 1, "d", 1, "f"), dt.float32))}

    fn = compiled(six)
    for a, b, c, d, e, f in (
        (2, 3, 4, 5, 6, 7),
        (1, 1, 1, 1, 1, 1),
        (0, 3, 2, 2, 2, 2),
        (1, 5, 1, 1, 4, 33),
        (7, 1, 3, 1, 1, 0),
    ):
        generator = np.random.default_rng(0)
        x, y = generator.random((a, 1, c, 1, e, 1), F), generator.random((1, b, 1, d, 1, f), F)
        np.testing.assert_array_equal(fn(x, y), x + y)


@pytest.mark.parametrize("operators", [300])
def test_a_chain_of_hundreds_of_operators_stays_right(operators: int) -> None:
    steps = (("Add", np.add), ("Maximum", np.maximum), ("Sub", np.subtract))

    def chain(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n",), dt.float32), b.input("y", ("n",), dt.float32)
        value = x
        for k in range(operators):
            value = b.op(steps[k % 3][0], value, y if k % 2 else x)
        return {"z": value}

    x, y = np.random.default_rng(0).standard_normal((2, 33)).astype(F)
    want = x
    for k in range(operators):
        want = steps[k % 3][1](want, y if k % 2 else x)
    np.testing.assert_array_equal(compiled(chain)(x, y), want)
