// Operations of two tensors of one element type: dst = f(src0, src1), and those that add to dst.
//
// Each macro takes the supported types per SoC: A2 and A3, 350 in count form, 350 in mask forms.
#pragma once
#include <cstdint>

#include "af_type_lists.h"
#include "af_vector.h"

namespace AscendC {

#define AF_BINARY_COUNT(name, a2, a350)                                                                                \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }

#define AF_BINARY_MASKED(name, mask_parameter, a2, a350)                                                               \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {               \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }

#define AF_BINARY(name, a2, a350_count, a350_masked)              \
    AF_BINARY_COUNT(name, a2, a350_count)                         \
    AF_BINARY_MASKED(name, uint64_t mask, a2, a350_masked)        \
    AF_BINARY_MASKED(name, uint64_t mask[], a2, a350_masked)

AF_BINARY(Add, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Sub, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Mul, AF_ARITHMETIC, AF_350_16_64, AF_350_16_32)
AF_BINARY(Max, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Min, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(And, (int16_t, uint16_t), AF_LIST_INTEGERS, AF_LIST_INTEGERS_16_32)
AF_BINARY(Or, (int16_t, uint16_t), AF_LIST_INTEGERS, AF_LIST_INTEGERS_16_32)
AF_BINARY(AddRelu, (half, float, int16_t), (half, float, int16_t, int64_t, uint64_t), (half, float, int16_t))
AF_BINARY(SubRelu, (half, float, int16_t), (half, float, int16_t, int64_t, uint64_t), (half, float, int16_t))
AF_BINARY(FusedMulAdd, AF_F, (half, bfloat16_t, float, int64_t, uint64_t), (half, bfloat16_t, float))
AF_BINARY(MulAddRelu, AF_F, (half, float, int64_t, uint64_t), AF_F)

#if AF_ARCH_A2
AF_BINARY(Div, AF_F, AF_F, AF_F)
#else
enum class DivAlgo : uint8_t {
    INTRINSIC, DIFF_COMPENSATION, PRECISION_1ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_FALSE,
    PRECISION_1ULP_FTZ_FALSE
};
struct DivConfig { DivAlgo algo = DivAlgo::INTRINSIC; };
constexpr DivConfig DEFAULT_DIV_CONFIG = {DivAlgo::INTRINSIC};

template <typename T, const DivConfig& config = DEFAULT_DIV_CONFIG>
AF_API void Div(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count) {
    AF_CALL("Div");
    AF_DTYPES("Div", T, int16_t, uint16_t, half, int32_t, uint32_t, float, int64_t, uint64_t);
    af_sim::vector_binary(af_sim::Op::Div, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
#define AF_DIV_MASKED(mask_parameter)                                                                                  \
    template <typename T, bool isSetMask = true, const DivConfig& config = DEFAULT_DIV_CONFIG>                         \
    AF_API void Div(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, mask_parameter, \
                    const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                                \
        AF_CALL("Div");                                                                                                \
        AF_DTYPES("Div", T, int16_t, uint16_t, half, int32_t, uint32_t, float);                                        \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::Div, af_sim::masked<isSetMask>(mask, repeatTime),                            \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
AF_DIV_MASKED(uint64_t mask)
AF_DIV_MASKED(uint64_t mask[])
#undef AF_DIV_MASKED
#endif

template <typename T>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            const int32_t& count) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T>(dst, src0, src1, count);
}
template <typename T, bool isSetMask = true>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}
template <typename T, bool isSetMask = true>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}

}  // namespace AscendC
