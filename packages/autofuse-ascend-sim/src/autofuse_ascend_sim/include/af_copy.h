// Copies between GM and UB (pipes MTE2 and MTE3) and inside UB (pipe V).
#pragma once
#include <cstdint>

#include "af_structs.h"
#include "af_tensor.h"

namespace af_sim {

// One DMA instruction. Gaps lie between the end of one block and the start of the next, in bytes. Padding applies to
// loads only.
struct Dma {
    DType dtype = DType::U8;
    uint32_t blocks = 1;
    uint32_t block_bytes = 0;
    int64_t global_gap = 0;
    int64_t local_gap = 0;
    bool pads = false;            // isPad
    uint32_t left_bytes = 0, right_bytes = 0;
    uint64_t pad_value = 0;       // the bits of paddingValue
    bool byte_granular = false;   // DataCopyPad: blocks of any byte count; DataCopy: multiples of 32
    bool compact = false;         // 350: blocks follow each other without a gap, padding at the end only
};

Dma dma_of_count(DType type, uint32_t count);
Dma dma_of_blocks(DType type, uint32_t blockCount, uint32_t blockLen, uint32_t globalGap, uint32_t localGap);
Dma dma_of_bytes(DType type, uint32_t blockCount, uint64_t blockLen, int64_t globalGapBytes, int64_t localGapBlocks);
void dma_load(Dma dma, const View& dst, const void* src, uint64_t src_left);
void dma_store(Dma dma, const void* dst, uint64_t dst_left, const View& src);
void ub_copy(const View& dst, const View& src, DType type, uint32_t blocks, uint32_t blockLen, uint32_t srcGap,
             uint32_t dstGap);
void nddma(const View& dst, const void* src, uint64_t src_left, DType type, int dim, const uint64_t* srcStride,
           const uint32_t* dstStride, const uint32_t* size, const uint8_t* left, const uint8_t* right, uint64_t value,
           bool nearest);
void set_loop_mode(uint32_t size1, uint32_t size2, uint64_t src1, uint64_t dst1, uint64_t src2, uint64_t dst2, bool load);
void set_pad_value(uint64_t bits);
uint64_t pad_value();

template <typename T> uint64_t bits_of(const T& value) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace af_sim

#if AF_ARCH_A2
#define AF_COPY_TYPES(name, T) \
    AF_DTYPES(name, T, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t, double)
#else
#define AF_COPY_TYPES(name, T) \
    AF_DTYPES(name, T, bool, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t, double)
#endif

namespace AscendC {

template <typename T>
AF_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    af_sim::dma_load(af_sim::dma_of_count(af_sim::dtype_of<T>, count), dst.View(), src.GetPhyAddr(), src.BytesLeft());
}

template <typename T>
AF_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    af_sim::dma_store(af_sim::dma_of_count(af_sim::dtype_of<T>, count), dst.GetPhyAddr(), dst.BytesLeft(), src.View());
}

template <typename T>
AF_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    const auto& p = repeatParams;
    af_sim::dma_load(af_sim::dma_of_blocks(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.srcStride, p.dstStride),
                     dst.View(), src.GetPhyAddr(), src.BytesLeft());
}

template <typename T>
AF_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    const auto& p = repeatParams;
    af_sim::dma_store(af_sim::dma_of_blocks(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.dstStride, p.srcStride),
                      dst.GetPhyAddr(), dst.BytesLeft(), src.View());
}

template <typename T>
AF_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    const af_sim::Dma dma = af_sim::dma_of_count(af_sim::dtype_of<T>, count);
    af_sim::ub_copy(dst.View(), src.View(), dma.dtype, 1, dma.block_bytes / 32, 0, 0);
}

template <typename T>
AF_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    const auto& p = repeatParams;
    af_sim::ub_copy(dst.View(), src.View(), af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
}

#if AF_ARCH_350
#define AF_PADDING_MODE , PaddingMode mode = PaddingMode::Normal
#define AF_COMPACT (mode == PaddingMode::Compact)
#else
#define AF_PADDING_MODE
#define AF_COMPACT false
#endif

template <typename T AF_PADDING_MODE>
AF_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams) {
    AF_CALL("DataCopyPad");
    AF_COPY_TYPES("DataCopyPad", T);
    const auto& p = dataCopyParams;
    af_sim::Dma dma = af_sim::dma_of_bytes(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
    dma.pads = padParams.isPad;
    dma.left_bytes = padParams.leftPadding * static_cast<uint32_t>(sizeof(T));
    dma.right_bytes = padParams.rightPadding * static_cast<uint32_t>(sizeof(T));
    dma.pad_value = af_sim::bits_of(padParams.paddingValue);
    dma.compact = AF_COMPACT;
    af_sim::dma_load(dma, dst.View(), src.GetPhyAddr(), src.BytesLeft());
}

template <typename T AF_PADDING_MODE>
AF_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams) {
    AF_CALL("DataCopyPad");
    AF_COPY_TYPES("DataCopyPad", T);
    const auto& p = dataCopyParams;
    af_sim::Dma dma = af_sim::dma_of_bytes(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.dstStride, p.srcStride);
    dma.compact = AF_COMPACT;
    af_sim::dma_store(dma, dst.GetPhyAddr(), dst.BytesLeft(), src.View());
}

template <typename T>
AF_API void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
                        const DataCopyPadParams& padParams) {
    AF_CALL("DataCopyPad");
    AF_COPY_TYPES("DataCopyPad", T);
    const auto& p = dataCopyParams;
    af_sim::Dma dma = af_sim::dma_of_bytes(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
    dma.pads = padParams.isPad;
    dma.left_bytes = padParams.leftPadding * static_cast<uint32_t>(sizeof(T));
    dma.right_bytes = padParams.rightPadding * static_cast<uint32_t>(sizeof(T));
    dma.pad_value = padParams.isPad ? padParams.paddingValue : af_sim::pad_value();
    af_sim::dma_load(dma, dst.View(), src.GetPhyAddr(), src.BytesLeft());
}

template <typename T>
AF_API void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams) {
    AF_CALL("DataCopyPad");
    AF_COPY_TYPES("DataCopyPad", T);
    const auto& p = dataCopyParams;
    af_sim::dma_store(af_sim::dma_of_bytes(af_sim::dtype_of<T>, p.blockCount, p.blockLen, p.dstStride, p.srcStride),
                      dst.GetPhyAddr(), dst.BytesLeft(), src.View());
}

template <typename T, TPosition pos = TPosition::MAX> AF_API void SetPadValue(T paddingValue) {
    AF_CALL("SetPadValue");
    static_assert(pos == TPosition::MAX || pos == TPosition::VECIN || pos == TPosition::VECOUT,
                  "AscendC::SetPadValue: only the UB positions exist on a vector core");
    af_sim::set_pad_value(af_sim::bits_of(paddingValue));
}

#if AF_ARCH_350
constexpr NdDmaConfig kDefaultNdDmaConfig = {};

template <typename T, uint8_t dim, const NdDmaConfig& config = kDefaultNdDmaConfig>
AF_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const MultiCopyParams<T, dim>& params) {
    AF_CALL("DataCopy");
    AF_COPY_TYPES("DataCopy", T);
    const auto& loop = params.loopInfo;
    af_sim::nddma(dst.View(), src.GetPhyAddr(), src.BytesLeft(), af_sim::dtype_of<T>, dim, loop.loopSrcStride,
                  loop.loopDstStride, loop.loopSize, loop.loopLpSize, loop.loopRpSize,
                  af_sim::bits_of(params.constantValue), config.isNearestValueMode);
}
inline void NdDmaDci() {}

AF_API inline void SetLoopModePara(const LoopModeParams& loopParams, DataCopyMVType type) {
    AF_CALL("SetLoopModePara");
    const auto& p = loopParams;
    af_sim::set_loop_mode(p.loop1Size, p.loop2Size, p.loop1SrcStride, p.loop1DstStride, p.loop2SrcStride,
                          p.loop2DstStride, type == DataCopyMVType::OUT_TO_UB);
}
AF_API inline void ResetLoopModePara(DataCopyMVType type) {
    AF_CALL("ResetLoopModePara");
    af_sim::set_loop_mode(1, 1, 0, 0, 0, 0, type == DataCopyMVType::OUT_TO_UB);
}
#endif

}  // namespace AscendC
