"""``autofuse diff``: more kernels or bytes are a regression, and operators that moved are named."""

import json
from pathlib import Path
from typing import Any

import autofuse
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_ir.graph import Graph


@pytest.fixture
def reports(affine: Graph, tmp_path: Path) -> tuple[Path, Path]:
    """The reports of a model fused, and not fused."""
    paths = []
    for name, enable in (("fused", True), ("unfused", False)):
        fn = autofuse.compile(affine, fusion=FusionOptions(enable=enable), tier="interpreter")
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(fn.report.to_json(), encoding="utf-8")
    return paths[0], paths[1]


def test_losing_a_fusion_is_a_regression(call: Any, reports: tuple[Path, Path]) -> None:
    fused, unfused = reports
    worse = call("diff", fused, unfused)
    assert worse.code == 1
    assert "launches       1 -> 2  WORSE" in worse.out
    assert "shift: fused with double -> alone in a kernel" in worse.out
    better = call("diff", unfused, fused)
    assert better.code == 0
    assert "launches       2 -> 1  better" in better.out


def test_the_same_report_is_no_regression(call: Any, reports: tuple[Path, Path]) -> None:
    answer = call("diff", reports[0], reports[0])
    assert answer.code == 0
    assert "WORSE" not in answer.out
    assert answer.out.split()[:4] == ["launches", "1", "->", "1"]
    assert len(answer.out.splitlines()) == 3


def test_more_bytes_alone_are_a_regression(call: Any, reports: tuple[Path, Path]) -> None:
    data = json.loads(reports[0].read_text(encoding="utf-8"))
    for figure in (data["bytes_moved"]["after"], data["bytes_handled_by_host"]):
        figure["at_hints"] += 1
        (grown := reports[0].with_name("grown.json")).write_text(json.dumps(data), encoding="utf-8")
        answer = call("diff", reports[0], grown, "--json")
        assert answer.code == 1
        assert json.loads(answer.out)["regression"]
        figure["at_hints"] -= 1


def test_bundles_are_compared_by_their_reports(call: Any, affine_file: Path, tmp_path: Path) -> None:
    assert call("compile", affine_file, "-o", tmp_path / "bundle", "--emit-only").code == 0
    assert call("diff", tmp_path / "bundle", tmp_path / "bundle").code == 0


def test_what_cannot_be_compared_is_refused(call: Any, reports: tuple[Path, Path], tmp_path: Path) -> None:
    data = json.loads(reports[0].read_text(encoding="utf-8"))
    data["hints"] = {"batch": 3}
    (tmp_path / "other.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "cut.json").write_bytes(reports[0].read_bytes()[:100])
    for name, said in (
        ("other.json", "--hint"),
        ("list.json", "no report"),
        ("cut.json", "no report"),
        ("missing.json", "missing.json"),
    ):
        answer = call("diff", reports[0], tmp_path / name)
        assert answer.code == 2
        assert said in answer.err
        assert answer.out == ""
