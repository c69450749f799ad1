"""Strides of dense tensors."""

import doctest
from math import prod

import pytest
from autofuse_ir import strides
from autofuse_ir.dims import const


def test_the_examples_hold() -> None:
    assert doctest.testmod(strides).attempted > 0
    assert doctest.testmod(strides).failed == 0


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 1, 3), (1, 4, 1, 6), (2, 3, 4, 5, 1, 2)])
def test_strides_are_those_of_row_major_memory(shape: tuple[int, ...]) -> None:
    memory = memoryview(bytes(prod(shape))).cast("B", shape)
    found = [stride.constant_value for stride in strides.dense_strides(tuple(const(size) for size in shape))]
    assert found == [0 if size == 1 else step for size, step in zip(shape, memory.strides, strict=True)]


def test_a_tensor_of_rank_0_has_no_strides() -> None:
    assert strides.dense_strides(()) == ()
