"""Relative links of the pages that are read in the repository lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("packages/*/*.md")), *sorted(ROOT.glob("tools/**/*.md"))]
LINK = re.compile(r"\]\((?!https?://|#)(?P<target>[^)#\s]+)[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = [link["target"] for link in LINK.finditer(text) if not (page.parent / link["target"]).exists()]
    assert not broken
