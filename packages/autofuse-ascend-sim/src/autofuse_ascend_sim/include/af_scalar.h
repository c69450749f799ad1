// Operations of a tensor and a scalar.
#pragma once
#include <cstdint>

#include "af_binary_mixed.h"
#include "af_type_lists.h"
#include "af_vector.h"

namespace AscendC {

// The scalar takes part in deduction: it must have exactly type T.
#define AF_SCALAR_COUNT(name, op, parameter, option_parameter, option, a2, a350)                                       \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& parameter,                         \
                     const int32_t& count AF_STRIP_PARENTHESES option_parameter) {                                     \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        af_sim::vector_scalar(af_sim::Op::op, af_sim::counted(count), af_sim::operand("dst", dst),                     \
                              af_sim::operand("src", src), af_sim::scalar(parameter), option);                         \
    }
#define AF_SCALAR_MASKED(name, op, parameter, option_parameter, option, mask_parameter, a2, a350)                      \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& parameter, mask_parameter,         \
                     const uint8_t repeatTime,                                                                         \
                     const UnaryRepeatParams& repeatParams AF_STRIP_PARENTHESES option_parameter) {                    \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_scalar(af_sim::Op::op, af_sim::masked<isSetMask>(mask, repeatTime),                             \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src", src, p.srcBlkStride, p.srcRepStride), af_sim::scalar(parameter),  \
                              option);                                                                                 \
    }
#define AF_SCALAR(name, op, a2, a350_count, a350_masked)                                           \
    AF_SCALAR_COUNT(name, op, scalarValue, (), 0, a2, a350_count)                                  \
    AF_SCALAR_MASKED(name, op, scalarValue, (), 0, uint64_t mask, a2, a350_masked)                 \
    AF_SCALAR_MASKED(name, op, scalarValue, (), 0, uint64_t mask[], a2, a350_masked)

#define AF_350_ADDS (int8_t, uint8_t, int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t)
#define AF_350_MULS (int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t)
#define AF_350_SCALAR_MASKED (int16_t, half, bfloat16_t, int32_t, float)
AF_SCALAR(Adds, Adds, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(Muls, Muls, AF_ARITHMETIC, AF_350_MULS, AF_350_SCALAR_MASKED)
AF_SCALAR(Maxs, Maxs, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(Mins, Mins, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(LeakyRelu, LeakyRelu, AF_F, AF_F, AF_F)
#define AF_SHIFTED (int16_t, uint16_t, int32_t, uint32_t)
AF_SCALAR(ShiftLeft, ShiftLefts, AF_SHIFTED, AF_LIST_INTEGERS, AF_SHIFTED)
AF_SCALAR_COUNT(ShiftRight, ShiftRights, scalarValue, (), 0, AF_SHIFTED, AF_LIST_INTEGERS)
AF_SCALAR_MASKED(ShiftRight, ShiftRights, scalarValue, (, bool roundEn = false),
                 (roundEn && T(-1) < T(0) ? 1 : 0), uint64_t mask, AF_SHIFTED, AF_SHIFTED)
AF_SCALAR_MASKED(ShiftRight, ShiftRights, scalarValue, (, bool roundEn = false),
                 (roundEn && T(-1) < T(0) ? 1 : 0), uint64_t mask[], AF_SHIFTED, AF_SHIFTED)

// dst = src * scalar + dst.
#if AF_ARCH_A2
#define AF_AXPY_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>)
#define AF_AXPY_MASKED_PAIRS AF_AXPY_PAIRS
#else
#define AF_AXPY_PAIRS                                                                                          \
    (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<bfloat16_t, bfloat16_t>,            \
     AfPair<int64_t, int64_t>, AfPair<uint64_t, uint64_t>)
#define AF_AXPY_MASKED_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<bfloat16_t, bfloat16_t>)
#endif
template <typename T, typename U>
AF_API void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count) {
    AF_CALL("Axpy");
    AF_PAIRS_OF_LIST("Axpy", T, U, AF_AXPY_PAIRS);
    af_sim::vector_scalar(af_sim::Op::Axpy, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src", src), af_sim::scalar(scalarValue));
}
#define AF_AXPY_MASKED(mask_parameter)                                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, mask_parameter,       \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                \
        AF_CALL("Axpy");                                                                                               \
        AF_PAIRS_OF_LIST("Axpy", T, U, AF_AXPY_MASKED_PAIRS);                                                          \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_scalar(af_sim::Op::Axpy, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src", src, p.srcBlkStride, p.srcRepStride),                             \
                              af_sim::scalar(scalarValue));                                                            \
    }
AF_AXPY_MASKED(uint64_t mask)
AF_AXPY_MASKED(uint64_t mask[])
#undef AF_AXPY_MASKED

}  // namespace AscendC
