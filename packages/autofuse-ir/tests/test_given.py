"""Stages name the argument that is none of theirs."""

import pytest
from autofuse_ir.errors import IrError
from autofuse_ir.given import check_kinds, check_same


def test_the_first_argument_of_another_kind_is_named() -> None:
    check_kinds("tile", a=(1, int), b=("x", (int, str)))
    with pytest.raises(IrError) as caught:
        check_kinds("tile", a=(1, int), b=(None, (int, str)), c=(None, int))
    assert (caught.value.where, caught.value.what) == ("tile", "b is a NoneType")
    assert caught.value.fix == "give int or str"


def test_arguments_of_different_kernels_are_named() -> None:
    check_same("emit", "kernel", a="k0", b="k0", c="k0")
    with pytest.raises(IrError) as caught:
        check_same("emit", "kernel", a="k0", b="k0", c="k1")
    assert caught.value.what == "a is of kernel 'k0', c of kernel 'k1'"
