"""Which truth values are kept as bits: those that comparisons make and that only Select or logic reads."""

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode

from autofuse_codegen.targets.ascendc.form_truths import COMPARES

_LOGIC = ("LogicalAnd", "LogicalOr", "LogicalNot")


def as_bits(nodes: tuple[AscNode, ...]) -> frozenset[str]:
    """Return the names of the nodes whose results are a bit an element."""
    by_name = {node.name: node for node in nodes}
    readers: dict[str, list[AscNode]] = {}
    for node in nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node)
    found = {n.name for n in nodes if n.dtype == dt.bool_ and n.op in (*COMPARES, *_LOGIC)}
    changed = True
    while changed:
        wrong = {name for name in found if not _fits(by_name[name], readers.get(name, []), found)}
        found -= wrong
        changed = bool(wrong)
    return frozenset(found)


def _fits(node: AscNode, readers: list[AscNode], bits: set[str]) -> bool:
    if node.op in _LOGIC and not all(name in bits for name in node.inputs):
        return False
    return all(_reads_bits(reader, node, bits) for reader in readers)


def _reads_bits(reader: AscNode, node: AscNode, bits: set[str]) -> bool:
    if reader.op == "Select":
        return reader.inputs[0] == node.name and node.name not in reader.inputs[1:] and reader.repeats == node.repeats
    return reader.op in _LOGIC and reader.name in bits and reader.repeats == node.repeats
