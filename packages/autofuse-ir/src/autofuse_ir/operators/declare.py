"""Reads operator signatures, the one-line form in which the tables of this package are written.

::

    LayerNormV4[T: float](x: T, normalized_shape: index, gamma?: T, beta?: T; epsilon: float = 1e-5)
        -> y: T, mean: T, rstd: T  # meaning

Inputs stand before the semicolon, attributes behind it. ``?`` marks an optional input or output, ``*`` a list; an
attribute without default is required, with ``?`` it may be absent. An input's type is a variable of the brackets, a
name of ``DTYPE_CLASSES``, or several joined by ``|``. An output's type is a rule: a variable or input name (the same
dtype), a dtype, ``promote(a, b)``, ``floating(a)``, ``ascend(attr)``, ``onnx(attr)`` or ``dtype(attr)`` (the dtype an
attribute names), ``float32 if attr``, ``declared``, or several joined by ``|`` (the first that says something).
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from autofuse_ir.dtypes import DType, dtype_named
from autofuse_ir.errors import IrError
from autofuse_ir.graph import AttrValue
from autofuse_ir.operators.dtype_classes import DTYPE_CLASSES
from autofuse_ir.operators.model import (
    AttrKind,
    AttrSpec,
    CodeTable,
    Declared,
    DTypeRule,
    Family,
    FirstOf,
    Fixed,
    FixedIf,
    Flag,
    FloatOf,
    FromAttr,
    Operator,
    Param,
    ParamKind,
    Promote,
    Result,
    SameAs,
)

_KINDS = {"?": ParamKind.OPTIONAL, "*": ParamKind.DYNAMIC}
_CODES = {table.value: table for table in CodeTable}


def declare(family: Family, flags: tuple[Flag, ...], *signatures: str) -> tuple[Operator, ...]:
    """Return the operators that ``signatures`` declare, all of one ``family`` and with the same ``flags``."""
    return tuple(_operator(signature, family, frozenset(flags)) for signature in signatures)


def _operator(signature: str, family: Family, flags: frozenset[Flag]) -> Operator:
    text, _, meaning = signature.partition("#")
    head, arrow, results = text.partition("->")
    name_part, _, arguments = head.partition("(")
    name, _, variable_part = name_part.partition("[")
    if not arrow or not head.rstrip().endswith(")"):
        raise IrError(f"the signature {signature!r} has no '(...) -> ...'", where="operator table")
    variables = dict(_typed(part) for part in _split(variable_part.rstrip().removesuffix("]"), ","))
    inputs_part, _, attrs_part = arguments.rstrip().removesuffix(")").partition(";")
    inputs = tuple(_param(part, variables) for part in _split(inputs_part, ","))
    outputs = tuple(_result(part, inputs, variables) for part in _split(results, ","))
    attrs = tuple(_attr(part) for part in _split(attrs_part, ","))
    return Operator(name.strip(), family, inputs, outputs, attrs, flags, meaning.strip())


def _split(text: str, separator: str) -> Iterable[str]:
    """Return the parts of ``text`` between separators that no bracket or quote encloses."""
    if "(" in text or "[" in text or "'" in text:
        return _split_nested(text, separator)
    return [part.strip() for part in text.split(separator)] if text.strip() else []


def _split_nested(text: str, separator: str) -> Iterator[str]:
    depth, quoted, start = 0, False, 0
    for i, c in enumerate(text):
        if c == "'":
            quoted = not quoted
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == separator and depth == 0 and not quoted:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


def _typed(part: str) -> tuple[str, str]:
    name, _, type_ = part.partition(":")
    return name.strip(), type_.strip()


def _marked(name: str) -> tuple[str, ParamKind]:
    kind = _KINDS.get(name[-1], ParamKind.REQUIRED)
    return (name if kind is ParamKind.REQUIRED else name[:-1]), kind


@cache
def _types(text: str) -> tuple[DType, ...]:
    return tuple(dict.fromkeys(d for part in _split(text, "|") for d in DTYPE_CLASSES[part]))


def _param(part: str, variables: dict[str, str]) -> Param:
    marked, type_ = _typed(part)
    name, kind = _marked(marked)
    if type_ in variables:
        return Param(name, kind, _types(variables[type_]), type_)
    return Param(name, kind, _types(type_))


def _result(part: str, inputs: tuple[Param, ...], variables: dict[str, str]) -> Result:
    marked, text = _typed(part)
    name, kind = _marked(marked)
    rules = tuple(_rule(alternative, inputs, variables) for alternative in _split(text, "|"))
    return Result(name, kind, rules[0] if len(rules) == 1 else FirstOf(rules))


def _rule(text: str, inputs: tuple[Param, ...], variables: dict[str, str]) -> DTypeRule:
    if text == "declared":
        return Declared()
    if " if " in text:
        dtype, _, attr = text.partition(" if ")
        return FixedIf(attr.strip(), dtype_named(dtype.strip()))
    if text.endswith(")"):
        function, _, argument = text.removesuffix(")").partition("(")
        if function == "promote":
            return Promote(tuple(_split(argument, ",")))
        if function == "floating":
            return FloatOf(argument.strip())
        return FromAttr(argument.strip(), _CODES[function])
    if text in variables:
        return SameAs(_holder(text, inputs))
    if any(param.name == text for param in inputs):
        return SameAs(text)
    return Fixed(dtype_named(text))


def _holder(variable: str, inputs: tuple[Param, ...]) -> str:
    """Return the input that fixes ``variable``: a required one where there is one."""
    holders = [param for param in inputs if param.variable == variable]
    holders.sort(key=lambda param: param.kind is not ParamKind.REQUIRED)
    return holders[0].name


def _attr(part: str) -> AttrSpec:
    declaration, has_default, default = part.partition("=")
    marked, kind = _typed(declaration)
    name = marked.removesuffix("?")
    optional = bool(has_default) or name != marked
    return AttrSpec(name, AttrKind(kind), not optional, _literal(default.strip()) if has_default else None)


@cache
def _literal(text: str) -> AttrValue:
    if text in DTYPE_CLASSES:
        return dtype_named(text)
    value = ast.literal_eval(text)
    literal: AttrValue = tuple(value) if isinstance(value, list) else value
    return literal
