"""Buffers of exactly the planned bytes: poison, double buffers, reuse."""

import numpy as np
import pytest
from autofuse_ir.dims import const
from autofuse_ir.schedule import Buffer, Location, QueuePosition
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.memory import Memory, Value


def buffer(name: str, size: int, copies: int = 1, reuses: str | None = None, lifetime: str = "") -> Buffer:
    return Buffer(name, Location.LOCAL, QueuePosition.VECCALC, const(size), copies, reuses, lifetime)


def memory(*buffers: Buffer) -> Memory:
    return Memory("k", buffers, lambda dim: dim.constant_value or 0)


def value(node: str, number: int, place: str, dtype: str = "float32") -> Value:
    return Value(node, number, place, np.dtype(dtype))


FIRST, SECOND = np.arange(4), np.arange(2)


def test_what_was_written_comes_back_in_any_dtype() -> None:
    for dtype in ("bool", "int8", "uint16", "float16", "float32", "int64", "float64"):
        place = memory(buffer("b", 32))
        content = np.array([1, 0, 1, 1]).astype(dtype)
        place.write(value("v", 0, "b", dtype), FIRST, content, 0)
        assert place.read(value("v", 0, "b", dtype), FIRST[::-1], "reader", 0).tolist() == content[::-1].tolist()


def test_a_byte_past_the_plan_is_a_fault() -> None:
    place = memory(buffer("b", 15), buffer("next", 64))
    with pytest.raises(InterpreterFault, match="byte 15 of the value of v lies outside of its buffer of 15") as fault:
        place.write(value("v", 0, "b"), FIRST, np.zeros(4, np.float32), 0)
    assert (fault.value.node, fault.value.buffer, fault.value.offset) == ("v", "b", 15)
    assert fault.value.exit_code == 4


def test_bytes_that_nobody_wrote_are_a_fault_to_read() -> None:
    place = memory(buffer("b", 16), buffer("kept", 16, lifetime="z0"))
    v, kept = value("v", 0, "b"), value("k", 1, "kept")
    with pytest.raises(InterpreterFault, match="nobody has written it"):
        place.read(v, SECOND, "reader", 0)
    place.write(v, FIRST, np.ones(4, np.float32), 0)
    place.write(kept, FIRST, np.ones(4, np.float32), 0)
    place.renew("")
    place.read(kept, FIRST, "reader", 0)
    with pytest.raises(InterpreterFault, match="reads the value of v where nobody") as fault:
        place.read(v, SECOND, "reader", 0)
    assert (fault.value.node, fault.value.buffer, fault.value.offset) == ("reader", "b", 0)
    place.renew("z0")
    with pytest.raises(InterpreterFault, match="reads the value of k where nobody"):
        place.read(kept, SECOND, "reader", 0)


def test_a_double_buffer_has_two_copies_and_no_more() -> None:
    place = memory(buffer("b", 16, copies=2))
    for _ in range(3):
        place.renew("")
        place.write(value("v", 0, "b"), FIRST, np.ones(4, np.float32), 0)
        with pytest.raises(InterpreterFault, match="outside of its buffer of 16"):
            place.write(value("v", 0, "b"), FIRST + 1, np.ones(4, np.float32), 0)


def test_a_buffer_that_reuses_another_shares_its_bytes() -> None:
    place = memory(buffer("a", 16), buffer("b", 16, reuses="a"), buffer("c", 32, reuses="b"))
    first, second = value("first", 0, "a"), value("second", 1, "b")
    place.write(first, FIRST, np.arange(4, dtype=np.float32), 0)
    place.write(second, SECOND, np.full(2, 7, np.float32), 0)
    assert place.read(first, FIRST[2:], "reader", 0).tolist() == [2, 3]
    with pytest.raises(InterpreterFault, match="reads the value of first where node number 1 has overwritten it"):
        place.read(first, FIRST, "reader", 0)
    with pytest.raises(InterpreterFault, match="outside of its buffer of 16"):
        place.write(value("third", 2, "c"), np.arange(8), np.zeros(8, np.float32), 0)


def test_reuse_that_leads_nowhere_is_a_fault() -> None:
    with pytest.raises(InterpreterFault, match="reuses gone"):
        memory(buffer("a", 16, reuses="gone"))
    with pytest.raises(InterpreterFault, match="reuses"):
        memory(buffer("a", 16, reuses="b"), buffer("b", 16, reuses="a"))
