// Gather, scatter and compaction inside UB, and the 16x16 transpose.
#pragma once
#include <cstdint>

#include "af_vector.h"

namespace af_sim {

void vector_gather(const Lanes& lanes, const VectorOperand& dst, const View& src, const View& offsets, uint32_t base);
void gather_blocks(const VectorOperand& dst, const View& src, const View& offsets, uint32_t repeats);
void vector_scatter(const Lanes& lanes, const VectorOperand& src, const View& dst, const View& offsets, uint32_t base);
// `pattern` 1 to 7, or 0 and `bits` as a stream of lanes. Returns how many elements were kept.
uint64_t gather_mask(const View& dst, const VectorOperand& src, uint8_t pattern, const View& bits,
                     uint32_t bits_repeat_stride, bool reduce_mode, uint32_t mask, uint32_t repeats);

}  // namespace af_sim

namespace AscendC {

#define AF_GATHER_TYPES(T)                                                                                        \
    AF_DTYPES_PER_SOC("Gather", T, (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float),               \
                      (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t))

// dst[i] = the element at byte srcBaseOffset + srcOffset[i] of src.
template <typename T>
AF_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
                   const uint32_t srcBaseOffset, const uint32_t count) {
    AF_CALL("Gather");
    AF_GATHER_TYPES(T);
    af_sim::vector_gather(af_sim::counted(count), af_sim::operand("dst", dst), src.View(), srcOffset.View(), srcBaseOffset);
}
#define AF_GATHER_MASKED(mask_parameter)                                                                               \
    template <typename T>                                                                                              \
    AF_API void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,   \
                       const uint32_t srcBaseOffset, mask_parameter, const uint8_t repeatTime,                         \
                       const uint16_t dstRepStride) {                                                                  \
        AF_CALL("Gather");                                                                                             \
        AF_DTYPES_PER_SOC("Gather", T, (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float),                \
                          (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t));         \
        af_sim::vector_gather(af_sim::masked<true>(mask, repeatTime), af_sim::operand("dst", dst, 1, dstRepStride),    \
                              src.View(), srcOffset.View(), srcBaseOffset);                                            \
    }
AF_GATHER_MASKED(const uint64_t mask)
AF_GATHER_MASKED(const uint64_t mask[])
#undef AF_GATHER_MASKED

// Each repeat takes 8 offsets and copies the 8 blocks of 32 bytes there.
template <typename T>
AF_API void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& offset,
                    const uint8_t repeatTime, const GatherRepeatParams& repeatParams) {
    AF_CALL("Gatherb");
    AF_DTYPES_PER_SOC("Gatherb", T, (uint16_t, uint32_t),
                      (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t));
    af_sim::gather_blocks(af_sim::operand("dst", dst, repeatParams.dstBlkStride, repeatParams.dstRepStride), src0.View(),
                          offset.View(), repeatTime);
}

#if AF_ARCH_350
// The element at byte dstBaseAddr + dstOffset[i] of dst = src[i].
#define AF_SCATTER_TYPES(T) AF_DTYPES_OF_LIST("Scatter", T, (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t))
template <typename T>
AF_API void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& dstOffset,
                    const uint32_t dstBaseAddr, const uint32_t count) {
    AF_CALL("Scatter");
    AF_SCATTER_TYPES(T);
    af_sim::vector_scatter(af_sim::counted(count), af_sim::operand("src", src), dst.View(), dstOffset.View(), dstBaseAddr);
}
#define AF_SCATTER_MASKED(mask_parameter)                                                                              \
    template <typename T>                                                                                              \
    AF_API void Scatter(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& dstOffset,  \
                        const uint32_t dstBaseAddr, mask_parameter, const uint8_t repeatTime,                          \
                        const uint8_t srcRepStride) {                                                                  \
        AF_CALL("Scatter");                                                                                            \
        AF_SCATTER_TYPES(T);                                                                                           \
        af_sim::vector_scatter(af_sim::masked<true>(mask, repeatTime), af_sim::operand("src", src, 1, srcRepStride),   \
                               dst.View(), dstOffset.View(), dstBaseAddr);                                             \
    }
AF_SCATTER_MASKED(const uint64_t mask)
AF_SCATTER_MASKED(const uint64_t mask[])
#undef AF_SCATTER_MASKED
constexpr GatherMaskMode AF_GATHER_MASK_MODE = GatherMaskMode::VERSION_V1;
#else
constexpr GatherMaskMode AF_GATHER_MASK_MODE = GatherMaskMode::VERSION_V2;
#endif

// Keeps the elements of src whose pattern bit is set, densely. In reduce mode `mask` elements of each repeat take part,
// otherwise 256 bytes. Leaves the mask mode Normal.
template <typename T, typename U, GatherMaskMode mode = AF_GATHER_MASK_MODE>
AF_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt) {
    AF_CALL("GatherMask");
    AF_DTYPES_PER_SOC("GatherMask", T, (half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t),
                      (int8_t, uint8_t, half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t));
    static_assert(sizeof(T) == sizeof(U) && U(-1) > U(0),
                  "AscendC::GatherMask: the pattern is an unsigned integer as wide as the elements");
    const auto& p = gatherMaskParams;
    rsvdCnt = af_sim::gather_mask(dst.View(), af_sim::operand("src0", src0, p.src0BlockStride, p.src0RepeatStride), 0,
                                  src1Pattern.View(), p.src1RepeatStride, reduceMode, mask, p.repeatTimes);
}
template <typename T, GatherMaskMode mode = AF_GATHER_MASK_MODE>
AF_API void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt) {
    AF_CALL("GatherMask");
    AF_DTYPES_PER_SOC("GatherMask", T, (half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t),
                      (int8_t, uint8_t, half, bfloat16_t, uint16_t, int16_t, float, uint32_t, int32_t));
    if (src1Pattern < 1 || src1Pattern > 7) {
        af_sim::fail(af_sim::Rule::Limit, "src1Pattern", src1Pattern, 7, "fixed patterns go from 1 to 7");
    }
    const auto& p = gatherMaskParams;
    rsvdCnt = af_sim::gather_mask(dst.View(), af_sim::operand("src0", src0, p.src0BlockStride, p.src0RepeatStride),
                                  src1Pattern, {}, 0, reduceMode, mask, p.repeatTimes);
}

// 16 rows of 16 elements; dst may be src.
template <typename T> AF_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
    AF_CALL("Transpose");
    AF_DTYPES("Transpose", T, int16_t, uint16_t, half);
    if (!af_sim::issue(PIPE_V, {af_sim::written("dst", dst, 256), af_sim::read("src", src, 256)}, af_sim::work<T>(256))) return;
    T rows[256];
    __builtin_memcpy(rows, src.Data(), sizeof rows);
    for (int r = 0; r < 16; ++r) {
        for (int c = 0; c < 16; ++c) dst.Data()[c * 16 + r] = rows[r * 16 + c];
    }
}

}  // namespace AscendC
