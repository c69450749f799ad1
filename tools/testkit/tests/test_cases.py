from pathlib import Path

import pytest
from autofuse_testkit.cases import parse_case

TEXT = "# why\n--- input ---\na\n\nb\n--- output ---\n"


def test_text_and_sections_are_inverses() -> None:
    case = parse_case(Path("x"), TEXT)
    assert case["input"] == "a\n\nb\n"
    assert case["output"] == ""
    assert case.text() == TEXT
    assert case.with_section("input", "c\n").with_section("new", "d\n").text() == (
        "# why\n--- input ---\nc\n--- output ---\n--- new ---\nd\n"
    )


def test_a_missing_section_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="it has input, output"):
        parse_case(Path("x"), TEXT)["outptu"]


@pytest.mark.parametrize("text", ["", "no heading\n", "--- a ---\n--- a ---\n"])
def test_what_is_no_case_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="x "):
        parse_case(Path("x"), text)
