"""The text of names, types, attributes and tensor content, as all text forms share them."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr, AttrValue
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.text.elements import element_texts

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
"""Names that stand without quotes."""
PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./]+")
"""Names of values that stand without quotes, after their ``%``."""
INLINE_ELEMENTS = 64
MISSING = "_"


def quoted(text: str) -> str:
    """Return ``text`` in double quotes with JSON escapes."""
    return json.dumps(text)


def word(name: str) -> str:
    """Return the name of an operator, axis, node or attribute, quoted where it is no plain word."""
    return name if PLAIN.fullmatch(name) and name != MISSING else quoted(name)


def value_name(name: str | None) -> str:
    """Return a value's name with its ``%``; ``_`` for a missing one (None, or the empty name)."""
    if not name:
        return MISSING
    return f"%{name}" if PLAIN_VALUE.fullmatch(name) else f"%{quoted(name)}"


def values(names: Iterable[str | None]) -> str:
    """Return the names of values, separated by commas."""
    return ", ".join(value_name(name) for name in names)


def dims(sizes: Iterable[Dim | int]) -> str:
    """Return sizes in brackets."""
    return f"[{', '.join(str(size) for size in sizes)}]"


def tensor_type(dtype: DType, shape: Iterable[Dim | int] | None) -> str:
    """Return an element type and dims: ``f32[n, 4]``; ``f32[*]`` where not even the rank is known."""
    return f"{dtype.text}[*]" if shape is None else f"{dtype.text}{dims(shape)}"


def attributes(attrs: Iterable[Attr]) -> str:
    """Return `` {name = value, ...}``, or nothing where there are none."""
    parts = ", ".join(f"{word(attr.name)} = {attribute(attr.value)}" for attr in attrs)
    return f" {{{parts}}}" if parts else ""


def attribute(value: AttrValue) -> str:
    """Return the text of an attribute; each type has a form of its own: ``1``, ``1.0``, ``"1"``, ``(n)``, ``f32``."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return quoted(value)
        case DType():
            return value.text
        case Dim():
            return f"({value})"
        case tuple():
            parts: tuple[AttrValue, ...] = value
            return f"[{', '.join(attribute(part) for part in parts)}]"
        case never:
            assert_never(never)


def content(data: TensorData) -> str:
    """Return ``type = [elements]`` of a small tensor, ``type sha256 digest`` of one over 64 elements."""
    head = tensor_type(data.dtype, data.shape)
    if data.element_count > INLINE_ELEMENTS:
        return f"{head} sha256 {data.sha256}"
    return f"{head} = [{', '.join(element_texts(data))}]"


def aligned(rows: Iterable[tuple[str, ...]], indent: str = "  ") -> Iterator[str]:
    """Yield ``rows`` as lines whose columns start below one another; empty cells at the end leave no blanks.

    A column wider than 48 characters does not push the others.
    """
    table = list(rows)
    widths: dict[int, int] = {}
    for row in table:
        for column, cell in enumerate(row[:-1]):
            widths[column] = max(widths.get(column, 0), min(len(cell), 48))
    for row in table:
        cells = [cell.ljust(widths[column]) for column, cell in enumerate(row[:-1])]
        yield (indent + "  ".join([*cells, row[-1]])).rstrip()
