"""Content of tensors that lies in files beside the model, read without leaving the model's folder."""

from pathlib import Path

import onnx

from autofuse_onnx.errors import OnnxError


def is_external(tensor: onnx.TensorProto) -> bool:
    """True when the content of ``tensor`` lies in another file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def read_external(tensor: onnx.TensorProto, folder: Path | None, bytes_needed: int) -> bytes:
    """Return the ``bytes_needed`` bytes of ``tensor``; an error for paths that leave ``folder`` and for short files."""
    where = f"tensor {tensor.name!r}"
    if folder is None:
        raise OnnxError(
            "its content lies in another file, but the model was not read from a file", where=where, fix="pass the path"
        )
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = _inside(folder, entries.get("location", ""), where)
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length", bytes_needed))
    except ValueError:
        raise OnnxError("its offset or length is not a number", where=where, fix="export the model again") from None
    if length != bytes_needed or offset < 0:
        raise OnnxError(
            f"its shape needs {bytes_needed} bytes, its entry promises {length} at offset {offset}",
            where=where,
            fix="export the model again",
        )
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(length)
    except OSError as error:
        raise OnnxError(
            f"its file {path.name!r} cannot be read: {error.strerror}", where=where, fix="put it beside the model"
        ) from None
    if len(content) != length:
        raise OnnxError(
            f"its file {path.name!r} ends after {len(content)} of {length} bytes",
            where=where,
            fix="copy the file again, it is truncated",
        )
    return content


def _inside(folder: Path, location: str, where: str) -> Path:
    root = folder.resolve()
    path = (root / location).resolve() if location else root
    if not location or Path(location).is_absolute() or not path.is_relative_to(root):
        raise OnnxError(
            f"its content is said to lie in {location!r}, outside the folder of the model",
            where=where,
            fix="keep external data beside the model; do not use models from people you do not trust",
        )
    if not path.is_file():
        raise OnnxError(f"its file {location!r} is missing", where=where, fix="put it beside the model")
    return path
