"""Chrome traces: the run time writes return addresses, readers want kernel lines."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from autofuse_ascend_sim.lines import lines_of


def name_lines(path: Path) -> None:
    """Replace the addresses in a trace by kernel lines, and say in the trace that its times are estimates."""
    trace = json.loads(path.read_text(encoding="utf-8"))
    offsets: dict[str, set[int]] = defaultdict(set)
    for event in trace["traceEvents"]:
        object_file, _, offset = event["args"]["at"].rpartition(" ")
        offsets[object_file].add(int(offset))
    lines: dict[str, str] = {}
    for object_file, found in offsets.items():
        ordered = sorted(found)
        for offset, (file, line) in zip(ordered, lines_of(object_file, ordered), strict=True):
            lines[f"{object_file} {offset}"] = f"{file}:{line}" if file else "unknown"
    blocks = set()
    for event in trace["traceEvents"]:
        event["args"]["line"] = lines[event["args"].pop("at")]
        blocks.add(event["pid"])
    for block in sorted(blocks):
        trace["traceEvents"].append(
            {"ph": "M", "pid": block, "name": "process_name", "args": {"name": f"block {block} (estimated time)"}}
        )
    trace["otherData"] = {"time": "estimated by a model, not measured on a chip"}
    path.write_text(json.dumps(trace), encoding="utf-8")
