import doctest

import autofuse_tiling.solver
import pytest
from autofuse_tiling.solver import bytecode


@pytest.mark.parametrize("module", [autofuse_tiling.solver, bytecode], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_print_what_they_say(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
