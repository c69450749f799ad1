"""What a value kernel is, and how it sees a node."""

from collections.abc import Callable
from typing import TypeAlias

from autofuse_ir.dtypes import DType

from autofuse_symshape.call import Call
from autofuse_symshape.known import Content, static
from autofuse_symshape.values.elements import Arithmetic
from autofuse_symshape.values.layout import Sizes

Contents: TypeAlias = tuple[Content | None, ...]


class Follow:
    """A node whose outputs have static shapes, for the kernel that follows its content."""

    def __init__(self, call: Call, dtype: DType, shapes: tuple[Sizes | None, ...], *, guarded: bool) -> None:
        self.call = call
        self.dtype = dtype
        """Element type of the first output."""
        self.shapes = shapes
        """Sizes of the outputs; None where they are not static or too large to follow."""
        self._guarded = guarded

    @property
    def result(self) -> Sizes:
        """Sizes of the first output."""
        shape = self.shapes[0]
        assert shape is not None
        return shape

    def arithmetic(self, dtype: DType | None = None) -> Arithmetic:
        """Arithmetic in ``dtype`` (the first output's)."""
        return Arithmetic(self.call, dtype or self.dtype, guarded=self._guarded)

    def content(self, name: str) -> Content | None:
        """Content of input ``name``, as far as it is known."""
        return self.call.content(name)

    def sizes(self, name: str) -> Sizes | None:
        """Sizes of input ``name`` where they are static."""
        return static(self.call.known(name).shape)


Kernel: TypeAlias = Callable[[Follow], Contents]
"""Contents of the outputs, in order; empty where nothing is known. May raise `UnknownShape`."""
