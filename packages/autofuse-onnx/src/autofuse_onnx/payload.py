"""Payloads: an ONNX function that does what one operator of the graph does, for a host backend to run.

The function's parameters are called ``%in0``, ``%in1``, ... and ``%out0``, ...: parameter ``i`` is the operator's input
(or output) ``i``. Values that sub-graphs read from an enclosing scope are inputs like all others. Small constants are
nodes of the function: those the operator has as attributes, and those it has as inputs, so that a host backend sees
sizes and axes. Its ``value_info`` holds the types of the inputs.
"""

from collections.abc import Iterable, Mapping, Sequence

import onnx
from autofuse_ir.dtypes import uint8
from autofuse_ir.graph import Payload
from autofuse_ir.tensor_data import TensorData
from onnx import helper, numpy_helper

from autofuse_onnx.lowering import Native
from autofuse_onnx.scopes import captured_names, rename
from autofuse_onnx.tensors import Array

FORMAT = "onnx.FunctionProto"
DOMAIN = "autofuse"
SMALL = 64
"""Constants of up to so many elements are part of a payload: host backends see what sizes and axes are."""
LARGEST_CONSTANT = 4096
"""Constants with more elements are never copied into a payload."""


def input_name(i: int) -> str:
    """Return the function's name for input ``i`` of the operator."""
    return f"%in{i}"


def output_name(i: int) -> str:
    """Return the function's name for output ``i`` of the operator."""
    return f"%out{i}"


def payload_of_node(
    name: str,
    proto: onnx.NodeProto,
    inputs: Mapping[str, int],
    outputs: Iterable[str],
    constants: Mapping[str, Array],
    opsets: Mapping[str, int],
    types: Sequence[onnx.TypeProto | None],
) -> Payload | None:
    """Return a payload that runs ``proto``; None when it reads a value that is neither input nor small constant.

    ``inputs`` gives the position of each value among the operator's inputs, ``outputs`` are the operator's, in order;
    ``constants`` holds the content of those values that are constants.
    """
    node = onnx.NodeProto()
    node.CopyFrom(proto)
    small = {value for value, array in constants.items() if array.size <= SMALL}
    nodes = []
    for value in dict.fromkeys((*proto.input, *captured_names(proto))):
        if value and (value in small or value not in inputs):
            array = constants.get(value)
            if array is None or array.size > LARGEST_CONSTANT:
                return None
            nodes.append(_constant(value, array))
    names = {value: input_name(i) for value, i in inputs.items() if value not in small}
    names |= {value: output_name(i) for i, value in enumerate(outputs) if value}
    rename(node, names)
    return _payload(name, [*nodes, node], len(tuple(outputs)), opsets, types)


def payload_of_native(
    name: str,
    native: Native,
    outputs: int,
    constants: Mapping[int, Array],
    opsets: Mapping[str, int],
    types: Sequence[onnx.TypeProto | None],
) -> Payload:
    """Return a payload that runs the standard operator ``native``; ``constants`` are inputs by position."""
    nodes = [_constant(input_name(i), a) for i, a in constants.items() if i in native.inputs and a.size <= SMALL]
    node = helper.make_node(
        native.op_type,
        ["" if i is None else input_name(i) for i in native.inputs],
        [output_name(i) for i in range(outputs)],
    )
    node.attribute.extend(helper.make_attribute(name, native.attrs[name]) for name in sorted(native.attrs))
    return _payload(name, [*nodes, node], outputs, {"": opsets[""]}, types)


def _constant(name: str, array: Array) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array))


def _payload(
    name: str,
    nodes: list[onnx.NodeProto],
    outputs: int,
    opsets: Mapping[str, int],
    types: Sequence[onnx.TypeProto | None],
) -> Payload:
    function = onnx.FunctionProto(name=nodes[-1].op_type, domain=DOMAIN)
    made = {output for node in nodes for output in node.output}
    function.input.extend(input_name(i) for i in range(len(types)) if input_name(i) not in made)
    function.output.extend(output_name(i) for i in range(outputs))
    function.node.extend(nodes)
    function.opset_import.extend(helper.make_opsetid(domain, opsets[domain]) for domain in sorted(opsets))
    for i, type_ in enumerate(types):
        if type_ is not None and input_name(i) not in made:
            function.value_info.append(onnx.ValueInfoProto(name=input_name(i), type=type_))
    raw = function.SerializeToString(deterministic=True)
    return Payload(name, FORMAT, TensorData(uint8, (len(raw),), raw))


def without_dims(type_: onnx.TypeProto) -> onnx.TypeProto:
    """Return ``type_`` without the dims of its tensors."""
    result = onnx.TypeProto()
    result.CopyFrom(type_)
    _drop_shapes(result)
    return result


def _drop_shapes(type_: onnx.TypeProto) -> None:
    match type_.WhichOneof("value"):
        case "tensor_type":
            type_.tensor_type.ClearField("shape")
        case "sequence_type":
            _drop_shapes(type_.sequence_type.elem_type)
        case "optional_type":
            _drop_shapes(type_.optional_type.elem_type)
        case "map_type":
            _drop_shapes(type_.map_type.value_type)
