"""The types of a model's values: ONNX's own shape inference, what the model says, and ONNX Runtime's word."""

from collections.abc import Iterable, Mapping
from typing import Any

import onnx
from attrs import evolve
from onnx import helper

from autofuse_onnx.node import ValueType
from autofuse_onnx.scopes import captured_names
from autofuse_onnx.sizes import Sizes, is_stated, type_of
from autofuse_onnx.tensors import element_count

_SMALL = 1024
"""Constants of more elements are not shown to shape inference: it needs the content of shape operands only."""

_SHAPE_OPERAND = {"Reshape": 1, "ConstantOfShape": 0}
_ROUNDS = 8
"""How often ranks may be found behind others."""


def value_types(
    model: onnx.ModelProto,
    inputs: Mapping[str, ValueType],
    sizes: Sizes,
    values: Mapping[str, onnx.TensorProto],
    formed: frozenset[str],
) -> dict[str, ValueType]:
    """Return the type of every value for which anybody knows it.

    ``inputs`` are the graph's inputs with named dims, ``values`` inputs whose content is known, ``formed`` the outputs
    of well-formed nodes: on others ONNX's inference may end the process. What the model itself
    says of intermediate values is only used where inference says nothing: exporters are not always right.
    """
    skeleton = _skeleton(model, inputs, values, formed)
    types = _inferred(skeleton)
    for _ in range(_ROUNDS):
        if not _add_ranks(skeleton, types):
            break
        types = _inferred(skeleton)
    for value in (*model.graph.value_info, *model.graph.output):
        found = types.get(value.name)
        if not is_stated(value.type) or (found is not None and (found.shape is not None or found.dtype.is_opaque)):
            continue
        types[value.name] = _with_fixed(type_of(value.type), sizes)
    unknown = [name for node in model.graph.node for name in node.output if name and name not in types]
    if unknown:
        types.update(_asked_of_onnxruntime(skeleton, unknown))
    return types


def _add_ranks(skeleton: onnx.ModelProto, types: Mapping[str, ValueType]) -> bool:
    """State the ranks that ONNX's inference misses: a shape operand's length is known although its content is not."""
    found = False
    for node in skeleton.graph.node:
        operand = _SHAPE_OPERAND.get(node.op_type)
        if operand is None or node.domain not in ("", "ai.onnx") or len(node.input) <= operand:
            continue
        length = types.get(node.input[operand])
        made = types.get(node.output[0])
        source = types.get(node.input[0])
        if length is None or length.shape is None or len(length.shape) != 1 or (made and made.shape is not None):
            continue
        rank = length.shape[0]
        dtype = made or source
        if not isinstance(rank, int) or dtype is None or dtype.dtype.is_opaque:
            continue
        stated = helper.make_tensor_value_info(node.output[0], dtype.dtype.onnx_code, [None] * rank)
        skeleton.graph.value_info.append(stated)
        found = True
    return found


def _with_fixed(type_: ValueType, sizes: Sizes) -> ValueType:
    if type_.shape is None:
        return type_
    return evolve(type_, shape=tuple(sizes.fixed(dim) for dim in type_.shape))


def _skeleton(
    model: onnx.ModelProto,
    inputs: Mapping[str, ValueType],
    values: Mapping[str, onnx.TensorProto],
    formed: frozenset[str],
) -> onnx.ModelProto:
    """Return the model without large constants and without what it says of intermediate values."""
    skeleton = onnx.ModelProto(ir_version=max(model.ir_version, 4))
    skeleton.opset_import.extend(model.opset_import)
    skeleton.functions.extend(model.functions)
    graph = skeleton.graph
    graph.name = "types"
    graph.node.extend(node for node in model.graph.node if formed.issuperset(node.output))
    graph.sparse_initializer.extend(model.graph.sparse_initializer)
    for tensor in (*model.graph.initializer, *values.values()):
        if element_count(tensor) <= _SMALL and not tensor.external_data:
            graph.initializer.append(tensor)
        else:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    for value in model.graph.input:
        if value.name in inputs:
            graph.input.append(_stated(value, inputs[value.name]))
    for value in model.graph.output:
        untyped = onnx.ValueInfoProto(name=value.name)
        untyped.type.CopyFrom(value.type)
        if untyped.type.HasField("tensor_type"):
            untyped.type.tensor_type.ClearField("shape")
        graph.output.append(untyped)
    return skeleton


def _stated(value: onnx.ValueInfoProto, type_: ValueType) -> onnx.ValueInfoProto:
    stated = onnx.ValueInfoProto()
    stated.CopyFrom(value)
    if type_.shape is not None:
        del stated.type.tensor_type.shape.dim[:]
        for dim in type_.shape:
            stated.type.tensor_type.shape.dim.append(
                onnx.TensorShapeProto.Dimension(dim_value=dim)
                if isinstance(dim, int)
                else onnx.TensorShapeProto.Dimension(dim_param=dim or "")
            )
    return stated


def _inferred(skeleton: onnx.ModelProto) -> dict[str, ValueType]:
    try:
        inferred = onnx.shape_inference.infer_shapes(skeleton, data_prop=True)
    except Exception:  # its failures have no common class; whatever it cannot type stays unknown
        inferred = skeleton
    graph = inferred.graph
    stated = (*graph.output, *graph.value_info, *graph.input)
    return {value.name: type_of(value.type) for value in stated if is_stated(value.type)}


def _asked_of_onnxruntime(skeleton: onnx.ModelProto, names: Iterable[str]) -> dict[str, ValueType]:
    """Return the types that ONNX Runtime gives to values which ONNX's own inference does not know (custom domains)."""
    try:
        import onnxruntime  # noqa: PLC0415  an extra: only models with custom operators need it here
    except ModuleNotFoundError:
        return {}
    model = onnx.ModelProto()
    model.CopyFrom(skeleton)
    stated = {value.name for value in model.graph.output}
    wanted = [name for name in names if name not in stated]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception:  # an operator it does not have either: its values stay opaque
        return {}
    asked = set(names)
    return {out.name: _ort_type(out) for out in session.get_outputs() if out.name in asked}


def _ort_type(output: Any) -> ValueType:
    text = str(output.type)
    names = {"float": "float", "double": "double", "float16": "float16", "bfloat16": "bfloat16", "bool": "bool"}
    element = text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else ""
    code = onnx.TensorProto.DataType.Value(names.get(element, element).upper()) if element else 0
    shape = [dim if isinstance(dim, int) and dim >= 0 else str(dim) if dim else None for dim in output.shape or ()]
    proto = helper.make_tensor_type_proto(code, shape) if code else onnx.TypeProto()
    return type_of(proto)


def reads_of(node: onnx.NodeProto) -> tuple[str, ...]:
    """Return all values that ``node`` reads, those of its sub-graphs included."""
    return tuple(name for name in (*node.input, *captured_names(node)) if name)
