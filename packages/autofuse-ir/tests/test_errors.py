import pickle

from autofuse_ir.errors import AutofuseError, IrError


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = IrError("the size is negative", where="graph 'g', value 'v'", fix="declare the range of n")
    assert str(error) == "graph 'g', value 'v': the size is negative\n  declare the range of n"
    assert str(IrError("the size is negative")) == "the size is negative"
    assert str(IrError("the size is negative", fix="declare n")) == "the size is negative\n  declare n"
    assert isinstance(error, AutofuseError)


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(IrError("wrong", where="here", fix="change it")))
    assert (type(error), error.what, error.where, error.fix) == (IrError, "wrong", "here", "change it")
