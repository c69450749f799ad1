"""C++ names in Ascend C kernels: no keyword, no macro, and nothing that hides a function of Ascend C."""

import re

from attrs import define, field

from autofuse_codegen.kernel.names import CPP_WORDS
from autofuse_codegen.kernel.names import Names as CppNames

ASCEND_WORDS = """
    Abs Acos Acosh Add Adds And Arange Asin Asinh Atan Atanh Axpy Brcb Broadcast Cast Ceil Compare Compares Concat
    Copy Cos Cosh CreateVecIndex CumSum DataCopy DataCopyPad Digamma Div Duplicate Erf Erfc Exp Extract Fill Floor
    Fmod Frac Gather GatherMask Gatherb Gelu GetBlockIdx Lgamma Ln Log Log10 Log2 Max Maxs Mean Min Mins Mul Muls Not
    Or Pad PipeBarrier raised Power Reciprocal Relu Round Rsqrt Scatter Select SetFlag ShiftLeft ShiftRight Sigmoid
    Sign Silu Sin Sinh Sort Sqrt Sub Sum Swish SyncAll Tan Tanh Transpose Trunc WaitFlag Where Xor ascendc_assert assert
    bfloat16_t block block_idx block_num blocks errno gm_tiling_data gm_workspace half own pipe scratch status stderr
    stdin stdout t user workspace int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""

_RESERVED = frozenset(CPP_WORDS.split()) | frozenset(ASCEND_WORDS.split())


@define
class Names(CppNames):
    """Hands out unique names in one function of a kernel; the same key gets the same name.

    Words in capitals may be macros of some header (``GM_ADDR``, ``NULL``): they become small letters.
    """

    _taken: set[str] = field(factory=lambda: set(_RESERVED))

    def of(self, key: str, wish: str) -> str:
        """Return the name of ``key``: ``wish`` as an identifier, numbered where that is taken."""
        return CppNames.of(self, key, wish.lower() if re.fullmatch(r"\W*[A-Z][A-Z0-9_]+\W*", wish) else wish)
