"""Compute equal things once.

before   a = Exp(x); b = Exp(x); c = Add(a, b)
after    a = Exp(x); c = Add(a, a)
"""

from attrs import evolve, frozen
from autofuse_ir.graph import AttrValue, Graph, Node
from autofuse_ir.operators import Flag, attr_of, operator
from autofuse_ir.rewrite import replace_values


@frozen
class MergeCommonSubexpressions:
    """Vector operators only: a host operator may hide more in its payload, random ones draw anew each time."""

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` with each vector operator of the same inputs and attributes once, equal constants too."""
        names: dict[str, str] = {}
        contents: dict[tuple[object, ...], str] = {}
        for constant in graph.constants:
            key = (constant.data.dtype, constant.data.shape, constant.data.raw)
            first = contents.setdefault(key, constant.name)
            if first != constant.name:
                names[constant.name] = first
        known: dict[tuple[object, ...], Node] = {}
        kept: list[Node] = []
        for node in graph.nodes:
            if not operator(node.op).has(Flag.VECTOR):
                kept.append(node)
                continue
            inputs = tuple(None if name is None else names.get(name, name) for name in node.inputs)
            signature = (node.op, inputs, len(node.outputs), _attributes(node))
            earlier = known.setdefault(signature, node)
            if earlier is node:
                kept.append(node)
                continue
            if any(mine and not theirs for mine, theirs in zip(node.outputs, earlier.outputs, strict=True)):
                kept.append(node)
                continue
            names.update((mine, theirs) for mine, theirs in zip(node.outputs, earlier.outputs, strict=True) if mine)
        if not names:
            return graph
        constants = tuple(constant for constant in graph.constants if constant.name not in names)
        return replace_values(evolve(graph, nodes=tuple(kept), constants=constants), names)


def _attributes(node: Node) -> tuple[tuple[str, str, AttrValue | None], ...]:
    """Return the attributes, defaults included; the type keeps 1, 1.0 and True apart."""
    specs = operator(node.op).attrs
    values = ((spec.name, attr_of(node, spec.name)) for spec in specs)
    return tuple((name, type(value).__name__, _bits(value)) for name, value in values)


def _bits(value: AttrValue | None) -> AttrValue | None:
    return value.hex() if isinstance(value, float) else value
