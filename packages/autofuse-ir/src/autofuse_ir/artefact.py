"""Read and write artefacts: canonical JSON, with large constants beside it in ``constants/<sha256>.npy``.

Equal artefacts give equal bytes: keys are sorted, separators fixed, floats hexadecimal. Reading checks everything and
evaluates nothing.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping, MutableMapping
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from autofuse_ir.contracts import Artefact, Contract, Version, contract_named, contract_of, upgrade
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import IrError
from autofuse_ir.npy import npy_parts, read_npy
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.wire import record
from autofuse_ir.wire_decode import Decoder, ReadConstant
from autofuse_ir.wire_encode import Encoder

MAX_JSON_BYTES = 1 << 30
"""Larger JSON files are refused unread."""
MAX_NPY_HEAD_BYTES = 1 << 16
CONSTANTS = "constants"
_SCHEMA, _VERSION = "schema", "version"


def write(artefact: Artefact, path: str | Path) -> Path:
    """Write ``artefact`` to ``path``, whole or not at all, and its constants over 64 elements beside it.

    Returns ``path``; raises ``IrError`` where the artefact holds something that has no form in JSON, or the disk fails.
    """
    path = Path(path)
    constants: dict[str, TensorData] = {}
    try:
        text = dumps(artefact, constants)
    except IrError as error:
        raise IrError(error.what, where=_place(path, error.where), fix=error.fix) from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for digest, data in constants.items():
            (path.parent / CONSTANTS).mkdir(exist_ok=True)
            _replace(path.parent / CONSTANTS / f"{digest}.npy", *npy_parts(data))
        _replace(path, text.encode("utf-8"))
    except OSError as error:
        raise IrError(
            f"it cannot be written: {error.strerror or error}", where=str(path), fix="check the folder and the disk"
        ) from error
    return path


def read(path: str | Path) -> Artefact:
    """Return the artefact at ``path``; ``IrError`` names the file and the field where it is not one."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_JSON_BYTES:
            raise IrError(
                f"{size} bytes are more than the {MAX_JSON_BYTES} an artefact may have",
                where=str(path),
                fix="give the path of an artefact's JSON file",
            )
        content = path.read_bytes()
    except OSError as error:
        raise IrError(
            f"it cannot be read: {error.strerror or error}", where=str(path), fix="give the path of an artefact"
        ) from error
    return _parse(content, str(path), _constants_in(path.parent / CONSTANTS))


def dumps(artefact: Artefact, constants: MutableMapping[str, TensorData] | None = None) -> str:
    """Return the canonical JSON of ``artefact``, ending in a newline.

    Constants over 64 elements are put into ``constants`` under their sha256; without a mapping they stand inline.
    """
    contract = contract_of(artefact)
    fields = Encoder(constants).fields(artefact, record(contract.model), "")
    head = {_SCHEMA: contract.name, _VERSION: list(contract.version)}
    return json.dumps({**head, **fields}, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def loads(text: str | bytes, constants: Mapping[str, TensorData] | None = None, where: str = "artefact") -> Artefact:
    """Return the artefact that JSON ``text`` describes; ``constants`` holds, by sha256, what is not inline."""
    given = constants or {}

    def read_constant(digest: str, dtype: DType, shape: tuple[int, ...], at: str) -> bytes:
        if digest not in given:
            raise IrError(
                f"the constant {digest} is not among those given", where=at, fix="pass the mapping dumps() filled"
            )
        return given[digest].raw

    return _parse(text, where, read_constant)


def _parse(text: str | bytes, where: str, read_constant: ReadConstant) -> Artefact:
    try:
        data = _json(text)
        contract, version, fields = _open(data)
        fields = upgrade(contract, fields, version)
        artefact: Artefact = Decoder(read_constant).record(fields, record(contract.model), "")
        return artefact
    except IrError as error:
        raise IrError(error.what, where=_place(where, error.where), fix=error.fix) from error.__cause__


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=_no_float, parse_constant=_no_float)
    except IrError:
        raise
    except RecursionError:
        raise IrError("it is nested too deeply", fix="an artefact is nested a few levels at most") from None
    except ValueError as error:
        raise IrError(
            f"it is not JSON: {error}", fix="the file is damaged or cut short: make the artefact again"
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise IrError(f"the key {twice!r} stands twice in one object", fix="remove one of them")
    return found


def _no_float(text: str) -> NoReturn:
    raise IrError(f"the number {text[:40]} is no integer", fix="artefacts hold floats as hexadecimal text")


def _open(data: Any) -> tuple[Contract, Version, dict[str, Any]]:
    """Take the head off: which contract, which version, the rest."""
    if not isinstance(data, dict) or not isinstance(data.get(_SCHEMA), str):
        raise IrError("it has no schema, so it is no artefact", fix="give the path of an artefact's JSON file")
    contract = contract_named(data[_SCHEMA])
    if contract is None:
        raise IrError(
            f"there is no contract {data[_SCHEMA][:60]!r}",
            where=_SCHEMA,
            fix="if a newer release wrote it, pip install --upgrade autofuse-ir",
        )
    match data.get(_VERSION):
        case [int(major), int(minor)] if bool not in (type(major), type(minor)):
            fields = {name: value for name, value in data.items() if name not in (_SCHEMA, _VERSION)}
            return contract, (major, minor), fields
        case other:
            raise IrError(f"{str(other)[:60]!r} is no version", where=_VERSION, fix="a version looks like [1, 0]")


def _constants_in(folder: Path) -> ReadConstant:
    def read_constant(digest: str, dtype: DType, shape: tuple[int, ...], at: str) -> bytes:
        file = folder / f"{digest}.npy"
        wanted = prod(shape) * dtype.itemsize
        try:
            size = file.stat().st_size
            if not wanted <= size <= wanted + MAX_NPY_HEAD_BYTES:
                raise IrError(f"{file.name} has {size} bytes, not {wanted} and a header", where=at, fix=_COPY)
            with file.open("rb") as opened:
                raw = read_npy(opened)
        except OSError as error:
            raise IrError(
                f"its content, {CONSTANTS}/{file.name}, cannot be read: {error.strerror or error}", where=at, fix=_COPY
            ) from error
        except IrError as error:
            raise IrError(f"{CONSTANTS}/{file.name}: {error.what}", where=at, fix=error.fix) from None
        if hashlib.sha256(raw).hexdigest() != digest:
            raise IrError(f"the content of {CONSTANTS}/{file.name} has another sha256", where=at, fix=_COPY)
        return raw

    return read_constant


_COPY = f"the file is missing or damaged: copy {CONSTANTS}/ together with its artefact, or make it again"


def _replace(path: Path, *parts: bytes) -> None:
    """Write ``parts`` to a file beside ``path``, then put it in its place in one step.

    A device or a pipe keeps its place, and gets the parts one after the other.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as opened:
            opened.writelines(parts)
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as opened:
            for part in parts:
                opened.write(part)
        temporary.replace(path)
    finally:
        if temporary.exists():
            os.unlink(temporary)


def _place(path: object, at: str) -> str:
    return f"{path}, field {at}" if at else str(path)
