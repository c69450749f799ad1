"""Every reason is told in words, in ``autofuse explain`` and in the documentation."""

from pathlib import Path
from typing import Any

from autofuse.reasons import MEANINGS
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import Reason

PAGE = Path(__file__).parents[3] / "docs" / "how_to" / "see_what_was_fused.md"


def test_every_reason_has_words() -> None:
    assert set(MEANINGS) == set(Reason)


def test_the_page_has_a_row_for_every_reason() -> None:
    rows = [line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    assert rows == [f"`{reason.value}`" for reason in Reason]


def test_details_list_operators_and_pairs_with_their_reason(call: Any, tmp_path: Path) -> None:
    b = GraphBuilder("around_the_host")
    x = b.input("x", ("n", 64), dt.float32)
    shifted = b.op("Exp", b.op("Abs", x, name="size"), name="early")
    graph = b.build(outputs={"y": b.op("Relu", b.op("Lgamma", shifted, name="middle"), name="late")})
    model = write(graph, tmp_path / "model.json")
    listed = call("explain", model, "--details").out
    after = listed[listed.index("k0_abs_exp:\n") :]
    assert "  size\n  early\n" in after
    assert f"host-operator: {MEANINGS[Reason.HOST_OPERATOR]}\n  early -> middle\n  middle -> late\n  middle\n" in after
    assert "early -> middle" not in call("explain", model).out
    assert MEANINGS[Reason.HOST_OPERATOR] in call("explain", model, "--why-not", "early", "middle").out
