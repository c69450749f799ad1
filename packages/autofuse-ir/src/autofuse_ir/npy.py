"""Constants as NumPy ``.npy`` files (format 1.0), written and read without NumPy.

bfloat16, which the format does not know, is stored as uint16. The header serves people and other tools; the artefact
says what dtype and shape a constant has, since two constants may share their bytes but not their dtype.
"""

import re
from typing import BinaryIO

from autofuse_ir.dtypes import DType, DTypeKind, bfloat16
from autofuse_ir.errors import IrError
from autofuse_ir.tensor_data import TensorData

MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '([<|][a-z][0-9])', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n")
_LETTERS = {DTypeKind.BOOL: "b", DTypeKind.SIGNED: "i", DTypeKind.UNSIGNED: "u", DTypeKind.FLOAT: "f"}


def npy_parts(data: TensorData) -> tuple[bytes, bytes]:
    """Return the two parts of a ``.npy`` file that holds ``data``: head and elements."""
    return npy_head(data.dtype, data.shape), data.raw


def npy_head(dtype: DType, shape: tuple[int, ...]) -> bytes:
    """Return what precedes the elements: magic, header length, and header, padded to a multiple of 64 bytes."""
    letter = "u" if dtype == bfloat16 else _LETTERS[dtype.kind]
    order = "|" if dtype.itemsize == 1 else "<"
    sizes = f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
    header = f"{{'descr': '{order}{letter}{dtype.itemsize}', 'fortran_order': False, 'shape': {sizes}, }}".encode()
    padding = -(len(MAGIC) + 2 + len(header) + 1) % 64
    header += b" " * padding + b"\n"
    return MAGIC + len(header).to_bytes(2, "little") + header


def read_npy(file: BinaryIO) -> bytes:
    """Return the elements in ``file``, as `npy_parts` lays them out; ``IrError`` where it is anything else."""
    magic, length = file.read(len(MAGIC)), int.from_bytes(file.read(2), "little")
    if magic != MAGIC or _HEADER.fullmatch(file.read(length)) is None:
        raise IrError("it is no .npy file that autofuse-ir wrote", fix="copy constants/ together with its artefact")
    return file.read()
