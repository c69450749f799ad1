"""How the values of a class' fields look in JSON, derived from the annotations: the one source of codec and schema."""

from enum import Enum
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen

from autofuse_ir.dims import Cond, Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue
from autofuse_ir.tensor_data import TensorData

TAG = "kind"
"""The key that names the class where a field may hold one of several."""


class Scalar(Enum):
    """A value that is one JSON scalar (``ATTRIBUTE`` and ``TENSOR``: one small object of their own)."""

    BOOL = "bool"
    INT = "int64"
    FLOAT = "float"
    """A string: ``float.hex()``, "nan", "inf" or "-inf"."""
    STR = "string"
    DIM = "size"
    """A string in the grammar of sizes."""
    COND = "condition"
    """A string in the grammar of sizes."""
    DTYPE = "dtype"
    """The name of an element type."""
    ATTRIBUTE = "attribute"
    """An object with one key that says the type: ``{"int": 1}``, ``{"floats": ["0x1p+0"]}``."""
    TENSOR = "tensor"
    """``dtype``, ``shape``, and the bytes: ``hex``, or ``sha256`` of a file in ``constants/``."""


@frozen
class EnumOf:
    """A member of ``enum``, by its value."""

    enum: type[Enum]


@frozen
class ListOf:
    """An array of any length."""

    item: "WireType"


@frozen
class Fixed:
    """An array with one entry per item."""

    items: "tuple[WireType, ...]"


@frozen
class Maybe:
    """``item`` or null."""

    item: "WireType"


@frozen
class WireField:
    """A field of a record. ``required`` is False where the class has a default."""

    name: str
    type: "WireType"
    required: bool


@frozen
class Record:
    """An object with the fields of an attrs class."""

    model: type[Any]
    fields: tuple[WireField, ...]


@frozen
class OneOf:
    """One of several records, told apart by the class name under ``TAG``."""

    members: tuple[Record, ...]


WireType: TypeAlias = Scalar | EnumOf | ListOf | Fixed | Maybe | Record | OneOf

_SCALARS: dict[Any, Scalar] = {
    bool: Scalar.BOOL,
    int: Scalar.INT,
    float: Scalar.FLOAT,
    str: Scalar.STR,
    Dim: Scalar.DIM,
    Cond: Scalar.COND,
    DType: Scalar.DTYPE,
    AttrValue: Scalar.ATTRIBUTE,
    TensorData: Scalar.TENSOR,
}


def record(model: type[Any]) -> Record:
    """Return the wire form of attrs class ``model``; ``TypeError`` where an annotation has none."""
    hints = get_type_hints(model)
    return Record(
        model,
        tuple(
            WireField(field.name, wire_type(hints[field.name]), field.default is attrs.NOTHING)
            for field in attrs.fields(model)
        ),
    )


def wire_type(annotation: Any) -> WireType:
    """Return the wire form of values annotated ``annotation``; ``TypeError`` where there is none."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return ListOf(wire_type(arguments[0]))
        return Fixed(tuple(wire_type(argument) for argument in arguments))
    if origin in (Union, UnionType):
        return _union(arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return EnumOf(annotation)
    if isinstance(annotation, type) and attrs.has(annotation):
        return record(annotation)
    raise TypeError(f"values of type {annotation!r} have no form in an artefact")


def _union(arguments: tuple[Any, ...]) -> WireType:
    present = tuple(argument for argument in arguments if argument is not NoneType)
    if len(present) < len(arguments):
        inner = wire_type(present[0]) if len(present) == 1 else _union(present)
        return Maybe(inner)
    members = tuple(record(argument) for argument in present)
    clash = [member.model.__name__ for member in members if any(field.name == TAG for field in member.fields)]
    if clash:
        raise TypeError(f"the field {TAG!r} of {', '.join(clash)} hides the tag of its union")
    return OneOf(members)
