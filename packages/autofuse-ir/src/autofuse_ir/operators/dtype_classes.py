"""Named groups of element types, and the promotion of two element types."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType, DTypeKind

FLOATS: tuple[DType, ...] = (dt.float16, dt.bfloat16, dt.float32, dt.float64)
SIGNED: tuple[DType, ...] = (dt.int8, dt.int16, dt.int32, dt.int64)
UNSIGNED: tuple[DType, ...] = (dt.uint8, dt.uint16, dt.uint32, dt.uint64)
INTEGERS: tuple[DType, ...] = SIGNED + UNSIGNED
NUMBERS: tuple[DType, ...] = INTEGERS + FLOATS

DTYPE_CLASSES: dict[str, tuple[DType, ...]] = {
    "all": dt.TENSOR_DTYPES,
    "any": dt.ALL_DTYPES,
    "number": NUMBERS,
    "float": FLOATS,
    "integer": INTEGERS,
    "signed": SIGNED,
    "bits": (dt.bool_, *INTEGERS),
    "index": (dt.int32, dt.int64),
    "matrix": (dt.int32, dt.int64, dt.uint32, dt.uint64, *FLOATS),
    "byte": (dt.int8, dt.uint8),
} | {d.name: (d,) for d in dt.ALL_DTYPES}
"""Names that signatures may use for a set of element types."""

_WIDTH = {8: SIGNED[0], 16: SIGNED[1], 32: SIGNED[2], 64: SIGNED[3]}
_RANK = {DTypeKind.BOOL: 0, DTypeKind.UNSIGNED: 1, DTypeKind.SIGNED: 1, DTypeKind.FLOAT: 2}


def promote(a: DType, b: DType) -> DType:
    """Return the dtype that holds both: floats beat integers, integers beat bool, wider beats narrower.

    Unlike NumPy, an integer never widens a float (int64 with float16 is float16, as in Ascend IR and PyTorch);
    float16 with bfloat16 is float32; an unsigned integer with a signed one that is not wider takes the next wider
    signed type, uint64 with a signed one stays int64.
    """
    if a == b:
        return a
    if a.is_opaque or b.is_opaque:
        return dt.opaque
    if _RANK[a.kind] != _RANK[b.kind]:
        return a if _RANK[a.kind] > _RANK[b.kind] else b
    if a.is_float:
        return dt.float32 if a.bits == b.bits else max(a, b, key=lambda d: d.bits)
    if a.kind is b.kind:
        return max(a, b, key=lambda d: d.bits)
    signed, unsigned = (a, b) if a.kind is DTypeKind.SIGNED else (b, a)
    return signed if signed.bits > unsigned.bits else _WIDTH[min(64, 2 * unsigned.bits)]
