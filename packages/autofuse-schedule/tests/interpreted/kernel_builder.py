"""A builder of kernels that says little more than what is computed."""

from typing import Any

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType

F32 = dt.float32


class Kernel(AscGraphBuilder):
    """A builder that broadcasts to all axes, loads by axis names, and stores what a value varies along."""

    def read(self, name: str, *axes: str, dtype: DType = F32) -> str:
        """Load a new input that has one dim for each of ``axes``."""
        return self.load(self.input(name, dtype), tuple(self.axes[a] for a in axes), axes)

    def wide(self, value: str) -> str:
        """Broadcast ``value`` along all axes that it does not vary on."""
        return self.as_wide_as(value, *self.axes)

    def as_wide_as(self, value: str, *axes: str) -> str:
        """Broadcast ``value`` along those of ``axes`` that it does not vary on."""
        for axis, repeat in zip(self.axes, self.node(value).repeats, strict=True):
            if repeat == const(1) and axis in axes:
                value = self.broadcast(value, axis)
        return value

    def apply(self, op: str, *values: str) -> str:
        """Apply an element-wise operator, everything broadcast."""
        return self.op(op, *(self.wide(value) for value in values))

    def count(self, sizes: str, *axes: str) -> str:
        """Return a size as a number, as wide as ``axes``."""
        return self.as_wide_as(self.cast(self.size(sizes), F32), *axes)

    def constant(self, value: float, *axes: str) -> str:
        """Return a number as wide as ``axes``."""
        return self.as_wide_as(self.scalar(value, F32), *axes)

    def write(self, value: str, name: str) -> None:
        """Store ``value`` as a new output with one dim for each axis that it varies along."""
        repeats = self.node(value).repeats
        axes = tuple(a for a, repeat in zip(self.axes, repeats, strict=True) if repeat != const(1))
        self.store(value, name, tuple(self.axes[a] for a in axes), axes)

    def node(self, name: str) -> Any:
        """Return a node."""
        return next(node for node in self.build().nodes if node.name == name)
