"""Replaces calls of functions by their bodies: the model's own, and standard operators that fuse as functions."""

from collections.abc import Iterable, Iterator

import onnx
from onnx import inliner

from autofuse_onnx.errors import OnnxError
from autofuse_onnx.mappings.table import INLINED
from autofuse_onnx.schemas import missing_defaults
from autofuse_onnx.scopes import subgraphs


def inline_functions(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """Return the model with functions replaced by their bodies; the same model where there are none.

    Functions that cannot be inlined (no version both sides share) stay calls, which host backends run.
    """
    if model.functions:
        _refuse_recursion(model, where)
        try:
            model = inliner.inline_local_functions(model, convert_version=True)
        except Exception:  # the inliner's failures have no common class
            model = _inlined_without_conversion(model)
    used = {node.op_type for node in model.graph.node if node.domain in ("", "ai.onnx")}
    chosen = [("", name) for name in INLINED if name in used]
    if chosen:
        model = _with_defaults(model, {name for _, name in chosen})
        try:
            model = inliner.inline_selected_functions(model, chosen, inline_schema_functions=True)
        except Exception:  # as above: the calls stay
            return model
    return model


def _inlined_without_conversion(model: onnx.ModelProto) -> onnx.ModelProto:
    try:
        return inliner.inline_local_functions(model)
    except Exception:  # as above: the calls stay
        return model


def _with_defaults(model: onnx.ModelProto, op_types: set[str]) -> onnx.ModelProto:
    """Return the model with the defaults of these operators' attributes written out: the inliner leaves them open."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    opset = max((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), default=1)
    for node in result.graph.node:
        if node.op_type in op_types and node.domain in ("", "ai.onnx"):
            node.attribute.extend(missing_defaults(node, opset))
    return result


def _refuse_recursion(model: onnx.ModelProto, where: str) -> None:
    functions = {(function.domain, function.name): function for function in model.functions}
    calls = {key: {call for call in _calls(function.node) if call in functions} for key, function in functions.items()}
    done: set[tuple[str, str]] = set()
    while ready := [key for key in sorted(calls) if key not in done and calls[key] <= done]:
        done.update(ready)
    if len(done) < len(calls):
        names = ", ".join(f"{domain}::{name}" for domain, name in sorted(set(calls) - done))
        raise OnnxError(f"functions call themselves: {names}", where=where, fix="functions of a model cannot recurse")


def _calls(nodes: Iterable[onnx.NodeProto]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        yield node.domain, node.op_type
        for graph in subgraphs(node):
            yield from _calls(graph.node)
