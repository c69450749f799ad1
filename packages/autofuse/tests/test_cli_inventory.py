"""``autofuse targets`` and ``autofuse operators``: what is there."""

import json
from typing import Any

from attrs import evolve
from autofuse.cli.operators import holes
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.operators import operator
from autofuse_ir.target import load_target, target_names


def test_targets_are_listed_in_80_columns(call: Any) -> None:
    answer = call("targets")
    assert answer.code == 0
    for name in target_names():
        assert name in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


def test_operators_are_counted_and_types_listed_in_80_columns(call: Any) -> None:
    answer = call("operators")
    assert answer.code == 0
    assert "elementwise" in answer.out
    assert "ascend-350" in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


def test_the_types_of_each_target_are_those_of_its_description(call: Any) -> None:
    data = json.loads(call("operators", "--json").out)
    for name in target_names():
        support = {row.op: {dtype.name for dtype in row.dtypes} for row in load_target(name).support}
        for op, types in data["primitives"].items():
            assert op not in NOT_EVALUATED
            if op in support:
                assert set(types[name]) <= support[op]
    assert "float64" in data["primitives"]["Add"]["cpu"]
    assert "float64" not in data["primitives"]["Add"]["ascend-a2"]
    assert "bool" not in data["primitives"]["Add"]["cpu"]
    assert "float64" not in data["primitives"]["Atan2"]["ascend-a2"]
    assert data["primitives"]["LogicalNot"]["cpu"] == ["bool"]
    assert data["operators"]["Gelu"] == {"family": "activation", "fuses": "yes", "numpy_meaning": True}


def test_views_fuse_and_products_of_matrices_do_in_some_forms(call: Any) -> None:
    data = json.loads(call("operators", "--json").out)["operators"]
    expected = {
        "Transpose": "yes",
        "ConcatD": "yes",
        "Reshape": "yes",
        "GatherV2": "yes",
        "MatMul": "in-some-forms",
        "Conv2D": "no",
        "TopK": "no",
    }
    assert {name: data[name]["fuses"] for name in expected} == expected
    assert "fuses          yes" in call("operators", "Transpose").out


def test_one_operator_or_primitive_is_shown_alone(call: Any) -> None:
    shown = call("operators", "GeluV2")
    assert shown.code == 0
    assert "approximate" in shown.out
    assert "ascend" not in shown.out
    assert "ascend-a2" in call("operators", "Sigmoid").out
    assert "Sqrt" not in call("operators", "Erf").out


def test_a_family_lists_its_operators(call: Any) -> None:
    lines = call("operators", "gather_scatter").out.splitlines()
    assert "GatherV2(x, indices, axis)" in lines
    assert "ScatterND(data, indices, updates)  (host)" in lines
    assert not any(line.startswith("Add(") for line in lines)


def test_an_unknown_operator_names_what_is_near(call: Any) -> None:
    answer = call("operators", "Sigmoit")
    assert answer.code == 2
    assert "Sigmoid" in answer.err
    assert answer.out == ""
    assert "LayerNorm" in call("operators", "norm").err
    assert "near it" not in call("operators", "xyzzyx").err


def test_the_table_has_no_holes(call: Any) -> None:
    assert call("operators", "--check").code == 0
    unknown = evolve(operator("Exp"), name="Frobnicate")
    lacking = holes((operator("Exp"), unknown))
    assert {name for name, _ in lacking} == {"Frobnicate"}
    assert [column.split(" in ")[1] for _, column in lacking] == [
        "autofuse-reference",
        "autofuse-symshape",
        "autofuse-fusion",
    ]


def test_operators_of_a_target_are_told_apart_by_what_computes_them(call: Any) -> None:
    data = json.loads(call("operators", "--target", "ascend-a2", "--json").out)
    assert "int64" in data["Add"]["composed"]
    assert "int64" in data["FloorDiv"]["scalar unit"]
    assert data["Exp"]["none"] == ["float64"]
    assert "scalar unit" in call("operators", "--target", "ascend-350").out
    refused = call("operators", "--target", "cpu")
    assert refused.code == 2
