"""Invariants of AscIR nodes over a tuple of axes, as AscGraphs and ImplGraphs share them."""

from collections.abc import Iterator, Mapping, Sequence

from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.asc_ops import REDUCTIONS, AscKind, AscOp, AscResult, asc_op
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType, bool_
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.text.asc_graph import node_name

_ATTRS: dict[str, tuple[tuple[str, tuple[type, ...]], ...]] = {
    "Data": (("index", (int,)),),
    "Output": (("index", (int,)),),
    "Scalar": (("value", (bool, int, float)),),
    "IndexExpr": (("expression", (Dim, int)),),
    "Broadcast": (("axis", (str,)),),
    "IsInf": (("positive", (bool,)), ("negative", (bool,))),
    "AxisIndex": (("axis", (str,)),),
    **dict.fromkeys(REDUCTIONS, (("axes", (tuple,)), ("leaf", (int,)), ("partials", (int,)))),
    **dict.fromkeys(("CumSum", "CumProd"), (("axis", (str,)), ("exclusive", (bool,)), ("reverse", (bool,)))),
}
_OPTIONAL = ("positive", "negative", "exclusive", "reverse")


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


def check_operators(nodes: Sequence[AscNode], is_numbered: bool = True) -> Iterator[Finding]:
    """Operators are AscIR's, with their number of inputs and their attributes.

    Where not ``is_numbered`` (an ImplGraph), what Data and Output stand for is `groups.check_sources`' business.
    """
    for node in nodes:
        rule = asc_op(node.op)
        if rule is None:
            yield _finding(node, f"AscIR has no operator {node.op!r}", "decompose it first")
            continue
        if not rule.takes(len(node.inputs)):
            yield _finding(node, f"{node.op} takes {rule.arity} inputs, not {len(node.inputs)}", "check its inputs")
        for name, types in _ATTRS.get(node.op, ()):
            value = node.attr(name)
            if (value is None and name in _OPTIONAL) or (name == "index" and not is_numbered):
                continue
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                kinds = " or ".join(kind.__name__ for kind in types)
                yield _finding(node, f"attribute {name!r} is {value!r}, not {kinds}", f"set {name}")


def check_dtypes(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Dtypes follow the operator's rule; equal dtypes in, that dtype (or bool) out."""
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        rule = asc_op(node.op)
        if rule is None or not rule.takes(len(node.inputs)) or any(name not in by_name for name in node.inputs):
            continue
        inputs = [by_name[name].dtype for name in node.inputs[: rule.arity]]
        for name in node.inputs[rule.arity :]:
            if not by_name[name].dtype.is_integer:
                yield _finding(node, f"its index operand {name!r} is {by_name[name].dtype}", "cast it to an integer")
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
        if not rule.computes_on(dtype):
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
        if node.op == "Load" and any(by_name[n].op != "Data" for n in node.inputs[:1] if n in by_name):
            yield _finding(node, "it does not read a Data node", "load from a kernel input")
        if node.op == "Output" and any(by_name[n].op != "Store" for n in node.inputs if n in by_name):
            yield _finding(node, "it is not written by a Store", "store the value first")
        computed = node.inputs[1:] if node.op == "Load" else () if node.op == "Output" else node.inputs
        if any(by_name[n].op in ("Data", "Store", "Output") for n in computed if n in by_name):
            yield _finding(node, "it computes on memory", "load the value first")
        if node.access is None or len(node.repeats) != len(roots):
            continue
        if len(node.access.memory) != len(node.access.dims):
            rank = f"{len(node.access.dims)} indices for {len(node.access.memory)} dims"
            yield _finding(node, f"its access has {rank}", "give one index a dim")
        used = {dim.axis for dim in node.access.dims if dim.axis is not None}
        for name in sorted(used - axes):
            yield _finding(node, f"its access names {name!r}, which is no axis", "use the graph's axes")
        operands = {dim.operand for dim in node.access.dims if dim.operand is not None}
        if operands != set(range(len(node.inputs) - 1)):
            what = f"it has {len(node.inputs) - 1} index operands, its access reads {sorted(operands)}"
            yield _finding(node, what, "name each operand in its access")
        if node.access.bounds is Bounds.FILL and node.attr("fill") is None:
            yield _finding(node, "it fills what lies outside with nothing", "set fill")
        for position, (axis, repeat) in enumerate(zip(roots, node.repeats, strict=True)):
            sources = [by_name[n].repeats for n in node.inputs[1:] if n in by_name]
            gathered = any(len(r) == len(roots) and r[position] != 1 for r in sources)
            if repeat != 1 and axis.name not in used and not gathered:
                yield _finding(node, f"it varies along {axis.name}, which its access does not name", "correct either")


def check_reductions(nodes: Sequence[AscNode], roots: Sequence[Axis]) -> Iterator[Finding]:
    """A reduction names axes once each, in order, is 1 wide along them, and has a tree of powers of two."""
    names = [axis.name for axis in roots]
    for node in nodes:
        if node.op not in REDUCTIONS or len(node.repeats) != len(roots):
            continue
        axes = reduced_axes(node)
        unknown = [axis for axis in axes if axis not in names]
        if unknown:
            yield _finding(node, f"it reduces {unknown[0]!r}, which is no axis", "use the graph's axes")
            continue
        places = [names.index(axis) for axis in axes]
        if not places or places != sorted(set(places)):
            yield _finding(node, f"it reduces {axes}", "name axes once each, from outer to inner")
        for place in places:
            if node.repeats[place] != 1:
                yield _finding(node, f"its repeat along the reduced {names[place]} is {node.repeats[place]}", "use 1")
        leaf, partials = node.attr("leaf"), node.attr("partials")
        if isinstance(leaf, int) and isinstance(partials, int) and not _is_tree(leaf, partials):
            yield _finding(node, f"its tree has leaves of {leaf} and {partials} partials", "use powers of two")


def _is_tree(leaf: int, partials: int) -> bool:
    powers = all(each >= 1 and each & (each - 1) == 0 for each in (leaf, partials))
    return powers and partials <= leaf


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
        if node.op in ("Data", "Load", *REDUCTIONS) or any(len(n.repeats) != len(roots) for n in (node, *sources)):
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
