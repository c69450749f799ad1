"""Replaces an ``If`` whose condition is known when compiling by the branch that it takes.

::

    c = Equal(sr, 16000)    # sr is a constant
    y = If(c) {then: u = Neg(x); u} {else: ...}      ->      y = Neg(x)
"""

from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autofuse_onnx.external_data import is_external
from autofuse_onnx.infer import reads_of
from autofuse_onnx.scopes import rename
from autofuse_onnx.tensors import Array, element_count

_LARGEST = 4096
"""Constants with more elements decide no branch."""


def take_known_branches(model: onnx.ModelProto, values: Iterable[onnx.TensorProto]) -> onnx.ModelProto:
    """Return the model without the ``If`` nodes that constants and ``values`` (inputs known when compiling) decide.

    The same model where there are none.
    """
    if not any(_is_if(node) for node in model.graph.node):
        return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    constants = _constants(result, values)
    position = 0
    while position < len(result.graph.node):
        node = result.graph.node[position]
        condition = _condition(result, node, constants) if _is_if(node) else None
        if condition is None:
            position += 1
            continue
        _replace(result.graph, position, condition)
        # The branch stands here now and may hold an If itself.
        constants = _constants(result, values)
    return result


def _is_if(node: onnx.NodeProto) -> bool:
    return node.op_type == "If" and node.domain in ("", "ai.onnx")


def _constants(model: onnx.ModelProto, values: Iterable[onnx.TensorProto]) -> dict[str, Array]:
    small = (t for t in (*model.graph.initializer, *values) if not is_external(t) and element_count(t) <= _LARGEST)
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in small}


def _condition(model: onnx.ModelProto, node: onnx.NodeProto, constants: Mapping[str, Array]) -> bool | None:
    """Return the value of the condition of ``node``, or None where it is only known at run time."""
    name = node.input[0]
    if name in constants:
        return bool(constants[name].reshape(-1)[0])
    needed = _needed(model, name, constants)
    if needed is None:
        return None
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415  slow to import, and only If nodes need it

    output = helper.make_tensor_value_info(name, onnx.TensorProto.BOOL, None)
    read = {value for each in needed for value in each.input if value in constants}
    initialisers = [numpy_helper.from_array(constants[value], value) for value in sorted(read)]
    graph = helper.make_graph(needed, "condition", [], [output], initialisers)
    small = helper.make_model(graph, opset_imports=model.opset_import)
    try:
        (result,) = ReferenceEvaluator(small).run(None, {})
        return bool(np.asarray(result).reshape(-1)[0])
    except Exception:  # an operator it does not have: the branch is taken at run time
        return None


def _needed(model: onnx.ModelProto, name: str, constants: Mapping[str, Array]) -> list[onnx.NodeProto] | None:
    """Return the nodes that make ``name`` from constants alone, in order; None when something else takes part."""
    makers = {output: i for i, node in enumerate(model.graph.node) for output in node.output if output}
    found: set[int] = set()
    open_names = [name]
    while open_names:
        current = open_names.pop()
        if current in constants:
            continue
        if current not in makers:
            return None
        if makers[current] not in found:
            found.add(makers[current])
            node = model.graph.node[makers[current]]
            if _is_if(node) or node.op_type.startswith("Random"):
                return None
            open_names += reads_of(node)
    return [model.graph.node[i] for i in sorted(found)]


def _replace(graph: onnx.GraphProto, position: int, condition: bool) -> None:
    """Put the branch of the If at ``position`` in its place, its values under names that nobody else has."""
    node = onnx.NodeProto()
    node.CopyFrom(graph.node[position])
    wanted = "then_branch" if condition else "else_branch"
    branch = next(attribute.g for attribute in node.attribute if attribute.name == wanted)
    made = {name for inner in branch.node for name in inner.output if name}
    made |= {tensor.name for tensor in branch.initializer}
    # Outputs, unlike nodes, have names of their own.
    prefix = f"{next(name for name in node.output if name)}.{wanted}."
    names = {name: f"{prefix}{name}" for name in made}
    passed = []
    for value, output in zip(branch.output, node.output, strict=True):
        is_first = value.name in made and names[value.name] == f"{prefix}{value.name}"
        if is_first and output and all(value.name != tensor.name for tensor in branch.initializer):
            names[value.name] = output
        elif output:
            passed.append((value.name, output))
    inside = []
    for inner in branch.node:
        copied = onnx.NodeProto()
        copied.CopyFrom(inner)
        copied.name = f"{prefix}{inner.name}" if inner.name else ""
        rename(copied, names)
        inside.append(copied)
    for tensor in branch.initializer:
        tensor.name = names[tensor.name]
        graph.initializer.append(tensor)
    identities = [helper.make_node("Identity", [names.get(name, name)], [output]) for name, output in passed]
    rest = [*graph.node[:position], *inside, *identities, *graph.node[position + 1 :]]
    kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in rest]
    del graph.node[:]
    graph.node.extend(kept)
