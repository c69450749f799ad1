"""The coverage table: which API is checked with which element types on which architecture."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from autofuse_ascend_sim.conformance.all_cases import all_cases

BEGIN, END = "<!-- coverage: generated, do not edit -->", "<!-- end of coverage -->"

_SHORT = {
    "bool": "bool",
    "half": "h",
    "bfloat16_t": "bf",
    "float": "f",
    "double": "d",
    "int8_t": "i8",
    "uint8_t": "u8",
    "int16_t": "i16",
    "uint16_t": "u16",
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
}


def coverage_table() -> str:
    """Return a Markdown table with a row for each API of the conformance set: types, and the largest error in ULP."""
    by_api: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    ulp: dict[str, float] = {}
    for column, architecture in enumerate(("2201", "3510")):
        for case in all_cases(architecture, (8,)):
            found = by_api.setdefault(case.api, ({}, {}))
            found[column][_types(case.types)] = None
            ulp[case.api] = max(case.ulp, ulp.get(case.api, 0))
    rows = [f"| {api} | {_cell(a2)} | {_cell(n350)} | {ulp[api]:g} |" for api, (a2, n350) in sorted(by_api.items())]
    return "\n".join(["| API | A2, A3 | 350 | ULP |", "| --- | --- | --- | --- |", *rows])


def _types(names: tuple[str, ...]) -> str:
    short = [_SHORT.get(re.sub(r"LocalTensor<(\w+)>", r"\1", name), name) for name in names]
    return short[0] if len(short) == 1 else f"({','.join(short)})"


def _cell(types: Iterable[str]) -> str:
    return " ".join(types) or "-"


def with_table(text: str) -> str:
    """Return `text` with the part between the two marks replaced by the table."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{coverage_table()}\n\n{END}{after}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
