"""Invariants of AscIR nodes over a tuple of axes, as AscGraphs and ImplGraphs share them."""

from collections.abc import Iterator, Mapping, Sequence

from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.asc_ops import AscKind, AscOp, AscResult, asc_op
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType, DTypeKind, bool_
from autofuse_ir.text.asc_graph import node_name

_ATTRS: dict[str, tuple[tuple[str, tuple[type, ...]], ...]] = {
    "Data": (("index", (int,)),),
    "Output": (("index", (int,)),),
    "Scalar": (("value", (bool, int, float)),),
    "IndexExpr": (("expression", (Dim, int)),),
    "Broadcast": (("axis", (str,)),),
    "IsInf": (("positive", (bool,)), ("negative", (bool,))),
}
_OPTIONAL = ("positive", "negative")


def check_node_names(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Nodes have names of their own."""
    for name in duplicates(node.name for node in nodes):
        yield Finding(f"node {name!r}", "there are two of them", "give each node its own name", anchor_of(name))


def check_order(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Nodes stand in topological order."""
    known: set[str] = set()
    for node in nodes:
        for name in node.inputs:
            if name not in known:
                yield _finding(node, f"its input {name!r} is not made before it", "order the nodes topologically")
        known.add(node.name)


def check_operators(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Operators are AscIR's, with their number of inputs and their attributes."""
    for node in nodes:
        rule = asc_op(node.op)
        if rule is None:
            yield _finding(node, f"AscIR has no operator {node.op!r}", "decompose it first")
            continue
        if len(node.inputs) != rule.arity:
            yield _finding(node, f"{node.op} takes {rule.arity} inputs, not {len(node.inputs)}", "check its inputs")
        for name, types in _ATTRS.get(node.op, ()):
            value = node.attr(name)
            if value is None and name in _OPTIONAL:
                continue
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                kinds = " or ".join(kind.__name__ for kind in types)
                yield _finding(node, f"attribute {name!r} is {value!r}, not {kinds}", f"set {name}")


def check_dtypes(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Dtypes follow the operator's rule; equal dtypes in, that dtype (or bool) out."""
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        rule = asc_op(node.op)
        if rule is None or len(node.inputs) != rule.arity or any(name not in by_name for name in node.inputs):
            continue
        inputs = [by_name[name].dtype for name in node.inputs]
        yield from _check_dtype_rule(node, rule, inputs)


def _check_dtype_rule(node: AscNode, rule: AscOp, inputs: list[DType]) -> Iterator[Finding]:
    compared = inputs[1:] if rule.result is AscResult.SECOND else inputs
    if len(set(compared)) > 1:
        yield _finding(node, f"its inputs are {', '.join(map(str, compared))}, not of one dtype", "cast one of them")
        return
    if rule.result is AscResult.SECOND and inputs[0] != bool_:
        yield _finding(node, f"its mask is {inputs[0]}, not {bool_}", "compare or cast first")
    match rule.result:
        case AscResult.BOOL:
            wanted = bool_
        case AscResult.ANY:
            wanted = node.dtype
        case AscResult.SAME | AscResult.SECOND:
            wanted = compared[0] if compared else node.dtype
    if node.dtype != wanted:
        yield _finding(node, f"it is {node.dtype}, but {node.op} makes {wanted}", "correct its dtype, or cast")
    for dtype in dict.fromkeys(compared or [node.dtype]):
        if not _computes_on(rule.dtypes, dtype):
            yield _finding(node, f"{node.op} computes on {rule.dtypes} types, not on {dtype}", "cast first")


def check_repeats(nodes: Sequence[AscNode], roots: Sequence[Axis]) -> Iterator[Finding]:
    """Repeats and strides have one entry per axis: the axis' size and a stride, or 1 and 0."""
    for node in nodes:
        if len(node.repeats) != len(roots) or len(node.strides) != len(roots):
            found = f"{len(node.repeats)} repeats and {len(node.strides)} strides"
            yield _finding(node, f"it has {found} for {len(roots)} axes", "give one of each per axis")
            continue
        for axis, repeat, stride in zip(roots, node.repeats, node.strides, strict=True):
            if repeat not in (axis.size, 1):
                what = f"its repeat along {axis.name} is {repeat}, neither {axis.size} nor 1"
                yield _finding(node, what, "a value varies along a whole axis or not at all")
            elif repeat == 1 and stride != 0:
                yield _finding(node, f"its stride along {axis.name} is {stride} though it is 1 wide", "use stride 0")


def check_access(nodes: Sequence[AscNode], roots: Sequence[Axis]) -> Iterator[Finding]:
    """Loads read a Data node and Stores feed an Output; both say which element belongs to each point of the axes."""
    axes = {axis.name for axis in roots}
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        is_copy = node.op in ("Load", "Store")
        if is_copy != (node.access is not None):
            yield _finding(node, f"{node.op} {'needs' if is_copy else 'takes no'} access", "correct it")
        if node.op == "Load" and any(by_name[n].op != "Data" for n in node.inputs if n in by_name):
            yield _finding(node, "it does not read a Data node", "load from a kernel input")
        if node.op == "Output" and any(by_name[n].op != "Store" for n in node.inputs if n in by_name):
            yield _finding(node, "it is not written by a Store", "store the value first")
        if node.op not in ("Load", "Output") and any(
            by_name[n].op in ("Data", "Store", "Output") for n in node.inputs if n in by_name
        ):
            yield _finding(node, "it computes on memory", "load the value first")
        if node.access is None or len(node.repeats) != len(roots):
            continue
        if len(node.access.memory) != len(node.access.dims):
            rank = f"{len(node.access.dims)} indices for {len(node.access.memory)} dims"
            yield _finding(node, f"its access has {rank}", "give one index a dim")
        used = {dim.axis for dim in node.access.dims if dim.axis is not None}
        for name in sorted(used - axes):
            yield _finding(node, f"its access names {name!r}, which is no axis", "use the graph's axes")
        for axis, repeat in zip(roots, node.repeats, strict=True):
            if repeat != 1 and axis.name not in used:
                yield _finding(node, f"it varies along {axis.name}, which its access does not name", "correct either")


def check_indices(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Inputs and outputs are numbered 0, 1, 2, ... without holes."""
    for op in ("Data", "Output"):
        indices = [node.attr("index") for node in nodes if node.op == op]
        if sorted(map(str, indices)) != sorted(map(str, range(len(indices)))):
            shown = ", ".join(map(str, indices))
            yield Finding(f"{op} nodes", f"their indices are {shown}, not 0 to {len(indices) - 1}", "number them")


def check_broadcasts(nodes: Sequence[AscNode], roots: Sequence[Axis], is_explicit: bool) -> Iterator[Finding]:
    """A value is as wide as what it is computed from, scalars apart; a Broadcast widens along one axis.

    Where not ``is_explicit`` (an ImplGraph), a node may read narrower values: widening is part of reading.
    """
    by_name: Mapping[str, AscNode] = {node.name: node for node in nodes}
    for node in nodes:
        sources = [by_name[name] for name in node.inputs if name in by_name]
        if node.op in ("Data", "Load") or any(len(n.repeats) != len(roots) for n in (node, *sources)):
            continue
        for source in sources:
            if _is_scalar(source) and node.op != "Broadcast":
                continue
            for axis, repeat, given in zip(roots, node.repeats, source.repeats, strict=True):
                widened = node.op == "Broadcast" and node.attr("axis") == axis.name
                if given == repeat and not (widened and repeat != 1):
                    continue
                if given == 1 and (widened or not is_explicit):
                    continue
                what = f"{source.name!r} has repeat {given} along {axis.name}, where the node has {repeat}"
                yield _finding(node, what, f"put one Broadcast over {axis.name} between them")


def anchor_of(name: str) -> str:
    """Return how the line of the node called ``name`` starts."""
    return f"{node_name(name)}: "


def _finding(node: AscNode, what: str, fix: str) -> Finding:
    return Finding(f"node {node.name!r}, {node.op}", what, fix, anchor_of(node.name))


def _is_scalar(node: AscNode) -> bool:
    rule = asc_op(node.op)
    return rule is not None and rule.kind is AscKind.SCALAR


def _computes_on(dtypes: str, dtype: DType) -> bool:
    match dtypes:
        case "all":
            return not dtype.is_opaque
        case "float":
            return dtype.is_float
        case "integer":
            return dtype.is_integer
        case "number":
            return dtype.is_float or dtype.is_integer
        case "logical":
            return dtype.kind is DTypeKind.BOOL
        case _:
            return dtype.is_integer or dtype.kind is DTypeKind.BOOL
