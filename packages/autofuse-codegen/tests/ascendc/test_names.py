"""Names of Ascend kernels never stand for something else in a header."""

import pytest
from autofuse_codegen.targets.ascendc.names import Names


@pytest.mark.parametrize("macro", ["GM_ADDR", "NULL", "UINT32_MAX", "EOF", "errno", "assert", "stdout", "half"])
def test_macros_are_no_names(macro: str) -> None:
    names = Names()
    assert names.of("size", macro) != macro
    assert names.of("size", macro) == names.of("size", macro)


def test_single_capitals_and_other_words_stay() -> None:
    names = Names()
    assert [names.of(word, word) for word in ("N", "batchSize", "seq", "s0")] == ["N", "batchSize", "seq", "s0"]


def test_names_that_differ_in_capitals_only_stay_apart() -> None:
    names = Names()
    assert len({names.of(word, word) for word in ("NULL", "null", "Null")}) == 3
