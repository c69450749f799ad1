// Filling and replicating inside UB, masked copies, and filling GM.
#pragma once
#include <cstdint>

#include "af_pipe.h"
#include "af_vector.h"

namespace af_sim {
void vector_copy(const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src);
void vector_index(const Lanes& lanes, const VectorOperand& dst, const ScalarValue& first);
void fill_global(const void* address, uint64_t bytes_left, DType type, uint64_t elements, uint64_t bits);
}  // namespace af_sim

namespace AscendC {

#if AF_ARCH_A2
#define AF_DUPLICATE_TYPES(T) AF_DTYPES("Duplicate", T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float)
#define AF_DUPLICATE_MASKED_TYPES(T) AF_DUPLICATE_TYPES(T)
#else
#define AF_DUPLICATE_TYPES(T)                                                                                       \
    AF_DTYPES("Duplicate", T, bool, int8_t, uint8_t, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float, \
              int64_t, uint64_t)
#define AF_DUPLICATE_MASKED_TYPES(T) \
    AF_DTYPES("Duplicate", T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float)
#endif

template <typename T> AF_API void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count) {
    AF_CALL("Duplicate");
    AF_DUPLICATE_TYPES(T);
    af_sim::vector_fill(af_sim::counted(count), af_sim::operand("dst", dst), af_sim::scalar(scalarValue));
}
#define AF_DUPLICATE_MASKED(mask_parameter)                                                                           \
    template <typename T, bool isSetMask = true>                                                                      \
    AF_API void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, mask_parameter, const uint8_t repeatTime,  \
                          const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {                             \
        AF_CALL("Duplicate");                                                                                         \
        AF_DUPLICATE_MASKED_TYPES(T);                                                                                 \
        af_sim::vector_fill(af_sim::masked<isSetMask>(mask, repeatTime),                                              \
                            af_sim::operand("dst", dst, dstBlockStride, dstRepeatStride),                             \
                            af_sim::scalar(scalarValue));                                                             \
    }
AF_DUPLICATE_MASKED(uint64_t mask)
AF_DUPLICATE_MASKED(uint64_t mask[])
#undef AF_DUPLICATE_MASKED

#if AF_ARCH_350
// Replicates element 0 of src.
template <typename T> AF_API void Duplicate(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {
    AF_CALL("Duplicate");
    AF_DUPLICATE_TYPES(T);
    if (!af_sim::issue(PIPE_V, {af_sim::written("dst", dst, count), af_sim::read("src", src, 1)}, af_sim::work<T>(count))) {
        return;
    }
    const T value = src.Data()[0];
    for (int32_t i = 0; i < count; ++i) dst.Data()[i] = value;
}
#endif

// Each repeat reads 8 consecutive elements and fills 8 blocks of 32 bytes with one each.
template <typename T>
AF_API void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t repeatTime,
                 const BrcbRepeatParams& repeatParams) {
    AF_CALL("Brcb");
    AF_DTYPES_PER_SOC("Brcb", T, (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float),
                      (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t));
    if (repeatTime == 0) return;
    const auto& p = repeatParams;
    if (p.dstBlkStride == 0) {
        af_sim::fail(af_sim::Rule::Limit, "dstBlkStride", 0, 1, "a block stride of 0 is not defined for a destination");
    }
    const af_sim::Region blocks{32, 8, p.dstBlkStride * 32, repeatTime, p.dstRepStride * 32};
    const af_sim::Operand in = af_sim::read("src", src, 8ull * repeatTime);
    af_sim::Operand extent = af_sim::written("dst", dst, 0);
    extent.region.piece_bytes = (repeatTime - 1) * p.dstRepStride * 32 + 7 * p.dstBlkStride * 32 + 32;
    af_sim::disjoint(extent, in);
    if (!af_sim::issue(PIPE_V, {{"dst", dst.View(), af_sim::Access::Write, blocks}, in},
                       af_sim::work<T>(repeatTime * 8ull * (32 / sizeof(T))))) {
        return;
    }
    for (uint32_t r = 0; r < repeatTime; ++r) {
        for (uint32_t b = 0; b < 8; ++b) {
            T* block = dst.Data() + (r * p.dstRepStride + b * p.dstBlkStride) * (32 / sizeof(T));
            for (uint32_t i = 0; i < 32 / sizeof(T); ++i) block[i] = src.Data()[r * 8 + b];
        }
    }
}

#define AF_COPY_MASKED(mask_parameter)                                                                                 \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, mask_parameter, const uint8_t repeatTime,   \
                     const CopyRepeatParams& repeatParams) {                                                           \
        AF_CALL("Copy");                                                                                               \
        AF_DTYPES("Copy", T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);                           \
        const auto& p = repeatParams;                                                                                  \
        if (p.dstRepeatSize > 4095 || p.srcRepeatSize > 4095) {                                                        \
            af_sim::fail(af_sim::Rule::Limit, p.dstRepeatSize > 4095 ? "dstRepeatSize" : "srcRepeatSize",              \
                         p.dstRepeatSize > 4095 ? p.dstRepeatSize : p.srcRepeatSize, 4095,                             \
                         "a repeat stride can be 4095 blocks at most");                                                \
        }                                                                                                              \
        af_sim::Lanes lanes = af_sim::masked<isSetMask>(mask, repeatTime);                                             \
        lanes.mask_is_per_repeat = true;                                                                               \
        af_sim::vector_copy(lanes, af_sim::operand("dst", dst, p.dstStride, p.dstRepeatSize),                          \
                            af_sim::operand("src", src, p.srcStride, p.srcRepeatSize));                                \
    }
AF_COPY_MASKED(const uint64_t mask)
AF_COPY_MASKED(const uint64_t mask[])
#undef AF_COPY_MASKED

#if AF_ARCH_350
template <typename T, bool isSetMask = true>
AF_API void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Copy");
    AF_DTYPES("Copy", T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
    af_sim::vector_copy(af_sim::counted(count), af_sim::operand("dst", dst), af_sim::operand("src", src));
}
#endif

// dst[i] = first + i.
template <typename T> AF_API void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
    AF_CALL("CreateVecIndex");
    AF_DTYPES_PER_SOC("CreateVecIndex", T, (int16_t, half, int32_t, float), (int8_t, int16_t, half, int32_t, float, int64_t));
    af_sim::vector_index(af_sim::counted(count), af_sim::operand("dst", dst), af_sim::scalar(firstValue));
}
#define AF_INDEX_MASKED(mask_parameter)                                                                                \
    template <typename T>                                                                                              \
    AF_API void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, mask_parameter, uint8_t repeatTime,           \
                               uint16_t dstBlkStride, uint8_t dstRepStride) {                                          \
        AF_CALL("CreateVecIndex");                                                                                     \
        AF_DTYPES("CreateVecIndex", T, int16_t, half, int32_t, float);                                                 \
        af_sim::vector_index(af_sim::masked<true>(mask, repeatTime),                                                   \
                             af_sim::operand("dst", dst, dstBlkStride, dstRepStride), af_sim::scalar(firstValue));     \
    }
AF_INDEX_MASKED(uint64_t mask)
AF_INDEX_MASKED(uint64_t mask[])
#undef AF_INDEX_MASKED

// GM fill; to be called before any InitBuffer, since it uses UB as it likes.
#define AF_FILL_TYPES(name, T)                                                                               \
    AF_DTYPES_PER_SOC(name, T, (int16_t, uint16_t, half, int32_t, uint32_t, float),                          \
                      (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t))
template <typename T> AF_API void Fill(GlobalTensor<T>& dst, const uint64_t size, const T value) {
    AF_CALL("Fill");
    AF_FILL_TYPES("Fill", T);
    af_sim::fill_global(dst.GetPhyAddr(), dst.BytesLeft(), af_sim::dtype_of<T>, size, af_sim::scalar(value).bits);
}
template <typename T> AF_API void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0) {
    AF_CALL("InitOutput");
    AF_FILL_TYPES("InitOutput", T);
    af_sim::fill_global(gmWorkspaceAddr.GetPhyAddr(), gmWorkspaceAddr.BytesLeft(), af_sim::dtype_of<T>, size,
                        af_sim::scalar(value).bits);
}

}  // namespace AscendC
