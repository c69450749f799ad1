"""Drop operators that give back what they are given.

before   a = Identity(x); b = Mul(a, 1.0); c = Reshape(b: [n, 4], [n, 4]); y = Exp(c)
after    y = Exp(x)

A float rule is here only if it keeps every bit, also of NaN, infinities, -0.0 and subnormals: x * 1, x / 1, x - 0 and
x + -0.0 do; x + 0 (it turns -0.0 into 0.0), x * 0 and x - x do not.
"""

from collections.abc import Callable
from math import copysign

from attrs import evolve, frozen
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Graph, Node
from autofuse_ir.rewrite import replace_values
from autofuse_ir.tensor_data import TensorData

from autofuse_fusion.lower.table import VIEWS
from autofuse_fusion.passes.constant_folding import scalar_constant
from autofuse_fusion.size_facts import SizeFacts


def _is_one(value: float, dtype: DType) -> bool:
    del dtype
    return value == 1


def _is_zero(value: float, dtype: DType) -> bool:
    return value == 0 and (not dtype.is_float or copysign(1.0, value) > 0)


def _is_neutral_addend(value: float, dtype: DType) -> bool:
    return value == 0 and (not dtype.is_float or copysign(1.0, value) < 0)


_NEUTRAL: dict[str, tuple[bool, Callable[[float, DType], bool]]] = {
    "Add": (True, _is_neutral_addend),
    "AddV2": (True, _is_neutral_addend),
    "Mul": (True, _is_one),
    "Sub": (False, _is_zero),
    "Div": (False, _is_one),
    "RealDiv": (False, _is_one),
}
"""Binary operators: whether the neutral constant may stand first, too, and which it is."""

_SAME_SHAPE = VIEWS | {"Expand", "BroadcastTo"}


@frozen
class DropIdentities:
    """Uses of such a result become uses of its input; graph outputs, too."""

    facts: SymbolFacts

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` without operators that change nothing."""
        facts = {fact.name: fact for fact in self.facts.values}
        sizes = SizeFacts(self.facts)
        constants = {constant.name: constant.data for constant in graph.constants}

        def same(a: str, b: str) -> bool:
            one, two = facts.get(a), facts.get(b)
            if one is None or two is None or one.dtype != two.dtype or one.shape is None or two.shape is None:
                return False
            if len(one.shape) != len(two.shape):
                return False
            return all(sizes.equal(d, e) for d, e in zip(one.shape, two.shape, strict=True))

        names: dict[str, str] = {}
        kept: list[Node] = []
        for node in graph.nodes:
            source = _kept_input(node, constants)
            if source is not None and (node.op == "Identity" or same(source, node.outputs[0])):
                names[node.outputs[0]] = source
            else:
                kept.append(node)
        return replace_values(evolve(graph, nodes=tuple(kept)), names) if names else graph


def _kept_input(node: Node, constants: dict[str, TensorData]) -> str | None:
    """Return the input that is the result, provided the shapes agree."""
    if node.op in _SAME_SHAPE or node.op == "Cast":
        return node.inputs[0]
    if node.op not in _NEUTRAL or len(node.inputs) != 2:
        return None
    first, second = node.inputs
    either, is_neutral = _NEUTRAL[node.op]
    for data, neutral in ((first, second), (second, first))[: 2 if either else 1]:
        known = constants.get(neutral or "")
        value = None if known is None else scalar_constant(known)
        if known is not None and value is not None and is_neutral(value, known.dtype):
            return data
    return None
