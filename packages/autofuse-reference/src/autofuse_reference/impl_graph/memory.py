"""Local and workspace memory of exactly the planned bytes, poisoned, that knows who wrote each byte."""

from collections.abc import Callable

import numpy as np
from attrs import define, frozen
from autofuse_ir.dims import Dim
from autofuse_ir.schedule import Buffer

from autofuse_reference.arrays import Array
from autofuse_reference.impl_graph.faults import InterpreterFault

POISON = 0xCB
NOBODY = -1


@frozen(eq=False)
class Value:
    """A node's value in a buffer: ``number`` is the node's position in its graph."""

    node: str
    number: int
    buffer: str
    dtype: "np.dtype[np.generic]"


@define(eq=False)
class _Block:
    """Bytes that one buffer owns and others may take over; ``writer`` and ``block`` say who wrote each byte."""

    content: Array
    writer: Array
    block: Array


class Memory:
    """The buffers of one location. A buffer that ``reuses`` another is the same bytes.

    Of ``copies`` (a double buffer) every renewal takes the next one.
    """

    def __init__(self, kernel: str, buffers: tuple[Buffer, ...], size: Callable[[Dim], int]) -> None:
        self.kernel = kernel
        self._buffers = {b.name: b for b in buffers}
        self._bytes = {b.name: size(b.bytes) for b in buffers}
        self._turn = {b.name: 0 for b in buffers}
        self._blocks: dict[str, _Block] = {}
        for buffer in buffers:
            if buffer.reuses is None:
                count = self._bytes[buffer.name] * buffer.copies
                content = np.full(count, POISON, np.uint8)
                self._blocks[buffer.name] = _Block(content, *(np.full(count, NOBODY, np.int32) for _ in range(2)))
        self._owner = {b.name: self._owner_of(b) for b in buffers}

    def renew(self, lifetime: str) -> None:
        """Poison every buffer that lives for one iteration of loop axis ``lifetime`` ("": one tile)."""
        for name, buffer in self._buffers.items():
            if buffer.lifetime != lifetime:
                continue
            self._turn[name] = (self._turn[name] + 1) % buffer.copies
            owner = self._blocks[self._owner[name]]
            start = self._turn[name] * self._bytes[name]
            for array, empty in ((owner.content, POISON), (owner.writer, NOBODY), (owner.block, NOBODY)):
                array[start : start + self._bytes[name]] = empty

    def read(self, value: Value, elements: Array, reader: str, block: int | None) -> Array:
        """Return the elements of ``value`` at ``elements``; ``block`` None: whichever block wrote them."""
        content, writers, blocks = self._elements(value, elements, reader)
        right = writers[elements] == value.number
        if block is not None:
            right &= blocks[elements] == block
        if not right.all():
            raise self._stale(value, elements, right, reader, block)
        found: Array = content[elements]
        return found

    def write(self, value: Value, elements: Array, content: Array, block: int) -> None:
        """Write ``content`` as the elements of ``value`` at ``elements``."""
        held, writers, blocks = self._elements(value, elements, value.node)
        if content.shape != elements.shape:
            content = np.broadcast_to(content, elements.shape)
        held[elements] = np.ascontiguousarray(content).view(value.dtype)
        writers[elements] = value.number
        blocks[elements] = block

    def forget(self, value: Value) -> None:
        """Make what was written of ``value`` unreadable: it is about to be made anew."""
        memory = self._blocks[self._owner[value.buffer]]
        memory.writer[memory.writer == value.number] = NOBODY

    def _elements(self, value: Value, elements: Array, node: str) -> tuple[Array, Array, Array]:
        """The buffer as elements of ``value``: their content, and who wrote their bytes, a row an element.

        Raises where one of ``elements`` lies outside.
        """
        memory = self._blocks[self._owner[value.buffer]]
        itemsize = value.dtype.itemsize
        start = self._turn[value.buffer] * self._bytes[value.buffer]
        limit = min(self._bytes[value.buffer], memory.content.size - start)
        count = limit // itemsize
        if elements.size and (elements.min() < 0 or elements.max() >= count):
            first = int(elements[(elements < 0) | (elements >= count)][0]) * itemsize
            offset = max(first, limit) if first >= 0 else first
            raise InterpreterFault(
                f"byte {offset} of the value of {value.node} lies outside of its buffer of {limit} bytes",
                kernel=self.kernel,
                node=node,
                buffer=value.buffer,
                offset=offset,
            )
        part = slice(start, start + count * itemsize)
        rows = (count, itemsize)
        return (
            memory.content[part].view(value.dtype),
            memory.writer[part].reshape(rows),
            memory.block[part].reshape(rows),
        )

    def _stale(self, value: Value, elements: Array, right: Array, reader: str, block: int | None) -> InterpreterFault:
        """The fault of a read of ``elements`` whose bytes are not all ``right``."""
        row, byte = np.argwhere(~right)[0]
        offset = int(elements[row]) * value.dtype.itemsize + int(byte)
        memory = self._blocks[self._owner[value.buffer]]
        place = self._turn[value.buffer] * self._bytes[value.buffer] + offset
        writer = int(memory.writer[place])
        if writer == NOBODY:
            what = f"reads the value of {value.node} where nobody has written it"
        elif writer == value.number:
            what = f"reads the value of {value.node} that block {memory.block[place]} wrote, from block {block}"
        else:
            what = f"reads the value of {value.node} where node number {writer} has overwritten it"
        return InterpreterFault(what, kernel=self.kernel, node=reader, buffer=value.buffer, offset=offset)

    def _owner_of(self, buffer: Buffer) -> str:
        seen = [buffer.name]
        while (reused := self._buffers[seen[-1]].reuses) is not None:
            if reused not in self._buffers or reused in seen:
                raise InterpreterFault(
                    f"reuses {reused}, which is no buffer of the same location with bytes of its own",
                    kernel=self.kernel,
                    node="",
                    buffer=buffer.name,
                )
            seen.append(reused)
        return seen[-1]
