// Element-wise arithmetic: unary, binary, scalar and ternary, each with count, bit-mask and continuous-mask forms.
#pragma once
#include <cstdint>

#include "af_vector.h"

namespace AscendC {

// Binary: Op(dst, src0, src1, count), (…, mask, repeatTime, params) and the same with mask bits.
#define AF_BINARY(name, a2, a350)                                                                                      \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                                   \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(uint32_t(count)), af_sim::operand("dst", dst),         \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }                                                                                                                  \
    AF_BINARY_MASKED(name, uint64_t mask, a2, a350)                                                                    \
    AF_BINARY_MASKED(name, const uint64_t mask[], a2, a350)

#define AF_BINARY_MASKED(name, mask_parameter, a2, a350)                                                               \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {               \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                                   \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }

AF_BINARY(Add, (half, float, int16_t, int32_t), (half, float, int16_t, int32_t))

}  // namespace AscendC
