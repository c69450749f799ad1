"""What ONNX's operator schemas say: required attributes, defaults, and versions that mean the same."""

from collections.abc import Iterable
from functools import cache

import onnx

OLDEST_EQUIVALENT = 13
"""No version is lowered past this one because signatures are equal: before it, meanings changed more freely."""

_NUMPY_LIKE = 7


@cache
def schema(op_type: str, version: int) -> onnx.defs.OpSchema | None:
    """Return the schema of a standard operator at ``version`` of the operator set, or None."""
    try:
        return onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None


def is_complete(node: onnx.NodeProto, version: int) -> bool:
    """True when a standard operator is known and has all its required inputs and attributes."""
    known = schema(node.op_type, version)
    if known is None:
        return False
    given = {attribute.name for attribute in node.attribute if not attribute.ref_attr_name}
    required = all(name in given for name, attribute in known.attributes.items() if attribute.required)
    return required and known.min_input <= len(node.input) and len(node.output) >= known.min_output


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
