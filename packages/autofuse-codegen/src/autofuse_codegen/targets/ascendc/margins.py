"""Memory that instructions read past the elements that were written gets contents first.

Copies from GM fill whole blocks of 32 bytes, no more, and computations write as many elements as their value has. But
comparisons and logic read whole vectors, and instructions on a tile read the gaps between its rows.
"""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, REDUCTIONS
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import ImplGraph, QueuePosition

from autofuse_codegen.targets.ascendc.form_truths import READS_WHOLE_VECTORS
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.memory import Memory

LayoutsOf: TypeAlias = Callable[[AscNode], Layouts]
_ON_BYTES = ("BitwiseAnd", "BitwiseOr", "BitwiseNot")


@frozen
class Margins:
    """What is read past its elements: values by the number of elements read, values with gaps between their rows."""

    ends: dict[str, str]
    gaps: frozenset[str]


def margins(impl: ImplGraph, layouts_of: LayoutsOf, bits: frozenset[str], memory: Memory) -> Margins:
    """Return the margins of the values of ``impl`` that need contents; ``layouts_of`` gives those of a node's phase."""
    nodes = {node.name: node for node in impl.nodes}
    ends: dict[str, str] = {}
    gaps = set()
    narrowest = min((n.dtype.itemsize for n in impl.nodes if memory.memory_of(n.name) is not None), default=1)
    for node in impl.nodes:
        has_gaps = _fills_blocks(node, nodes, layouts_of, memory) and _has_gaps(node, layouts_of(node), narrowest)
        if has_gaps and _gaps_are_read(node, impl, layouts_of):
            gaps.add(node.name)
        for value in _read_whole(node, bits):
            if nodes[value].op not in READS_WHOLE_VECTORS and memory.memory_of(value) is not None:
                layouts = layouts_of(nodes[value])
                ends[value] = layouts.whole(layouts.axes_of(nodes[value]))
    for node in impl.nodes:
        if node.op == "Broadcast" and (row := _row(node, nodes[node.inputs[0]], layouts_of, narrowest)) is not None:
            ends.setdefault(node.inputs[0], row)
    return Margins(ends, frozenset(gaps))


def close(node: AscNode, text: str, wanted: Margins, layouts: Layouts, position: QueuePosition) -> list[str]:
    """Return the statements that give the margins of ``node``, tensor ``text`` of a queue, their contents.

    What was loaded gets them afterwards; where results will be written, before.
    """
    axes = layouts.axes_of(node)
    lines = []
    if node.name in wanted.gaps:
        rows, columns, pitch = layouts.rows(axes), layouts.extent(axes[-1]), layouts.pitch(axes)
        lines.append(f"af_close_rows({text}, {rows}, {columns}, {pitch});")
    if node.name in wanted.ends:
        function = "af_close" if position is QueuePosition.VECIN else "af_close_early"
        lines.append(f"{function}({text}, {layouts.count(axes)}, {wanted.ends[node.name]});")
    return lines


def _fills_blocks(node: AscNode, nodes: dict[str, AscNode], layouts_of: LayoutsOf, memory: Memory) -> bool:
    """True for what fills whole blocks of 32 bytes with each of its rows, and leaves the gap behind as it was."""
    if node.op in REDUCTIONS:  # of rows; where rows are joined with one another, gaps are
        return _joins_rows(node, nodes[node.inputs[0]], layouts_of)
    return node.op == "Load" or any(memory.leaves_of(name) is not None for name in node.inputs)


def _joins_rows(node: AscNode, source: AscNode, layouts_of: LayoutsOf) -> bool:
    """True for a reduction of each row to one element."""
    axes = layouts_of(source).axes_of(source)
    return node.op in REDUCTIONS and bool(axes) and axes[-1].root in reduced_axes(node)


def _has_gaps(node: AscNode, layouts: Layouts, narrowest: int) -> bool:
    """True where a row's last block of 32 bytes may end before its pitch."""
    axes = layouts.axes_of(node)
    return len(axes) > 1 and node.dtype.itemsize > narrowest and layouts.pitch(axes) != layouts.extent(axes[-1])


def _gaps_are_read(node: AscNode, impl: ImplGraph, layouts_of: LayoutsOf) -> bool:
    """False where it is only stored, or taken element by element: repeated along a new axis, or joined."""
    last = layouts_of(node).axes_of(node)[-1].root
    readers = [reader for reader in impl.nodes if node.name in reader.inputs and reader.op != "Store"]
    readers = [reader for reader in readers if not _joins_rows(reader, node, layouts_of)]
    return any(reader.op != "Broadcast" or layouts_of(reader).axes_of(reader)[-1].root == last for reader in readers)


def _read_whole(node: AscNode, bits: frozenset[str]) -> tuple[str, ...]:
    if node.op in READS_WHOLE_VECTORS or (node.op in _ON_BYTES and node.dtype.itemsize == 1):
        return node.inputs
    if node.op == "Select" and node.inputs[0] not in bits:
        return node.inputs[:1]
    return ()


def _row(node: AscNode, source: AscNode, layouts_of: LayoutsOf, narrowest: int) -> str | None:
    """How many elements of one row or column are read to repeat it; None where nothing past it is."""
    layouts = layouts_of(source)
    outer, inner = layouts_of(node).axes_of(node), layouts.axes_of(source)
    if source.op in NOT_EVALUATED or len(inner) != 1 or len(outer) < 2:
        return None
    if outer[-1].root != inner[-1].root:  # a column, eight elements at a time; copies fill that much
        return None if source.op == "Load" else layouts.whole(inner)
    if source.op == "Load" and source.dtype.itemsize == narrowest:
        return None  # a row's whole blocks
    pitch = layouts.pitch((outer[0], inner[-1]))
    return None if pitch == layouts.extent(inner[-1]) else pitch
