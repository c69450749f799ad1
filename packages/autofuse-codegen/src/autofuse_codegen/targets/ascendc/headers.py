"""The headers that Ascend kernels and their host code include."""

import re
from importlib.resources import files

from autofuse_ir.abi import header_text as abi_text
from autofuse_ir.dims_c import C_PRELUDE
from autofuse_ir.tiling import SupportFile, support_file

FOLDER = "targets/ascendc/include"
SIZES = "af_npu_sizes.h"
ALWAYS = (SIZES, "af_npu_base.h", "af_npu_copy.h", "af_npu_fill.h")
_DEFINED = re.compile(
    r"\binline\s[^(){};]*?\b(af_\w+)\(|(?:_CONSTANT\(|\busing )(af_\w+)[, ]|^struct (af_\w+) \{", re.MULTILINE
)


def headers_of(text: str) -> tuple[str, ...]:
    """Return the headers of a kernel of this text: those of every kernel, and where it calls what others define."""
    return (*ALWAYS, *(name for name in _names() if name not in ALWAYS and _mentions(text, name)))


def support_files(headers: tuple[str, ...]) -> tuple[SupportFile, ...]:
    """Return ``headers``, those they include, and those of the host side."""
    texts: dict[str, str] = {}
    todo = [name for name in headers if name != SIZES]
    while todo:
        name = todo.pop()
        if name not in texts:
            texts[name] = _text(name)
            todo += re.findall(r'^#include "(af_npu_\w+\.h)"', texts[name], re.MULTILINE)
    texts[SIZES] = f'#pragma once\n#include "af_npu_base.h"\n\n#define AF_INLINE __aicore__ inline\n\n{C_PRELUDE}'
    texts["af_abi.h"] = abi_text()
    texts["af_sizes.h"] = f'#pragma once\n#include "af_abi.h"\n\n{C_PRELUDE}'
    return tuple(support_file(name, text) for name, text in sorted(texts.items()))


def _names() -> tuple[str, ...]:
    folder = files("autofuse_codegen").joinpath(*FOLDER.split("/"))
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".h")))


def _text(name: str) -> str:
    return files("autofuse_codegen").joinpath(*FOLDER.split("/"), name).read_text(encoding="utf-8")


def _mentions(text: str, header: str) -> bool:
    defined = {name for names in _DEFINED.findall(_text(header)) for name in names if name}
    return any(re.search(rf"\b{name}\b", text) for name in defined)
