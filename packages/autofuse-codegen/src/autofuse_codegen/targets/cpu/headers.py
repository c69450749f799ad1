"""The vector headers: which one defines a function, and what a set of them requires."""

import re
from functools import cache
from importlib.resources import files

from autofuse_codegen.errors import CodegenError

ALWAYS = ("af_base.h", "af_vec.h", "af_memory.h", "af_strip.h", "af_run.h")


@cache
def header_texts() -> dict[str, str]:
    """Return every header's text by name."""
    folder = files("autofuse_codegen").joinpath("targets", "cpu", "include")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".h"))
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in names}


@cache
def header_of(function: str) -> str:
    """Return the name of the header that defines ``function``."""
    name = re.escape(function)
    defined = re.compile(rf"AF_(?:INLINE|ONCE) [^;{{}}()]*\b{name}\(|^AF_[A-Z_]+\({name}\b", re.MULTILINE)
    for header, text in header_texts().items():
        if defined.search(text):
            return header
    raise CodegenError(
        f"no vector header defines {function}", where="CPU emitter", fix="report this: the operator table names it"
    )


def requirements(header: str) -> tuple[str, ...]:
    """Return the headers that ``header`` names in its first line."""
    first = header_texts()[header].splitlines()[0]
    return tuple(first.removeprefix("// requires:").split())


def closure(functions: set[str]) -> tuple[str, ...]:
    """Return the headers that define ``functions`` and all they require, each after those it needs."""
    ordered: dict[str, None] = {}

    def visit(header: str) -> None:
        if header in ordered:
            return
        for needed in requirements(header):
            visit(needed)
        ordered[header] = None

    for header in (*ALWAYS, *sorted({header_of(f) for f in functions})):
        visit(header)
    return tuple(ordered)
