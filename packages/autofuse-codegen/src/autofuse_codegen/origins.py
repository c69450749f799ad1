"""Where the values of a fused graph come from: what each is a view of, who reads it last, which are graph outputs."""

from attrs import frozen
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion, SizesNode, ViewNode


@frozen
class Origins:
    """``view_of``: the value that each view shows.

    ``last_reader``: the last node that reads each value, or a view of it; "" for results of the graph.
    """

    view_of: dict[str, str]
    last_reader: dict[str, str]

    @classmethod
    def of(cls, graph: FusedGraph) -> "Origins":
        """Return the origins of the values of ``graph``."""
        view_of = {n.output: n.input for n in graph.nodes if isinstance(n, ViewNode)}
        return cls(view_of, _last_readers(graph, view_of))

    def source(self, name: str) -> str:
        """Return the value that ``name`` is a view of in the end; itself where it is none."""
        return _source(name, self.view_of)


def output_owners(graph: FusedGraph, origins: Origins) -> dict[str, str]:
    """Return the values that are written straight into a graph output, and the output buffer they stand for.

    A value that is a view of another shares its bytes: the maker then writes into the output under its own shape.
    """
    made = {o for n in graph.nodes for o in ((n.output,) if isinstance(n, ViewNode | SizesNode) else n.outputs)}
    owners: dict[str, str] = {}
    for output in graph.outputs:
        value = output.value
        if value not in made or value in owners:
            continue
        root = origins.source(value)
        if root in made and root not in owners:
            owners[root] = value
        if root == value or owners.get(root) == value:
            owners[value] = value
    return owners


def _last_readers(graph: FusedGraph, view_of: dict[str, str]) -> dict[str, str]:
    last: dict[str, str] = {}
    for node in graph.nodes:
        if isinstance(node, AscBackend | FusedAscBackend | HostRegion):
            last.update((_source(name, view_of), node.name) for name in node.inputs)
    last.update((_source(output.value, view_of), "") for output in graph.outputs)
    return last


def _source(name: str, view_of: dict[str, str]) -> str:
    while (shown := view_of.get(name)) is not None:
        name = shown
    return name
