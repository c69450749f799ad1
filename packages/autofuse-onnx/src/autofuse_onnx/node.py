"""An ONNX node as the mappings see it, and what is known of the values around it."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import onnx
from attrs import field, frozen
from autofuse_ir.dtypes import DType

from autofuse_onnx.tensors import Array, numpy_dtype

OnnxDim: TypeAlias = int | str | None
"""A size, the name of one, or unknown."""


@frozen
class ValueType:
    """The type of a value: its dtype (opaque for all but plain tensors) and dims (None: unknown rank).

    ``proto`` is what ONNX calls the type, where it was ONNX that said it.
    """

    dtype: DType
    shape: tuple[OnnxDim, ...] | None
    proto: onnx.TypeProto | None = field(default=None, eq=False, repr=False)


class Known(Protocol):
    """What is known of values when a node is mapped."""

    def type_of(self, name: str) -> ValueType | None:
        """Return the type of value ``name``, or None."""
        ...

    def content(self, name: str) -> Array | None:
        """Return the content of value ``name`` where it is a constant that kernels can hold, or None."""
        ...

    def is_read(self, name: str) -> bool:
        """True when a node or a graph output reads value ``name``."""
        ...


@frozen
class OnnxNode:
    """One ONNX node: its operator at its version, attributes as Python values, and value names (None: missing)."""

    proto: onnx.NodeProto = field(repr=False)
    name: str
    op_type: str
    domain: str
    opset: int
    attrs: Mapping[str, Any]
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    known: Known = field(repr=False)

    def input(self, i: int) -> str | None:
        """Return the name of input ``i``, or None where it is missing."""
        return self.inputs[i] if i < len(self.inputs) else None

    def has_output(self, i: int) -> bool:
        """True when somebody may read output ``i``."""
        return i < len(self.outputs) and bool(self.outputs[i]) and self.known.is_read(self.outputs[i])

    def dtype(self, i: int) -> DType | None:
        """Return the dtype of input ``i``, or None where it is missing or unknown."""
        name = self.input(i)
        known = None if name is None else self.known.type_of(name)
        return None if known is None else known.dtype

    def shape(self, i: int) -> tuple[OnnxDim, ...] | None:
        """Return the dims of input ``i``, or None where it is missing or of unknown rank."""
        name = self.input(i)
        known = None if name is None else self.known.type_of(name)
        return None if known is None else known.shape

    def rank(self, i: int) -> int | None:
        """Return the rank of input ``i``, or None."""
        shape = self.shape(i)
        return None if shape is None else len(shape)

    def content(self, i: int) -> Array | None:
        """Return the content of input ``i`` where it is known when compiling, or None."""
        name = self.input(i)
        return None if name is None else self.known.content(name)

    def ints(self, name: str, i: int | None = None) -> tuple[int, ...] | None:
        """Return attribute ``name``, or the content of integer input ``i``; None where neither is known."""
        if name in self.attrs:
            return tuple(int(v) for v in self.attrs[name])
        content = None if i is None else self.content(i)
        return None if content is None else tuple(int(v) for v in np.atleast_1d(content))

    def text(self, name: str, default: str = "") -> str:
        """Return attribute ``name`` as text."""
        value = self.attrs.get(name, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def scalar(self, value: float, dtype: DType) -> Array:
        """Return ``value`` as a rank 0 array of ``dtype``."""
        return np.asarray(value).astype(numpy_dtype(dtype))
