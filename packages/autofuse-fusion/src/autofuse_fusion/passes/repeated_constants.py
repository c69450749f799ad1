"""Read one of equal rows of a constant.

before   c = Const f32[1024, 768], all rows equal; y = Add(x: [1024, 768], c)
after    r = Const f32[1, 768]; y = Add(x, r)                and a constant that is one number everywhere is that number
"""

from collections.abc import Collection, Mapping

from attrs import evolve, frozen
from autofuse_ir.dims import Dim
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Constant, Graph, Node
from autofuse_ir.operators import Flag, input_names, operator
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_array, to_tensor_data

from autofuse_fusion.lower.alignment import positions
from autofuse_fusion.lower.space import broadcast_space
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.size_facts import SizeFacts


@frozen
class ReadOneOfEqualRows:
    """Readers that broadcast read the constant with size 1 along each dim where all its slices have the same bits.

    Only along dims that another operand has in full, so that the shape of the result does not change.
    """

    facts: SymbolFacts

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` with smaller constants; those that others read stay beside them."""
        constants = {constant.name: constant.data for constant in graph.constants}
        shapes = {fact.name: fact.shape for fact in self.facts.values}
        sizes = SizeFacts(self.facts)
        repeated: dict[str, frozenset[int]] = {}
        added: dict[tuple[str, frozenset[int]], Constant] = {}
        nodes: list[Node] = []
        for node in graph.nodes:
            inputs = list(node.inputs)
            for place, name in enumerate(node.inputs if _broadcasts(node) else ()):
                data = constants.get(name or "")
                if name is None or data is None or data.dtype.is_opaque or data.element_count < 2:
                    continue
                if name not in repeated:
                    repeated[name] = _repeated_dims(data)
                dims = frozenset(
                    dim
                    for dim in repeated[name]
                    if _is_covered(node, place, len(data.shape), dim, constants, shapes, sizes)
                )
                if dims:
                    small = added.setdefault((name, dims), _first(name, data, dims, len(added)))
                    inputs[place] = small.name
            nodes.append(node if tuple(inputs) == node.inputs else evolve(node, inputs=tuple(inputs)))
        if not added:
            return graph
        return evolve(graph, nodes=tuple(nodes), constants=(*graph.constants, *added.values()))


def _is_covered(
    node: Node,
    place: int,
    rank: int,
    dim: int,
    constants: Collection[str],
    shapes: Mapping[str, tuple[Dim, ...] | None],
    sizes: SizeFacts,
) -> bool:
    """True where an operand that is no constant has the dim of the result in full that ``dim`` of ``place`` lies on."""
    result = shapes.get(node.outputs[0])
    if result is None:
        return False
    names = input_names(operator(node.op), len(node.inputs))
    at = positions(node, names[place], rank, len(result))[dim]
    for param, name in zip(names, node.inputs, strict=True):
        shape = None if name is None or name in constants else shapes.get(name)
        if shape is None:
            continue
        lies = positions(node, param, len(shape), len(result))
        if any(d == at and sizes.equal(size, result[at]) for d, size in zip(lies, shape, strict=True)):
            return True
    return False


def _broadcasts(node: Node) -> bool:
    lowering = lowering_of(node.op)
    is_plain = lowering is not None and lowering.space is broadcast_space and not lowering.unread
    return is_plain and operator(node.op).has(Flag.ELEMENTWISE) and len(node.inputs) > 1


def _repeated_dims(data: TensorData) -> frozenset[int]:
    """Return the dims along which all slices have the same bits."""
    array = to_array(data)
    bits = array.view(f"u{array.dtype.itemsize}")
    return frozenset(
        dim for dim, size in enumerate(data.shape) if size > 1 and bool((bits == bits.take([0], dim)).all())
    )


def _first(name: str, data: TensorData, dims: frozenset[int], number: int) -> Constant:
    places = tuple(slice(0, 1) if dim in dims else slice(None) for dim in range(len(data.shape)))
    return Constant(f"{name}@first{number}", to_tensor_data(to_array(data)[places].copy()))
