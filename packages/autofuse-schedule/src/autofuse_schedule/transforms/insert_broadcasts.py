"""Make every widening explicit again, one axis at a time, for machines whose operators need equal shapes.

before                                          after
  a = Add l0, l1   l1 repeats [1, 768]            b1 = Broadcast l1 over z0
                                                  a  = Add l0, b1
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import Dim, const
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.strides import dense_strides


@frozen
class InsertBroadcasts:
    """Pure ``AscGraph -> AscGraph``: element-wise nodes and Stores read values of exactly their own repeats.

    Reductions read values that vary along all that they reduce. One value for all elements stays as it is, except
    where it is stored: operators take it as a number or spread it themselves. Equal widenings are shared.
    """

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` with a chain of single-axis Broadcasts wherever a reader is wider than what it reads."""
        by_name: dict[str, AscNode] = {}
        nodes: list[AscNode] = []
        axis_names = tuple(axis.name for axis in graph.axes)

        def is_number(value: AscNode) -> bool:
            """True for what the scalar unit knows: constants and sizes, in whatever type."""
            source = by_name[value.inputs[0]] if value.op == "Cast" else value
            return source.op in NOT_EVALUATED

        def widened(value: AscNode, repeats: tuple[Dim, ...]) -> str:
            places = [at for at in reversed(range(len(repeats))) if value.repeats[at] != repeats[at]]
            if not places and is_number(value):
                places = [len(repeats) - 1]  # one element: a copy of the number into memory
            for position in places:
                wide = (*value.repeats[:position], repeats[position], *value.repeats[position + 1 :])
                name = f"{value.name}_over_{axis_names[position]}"
                if name not in by_name:
                    node = AscNode(
                        name=name,
                        op="Broadcast",
                        inputs=(value.name,),
                        dtype=value.dtype,
                        repeats=wide,
                        strides=dense_strides(wide),
                        attrs=(Attr("axis", axis_names[position]),),
                        source=value.source,
                    )
                    by_name[name] = node
                    nodes.append(node)
                value = by_name[name]
            return value.name

        for node in graph.nodes:
            inputs = node.inputs
            if node.op not in ("Load", "Broadcast", "Output", "Data"):
                reduced = reduced_axes(node)
                wanted = tuple(
                    axis.size if axis.name in reduced else repeat
                    for axis, repeat in zip(graph.axes, node.repeats, strict=True)
                )
                fits = [_fits_all(by_name[name], node) and not reduced for name in node.inputs]
                if fits and all(fits) and node.op != "Cast":
                    # One operand at least is in memory, and as wide as the result.
                    numbers = [at for at, name in enumerate(node.inputs) if is_number(by_name[name])]
                    if any(repeat != const(1) for repeat in wanted):
                        fits[-1] = False
                    elif len(numbers) == len(fits):
                        fits[numbers[-1]] = False
                inputs = tuple(
                    name if fit else widened(by_name[name], wanted) for name, fit in zip(node.inputs, fits, strict=True)
                )
            rewired = node if inputs == node.inputs else evolve(node, inputs=inputs)
            by_name[node.name] = rewired
            nodes.append(rewired)
        return graph if len(nodes) == len(graph.nodes) else evolve(graph, nodes=tuple(nodes))


def _fits_all(value: AscNode, reader: AscNode) -> bool:
    """True for one value that operators take as an operand of all elements; a Store copies what is in memory."""
    return reader.op != "Store" and (value.op in NOT_EVALUATED or all(r == const(1) for r in value.repeats))
