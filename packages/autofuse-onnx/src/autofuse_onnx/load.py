"""Reads a model: from a file, bytes or a ``ModelProto``; checks what everything else relies on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import onnx
from attrs import frozen

from autofuse_onnx.errors import OnnxError

ModelLike: TypeAlias = str | Path | bytes | onnx.ModelProto
"""A path, the bytes of a file, or a model in memory."""


@frozen
class LoadedModel:
    """A model, its name for people, and the folder its external data may lie in (None: there can be none)."""

    proto: onnx.ModelProto
    name: str
    folder: Path | None


def load_model(model: ModelLike) -> LoadedModel:
    """Return the model; raises ``OnnxError`` for what is missing, truncated or not an ONNX model."""
    if isinstance(model, onnx.ModelProto):
        return LoadedModel(_checked(model, "model"), model.graph.name or "model", None)
    if isinstance(model, bytes | bytearray | memoryview):
        proto = _parse(bytes(model), "the given bytes")
        return LoadedModel(proto, proto.graph.name or "model", None)
    path = Path(model)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise OnnxError("there is no such file", where=str(path), fix="check the path of the model") from None
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise OnnxError(f"the file cannot be read: {reason}", where=str(path), fix="pass an ONNX file") from None
    return LoadedModel(_parse(content, str(path)), path.name, path.parent)


def _parse(content: bytes, where: str) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except Exception:  # DecodeError, of a package that publishes no types
        raise OnnxError(
            f"these {len(content)} bytes are not an ONNX model: truncated, or another kind of file",
            where=where,
            fix="export or download the model again",
        ) from None
    return _checked(proto, where)


def _checked(proto: onnx.ModelProto, where: str) -> onnx.ModelProto:
    if not proto.HasField("graph") or not proto.graph.output:
        raise OnnxError("this is not an ONNX model: it has no graph with outputs", where=where, fix="pass an ONNX file")
    if any(isinstance(text, bytes) for text in _texts(proto)):  # what protobuf gives where text cannot be decoded
        raise OnnxError("a name in it is not valid UTF-8", where=where, fix="export the model again")
    if not all(opset.domain.isprintable() for opset in proto.opset_import):
        raise OnnxError("the name of an operator set is not text", where=where, fix="export the model again")
    if not all(0 <= version < 1 << 31 for version in (proto.ir_version, *(o.version for o in proto.opset_import))):
        raise OnnxError("a version number in it is not valid", where=where, fix="export the model again")
    versions = [opset.version for opset in proto.opset_import if opset.domain in ("", "ai.onnx")]
    newest = onnx.defs.onnx_opset_version()
    if any(version > newest for version in versions):
        raise OnnxError(
            f"the model uses operator set {max(versions)}; the installed onnx {onnx.__version__} knows up to {newest}",
            where=where,
            fix="upgrade the package onnx",
        )
    return proto


def _texts(message: Any) -> Iterator[object]:
    """Yield every field of type string in ``message`` and the messages in it; of tensors the name alone."""
    if isinstance(message, onnx.TensorProto):  # reading other fields of it would copy its content
        yield message.name
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            yield from value if field.is_repeated else (value,)
        elif field.type == field.TYPE_MESSAGE:
            for part in value if field.is_repeated else (value,):
                yield from _texts(part)
