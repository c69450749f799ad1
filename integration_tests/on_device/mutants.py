"""Kernels with one synchronisation taken out: the whole text of each, and libraries of many."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
from attrs import frozen
from autofuse_ir.kernels import FileRole, KernelBundle

_WHAT = "EnQue|DeQue|FreeTensor|SetFlag|WaitFlag|PipeBarrier|SyncAll|af_order"
SITE = re.compile(
    rf"(?:\w+ = )?(?:AscendC::)?(?:\w+\.(?:template )?)?(?:{_WHAT})"
    r"(?:<[^;()]*>)?\([^;{}]*?\);"
)
_FUNCTION = re.compile(r"__aicore__ inline [\w:<>]+ (\w+)\(")
_MACRO = re.compile(r"^#define (AF_NPU_\w+)\(", re.MULTILINE)
_MADE = re.compile(r"^(AF_NPU_\w+)\((\w+),", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_CASE = re.compile(r"_case(\d+)(?:_\d+)?$")
_ENTRY = 'extern "C"'


@frozen
class Site:
    """A synchronisation in the text of a kernel: where it stands, and what it says."""

    start: int
    end: int
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.text} (line {self.line})"


def whole_text(bundle: KernelBundle) -> str:
    """Return the kernel with our headers in place of their includes."""
    texts = {f.path: f.text for f in bundle.files} | {f.name: f.text for f in bundle.support_files}
    seen = {"kernel_operator.h"}

    def put(match: re.Match[str]) -> str:
        header = match[1]
        if header in seen:
            return "" if header != "kernel_operator.h" else match[0]
        seen.add(header)
        return _INCLUDE.sub(put, texts[header].replace("#pragma once\n", "").replace("#include <cstdint>\n", ""))

    (kernel,) = (f.text for f in bundle.files if f.role is FileRole.KERNEL)
    return _INCLUDE.sub(put, kernel).replace('#include "kernel_operator.h"\n', "")


def sites(text: str, keys: Sequence[int]) -> list[Site]:
    """Return the synchronisations of the entry, of the cases of those tiling keys, and of all functions they call."""
    spans = _reachable(text, frozenset(keys))
    return [
        Site(found.start(), found.end(), found.group(), text.count("\n", 0, found.start()) + 1)
        for found in SITE.finditer(text)
        if any(start <= found.start() < end for start, end in spans)
    ]


def _reachable(text: str, keys: frozenset[int]) -> list[tuple[int, int]]:
    """Return the spans of functions that the chosen cases call, themselves or through others."""
    entry = text.index(_ENTRY)
    starts = [(m.start(), m[1]) for m in _FUNCTION.finditer(text) if m[1] != "name"]  # a macro's parameter
    starts = sorted([*starts, *((m.start(), m[1]) for m in _MACRO.finditer(text))])
    ends = [start for start, _ in starts[1:]] + [entry]
    bodies: dict[str, list[tuple[int, int]]] = {}
    for (start, name), end in zip(starts, ends, strict=True):
        bodies.setdefault(name, []).append((start, end))
    for made in _MADE.finditer(text):
        bodies.setdefault(made[2], []).extend(bodies[made[1]])
    called = {name for name in bodies if (case := _CASE.search(name)) and int(case[1]) in keys}
    while True:
        inside = "".join(text[a:b] for name in called for a, b in bodies[name])
        more = {name for name in bodies if re.search(rf"\b{name}\b", inside)} - called
        if not more:
            by_pointer = entry, text.index(_ENTRY, entry + 1)
            return [by_pointer, *(span for name in sorted(called) for span in bodies[name])]
        called |= more


def library_of(bundle: KernelBundle, text: str, changes: Sequence[tuple[Site, str]], folder: Path, soc: str) -> Any:
    """Compile the kernel once for each of ``changes`` (what stands in a site's place); entry ``m<number>_<entry>``."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [bundle.launch, f"{bundle.launch}_by_value"]
    unit = '#include "kernel_operator.h"\n#include <cassert>\n'
    for number, (site, instead) in enumerate(changes):
        body = folder / f"mutant{number}.h"
        body.write_text(text[: site.start] + instead + text[site.end :], encoding="utf-8")
        renamed = "".join(f"#define {entry} m{number}_{entry}\n" for entry in entries)
        unit += f"{renamed}#undef AF_SIZES_H\n#undef AF_INLINE\nnamespace m{number} {{\n"
        unit += f'#include "{body}"\n}}\n' + "".join(f"#undef {entry}\n" for entry in entries)
    source = folder / "mutants.cpp"
    source.write_text(unit, encoding="utf-8")
    flags = ["-O0", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]
    return sim.compile([source], soc, output=folder / "mutants.so", flags=flags)
