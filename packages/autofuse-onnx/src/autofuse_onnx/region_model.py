"""Puts the payloads of a host region's operators together as one ONNX model."""

from collections.abc import Iterator, Mapping

import onnx
from attrs import frozen
from autofuse_ir.graph import Node, Payload
from autofuse_ir.program import ProgramRegion
from onnx import helper, numpy_helper

from autofuse_onnx.errors import OnnxError
from autofuse_onnx.payload import FORMAT, input_name, output_name
from autofuse_onnx.schemas import equivalent_opsets
from autofuse_onnx.scopes import captured_names, rename, subgraphs
from autofuse_onnx.tensors import Array

_LARGEST_MODEL = 1 << 30
"""Constants beyond this many bytes stay inputs of the model: a protobuf message ends at 2 GiB."""


@frozen
class RegionModel:
    """A host region as an ONNX model.

    ``inputs`` are the model's names of the region's inputs (None: nobody reads it, or it is an initialiser) and
    ``outputs`` those of its outputs, which may be inputs passed on. ``types`` are the ONNX types of the values that are
    known before the first call. ``opsets`` are versions of the standard operators in which the model means the same,
    the best first: ONNX Runtime lags behind ONNX, whose new versions mostly add element types.
    """

    proto: onnx.ModelProto
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    types: Mapping[str, onnx.TypeProto]
    opsets: tuple[int, ...]


def region_model(region: ProgramRegion, payloads: Mapping[str, Payload], constants: Mapping[str, Array]) -> RegionModel:
    """Return the region as a model; ``constants`` are those of its inputs whose content never changes.

    The model's inputs and outputs have no types yet where ``types`` does not know them. Raises ``OnnxError`` naming
    the operator that has no payload.
    """
    made = {name for node in region.operators for name in node.outputs if name}
    functions = [_function(node, payloads, region) for node in region.operators]
    prefix = _free_prefix(functions)
    names: dict[str, str] = {}
    for node in region.operators:
        for name in (*node.inputs, *node.outputs):
            if name:
                names.setdefault(name, f"{prefix}{len(names)}")
    types: dict[str, onnx.TypeProto] = {}
    nodes: list[onnx.NodeProto] = []
    opsets: dict[str, int] = {}
    standard: list[tuple[onnx.NodeProto, int]] = []
    for number, (node, function) in enumerate(zip(region.operators, functions, strict=True)):
        own = {item.domain: item.version for item in function.opset_import}
        for domain, version in own.items():
            opsets[domain] = max(version, opsets.get(domain, 1))
        local = {input_name(i): names[name] for i, name in enumerate(node.inputs) if name}
        local |= _local_names(function, f"{prefix}c{number}.")
        local |= {output_name(i): names[name] for i, name in enumerate(node.outputs) if name}
        for info in function.value_info:
            if info.name in local:
                types.setdefault(local[info.name], info.type)
        for inner in function.node:
            rename(inner, local)
            nodes.append(inner)
            standard += [(each, own.get("", 1)) for each in _with_inner(inner) if each.domain in ("", "ai.onnx")]
    candidates = equivalent_opsets(standard, opsets.get("", 1))
    opsets[""] = candidates[0]
    model = helper.make_model(
        helper.make_graph(nodes, "region", [], []), opset_imports=[helper.make_opsetid(d, v) for d, v in opsets.items()]
    )
    model.ir_version = helper.find_min_ir_version_for(list(model.opset_import), ignore_unknown=True)
    initialisers = _add_constants(model, region, names, constants)
    read = {name for node in nodes for name in (*node.input, *captured_names(node))}
    inputs = tuple(
        names[name] if names.get(name) in read and name not in made and name not in initialisers else None
        for name in region.inputs
    )
    for name in region.outputs:
        if name not in made and name not in region.inputs:
            raise OnnxError(f"nothing makes its output {name!r}", where=f"host region {region.name}")
    return RegionModel(model, inputs, tuple(names.get(name, name) for name in region.outputs), types, candidates)


def _function(node: Node, payloads: Mapping[str, Payload], region: ProgramRegion) -> onnx.FunctionProto:
    payload = None if node.payload is None else payloads.get(node.payload)
    where = f"host region {region.name}, node {node.name!r}" + (f" ({node.source})" if node.source else "")
    if payload is None or payload.format != FORMAT:
        raise OnnxError(
            f"operator {node.op} does not come from an ONNX model, so ONNX Runtime cannot run it",
            where=where,
            fix="run its region with another host backend",
        )
    function = onnx.FunctionProto()
    try:
        function.ParseFromString(payload.data.raw)
    except Exception:  # DecodeError, of a package that publishes no types
        raise OnnxError("its payload is damaged", where=where, fix="compile the model again") from None
    return function


def _local_names(function: onnx.FunctionProto, prefix: str) -> dict[str, str]:
    """Return names of their own for the values inside a function (its constants)."""
    inside = [name for node in function.node for name in node.output if name]
    return {name: f"{prefix}{i}" for i, name in enumerate(inside)}


def _free_prefix(functions: list[onnx.FunctionProto]) -> str:
    """Return a prefix that no value inside a sub-graph has: ONNX Runtime takes equal names for one value."""
    used = {
        name
        for function in functions
        for node in function.node
        for inner in _with_inner(node)
        for name in (*inner.input, *inner.output, *_own_names(inner))
    }
    prefix = "v"
    while any(name.startswith(prefix) for name in used):
        prefix = f"_{prefix}"
    return prefix


def _own_names(node: onnx.NodeProto) -> Iterator[str]:
    for graph in subgraphs(node):
        yield from (value.name for value in (*graph.input, *graph.output, *graph.initializer))


def _with_inner(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    yield node
    for graph in subgraphs(node):
        for inner in graph.node:
            yield from _with_inner(inner)


def _add_constants(
    model: onnx.ModelProto, region: ProgramRegion, names: Mapping[str, str], constants: Mapping[str, Array]
) -> set[str]:
    """Add ``constants`` as initialisers, smallest first; return the names of those that fit."""
    added: set[str] = set()
    total = 0
    for name in sorted((n for n in region.inputs if n in constants and n in names), key=lambda n: constants[n].nbytes):
        total += constants[name].nbytes
        if total > _LARGEST_MODEL:
            break
        model.graph.initializer.append(numpy_helper.from_array(constants[name], names[name]))
        added.add(name)
    return added
