"""``import_model``: an ONNX model as a graph of Ascend IR operators."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
from autofuse_ir.dtypes import opaque
from autofuse_ir.graph import Constant, Graph, GraphOutput
from autofuse_ir.tensor_data import TensorData
from onnx import helper, numpy_helper

from autofuse_onnx.branches import take_known_branches
from autofuse_onnx.errors import OnnxError
from autofuse_onnx.infer import reads_of, value_types
from autofuse_onnx.inline import inline_functions
from autofuse_onnx.load import LoadedModel, ModelLike, load_model
from autofuse_onnx.node import ValueType
from autofuse_onnx.order import in_order
from autofuse_onnx.schemas import well_formed_outputs
from autofuse_onnx.sizes import Range, Sizes, as_value, check_sizes, is_stated, named_inputs, symbols_of, type_of
from autofuse_onnx.tensors import Array, embedded, tensor_data, to_tensor_data
from autofuse_onnx.translate import STANDARD, Translation


def import_model(
    model: ModelLike,
    dims: Mapping[str, Range] | None = None,
    hints: Mapping[str, int] | None = None,
    values: Mapping[str, Array] | None = None,
) -> Graph:
    """Return ``model`` (path, bytes or ``ModelProto``) as a graph.

    ``dims`` fixes sizes (``{"batch": 8}``) or declares inclusive ranges (``{"batch": (0, 512)}``) by the names of the
    model's dims; a dim without a name is called after its input and position (``x_0``). ``hints`` are the sizes at
    which profit is judged. ``values`` gives the content of inputs that are known when compiling (axes, permutations):
    they become constants and are no inputs of the graph any more.

    What Ascend IR cannot express becomes a host operator with the ONNX node as payload. Raises ``OnnxError`` for a
    model that cannot be read, and for sizes and values that do not fit it.
    """
    loaded = load_model(model)
    try:
        return _imported(loaded, dims or {}, hints or {}, values or {})
    except UnicodeDecodeError:
        raise OnnxError("a name is not valid UTF-8", where=loaded.name, fix="export the model again") from None


def _imported(
    loaded: LoadedModel, dims: Mapping[str, Range], hints: Mapping[str, int], values: Mapping[str, Array]
) -> Graph:
    sizes = Sizes({n: tuple(d) if isinstance(d, list) else d for n, d in dims.items()}, dict(hints))
    check_sizes(sizes, loaded.name)
    proto = inline_functions(loaded.proto, loaded.name)
    graph = proto.graph
    constants = {tensor.name for tensor in graph.initializer}
    constants |= {tensor.values.name for tensor in graph.sparse_initializer}
    given = {value.name: type_of(value.type) for value in graph.input if value.name not in constants}
    for name, stated in given.items():
        if stated.proto is None or not is_stated(stated.proto):
            raise OnnxError(f"the input {name!r} has no type", where=loaded.name, fix="export the model again")
    known = {name: _known_value(name, np.asarray(array), given, loaded) for name, array in values.items()}
    proto = take_known_branches(proto, known.values())
    graph = proto.graph
    constants |= {tensor.name for tensor in graph.initializer}
    inputs = named_inputs({name: t for name, t in given.items() if name not in known}, sizes, loaded.name)
    formed = well_formed_outputs(proto)
    types = value_types(proto, inputs, sizes, known, formed) | inputs
    read = frozenset(name for node in graph.node for name in reads_of(node)) | {value.name for value in graph.output}
    translation = Translation(
        loaded.name, _opsets(proto), types, read, formed, taken={*given, *constants, *_made(graph)}
    )
    for tensor in (*graph.initializer, *known.values()):
        types[tensor.name] = _constant_type(tensor)
        _add_constant(translation, tensor, loaded)
    for sparse in graph.sparse_initializer:
        types[sparse.values.name] = ValueType(types.get(sparse.values.name, _SPARSE).dtype, tuple(sparse.dims))
        translation.add(helper.make_node("Constant", [], [sparse.values.name], sparse_value=sparse))
    for node in in_order(graph.node, (*constants, *given), loaded.name):
        _add_node(translation, node, loaded)
    return _finished(translation, graph, inputs, sizes, loaded)


_SPARSE = ValueType(opaque, None)


def _made(graph: onnx.GraphProto) -> set[str]:
    return {name for node in graph.node for name in node.output}


def _opsets(proto: onnx.ModelProto) -> dict[str, int]:
    opsets = {"" if o.domain in STANDARD else str(o.domain): int(o.version) for o in proto.opset_import}
    return {"": 1} | opsets


def _constant_type(tensor: onnx.TensorProto) -> ValueType:
    stated = helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
    return type_of(stated)


def _known_value(name: str, array: Array, given: Mapping[str, ValueType], loaded: LoadedModel) -> onnx.TensorProto:
    """Return the content of input ``name`` as a tensor; raises ``OnnxError`` when it does not fit the input."""
    where = f"{loaded.name}, value of input {name!r}"
    if name not in given:
        raise OnnxError("there is no such input", where=where, fix=f"its inputs are {', '.join(given) or 'none'}")
    stated = given[name]
    if array.dtype.name != stated.dtype.name:
        raise OnnxError(f"it is {array.dtype}, the input is {stated.dtype.name}", where=where, fix="convert it")
    fits = stated.shape is None or (
        len(stated.shape) == array.ndim
        and all(not isinstance(dim, int) or dim == size for dim, size in zip(stated.shape, array.shape, strict=True))
    )
    if not fits:
        raise OnnxError(
            f"its shape is {list(array.shape)}, the input's {list(stated.shape or ())}", where=where, fix="reshape it"
        )
    return numpy_helper.from_array(array, name)


def _add_constant(translation: Translation, tensor: onnx.TensorProto, loaded: LoadedModel) -> None:
    if translation.types[tensor.name].dtype.is_opaque:
        content = onnx.TensorProto()
        content.CopyFrom(tensor)
        translation.add(helper.make_node("Constant", [], [tensor.name], value=content))
        return
    translation.tensors[tensor.name] = partial(_content, tensor, loaded)


def _content(tensor: onnx.TensorProto, loaded: LoadedModel) -> TensorData:
    data = tensor_data(tensor, loaded.folder)
    assert data is not None, "only tensors that kernels can hold are read"
    return data


def _add_node(translation: Translation, node: onnx.NodeProto, loaded: LoadedModel) -> None:
    if node.op_type == "Constant" and node.domain in STANDARD:
        make = _constant_of(node, loaded)
        if make is not None:
            translation.tensors[node.output[0]] = make
            return
    whole = onnx.GraphProto()
    whole.node.append(node)
    embedded(whole, loaded.folder)
    translation.add(whole.node[0])


def _constant_of(node: onnx.NodeProto, loaded: LoadedModel) -> Callable[[], TensorData] | None:
    """Return what reads the content of a Constant node; None where kernels cannot hold it."""
    for attribute in node.attribute:
        value: Any = helper.get_attribute_value(attribute)
        match attribute.name:
            case "value" if isinstance(value, onnx.TensorProto):
                return None if _constant_type(value).dtype.is_opaque else partial(_content, value, loaded)
            case "value_float" | "value_floats":
                return partial(to_tensor_data, np.asarray(value, np.float32))
            case "value_int" | "value_ints":
                return partial(to_tensor_data, np.asarray(value, np.int64))
    return None


def _finished(
    translation: Translation,
    graph: onnx.GraphProto,
    inputs: Mapping[str, ValueType],
    sizes: Sizes,
    loaded: LoadedModel,
) -> Graph:
    used = {name for node in translation.nodes for name in node.inputs if name}
    used.update(value.name for value in graph.output)
    names = [name for name in (*translation.tensors, *translation.constants) if name in used]
    made = {*inputs, *translation.tensors, *(name for node in translation.nodes for name in node.outputs)}
    for value in graph.output:
        if value.name not in made:
            raise OnnxError(f"nothing makes the output {value.name!r}", where=loaded.name, fix="export the model again")
    constants = []
    for name in dict.fromkeys(names):
        data = translation.constant(name)
        assert data is not None, "names of constants have content"
        constants.append(Constant(name, data))
    return Graph(
        name=loaded.name,
        inputs=tuple(as_value(name, type_) for name, type_ in inputs.items()),
        outputs=tuple(GraphOutput(value.name, value.name) for value in graph.output),
        nodes=tuple(translation.nodes),
        constants=tuple(constants),
        symbols=symbols_of(inputs, sizes),
        declared=tuple(translation.declared),
        payloads=tuple(translation.payloads),
    )
