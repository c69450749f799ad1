"""What ONNX's operator schemas say: required attributes, defaults, and versions that mean the same."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import onnx

from autofuse_onnx.scopes import subgraphs

OLDEST_EQUIVALENT = 13
"""No version is lowered past this one because signatures are equal: before it, meanings changed more freely."""

_NUMPY_LIKE = 7
"""The version from which on operators broadcast as NumPy does."""


@cache
def schema(op_type: str, version: int) -> onnx.defs.OpSchema | None:
    """Return the schema of a standard operator at ``version`` of the operator set, or None."""
    try:
        return onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None


def well_formed_outputs(model: onnx.ModelProto) -> frozenset[str]:
    """Return the outputs of the nodes that ONNX's checker accepts: known operators, with what they require."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version = max(model.ir_version, 4)
    context.opset_imports = {item.domain: item.version for item in model.opset_import}
    return frozenset(name for node in model.graph.node if _is_formed(node, context) for name in node.output)


def _is_formed(node: onnx.NodeProto, context: Any) -> bool:
    inner = [each for graph in subgraphs(node) for each in graph.node]
    if inner:
        # The checker would ask for types inside branches and bodies, which many models leave out.
        return all(_is_formed(each, context) for each in inner)
    try:
        onnx.checker.check_node(node, context)
    except Exception:  # whatever it finds: a host backend will say what is wrong with the node
        return False
    return True


def is_numpy_like(op_type: str, version: int) -> bool:
    """True when the operator broadcasts as NumPy does: since version 7, or unchanged from an older version to that."""
    old, new = schema(op_type, version), schema(op_type, _NUMPY_LIKE)
    return version >= _NUMPY_LIKE or (old is not None and new is not None and old.since_version == new.since_version)


def missing_defaults(node: onnx.NodeProto, version: int) -> list[onnx.AttributeProto]:
    """Return the attributes that ``node`` leaves to their default, written out."""
    known = schema(node.op_type, version)
    given = {attribute.name for attribute in node.attribute}
    attributes = {} if known is None else known.attributes
    return [a.default_value for name, a in sorted(attributes.items()) if name not in given and a.default_value.name]


def equivalent_opsets(nodes: Iterable[tuple[onnx.NodeProto, int]], stated: int) -> tuple[int, ...]:
    """Return operator set versions in which all standard ``nodes`` mean the same, the best first.

    The first is the lowest one with the very same schemas. Older ones follow as long as every operator has the same
    inputs, outputs and attributes there: then the newer version only added element types.
    """
    used = sorted({(node.op_type, version) for node, version in nodes})
    since = [known.since_version for op_type, version in used if (known := schema(op_type, version)) is not None]
    if len(since) < len(used) or stated < 7:
        return (stated,)
    lowest = max([7, *since])
    older = [lowest]
    for version in range(lowest - 1, OLDEST_EQUIVALENT - 1, -1):
        if any(_signature(op_type, version) != _signature(op_type, own) for op_type, own in used):
            break
        older.append(version)
    return tuple(older)


@cache
def _signature(op_type: str, version: int) -> tuple[object, ...] | None:
    known = schema(op_type, version)
    if known is None:
        return None
    attributes = tuple(
        (name, str(a.type), a.required, a.default_value.SerializeToString(deterministic=True))
        for name, a in sorted(known.attributes.items())
    )
    inputs = tuple((p.name, str(p.option)) for p in known.inputs)
    outputs = tuple((p.name, str(p.option)) for p in known.outputs)
    return attributes, inputs, outputs
