"""Is a node well formed: does it fit its operator's signature?"""

from collections.abc import Iterator, Sequence

from attrs import frozen

from autofuse_ir.dtypes import DType, dtype_of_ascend_code
from autofuse_ir.errors import IrError
from autofuse_ir.graph import AttrValue, Node
from autofuse_ir.operators.bind import bind, bind_outputs, input_names, where
from autofuse_ir.operators.model import AttrKind, AttrSpec, Family, Operator
from autofuse_ir.operators.table import operator


@frozen
class NodeFinding:
    """Something wrong with a node: where it is, what is wrong, how to fix it."""

    where: str
    what: str
    fix: str = ""


def check_node(node: Node, input_dtypes: Sequence[DType | None]) -> tuple[NodeFinding, ...]:
    """Return everything wrong with ``node``: counts, missing inputs, dtypes, attributes; empty when it is right.

    ``input_dtypes`` stand beside ``node.inputs`` (None: missing or unknown).
    """
    try:
        op = operator(node.op)
        bind(node)
        bind_outputs(node)
    except IrError as error:
        return (NodeFinding(where(node), error.what, error.fix),)
    return (*_check_dtypes(node, op, input_dtypes), *_check_attrs(node, op))


def _check_dtypes(node: Node, op: Operator, input_dtypes: Sequence[DType | None]) -> Iterator[NodeFinding]:
    params = {param.name: param for param in op.inputs}
    bound: dict[str, tuple[str, DType]] = {}
    for name, dtype in zip(input_names(op, len(node.inputs)), input_dtypes, strict=True):
        if dtype is None:
            continue
        param = params[name]
        if dtype not in param.types:
            allowed = ", ".join(d.name for d in param.types)
            yield NodeFinding(where(node), f"input {name!r} is {dtype.name}, but only {allowed} are allowed", "cast it")
        if not param.variable:
            continue
        first, expected = bound.setdefault(param.variable, (name, dtype))
        if dtype != expected:
            yield NodeFinding(
                where(node),
                f"inputs {first!r} ({expected.name}) and {name!r} ({dtype.name}) must have one dtype",
                "cast one",
            )


def _check_attrs(node: Node, op: Operator) -> Iterator[NodeFinding]:
    given: dict[str, AttrValue] = {}
    for attr in node.attrs:
        if attr.name in given:
            yield NodeFinding(where(node), f"attribute {attr.name!r} is set twice")
        given[attr.name] = attr.value
    # A host backend reads its own attributes from the payload; they may stand on the node for people to read.
    if node.payload is None or op.family is not Family.HOST:
        for name in given:
            if op.attr_spec(name) is None:
                known = ", ".join(spec.name for spec in op.attrs) or "none"
                yield NodeFinding(where(node), f"unknown attribute {name!r}", f"its attributes are: {known}")
    for spec in op.attrs:
        if spec.name not in given:
            if spec.required:
                yield NodeFinding(where(node), f"the required attribute {spec.name!r} is missing", f"set {spec.name}")
        elif not _fits(spec, given[spec.name]):
            yield NodeFinding(
                where(node), f"attribute {spec.name!r} must be {spec.kind.value}, not {given[spec.name]!r}"
            )
    if op.name == "Cast" and isinstance(code := given.get("dst_type"), int) and dtype_of_ascend_code(code) is None:
        yield NodeFinding(where(node), f"dst_type {code} is not a dtype that kernels can hold", "use a host operator")


def _fits(spec: AttrSpec, value: AttrValue) -> bool:
    match spec.kind:
        case AttrKind.BOOL:
            return isinstance(value, bool) or (isinstance(value, int) and value in (0, 1))
        case AttrKind.INT:
            return _is_size(value)
        case AttrKind.FLOAT:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case AttrKind.STR:
            return isinstance(value, str)
        case AttrKind.DTYPE:
            return isinstance(value, DType)
        case AttrKind.INTS:
            return isinstance(value, tuple) and all(_is_size(v) for v in value)
        case AttrKind.FLOATS:
            return isinstance(value, tuple) and all(isinstance(v, int | float) for v in value)
        case AttrKind.STRS:
            return isinstance(value, tuple) and all(isinstance(v, str) for v in value)
        case AttrKind.INT_LISTS:
            return isinstance(value, tuple) and all(isinstance(v, tuple) and all(_is_size(i) for i in v) for v in value)


def _is_size(value: object) -> bool:
    """True for an int or a symbolic size."""
    return not isinstance(value, bool | float | str | DType | tuple)
