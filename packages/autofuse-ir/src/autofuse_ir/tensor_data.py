"""Constant tensor content: dtype, shape and little-endian row-major bytes."""

import hashlib
from math import prod

from attrs import field, frozen

from autofuse_ir.dtypes import DType
from autofuse_ir.errors import IrError


@frozen(hash=False)
class TensorData:
    """Content of a constant tensor, row-major and little-endian; bool and 8-bit types take one byte an element."""

    dtype: DType
    shape: tuple[int, ...]
    raw: bytes = field(repr=False)

    def __attrs_post_init__(self) -> None:
        expected = prod(self.shape) * self.dtype.itemsize
        if len(self.raw) != expected:
            raise IrError(
                f"a constant of dtype {self.dtype.name} and shape {list(self.shape)} needs {expected} bytes, "
                f"but {len(self.raw)} were given",
                where="TensorData",
                fix="pass the tensor's row-major bytes (numpy.ascontiguousarray(a).tobytes())",
            )

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape, self.sha256))

    @property
    def sha256(self) -> str:
        """Hex digest of ``raw``: the name under which large content is stored beside an artefact."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def element_count(self) -> int:
        """Number of elements."""
        return prod(self.shape)
