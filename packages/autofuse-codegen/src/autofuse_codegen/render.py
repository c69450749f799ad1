"""Files from templates. Templates see one frozen view of strings; they call nothing and compute nothing."""

import hashlib
from functools import cache
from importlib.resources import files

from attrs import AttrsInstance, asdict
from autofuse_ir.kernels import FileRole, SourceFile
from jinja2 import Environment, FunctionLoader, StrictUndefined


def render(folder: str, template: str, view: AttrsInstance) -> str:
    """Return ``template`` of package folder ``folder`` filled with the fields of the attrs object ``view``."""
    return _environment(folder).get_template(template).render(asdict(view))


@cache
def _environment(folder: str) -> Environment:
    """Templates are part of the package: read and compiled once in a process."""

    def load(name: str) -> str:
        return files("autofuse_codegen").joinpath(*folder.split("/"), name).read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=False,  # C++, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def source_file(path: str, role: FileRole, text: str) -> SourceFile:
    """Return a source file with its checksum."""
    return SourceFile(path, role, text, hashlib.sha256(text.encode("utf-8")).hexdigest())
