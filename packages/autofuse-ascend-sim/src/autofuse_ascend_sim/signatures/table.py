"""The table of Ascend C signatures: what each architecture declares, read from the TOML files beside this module.

Rows name their element types with short letters (`h` half, `f` float, `i16` int16_t, ...). A row is for architecture
2201 (Atlas A2 and A3), for 3510 (350), or for both; an instantiation is one tuple of template arguments.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from attrs import frozen

ARCHITECTURES = ("2201", "3510")
ARCHITECTURE_OF_SOC = {"ascend-a2": "2201", "ascend-a3": "2201", "ascend-350": "3510"}

TYPE_NAMES = {
    "bool": "bool",
    "i8": "int8_t",
    "u8": "uint8_t",
    "i16": "int16_t",
    "u16": "uint16_t",
    "i32": "int32_t",
    "u32": "uint32_t",
    "i64": "int64_t",
    "u64": "uint64_t",
    "h": "half",
    "bf": "bfloat16_t",
    "f": "float",
    "dbl": "double",
}

TOPICS = ("elementwise", "copy", "fill", "compare", "cast", "reduce", "math", "layout", "gather", "sync", "system")

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@frozen
class Parameter:
    """A parameter of a function or template: `kind` is its type, or `typename`; `default` is C++ text or None."""

    name: str
    kind: str
    default: str | None


@frozen
class Instantiation:
    """One set of template arguments of a row: C++ text by parameter name."""

    arguments: tuple[tuple[str, str], ...]

    def substitute(self, text: str) -> str:
        """`text` with the template parameters replaced by the arguments."""
        bound = dict(self.arguments)
        return _WORD.sub(lambda word: bound.get(word.group(), word.group()), text)


@frozen
class Function:
    """One overload of an API on one architecture.

    `level` is `basic`, `high` (composed of instructions, with a temporary buffer) or `host` (a size function).
    `by_call` says that only the call is promised, not the order of the template parameters. `listed_only` says that the
    API is known by name alone; `uncovered` why the emulator lacks it, where it does.
    """

    name: str
    topic: str
    level: str
    architecture: str
    form: str
    template: tuple[Parameter, ...]
    parameters: tuple[Parameter, ...]
    returns: str
    instantiations: tuple[Instantiation, ...]
    by_call: bool
    listed_only: bool
    uncovered: str


@frozen
class Rounding:
    """A pair of element types that Cast accepts, with the letters of its rounding modes (see cast.toml)."""

    source: str
    target: str
    modes: str


@cache
def functions(architecture: str) -> tuple[Function, ...]:
    """Every overload that `architecture` ("2201" or "3510") declares, in the order of the files."""
    return tuple(row for topic in TOPICS for row in _functions_of(topic, architecture))


def roundings(architecture: str) -> tuple[Rounding, ...]:
    """The conversions of an architecture whose element types the emulator has."""
    table: Mapping[str, str] = _read("cast")["rounding"][architecture]
    pairs = (Rounding(pair.split(",")[0], pair.split(",")[1], modes) for pair, modes in table.items())
    return tuple(pair for pair in pairs if pair.source in TYPE_NAMES and pair.target in TYPE_NAMES)


def resources(kind: str, architecture: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of `kind` (`enum`, `struct`, `class`, `macro`, `constant`, `global_function`) for an architecture."""
    rows = [row for topic in ("types", "classes") for row in _read(topic).get(kind, ())]
    return tuple(row for row in rows if row.get("only", architecture) == architecture)


def missing_types() -> Mapping[str, str]:
    """Element types the table names and the emulator lacks, each with the reason."""
    reasons: Mapping[str, str] = _read("coverage")["types"]
    return reasons


@cache
def _read(topic: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{topic}.toml").read_text())


def _functions_of(topic: str, architecture: str) -> Iterator[Function]:
    table = _read(topic)
    for row in table["api"]:
        if row.get("only", architecture) != architecture:
            continue
        names = [row["name"]] if isinstance(row["name"], str) else row["name"]
        shapes = [(form, {**row, **table["form"][form]}) for form in row.get("forms", ())] or [("", row)]
        for form, shape in shapes:
            if shape.get("only", architecture) != architecture:
                continue
            instances = _instantiations(shape, architecture)
            if instances is None:
                continue
            for name in names:
                yield _function(name, topic, architecture, form, shape, instances)


def _function(
    name: str,
    topic: str,
    architecture: str,
    form: str,
    shape: Mapping[str, Any],
    instances: tuple[Instantiation, ...],
) -> Function:
    return Function(
        name=name,
        topic=topic,
        level=shape.get("level", "basic"),
        architecture=architecture,
        form=form,
        template=_template(shape, architecture),
        parameters=tuple(_parameter(text) for text in shape.get("parameters", ())),
        returns=shape.get("returns", "void"),
        instantiations=instances,
        by_call=shape.get("call", False),
        listed_only=shape.get("listed", False),
        uncovered=shape.get("uncovered", ""),
    )


def _template(shape: Mapping[str, Any], architecture: str) -> tuple[Parameter, ...]:
    texts = list(shape.get("template", ()))
    texts += shape.get(f"template_{architecture}", ())
    if architecture == "3510" and "config" in shape:
        kind, default = shape["config"].split()
        texts.append(f"config: const {kind}& = {default}")
    return tuple(_parameter(text) for text in texts)


def _parameter(text: str) -> Parameter:
    name, _, rest = text.partition(": ")
    kind, _, default = rest.partition(" = ")
    return Parameter(name, kind, default or None)


def _instantiations(shape: Mapping[str, Any], architecture: str) -> tuple[Instantiation, ...] | None:
    """The template arguments of a row, or None when the architecture has none of them."""
    template = _template(shape, architecture)
    values = tuple(shape.get("values", {}).items())
    typed = [p.name for p in template if p.kind in ("typename", "class")]
    if shape.get("pairs"):
        names = [(r.target, r.source) for r in roundings(architecture)]
        return tuple(_bind(typed, pair, values) for pair in names)
    if "types" not in shape:
        return (Instantiation(values),)
    if architecture not in shape["types"]:
        return None
    items = [item.strip("()").split(",") for item in shape["types"][architecture].split()]
    known = [item for item in items if not set(item) & set(table_missing())]
    if shape.get("masked") and architecture == "3510":  # 8-bit and 64-bit elements exist only in the count form there
        narrow = {"i8", "u8", "i64", "u64", "dbl", "bool"}
        known = [item for item in known if not narrow & set(item)]
    if "variants" in shape:
        return tuple(
            Instantiation(tuple((name, _spelled(text, item[0])) for name, text in variant.items()) + values)
            for item in known
            for variant in shape["variants"]
        )
    return tuple(_bind(typed, tuple(item), values) for item in known) or None


@cache
def table_missing() -> frozenset[str]:
    """The short names of the element types that the emulator lacks."""
    return frozenset(missing_types())


def _spelled(text: str, item: str) -> str:
    return text.replace("X", TYPE_NAMES[item])


def _bind(names: list[str], item: tuple[str, ...], values: tuple[tuple[str, str], ...]) -> Instantiation:
    spelled = (_WORD.sub(lambda word: TYPE_NAMES.get(word.group(), word.group()), text) for text in item)
    return Instantiation((*zip(names, spelled, strict=False), *values))
