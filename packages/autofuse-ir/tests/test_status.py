"""Values that have no result: one error, with words for every kind."""

import pytest
from autofuse_ir.errors import AutofuseError
from autofuse_ir.status import FIXES, MESSAGES, NO_MEMORY, Status, StatusError


@pytest.mark.parametrize("status", Status)
def test_every_kind_has_words_and_is_an_arithmetic_error_of_the_user(status: Status) -> None:
    error = StatusError(status).at("kernel k")
    assert isinstance(error, AutofuseError)
    assert isinstance(error, ArithmeticError)
    assert str(error) == f"kernel k: {MESSAGES[status]}\n  {FIXES[status]}"
    assert error.exit_code == 2
    assert status != NO_MEMORY


def test_words_and_advice_may_be_given() -> None:
    error = StatusError(Status.INDEX_OUT_OF_RANGE, "bad row", fix="index 4 is outside of a dim of size 3").at("op")
    assert str(error) == "op: bad row\n  index 4 is outside of a dim of size 3"
    assert error.status is Status.INDEX_OUT_OF_RANGE
