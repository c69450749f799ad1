"""``autofuse.verify``: passes what is right, finds what is wrong, counts what has no result."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse.errors import DriverError
from autofuse.example_inputs import random_inputs
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_tensor_data


class Changed:
    """A compiled model whose result is changed afterwards."""

    def __init__(self, fn: Any, change: Callable[[np.ndarray], np.ndarray]) -> None:
        self.lowered, self.target = fn.lowered, fn.target
        self._fn, self._change = fn, change

    def __call__(self, *arguments: object) -> np.ndarray:
        return self._change(self._fn(*arguments))


def test_a_right_model_passes_at_empty_single_and_other_sizes(affine: Graph) -> None:
    found = autofuse.verify(affine, samples=4)
    assert found.passed
    batches = [dict(check.sizes)["batch"] for check in found.checks]
    assert len(set(batches)) == 4
    assert {0, 1} < set(batches)


def test_the_same_seed_checks_the_same(affine: Graph) -> None:
    assert autofuse.verify(affine, samples=2, seed=3) == autofuse.verify(affine, samples=2, seed=3)


def test_sizes_stay_in_the_declared_range(affine: Graph) -> None:
    found = autofuse.verify(affine, samples=3, dims={"batch": (4, 6)})
    assert {dict(check.sizes)["batch"] for check in found.checks} <= {4, 5, 6}


def test_a_wrong_element_is_a_mismatch(affine: Graph) -> None:
    def off(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.reshape(-1)[-1:] *= 1.001
        return array

    fn = autofuse.compile(affine)
    assert autofuse.verify(fn, samples=3).passed
    assert not autofuse.verify(Changed(fn, off), samples=3).passed


def test_bits_that_differ_from_the_unfused_ones_are_seen_though_they_pass(affine: Graph) -> None:
    fn = autofuse.compile(affine)
    assert all(check.same_bits for check in autofuse.verify(fn, samples=3, dims={"batch": (1, 9)}).checks)
    found = autofuse.verify(Changed(fn, lambda array: np.nextafter(array, np.float32(9))), samples=3)
    assert found.passed
    assert not all(check.same_bits for check in found.checks)


def test_integers_have_to_be_equal() -> None:
    b = GraphBuilder("sum")
    x = b.input("x", ("n",), dt.int32)
    fn = autofuse.compile(b.build(outputs={"y": b.op("Add", x, x)}))
    found = autofuse.verify(fn, samples=3)
    assert found.passed
    assert all(check.is_exact for check in found.checks)
    assert not autofuse.verify(Changed(fn, lambda array: array + 1), samples=3).passed


def test_sizes_at_which_the_model_has_no_result_are_counted(quotient: Graph) -> None:
    fn = autofuse.compile(quotient)
    zeros = {"b": np.zeros(3, np.int32), "a": np.ones(3, np.int32)}
    found = autofuse.verify(fn, samples=1, inputs=zeros)
    assert not found.checks
    assert len(found.skipped) >= 1
    assert not found.passed


def test_a_result_where_the_model_has_none_is_an_error(quotient: Graph) -> None:
    fn = autofuse.compile(quotient)

    class Careless(Changed):
        def __call__(self, *arguments: object) -> np.ndarray:
            return np.zeros(3, np.int32)

    zeros = {"b": np.zeros(3, np.int32), "a": np.ones(3, np.int32)}
    with pytest.raises(DriverError, match="where the reference has none"):
        autofuse.verify(Careless(fn, np.asarray), samples=1, inputs=zeros)


def test_an_empty_tensor_that_only_inferred_sizes_have_is_compared_with_the_unfused_run() -> None:
    b = GraphBuilder("rows")
    x = b.input("x", (2, "n"), dt.float32)
    same = b.constant(to_tensor_data(np.array([-1, 0])))  # 2 * n / n rows: 2 for n = 0 as well, where NumPy has none
    fn = autofuse.compile(b.build({"y": b.op("Exp", b.op("Reshape", x, same))}), dims={"n": (0, 3)})
    assert fn(np.zeros((2, 0), np.float32)).shape == (2, 0)
    found = autofuse.verify(fn, samples=4)
    assert found.passed
    assert [sizes for sizes, _ in found.skipped] == [(("n", 0),)]
    with pytest.raises(DriverError, match="the unfused program has a different one"):
        autofuse.verify(Changed(fn, lambda array: array if array.size else array[:1]), samples=4)


def test_where_the_model_overflows_fused_must_equal_unfused() -> None:
    b = GraphBuilder("overflow")
    x = b.input("x", ("n",), dt.float32)
    huge, large = (b.op("Exp", b.op("Adds", b.op("Abs", x), value=v)) for v in (101.0, 100.0))
    fn = autofuse.compile(b.build({"y": b.op("Sub", huge, large)}), dims={"n": (4, 8)})  # inf - inf, but for float64
    assert autofuse.verify(fn, samples=2).passed
    assert not autofuse.verify(Changed(fn, np.zeros_like), samples=2).passed


def test_sizes_are_multiples_where_that_is_asked(affine: Graph) -> None:
    found = autofuse.verify(affine, samples=5, multiples={"batch": 7}, dims={"batch": (1, 100)})
    batches = {dict(check.sizes)["batch"] for check in found.checks}
    assert len(batches) == 5
    assert all(batch % 7 == 0 for batch in batches)


@pytest.mark.parametrize("multiples", [{"n": 4}, {"batch": 0}])
def test_multiples_of_nothing_are_refused(affine: Graph, multiples: dict[str, int]) -> None:
    with pytest.raises(DriverError, match=r"no dim called 'n'|multiple of 0"):
        autofuse.verify(affine, samples=1, multiples=multiples)


def test_masks_hold_flags_and_given_ranges_are_kept() -> None:
    b = GraphBuilder("masked")
    inputs = [b.input(name, ("n",), dt.int64) for name in ("attention_mask", "token_type_ids", "ids", "vocabulary")]
    weights = b.input("weights", ("n",), dt.float32)
    lowered = autofuse.compile(b.build(outputs={"y": b.op("Add", *inputs[:2]), "z": weights})).lowered
    made = random_inputs(lowered.graph, lowered.facts, {"n": 500}, 0, {"vocabulary": (-90, 90), "weights": (3, 4)})
    ranges = {name: (made[name].min(), made[name].max()) for name in ("attention_mask", "token_type_ids", "ids")}
    assert ranges == {"attention_mask": (0, 1), "token_type_ids": (0, 1), "ids": (0, 3)}
    assert -90 <= made["vocabulary"].min() < -50
    assert 50 < made["vocabulary"].max() <= 90
    assert made["weights"].dtype == np.float32
    assert 3 <= made["weights"].min() < made["weights"].max() <= 4


def test_a_range_of_an_input_that_is_not_there_is_refused(affine: Graph) -> None:
    with pytest.raises(DriverError, match="no input called 'y'"):
        autofuse.verify(affine, samples=1, contents={"y": (0, 1)})


def test_the_command_line_takes_ranges_and_multiples(call: Any, affine_file: Path) -> None:
    words = ("--samples", 3, "--largest", 40, "--multiple", "batch=5", "--content", "x=-2..3", "--json")
    data = json.loads(call("verify", affine_file, *words).out)
    assert data["passed"]
    assert [check["sizes"]["batch"] % 5 for check in data["checks"]] == [0, 0, 0]
    assert all(check["same_bits"] for check in data["checks"])


@pytest.mark.parametrize("words", [("--content", "x=3..2"), ("--content", "x=3"), ("--multiple", "batch=x")])
def test_malformed_ranges_and_multiples_are_refused(call: Any, affine_file: Path, words: tuple[str, ...]) -> None:
    answer = call("verify", affine_file, *words)
    assert answer.code == 2
    assert f"{words[0]} {words[1]!r} is malformed" in answer.err
