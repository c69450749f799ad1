"""Read the text forms of Graph and AscGraph: Ascend IR as text is a front end of its own."""

from collections.abc import Mapping

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.graph import Graph
from autofuse_ir.parse.asc_graph import read_asc_graph
from autofuse_ir.parse.graph import read_graph
from autofuse_ir.parse.reader import Reader
from autofuse_ir.tensor_data import TensorData

__all__ = ["parse"]


def parse(text: str, constants: Mapping[str, TensorData] | None = None) -> Graph | AscGraph:
    """Return the graph that ``text`` describes, in the form `autofuse_ir.text.show` gives it.

    ``constants`` holds, by sha256, the content that stands in the text as its digest only (over 64 elements), such as
    ``dumps(graph, constants)`` collects. ``#`` starts a comment. Raises ``IrError`` with line and column.
    """
    reader = Reader(text)
    graph: Graph | AscGraph
    if reader.accept_word("graph"):
        graph = read_graph(reader, constants or {})
    elif reader.accept_word("ascgraph"):
        graph = read_asc_graph(reader)
    else:
        raise reader.error("a graph starts with 'graph' or 'ascgraph'")
    reader.expect_end()
    return graph
