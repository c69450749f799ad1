// Compare to bits, and select by bits.
#pragma once
#include <cstdint>

#include "af_pipe.h"
#include "af_vector.h"

namespace af_sim {

// Bits go to `dst` densely (bit i of the little-endian byte stream is lane i); a second source or a scalar.
void vector_compare(uint8_t mode, const Lanes& lanes, const View& dst, const VectorOperand& src0,
                    const VectorOperand* src1, const ScalarValue& value, bool exact_repeats);
void compare_to_mask(uint8_t mode, const Lanes& lanes, const VectorOperand& src0, const VectorOperand& src1);
void read_compare_mask(const View& dst);
void write_compare_mask(const View& src);
// `bits` holds one repeat (mode 0) or a dense stream (modes 1 and 2); unset: the compare mask register.
void vector_select(uint8_t mode, const Lanes& lanes, const VectorOperand& dst, const View& bits, const VectorOperand& src0,
                   const VectorOperand* src1, const ScalarValue& value);

}  // namespace af_sim

#if AF_ARCH_A2
#define AF_COMPARE_TYPES(name, T) AF_DTYPES(name, T, half, float, int32_t)
#define AF_COMPARE_MASKED_TYPES(name, T) AF_DTYPES(name, T, half, float, int32_t)
#define AF_SELECT_TYPES(T) AF_DTYPES("Select", T, half, float)
#else
#define AF_COMPARE_TYPES(name, T)                                                                                  \
    AF_DTYPES(name, T, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t,    \
              uint64_t, double)
#define AF_COMPARE_MASKED_TYPES(name, T) \
    AF_DTYPES(name, T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float)
#define AF_SELECT_TYPES(T)                                                                                         \
    AF_DTYPES("Select", T, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, \
              uint64_t)
#endif

// int32 on A2 and double compare for equality only.
#define AF_COMPARE_MODE(T, cmpMode)                                                                             \
    if ((AF_ARCH_A2 && __is_same(T, int32_t)) || __is_same(T, double)) {                                        \
        if ((cmpMode) != CMPMODE::EQ) {                                                                         \
            af_sim::fail(af_sim::Rule::Limit, "cmpMode", int64_t(cmpMode), int64_t(CMPMODE::EQ),                \
                         "elements of this type compare with EQ only");                                         \
        }                                                                                                       \
    }

namespace AscendC {

template <typename T, typename U>
AF_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    uint32_t count) {
    AF_CALL("Compare");
    AF_COMPARE_TYPES("Compare", T);
    AF_DTYPES("Compare", U, uint8_t, int8_t);
    AF_COMPARE_MODE(T, cmpMode);
    const af_sim::VectorOperand b = af_sim::operand("src1", src1);
    af_sim::vector_compare(uint8_t(cmpMode), af_sim::counted(count), dst.View(), af_sim::operand("src0", src0), &b, {},
                           AF_ARCH_A2);
}
#define AF_COMPARE_MASKED(mask_parameter)                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,             \
                        CMPMODE cmpMode, mask_parameter, uint8_t repeatTime, const BinaryRepeatParams& repeatParams) { \
        AF_CALL("Compare");                                                                                            \
        AF_COMPARE_MASKED_TYPES("Compare", T);                                                                         \
        AF_DTYPES("Compare", U, uint8_t, int8_t);                                                                      \
        AF_COMPARE_MODE(T, cmpMode);                                                                                   \
        const auto& p = repeatParams;                                                                                  \
        const af_sim::VectorOperand b = af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride);               \
        af_sim::vector_compare(uint8_t(cmpMode), af_sim::masked<isSetMask>(mask, repeatTime), dst.View(),              \
                               af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride), &b, {}, AF_ARCH_A2);   \
    }
AF_COMPARE_MASKED(const uint64_t mask)
AF_COMPARE_MASKED(const uint64_t mask[])
#undef AF_COMPARE_MASKED

// Without a destination: one repeat, to the compare mask register.
#define AF_COMPARE_REGISTER(mask_parameter)                                                                            \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, mask_parameter,       \
                        const BinaryRepeatParams& repeatParams) {                                                      \
        AF_CALL("Compare");                                                                                            \
        AF_DTYPES_PER_SOC("Compare", T, (half, float),                                                                 \
                          (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float));                            \
        const auto& p = repeatParams;                                                                                  \
        af_sim::compare_to_mask(uint8_t(cmpMode), af_sim::masked<isSetMask>(mask, 1),                                  \
                                af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                       \
                                af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                      \
    }
AF_COMPARE_REGISTER(const uint64_t mask)
AF_COMPARE_REGISTER(const uint64_t mask[])
#undef AF_COMPARE_REGISTER

template <typename T> AF_API void GetCmpMask(const LocalTensor<T>& dst) {
    AF_CALL("GetCmpMask");
    af_sim::read_compare_mask(dst.View());
}
template <typename T> AF_API void SetCmpMask(const LocalTensor<T>& src) {
    AF_CALL("SetCmpMask");
    af_sim::write_compare_mask(src.View());
}

#define AF_COMPARE_SCALAR(name)                                                                                        \
    template <typename T, typename U>                                                                                  \
    AF_API void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,       \
                     uint32_t count) {                                                                                 \
        AF_CALL(#name);                                                                                                \
        AF_COMPARE_TYPES(#name, T);                                                                                    \
        AF_DTYPES_PER_SOC(#name, U, (uint8_t), (uint8_t, int8_t));                                                     \
        AF_COMPARE_MODE(T, cmpMode);                                                                                   \
        af_sim::vector_compare(uint8_t(cmpMode), af_sim::counted(count), dst.View(), af_sim::operand("src0", src0),    \
                               nullptr, af_sim::scalar(src1Scalar), AF_ARCH_A2);                                       \
    }                                                                                                                  \
    AF_COMPARE_SCALAR_MASKED(name, const uint64_t mask)                                                                \
    AF_COMPARE_SCALAR_MASKED(name, const uint64_t mask[])
#define AF_COMPARE_SCALAR_MASKED(name, mask_parameter)                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,       \
                     mask_parameter, uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                      \
        AF_CALL(#name);                                                                                                \
        AF_COMPARE_MASKED_TYPES(#name, T);                                                                             \
        AF_DTYPES_PER_SOC(#name, U, (uint8_t), (uint8_t, int8_t));                                                     \
        AF_COMPARE_MODE(T, cmpMode);                                                                                   \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_compare(uint8_t(cmpMode), af_sim::masked<isSetMask>(mask, repeatTime), dst.View(),              \
                               af_sim::operand("src0", src0, p.srcBlkStride, p.srcRepStride), nullptr,                 \
                               af_sim::scalar(src1Scalar), AF_ARCH_A2);                                                \
    }
AF_COMPARE_SCALAR(Compares)
AF_COMPARE_SCALAR(CompareScalar)
#undef AF_COMPARE_SCALAR
#undef AF_COMPARE_SCALAR_MASKED

#define AF_SELECT_CHECKS(T, U, tensor_scalar)                                                                           \
    AF_CALL("Select");                                                                                                  \
    AF_SELECT_TYPES(T);                                                                                                 \
    AF_DTYPES("Select", U, uint8_t, uint16_t, uint32_t, uint64_t);                                                      \
    if ((selMode == SELMODE::VSEL_TENSOR_SCALAR_MODE) != (tensor_scalar)) {                                             \
        af_sim::fail(af_sim::Rule::Limit, "selMode", int64_t(selMode), -1,                                              \
                     "VSEL_TENSOR_SCALAR_MODE goes with a scalar as second source, the other modes with a tensor");    \
    }                                                                                                                   \
    if (AF_ARCH_A2 && selMode != SELMODE::VSEL_CMPMASK_SPR) af_sim::require_reserved_ub()

template <typename T, typename U>
AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, SELMODE selMode, uint32_t count) {
    AF_SELECT_CHECKS(T, U, false);
    const af_sim::VectorOperand b = af_sim::operand("src1", src1);
    af_sim::vector_select(uint8_t(selMode), af_sim::counted(count), af_sim::operand("dst", dst), selMask.View(),
                          af_sim::operand("src0", src0), &b, {});
}
template <typename T, typename U>
AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,
                   SELMODE selMode, uint32_t count) {
    AF_SELECT_CHECKS(T, U, true);
    af_sim::vector_select(uint8_t(selMode), af_sim::counted(count), af_sim::operand("dst", dst), selMask.View(),
                          af_sim::operand("src0", src0), nullptr, af_sim::scalar(src1));
}
#define AF_SELECT_MASKED(mask_parameter)                                                                               \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,           \
                       const LocalTensor<T>& src1, SELMODE selMode, mask_parameter, uint8_t repeatTime,                \
                       const BinaryRepeatParams& repeatParams) {                                                       \
        AF_SELECT_CHECKS(T, U, false);                                                                                 \
        const auto& p = repeatParams;                                                                                  \
        const af_sim::VectorOperand b = af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride);               \
        af_sim::vector_select(uint8_t(selMode), af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride), selMask.View(),             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride), &b, {});                \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1,   \
                       SELMODE selMode, mask_parameter, uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {  \
        AF_SELECT_CHECKS(T, U, true);                                                                                  \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_select(uint8_t(selMode), af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride), selMask.View(),             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride), nullptr,                \
                              af_sim::scalar(src1));                                                                   \
    }
AF_SELECT_MASKED(uint64_t mask)
AF_SELECT_MASKED(uint64_t mask[])
#undef AF_SELECT_MASKED

// By the compare mask register, the same bits for every repeat.
template <typename T, SELMODE selMode>
AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint8_t repeatTime,
                   const BinaryRepeatParams& repeatParams) {
    AF_CALL("Select");
    AF_DTYPES_PER_SOC("Select", T, (half, float), (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float));
    static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR, "AscendC::Select: without a mask tensor the mode is VSEL_CMPMASK_SPR");
    const auto& p = repeatParams;
    const af_sim::VectorOperand b = af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride);
    af_sim::vector_select(0, af_sim::masked<false>(uint64_t(0), repeatTime),
                          af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride), {},
                          af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride), &b, {});
}

}  // namespace AscendC
