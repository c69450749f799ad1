"""JSON values back to contract values. Everything is checked, nothing is evaluated; errors name the field."""

import re
from collections.abc import Callable
from math import prod
from typing import Any, NoReturn, TypeAlias, TypeVar, assert_never

from attrs import field, frozen

from autofuse_ir.dims import INT64_MAX, INT64_MIN, Cond, Dim
from autofuse_ir.dims_text import parse_cond, parse_dim
from autofuse_ir.dtypes import ELEMENT_MAX, DType, dtype_named
from autofuse_ir.errors import IrError
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.wire import TAG, EnumOf, Fixed, ListOf, Maybe, OneOf, Record, Scalar, WireType

T = TypeVar("T")

ReadConstant: TypeAlias = Callable[[str, DType, tuple[int, ...], str], bytes]
"""(sha256, dtype, shape, field) -> the bytes of a constant that stands beside the JSON."""

_FLOAT = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-][0-9]{1,4}|nan|-?inf")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAKE_AGAIN = "make the artefact again; if a newer release wrote it, pip install --upgrade autofuse-ir"


@frozen
class Decoder:
    """Decodes JSON values; ``read_constant`` finds content that is not inline."""

    read_constant: ReadConstant
    _dims: dict[str, Dim] = field(factory=dict, init=False, repr=False, eq=False)  # the same few sizes, many times

    def decode(self, value: Any, wire: WireType, at: str) -> Any:
        """Return the value that JSON ``value`` stands for; ``IrError`` names the field ``at`` where it is malformed."""
        match wire:
            case Scalar():
                return self._scalar(value, wire, at)
            case EnumOf(enum):
                for choice in enum:
                    if choice.value == value:
                        return choice
                return _refuse(value, " or ".join(repr(choice.value) for choice in enum), at)
            case ListOf(item):
                return tuple([self.decode(part, item, f"{at}[{i}]") for i, part in enumerate(_array(value, at))])
            case Fixed(items):
                parts = _array(value, at)
                if len(parts) != len(items):
                    _refuse(value, f"an array of {len(items)}", at)
                return tuple([self.decode(part, items[i], f"{at}[{i}]") for i, part in enumerate(parts)])
            case Maybe(item):
                return None if value is None else self.decode(value, item, at)
            case Record():
                return self.record(value, wire, at)
            case OneOf(members):
                tag = _object(value, at).get(TAG)
                for member in members:
                    if member.model.__name__ == tag:
                        return self.record({k: v for k, v in value.items() if k != TAG}, member, at)
                names = " or ".join(repr(member.model.__name__) for member in members)
                return _refuse(tag, names, f"{at}.{TAG}")
            case never:
                assert_never(never)

    def record(self, value: Any, wire: Record, at: str) -> Any:
        """Return the instance of ``wire.model`` that JSON object ``value`` describes."""
        given = _object(value, at)
        prefix = f"{at}." if at else ""
        known = {part.name for part in wire.fields}
        for name in given:
            if name not in known:
                raise IrError(
                    f"{wire.model.__name__} has no field {str(name)[:60]!r}",
                    where=at,
                    fix="remove it; if a newer release wrote it, pip install --upgrade autofuse-ir",
                )
        decoded = {}
        for part in wire.fields:
            if part.name in given:
                decoded[part.name] = self.decode(given[part.name], part.type, prefix + part.name)
            elif part.required:
                raise IrError(f"the field {part.name!r} is missing", where=at, fix=_MAKE_AGAIN)
        try:
            return wire.model(**decoded)
        except IrError as error:
            raise IrError(error.what, where=at, fix=error.fix) from None

    def _scalar(self, value: Any, wire: Scalar, at: str) -> Any:
        match wire:
            case Scalar.BOOL:
                return value if isinstance(value, bool) else _refuse(value, "true or false", at)
            case Scalar.INT:
                return _int(value, at)
            case Scalar.FLOAT:
                return _float(value, at)
            case Scalar.STR:
                return _str(value, at)
            case Scalar.DIM:
                return self._dim(value, at)
            case Scalar.COND:
                return _cond(value, at)
            case Scalar.DTYPE:
                return _dtype(value, at)
            case Scalar.ATTRIBUTE:
                return self._attribute(value, at)
            case Scalar.TENSOR:
                return self._tensor(value, at)
            case never:
                assert_never(never)

    def _dim(self, value: Any, at: str) -> Dim:
        text = _str(value, at)
        if text not in self._dims:
            self._dims[text] = _located(lambda: parse_dim(text), at)
        return self._dims[text]

    def _attribute(self, value: Any, at: str) -> Any:
        given = _object(value, at)
        if len(given) != 1:
            _refuse(value, "an object with one key, the type of the attribute", at)
        ((tag, content),) = given.items()
        one: dict[str, Callable[[Any, str], Any]] = {
            "int": _number,
            "float": _float,
            "str": _str,
            "dtype": _dtype,
            "dim": self._dim,
        }
        many: dict[str, Callable[[Any, str], Any]] = {
            "ints": _int,
            "floats": _float,
            "strs": _str,
            "dims": self._dim,
            "int_lists": _ints,
        }
        if tag in one:
            return one[tag](content, at)
        if tag in many:
            return tuple([many[tag](part, f"{at}[{i}]") for i, part in enumerate(_array(content, at))])
        if tag == "bool" and isinstance(content, bool):
            return content
        return _refuse(tag, f"one of bool, {', '.join([*one, *many])}", at)

    def _tensor(self, value: Any, at: str) -> TensorData:
        given = _object(value, at)
        keys = set(given)
        if keys not in ({"dtype", "shape", "hex"}, {"dtype", "shape", "sha256"}):
            _refuse(sorted(map(str, keys)), "dtype, shape, and hex or sha256", at)
        dtype = _dtype(given["dtype"], f"{at}.dtype")
        if dtype.is_opaque:
            raise IrError("opaque values have no bytes to keep", where=at, fix=_MAKE_AGAIN)
        shape = _ints(given["shape"], f"{at}.shape")
        if any(size < 0 for size in shape) or prod(shape) > INT64_MAX:
            _refuse(list(shape), "a shape", f"{at}.shape")
        if "hex" in given:
            text = _str(given["hex"], f"{at}.hex")
            try:
                raw = bytes.fromhex(text)
            except ValueError:
                _refuse(text, "hexadecimal digits", f"{at}.hex")
        else:
            digest = _str(given["sha256"], f"{at}.sha256")
            if _SHA256.fullmatch(digest) is None:
                _refuse(digest, "64 hexadecimal digits", f"{at}.sha256")
            raw = self.read_constant(digest, dtype, shape, at)
        return _located(lambda: TensorData(dtype, shape, raw), at)


def _object(value: Any, at: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse(value, "an object", at)


def _array(value: Any, at: str) -> list[Any]:
    return value if isinstance(value, list) else _refuse(value, "an array", at)


def _str(value: Any, at: str) -> str:
    return value if isinstance(value, str) else _refuse(value, "a string", at)


def _int(value: Any, at: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not INT64_MIN <= value <= INT64_MAX:
        _refuse(value, "an int64", at)
    return value


def _number(value: Any, at: str) -> int:
    """An int that may be an element of any integer dtype: those of uint64 go further than sizes."""
    if not isinstance(value, int) or isinstance(value, bool) or not INT64_MIN <= value <= ELEMENT_MAX:
        _refuse(value, "an int64 or uint64", at)
    return value


def _ints(value: Any, at: str) -> tuple[int, ...]:
    return tuple([_int(part, f"{at}[{i}]") for i, part in enumerate(_array(value, at))])


def _float(value: Any, at: str) -> float:
    text = _str(value, at)
    if _FLOAT.fullmatch(text) is None:
        _refuse(value, "a float as hexadecimal text", at)
    try:
        return float.fromhex(text)
    except OverflowError:
        _refuse(value, "a float64", at)


def _cond(value: Any, at: str) -> Cond:
    text = _str(value, at)
    return _located(lambda: parse_cond(text), at)


def _dtype(value: Any, at: str) -> DType:
    text = _str(value, at)
    try:
        found = dtype_named(text)
    except KeyError:
        _refuse(value, "the name of an element type (float32, int64, ...)", at)
    return found if found.name == text else _refuse(value, f"{found.name!r}", at)


def _located(make: Callable[[], T], at: str) -> T:
    try:
        return make()
    except IrError as error:
        what = f"{error.what} ({error.where})" if error.where else error.what
        raise IrError(what, where=at, fix=error.fix) from None


def _refuse(value: Any, wanted: str, at: str) -> NoReturn:
    text = repr(value)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    raise IrError(f"{shown} stands where {wanted} is expected", where=at, fix=_MAKE_AGAIN)
