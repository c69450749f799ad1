"""Reads attributes and tensor content."""

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from autofuse_ir.dims import INT64_MIN
from autofuse_ir.dtypes import ELEMENT_MAX
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, AttrValue
from autofuse_ir.parse.reader import Reader
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.text.elements import element_bytes

_NUMBER = re.compile(r"-?(?:nan|inf|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)", re.ASCII)
_ELEMENT = re.compile(r"0x[0-9a-f]{1,16}|true|false|-?(?:inf|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")
MAX_ELEMENTS = 64
MAX_LIST_DEPTH = 2


def attributes(reader: Reader) -> tuple[Attr, ...]:
    """Return the attributes in braces here; none where there is no brace."""
    if not reader.peek("{"):
        return ()

    def one() -> Attr:
        name = reader.name("the name of an attribute")
        reader.expect("=")
        return Attr(name, attribute(reader))

    return reader.many("{", "}", one)


def attribute(reader: Reader, depth: int = 0) -> AttrValue:
    """Return the value of an attribute; its form says its type."""
    if reader.peek('"'):
        return reader.string()
    if reader.accept("("):
        size = reader.size()
        reader.expect(")")
        return size
    if reader.peek("["):
        if depth == MAX_LIST_DEPTH:
            raise reader.error("lists of lists of lists are no attributes")
        parts: Any = reader.many("[", "]", lambda: attribute(reader, depth + 1))
        if len({type(part) for part in parts}) > 1:
            raise reader.error("the parts of a list differ in type", "write 1.0 among floats, (1) among sizes")
        if parts and isinstance(parts[0], bool):
            raise reader.error("a list of booleans is no attribute", "write 0 and 1")
        return tuple(parts)
    if reader.accept_word("true"):
        return True
    if reader.accept_word("false"):
        return False
    if reader.peek_name() and not (reader.peek("nan") or reader.peek("inf")):
        return reader.dtype()
    text = reader.literal(_NUMBER, "the value of an attribute")
    if any(letter in text for letter in ".en"):
        return float(text)
    return _checked_int(reader, text)


def content(reader: Reader, constants: Mapping[str, TensorData]) -> TensorData:
    """Return the tensor here: ``f32[2] = [1, 2]``, or ``f32[768] sha256 digest`` with the content in ``constants``."""
    dtype, dims = reader.tensor_type()
    if dims is None or not all(dim.is_constant for dim in dims):
        raise reader.error("the shape of a constant has no symbols")
    shape = tuple([dim.constant_value or 0 for dim in dims])
    if reader.accept("="):
        if prod(shape) > MAX_ELEMENTS:
            raise reader.error(f"{prod(shape)} elements", f"more than {MAX_ELEMENTS} stand beside the text: sha256 ...")
        try:
            elements = reader.many(
                "[", "]", lambda: element_bytes(dtype, reader.literal(_ELEMENT, f"an element of {dtype}"))
            )
        except (ValueError, OverflowError):
            raise reader.error(f"an element is no {dtype}") from None
        raw = b"".join(elements)
    else:
        if not reader.accept_word("sha256"):
            raise reader.error("'= [elements]' or 'sha256 digest' is expected")
        digest = reader.literal(_DIGEST, "a sha256")
        if digest not in constants:
            raise reader.error(
                f"the content of {digest} is not in this text", "pass it in parse(text, constants={sha256: TensorData})"
            )
        raw = constants[digest].raw
    try:
        return TensorData(dtype, shape, raw)
    except IrError as error:
        raise reader.error(error.what, error.fix) from None


def _checked_int(reader: Reader, text: str) -> int:
    if len(text) > 20 or not INT64_MIN <= int(text) <= ELEMENT_MAX:
        raise reader.error(f"{text[:24]} fits neither into int64 nor into uint64")
    return int(text)
