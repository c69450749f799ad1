"""Element types: what a tensor element is, its size, and its number in Ascend IR and in ONNX.

NumPy is not imported here; ``numpy_name`` is what ``numpy.dtype`` (or ``ml_dtypes`` for bfloat16) calls the type.
"""

from enum import Enum

from attrs import frozen


class DTypeKind(Enum):
    """The arithmetic an element type follows."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    OPAQUE = "opaque"


@frozen
class DType:
    """One element type.

    ``text`` is the short form of text artefacts, ``bits`` the stored width (0 for opaque values, which only host
    operators read), ``ascend_code`` and ``onnx_code`` the numbers of Ascend IR's and ONNX's enumerations (-1: none).
    """

    name: str
    text: str
    kind: DTypeKind
    bits: int
    numpy_name: str
    ascend_code: int
    onnx_code: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return (self.bits + 7) // 8

    @property
    def is_float(self) -> bool:
        """True for fp16, bf16, fp32 and fp64."""
        return self.kind is DTypeKind.FLOAT

    @property
    def is_integer(self) -> bool:
        """True for the signed and unsigned integers, not for bool."""
        return self.kind in (DTypeKind.SIGNED, DTypeKind.UNSIGNED)

    @property
    def is_opaque(self) -> bool:
        """True for values that only a host backend understands (strings, sequences, optionals, exotic floats)."""
        return self.kind is DTypeKind.OPAQUE

    def __str__(self) -> str:
        return self.text


bool_ = DType("bool", "b8", DTypeKind.BOOL, 8, "bool", 12, 9)
int8 = DType("int8", "i8", DTypeKind.SIGNED, 8, "int8", 2, 3)
int16 = DType("int16", "i16", DTypeKind.SIGNED, 16, "int16", 6, 5)
int32 = DType("int32", "i32", DTypeKind.SIGNED, 32, "int32", 3, 6)
int64 = DType("int64", "i64", DTypeKind.SIGNED, 64, "int64", 9, 7)
uint8 = DType("uint8", "u8", DTypeKind.UNSIGNED, 8, "uint8", 4, 2)
uint16 = DType("uint16", "u16", DTypeKind.UNSIGNED, 16, "uint16", 7, 4)
uint32 = DType("uint32", "u32", DTypeKind.UNSIGNED, 32, "uint32", 8, 12)
uint64 = DType("uint64", "u64", DTypeKind.UNSIGNED, 64, "uint64", 10, 13)
float16 = DType("float16", "f16", DTypeKind.FLOAT, 16, "float16", 1, 10)
bfloat16 = DType("bfloat16", "bf16", DTypeKind.FLOAT, 16, "bfloat16", 27, 16)
float32 = DType("float32", "f32", DTypeKind.FLOAT, 32, "float32", 0, 1)
float64 = DType("float64", "f64", DTypeKind.FLOAT, 64, "float64", 11, 11)
opaque = DType("opaque", "opaque", DTypeKind.OPAQUE, 0, "object", -1, -1)

TENSOR_DTYPES: tuple[DType, ...] = (
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
)
"""Every type a kernel can read or write."""

ELEMENT_MAX = 2**64 - 1
"""The largest element of any integer dtype: that of uint64."""

ALL_DTYPES: tuple[DType, ...] = (*TENSOR_DTYPES, opaque)

_BY_NAME = {d.name: d for d in ALL_DTYPES} | {d.text: d for d in ALL_DTYPES}
_BY_ASCEND = {d.ascend_code: d for d in TENSOR_DTYPES}
_BY_ONNX = {d.onnx_code: d for d in TENSOR_DTYPES}


def dtype_named(name: str) -> DType:
    """Return the type called ``name`` ("float32", "f32", ...); ``KeyError`` when there is none."""
    return _BY_NAME[name]


def dtype_of_ascend_code(code: int) -> DType | None:
    """Return the type with number ``code`` in Ascend IR (``Cast.dst_type``), or None when kernels cannot hold it."""
    return _BY_ASCEND.get(code)


def dtype_of_onnx_code(code: int) -> DType | None:
    """Return the type with number ``code`` in ``onnx.TensorProto.DataType``, or None when kernels cannot hold it."""
    return _BY_ONNX.get(code)
