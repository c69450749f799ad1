"""C++ that compiles only where the headers declare what the table says, one line a promise.

A function is probed by casting the address of its template specialisation to the exact pointer type (in an unevaluated
operand, so that no body is instantiated), by spelling its defaulted template arguments, by leaving out its defaulted
arguments, and by letting the compiler deduce its types.
"""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from autofuse_ascend_sim.signatures.table import Function, Instantiation, functions, resources

PRELUDE = """\
#include "kernel_operator.h"
#include "tiling/tiling_api.h"
#include <cstddef>
#include <type_traits>
#include <utility>
using namespace AscendC;
"""


@frozen
class Probe:
    """One line of C++ and, for a person, the promise it checks."""

    code: str
    promise: str


def translation_unit(probes: tuple[Probe, ...]) -> str:
    """The C++ text of the probes; the compiler reports the probe of index `i` as line `i + 1` of "probe"."""
    text = [PRELUDE]
    for number, probe in enumerate(probes, 1):
        line = f'#line {number} "probe"\n'
        text.append(line + probe.code.replace("\n", "\n" + line) + "\n")
    return "".join(text)


def probes(architecture: str) -> tuple[Probe, ...]:
    """Every promise of the table for an architecture."""
    rows = [row for row in functions(architecture) if not row.listed_only and not row.uncovered]
    found = [probe for row in rows for probe in function_probes(row)]
    found += [probe for row in resources("enum", architecture) for probe in _enum_probes(row)]
    found += [probe for row in resources("struct", architecture) for probe in _struct_probes(row)]
    found += [probe for row in resources("class", architecture) for probe in _class_probes(row)]
    for row in resources("macro", architecture):
        found += [Probe(_defined(name), f"macro {name}") for name in row["name"]]
    for row in resources("constant", architecture):
        code = f"static_assert(std::is_same_v<std::remove_cv_t<decltype({row['name']})>, {row['type']}>);"
        found.append(Probe(code, row["name"]))
    for row in resources("global_function", architecture):
        pointer = _pointer(row["type"], "*")
        found.append(Probe(_same(f"static_cast<{pointer}>(&::{row['name']})", pointer), f"::{row['name']}"))
    return tuple(found)


def function_probes(row: Function) -> tuple[Probe, ...]:
    """The promises of one overload."""
    found: list[Probe] = []
    for number, instance in enumerate(row.instantiations):
        what = f"{row.name}<{', '.join(text for _, text in instance.arguments)}> {row.form or len(row.parameters)}"
        if not row.by_call:
            found.append(Probe(_exact(row, instance), what))
            if number == 0 and any(p.default for p in row.template):
                found.append(Probe(_spelled_defaults(row, instance), f"{what}: template defaults"))
        if row.by_call or (number == 0 and any(p.default for p in row.parameters)):
            found.append(Probe(_call(row, instance, spell=not row.by_call), f"{what}: call"))
        if number == 0 and _deducible(row) and not row.by_call:
            found.append(Probe(_call(row, instance, spell=False), f"{what}: deduced call"))
    return tuple(found)


def _types(row: Function, instance: Instantiation) -> list[str]:
    return [_decayed(instance.substitute(p.kind)) for p in row.parameters]


def _decayed(kind: str) -> str:
    return kind.removesuffix("[]") + "*" if kind.endswith("[]") else kind


def _template_arguments(row: Function, instance: Instantiation, defaults: bool) -> str:
    bound = dict(instance.arguments)
    texts = []
    for parameter in row.template:
        if parameter.name in bound:
            texts.append(bound[parameter.name])
        elif defaults and parameter.default is not None:
            texts.append(instance.substitute(parameter.default))
        else:
            break
    return f"<{', '.join(texts)}>" if texts or row.template else ""


def _exact(row: Function, instance: Instantiation) -> str:
    pointer = f"{instance.substitute(row.returns)} (*)({', '.join(_types(row, instance))})"
    return _same(f"static_cast<{pointer}>(&AscendC::{row.name}{_template_arguments(row, instance, False)})", pointer)


def _spelled_defaults(row: Function, instance: Instantiation) -> str:
    pointer = f"{instance.substitute(row.returns)} (*)({', '.join(_types(row, instance))})"
    short, full = (f"AscendC::{row.name}{_template_arguments(row, instance, spell)}" for spell in (False, True))
    return f"static_assert(static_cast<{pointer}>(&{short}) == static_cast<{pointer}>(&{full}));"


def _call(row: Function, instance: Instantiation, spell: bool) -> str:
    needed = [kind for kind, p in zip(_types(row, instance), row.parameters, strict=True) if p.default is None]
    values = ", ".join(f"std::declval<{kind}>()" for kind in needed)
    arguments = _template_arguments(row, instance, False) if spell else ""
    return _same(f"AscendC::{row.name}{arguments}({values})", instance.substitute(row.returns))


def _deducible(row: Function) -> bool:
    """Whether the required arguments name every template parameter that has no default, each in a deducible place."""
    needed = [p.name for p in row.template if p.default is None]
    kinds = [p.kind for p in row.parameters if p.default is None]
    return bool(needed) and all(any(f"<{name}>" in kind for kind in kinds) for name in needed)


def _same(expression: str, kind: str) -> str:
    return f"static_assert(std::is_same_v<decltype({expression}), {kind}>);"


def _defined(name: str) -> str:
    return f'#ifndef {name}\nstatic_assert(!sizeof(int), "macro {name} is missing");\n#endif'


def _enum_probes(row: Mapping[str, Any]) -> list[Probe]:
    name = row["name"]
    scope = f"::{name}" if row.get("global") else f"AscendC::{name}"
    found = []
    if "underlying" in row:
        code = f"static_assert(std::is_same_v<std::underlying_type_t<{scope}>, {row['underlying']}>);"
        found.append(Probe(code, f"enum {name}: underlying type"))
    first = row.get("first", 0)
    numbered: dict[str, int | None] = {value: first + i for i, value in enumerate(row.get("values", ()))}
    numbered.update(row.get("explicit", {}))
    for value, number in numbered.items():
        spelled = f"{scope}::{value}"
        if row.get("ordered", True):
            code = f"static_assert(static_cast<long long>({spelled}) == {number});"
        else:
            code = f"static_assert(std::is_same_v<decltype({spelled}), {scope}>);"
        found.append(Probe(code, f"{name}::{value}"))
    for alias, value in row.get("aliases", {}).items():
        found.append(Probe(f"static_assert({scope}::{alias} == {scope}::{value});", f"{name}::{alias}"))
    return found


def _struct_probes(row: Mapping[str, Any]) -> list[Probe]:
    return [probe for argument in row.get("arguments", [None]) for probe in _struct_instance(row, argument)]


def _struct_instance(row: Mapping[str, Any], argument: str | None) -> list[Probe]:
    spelled = f"AscendC::{row['name']}" + (f"<{argument}>" if argument else "")
    found, kinds, previous = [], [], None
    for text in row["fields"]:
        field, _, rest = text.partition(": ")
        kind, _, default = rest.partition(" = ")
        kind = argument if argument and kind == "T" else kind
        kinds.append(kind)
        wanted = f"decltype({spelled}{{}}.{field})" if kind == "auto" else kind
        code = f"static_assert(std::is_same_v<decltype(std::declval<{spelled}>().{field}), {wanted}>"
        if previous:
            code += f" && __builtin_offsetof({spelled}, {previous}) < __builtin_offsetof({spelled}, {field})"
        found.append(Probe(code + ");", f"{spelled}::{field}"))
        if default:
            value = f"static_cast<{wanted}>({default})"
            found.append(Probe(f"static_assert({spelled}{{}}.{field} == {value});", f"{spelled}::{field} default"))
        previous = field
    if row.get("construct", True):
        types = row.get("construct_types", kinds)
        values = ", ".join(f"std::declval<{kind}>()" for kind in types)
        by_constructor = f"std::is_constructible_v<{spelled}, {', '.join(types)}>"
        by_braces = f"std::is_same_v<decltype({spelled}{{{values}}}), {spelled}>"
        code = f"static_assert({by_braces if row.get('aggregate') else by_constructor});"
        found.append(Probe(code, f"{spelled} constructor"))
    for alias, field in row.get("union", {}).items():
        code = f"static_assert(offsetof({spelled}, {alias}) == offsetof({spelled}, {field}));"
        found.append(Probe(code, f"{spelled}::{alias}"))
    return found


def _class_probes(row: Mapping[str, Any]) -> list[Probe]:
    name = row["name"]
    if "same_as" in row:
        return [Probe(f"static_assert(std::is_same_v<{name}, {row['same_as']}>);", name)]
    found = [Probe(f"static_assert(sizeof({name}) > 0);", name)]
    if row.get("default_constructible"):
        found.append(Probe(f"static_assert(std::is_default_constructible_v<{name}>);", f"{name}()"))
    for arguments in row.get("constructors", ()):
        found.append(Probe(f"static_assert(std::is_constructible_v<{name}, {arguments}>);", f"{name}({arguments})"))
    if "base" in row:
        found.append(Probe(f"static_assert(std::is_base_of_v<{row['base']}, {name}>);", f"{name} base"))
    for text in row.get("members", ()):
        member, _, kind = text.partition(": ")
        pointer = _pointer(kind, f"{name}::*")
        found.append(Probe(_same(f"static_cast<{pointer}>(&{name}::{member})", pointer), f"{name}::{member}"))
    for text in row.get("static", ()):
        member, _, kind = text.partition(": ")
        pointer = _pointer(kind, "*")
        found.append(Probe(_same(f"static_cast<{pointer}>(&{name}::{member})", pointer), f"{name}::{member}"))
    for call in row.get("calls", ()):
        spelled = call.removeprefix("template ")
        found.append(Probe(f"using af_call_{_hash(name + call)} = decltype(std::declval<{name}&>().{spelled});", call))
    return found


def _pointer(kind: str, star: str) -> str:
    returns, _, arguments = kind.partition("(")
    return f"{returns} ({star})({arguments}"


def _hash(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)
