"""Models, options and programs that are bad or odd: the right function, or one paragraph that says what is wrong."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import symbol
from autofuse_ir.errors import AutofuseError
from autofuse_testkit.compiled_graph import Outputs, compiled, scaled_sum

TIERS = ("jit", "interpreter")
F = np.float32
X, Y = np.arange(20, dtype=F).reshape(4, 5), np.ones((4, 1), F)


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
