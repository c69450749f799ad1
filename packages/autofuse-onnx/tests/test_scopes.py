"""Values of enclosing scopes are found and renamed, and shadowing names are left alone."""

from collections.abc import Callable

import onnx
from autofuse_onnx.scopes import captured_names, rename
from hypothesis import given, settings
from hypothesis import strategies as st

NESTED = """g (bool c, float[2] x, float[2] z) => (y) {
    y = If (c) <
        then_branch = t () => (u) {
            k = Neg(x)
            u = If (c) <then_branch = tt () => (p) { p = Add(k, z) }, else_branch = te () => (q) { q = Abs(x) }>
        },
        else_branch = e () => (r) { r = Identity(w) }
    >
}"""


def _node(parse: Callable[[str, int], onnx.ModelProto]) -> onnx.NodeProto:
    return parse(NESTED, 17).graph.node[0]


def test_captured_values_come_in_the_order_of_first_use(parse: Callable[[str, int], onnx.ModelProto]) -> None:
    assert captured_names(_node(parse)) == ("x", "c", "z", "w")


def test_renaming_reaches_nested_graphs_but_not_their_own_values(
    parse: Callable[[str, int], onnx.ModelProto],
) -> None:
    node = _node(parse)
    rename(node, {"x": "X", "z": "Z", "k": "K", "y": "Y", "w": "W"})
    assert captured_names(node) == ("X", "c", "Z", "W")
    assert list(node.output) == ["Y"]
    assert node.attribute[0].g.node[0].output[0] == "k"


@settings(derandomize=True, database=None, deadline=None)
@given(st.permutations(["x", "c", "z", "w"]))
def test_renaming_there_and_back_changes_nothing(names: list[str]) -> None:
    node = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {NESTED}').graph.node[0]
    before = node.SerializeToString(deterministic=True)
    there = {name: f"new {other}" for name, other in zip("xczw", names, strict=True)}
    rename(node, there)
    assert set(captured_names(node)) == {f"new {name}" for name in "xczw"}
    rename(node, {new: old for old, new in there.items()})
    assert node.SerializeToString(deterministic=True) == before
