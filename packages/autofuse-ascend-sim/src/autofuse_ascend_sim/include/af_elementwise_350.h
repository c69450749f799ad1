// Element-wise operations that only the 350 has.
#pragma once
#include <cstdint>

#include "af_binary.h"
#include "af_binary_mixed.h"
#include "af_cast.h"
#include "af_scalar.h"
#include "af_unary.h"

namespace AscendC {

#if AF_ARCH_350
#define AF_TENSOR_SHIFT(name)                                                                                          \
    template <typename T, typename U>                                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1,                \
                     const int32_t& count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_OF_LIST(#name, T, AF_LIST_INTEGERS);                                                                      \
        static_assert(sizeof(T) == sizeof(U) && U(-1) < U(0),                                                          \
                      "AscendC::" #name ": shift amounts are signed integers as wide as the values");                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
AF_TENSOR_SHIFT(ShiftLeft)
AF_TENSOR_SHIFT(ShiftRight)
#undef AF_TENSOR_SHIFT

#define AF_BINARY_350(name, list)                                                                                      \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const uint32_t count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_OF_LIST(#name, T, list);                                                                             \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
AF_BINARY_350(Prelu, AF_F)
AF_BINARY_350(AbsSub, AF_F)
#undef AF_BINARY_350
template <typename T>
AF_API void FusedAbsSub(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                        const uint32_t count) {
    AF_CALL("FusedAbsSub");
    AbsSub<T>(dst, src0, src1, count);
}

template <typename T, typename U>
AF_API void ExpSub(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const uint32_t count) {
    AF_CALL("ExpSub");
    AF_TYPE_PAIRS("ExpSub", T, U, AfPair<float, half>, AfPair<float, float>);
    af_sim::vector_binary(af_sim::Op::ExpSub, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
template <typename T, typename U>
AF_API void FusedExpSub(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                        const uint32_t count) {
    AF_CALL("FusedExpSub");
    ExpSub<T, U>(dst, src0, src1, count);
}

template <typename T> AF_API void Neg(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Neg");
    AF_DTYPES("Neg", T, int8_t, int16_t, half, int32_t, float, int64_t);
    af_sim::vector_unary(af_sim::Op::Neg, af_sim::counted(count), af_sim::operand("dst", dst), af_sim::operand("src", src));
}

// Rounds to an integral value in the same type.
template <typename T, RoundMode roundMode>
AF_API void Truncate(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Truncate");
    AF_DTYPES("Truncate", T, half, float, bfloat16_t);
    af_sim::vector_cast(uint8_t(roundMode), af_sim::counted(count), af_sim::operand("dst", dst),
                        af_sim::operand("src", src));
}

// Low and high 32 bits of the products.
template <typename T>
AF_API void Mull(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                 const LocalTensor<T>& src1, const uint32_t count) {
    AF_CALL("Mull");
    AF_DTYPES("Mull", T, int32_t, uint32_t);
    if (!af_sim::issue(PIPE_V, {af_sim::written("dst0", dst0, count), af_sim::written("dst1", dst1, count),
                                af_sim::read("src0", src0, count), af_sim::read("src1", src1, count)},
                       af_sim::work<T>(count))) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const int64_t product = int64_t(src0.Data()[i]) * int64_t(src1.Data()[i]);
        dst0.Data()[i] = static_cast<T>(product);
        dst1.Data()[i] = static_cast<T>(product >> 32);
    }
}

template <typename T0, typename T1, const BinaryConfig& config>
AF_API void FusedMulsCast(const LocalTensor<T0>& dst, const LocalTensor<T1>& src, const T1& scalarValue, const uint32_t count) {
    AF_CALL("FusedMulsCast");
    AF_TYPE_PAIRS("FusedMulsCast", T0, T1, AfPair<half, float>);
    af_sim::vector_scalar(af_sim::Op::MulsCast, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src", src), af_sim::scalar(scalarValue));
}
#endif

}  // namespace AscendC
