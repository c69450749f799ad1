"""Mutants of generated kernels: each without one EnQue, DeQue, FreeTensor, flag or barrier.

It is taken out of the kernel's own text, or of a function of our headers that it calls.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
from ascend_kernels import Emulated, inputs_of
from attrs import evolve, frozen

Runs = Sequence[tuple[dict[str, int], int]]
SITE = re.compile(
    r"(?:\w+ = )?(?:AscendC::)?(?:\w+\.)?(?:template )?(?:EnQue|DeQue|FreeTensor|SetFlag|WaitFlag|PipeBarrier|af_order)"
    r"(?:<[^;()]*>)?\([^;{}]*?\);"
)
FUNCTION = re.compile(r"__aicore__ inline [\w:<>]+ (\w+)\(")
INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)


@frozen
class Mutant:
    """The whole text of a changed kernel, and what was taken out."""

    removed: str
    text: str


def whole_text(emulated: Emulated, name: str) -> str:
    """Return the kernel with our headers in place of their includes, without functions that it does not call."""
    bundle = emulated.kernels[name].bundle
    texts = {f.path: f.text for f in bundle.files} | {f.name: f.text for f in bundle.support_files}
    seen: set[str] = set()

    def put(match: re.Match[str]) -> str:
        header = match[1]
        if header in seen or header == "kernel_operator.h":
            return ""
        seen.add(header)
        return INCLUDE.sub(put, texts[header].replace("#pragma once\n", "").replace("#include <cstdint>\n", ""))

    return INCLUDE.sub(put, texts[f"{name}.cpp"])


def reachable(text: str, keys: frozenset[int]) -> list[tuple[int, int]]:
    """Return the spans of functions that tiling cases ``keys`` of the kernel call, themselves or through others."""
    starts = [(m.start(), m[1]) for m in FUNCTION.finditer(text) if m[1] != "name"]  # a macro's parameter
    starts += [(m.start(), m[1]) for m in re.finditer(r"#define (AF_NPU_\w+)\(", text)]
    starts = sorted(starts)
    ends = [start for start, _ in starts[1:]] + [text.index('extern "C"')]
    bodies = {}
    for (start, name), end in zip(starts, ends, strict=True):
        bodies.setdefault(name, []).append((start, end))
    for made in re.finditer(r"^(AF_NPU_\w+)\((\w+),", text, re.MULTILINE):
        bodies.setdefault(made[2], []).extend(bodies[made[1]])
    cases = {name: re.search(r"_case(\d+)(_\d+)?$", name) for name in bodies}
    called = {name for name, found in cases.items() if found is not None and int(found[1]) in keys}
    owners = structs(text)
    inside = "".join(text[a:b] for name in called for a, b in bodies[name])
    while True:
        spans = [span for name in sorted(called) for span in bodies[name] if is_mentioned(span, owners, inside)]
        inside = "".join(text[a:b] for a, b in spans)
        more = {name for name in bodies if re.search(rf"\b{name}\b", inside)} - called
        if not more:
            return spans
        called |= more


def structs(text: str) -> dict[str, tuple[int, int]]:
    """Return the spans of the structs of our headers, whose methods may share a name."""
    found = re.finditer(r"^struct (af_\w+) \{.*?^\};", text, re.MULTILINE | re.DOTALL)
    return {struct[1]: struct.span() for struct in found}


def is_mentioned(span: tuple[int, int], owners: dict[str, tuple[int, int]], inside: str) -> bool:
    """False for a method of a struct that ``inside`` does not name."""
    mine = [name for name, (start, end) in owners.items() if start <= span[0] < end]
    return all(re.search(rf"\b{name}\b", inside) for name in mine)


def mutants(text: str, keys: frozenset[int]) -> list[Mutant]:
    """Return all mutants of tiling cases ``keys`` of a kernel."""
    spans = reachable(text, keys)
    found = []
    for site in SITE.finditer(text):
        if any(start <= site.start() < end for start, end in spans):
            changed = text[: site.start()] + ";" + text[site.end() :]
            line = text.count("\n", 0, site.start()) + 1
            found.append(Mutant(f"{site.group()} (line {line})", changed))
    return found


def library_of(emulated: Emulated, name: str, group: list[Mutant], folder: Path) -> Emulated:
    """Compile all mutants into one library, each in a namespace, its entry numbered."""
    unit = '#include "kernel_operator.h"\n'
    for number, mutant in enumerate(group):
        body = folder / f"{name}_{number}.h"
        body.write_text(mutant.text)
        renamed = f"#define af_{name} m{number}_af_{name}\n#define af_{name}_by_value m{number}_af_{name}_by_value\n"
        unit += f"{renamed}#undef AF_SIZES_H\n#undef AF_INLINE\nnamespace m{number} {{\n"
        unit += f'#include "{body}"\n}}\n#undef af_{name}\n#undef af_{name}_by_value\n'
    source = folder / f"{name}_mutants.cpp"
    source.write_text(unit)
    flags = ["-O0", "-Wno-unused-function", "-Wno-unused-variable"]
    return evolve(emulated, library=sim.compile([source], "ascend-a2", output=folder / "mutants.so", flags=flags))


def is_reported(emulated: Emulated, name: str, entry: str, runs: Runs) -> bool:
    """True where the emulator stops the mutant in one of ``runs``, of sizes and cores."""
    for sizes, cores in runs:
        arrays = inputs_of(emulated.kernels[name], sizes, np.random.default_rng(0))
        try:
            emulated.outcome(name, arrays, sizes, cores, entry, timeout=20)
        except (sim.RuleError, sim.HangError):
            return True
    return False


def unreported(emulated: Emulated, name: str, runs: Runs, folder: Path) -> tuple[int, list[str]]:
    """Return how many mutants there are of what ``runs`` go through, and what was taken out of those not reported."""
    keys = [np.frombuffer(emulated.tiling_data(name, *run), np.uint32, 5)[4] for run in runs]
    group = mutants(whole_text(emulated, name), frozenset(int(key) for key in keys))
    changed = library_of(emulated, name, group, folder)
    quiet = [m.removed for i, m in enumerate(group) if not is_reported(changed, name, f"m{i}_af_{name}", runs)]
    return len(group), quiet
