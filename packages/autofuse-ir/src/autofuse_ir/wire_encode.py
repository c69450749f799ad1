"""Contract values to JSON values; `autofuse_ir.wire` says what each looks like."""

from collections.abc import Callable, MutableMapping
from math import isfinite
from typing import Any, NoReturn, assert_never

from attrs import frozen

from autofuse_ir.dims import INT64_MAX, INT64_MIN, Cond, Dim
from autofuse_ir.dims_text import show_cond, show_dim
from autofuse_ir.dtypes import ELEMENT_MAX, DType
from autofuse_ir.errors import IrError
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.wire import TAG, EnumOf, Fixed, ListOf, Maybe, OneOf, Record, Scalar, WireType

INLINE_ELEMENTS = 64
"""Constants of up to this many elements stand in the JSON itself."""


@frozen
class Encoder:
    """Encodes values; large constants go into ``constants`` by sha256, or inline where that is None."""

    constants: MutableMapping[str, TensorData] | None = None

    def encode(self, value: Any, wire: WireType, at: str) -> Any:
        """Return the JSON form of ``value``; ``IrError`` names the field ``at`` where it is not what ``wire`` says."""
        match wire:
            case Scalar():
                return self._scalar(value, wire, at)
            case EnumOf(enum):
                return value.value if isinstance(value, enum) else _refuse(value, enum.__name__, at)
            case ListOf(item):
                if not isinstance(value, tuple):
                    _refuse(value, "tuple", at)
                return [self.encode(part, item, f"{at}[{i}]") for i, part in enumerate(value)]
            case Fixed(items):
                if not isinstance(value, tuple) or len(value) != len(items):
                    _refuse(value, f"tuple of {len(items)}", at)
                return [self.encode(part, items[i], f"{at}[{i}]") for i, part in enumerate(value)]
            case Maybe(item):
                return None if value is None else self.encode(value, item, at)
            case Record():
                return self.fields(value, wire, at)
            case OneOf(members):
                for member in members:
                    if type(value) is member.model:
                        return {TAG: member.model.__name__, **self.fields(value, member, at)}
                return _refuse(value, " or ".join(member.model.__name__ for member in members), at)
            case never:
                assert_never(never)

    def fields(self, value: Any, wire: Record, at: str) -> dict[str, Any]:
        """Return the JSON object of the attrs instance ``value``."""
        if type(value) is not wire.model:
            _refuse(value, wire.model.__name__, at)
        prefix = f"{at}." if at else ""
        return {
            field.name: self.encode(getattr(value, field.name), field.type, prefix + field.name)
            for field in wire.fields
        }

    def _scalar(self, value: Any, wire: Scalar, at: str) -> Any:
        match wire:
            case Scalar.BOOL:
                return value if isinstance(value, bool) else _refuse(value, "bool", at)
            case Scalar.INT:
                return _int(value, at)
            case Scalar.FLOAT:
                return _float(value, at)
            case Scalar.STR:
                return str(value) if isinstance(value, str) else _refuse(value, "str", at)
            case Scalar.DIM:
                return _dim(value, at)
            case Scalar.COND:
                if not isinstance(value, Cond):
                    _refuse(value, "Cond", at)
                return _located(lambda: show_cond(value), at)
            case Scalar.DTYPE:
                return value.name if isinstance(value, DType) else _refuse(value, "DType", at)
            case Scalar.ATTRIBUTE:
                return _attribute(value, at)
            case Scalar.TENSOR:
                return self._tensor(value, at)
            case never:
                assert_never(never)

    def _tensor(self, value: Any, at: str) -> dict[str, Any]:
        if not isinstance(value, TensorData):
            _refuse(value, "TensorData", at)
        if value.dtype.is_opaque:
            raise IrError("opaque values have no bytes to keep", where=at, fix="keep them in the operator's payload")
        head = {"dtype": value.dtype.name, "shape": [_int(size, at) for size in value.shape]}
        if self.constants is None or value.element_count <= INLINE_ELEMENTS:
            return {**head, "hex": value.raw.hex()}
        digest = value.sha256
        self.constants.setdefault(digest, value)
        return {**head, "sha256": digest}


def _attribute(value: Any, at: str) -> dict[str, Any]:
    """Tag a value of an attribute with its type.

    Sizes and ints in one tuple become sizes, floats and ints floats: both are equal to what they were.
    """
    match value:
        case bool():
            return {"bool": value}
        case int():
            return {"int": _number(value, at)}
        case float():
            return {"float": _float(value, at)}
        case str():
            return {"str": str(value)}
        case DType():
            return {"dtype": value.name}
        case Dim():
            return {"dim": _dim(value, at)}
        case tuple():
            return _attribute_list(value, at)
        case _:
            _refuse(value, "bool, int, float, str, DType, Dim or a tuple of them", at)


def _attribute_list(parts: tuple[Any, ...], at: str) -> dict[str, Any]:
    places = [f"{at}[{i}]" for i in range(len(parts))]
    if all(_is_int(part) for part in parts):
        return {"ints": [_int(part, place) for part, place in zip(parts, places, strict=True)]}
    if all(isinstance(part, str) for part in parts):
        return {"strs": [str(part) for part in parts]}
    if all(isinstance(part, float) or _is_int(part) for part in parts):
        return {"floats": [_float(part, place) for part, place in zip(parts, places, strict=True)]}
    if all(isinstance(part, Dim) or _is_int(part) for part in parts):
        return {"dims": [_dim(part, place) for part, place in zip(parts, places, strict=True)]}
    if all(isinstance(part, tuple) for part in parts):
        return {"int_lists": [[_int(item, place) for item in part] for part, place in zip(parts, places, strict=True)]}
    kinds = ", ".join(sorted({type(part).__name__ for part in parts}))
    raise IrError(f"a tuple of {kinds} is no attribute", where=at, fix="use a tuple of ints, floats, strs or sizes")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _int(value: Any, at: str) -> int:
    if not _is_int(value):
        _refuse(value, "int", at)
    if not INT64_MIN <= value <= INT64_MAX:
        raise IrError(f"{value} does not fit into int64", where=at)
    return int(value)


def _number(value: int, at: str) -> int:
    """An int that may be an element of any integer dtype: those of uint64 go further than sizes."""
    if not INT64_MIN <= value <= ELEMENT_MAX:
        raise IrError(f"{value} fits neither into int64 nor into uint64", where=at)
    return int(value)


def _float(value: Any, at: str) -> str:
    if not isinstance(value, float) and not _is_int(value):
        _refuse(value, "float", at)
    number = float(value)
    return number.hex() if isfinite(number) else str(number)


def _dim(value: Any, at: str) -> str:
    if _is_int(value):
        return str(_int(value, at))
    if not isinstance(value, Dim):
        _refuse(value, "Dim", at)
    return _located(lambda: show_dim(value), at)


def _located(show: Callable[[], str], at: str) -> str:
    try:
        return show()
    except IrError as error:
        raise IrError(error.what, where=at, fix=error.fix) from None


def _refuse(value: Any, wanted: str, at: str) -> NoReturn:
    raise IrError(
        f"{type(value).__name__} {str(value)[:60]!r} stands where {wanted} is expected",
        where=at,
        fix="build the artefact with values of the annotated types",
    )
