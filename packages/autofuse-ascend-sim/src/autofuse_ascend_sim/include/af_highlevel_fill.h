// Broadcast of a matrix along one axis, arithmetic sequences, and selection by a mask of bytes.
#pragma once
#include "af_highlevel_map.h"

namespace AscendC {

// dst (dstShape) = src (srcShape), whose `axis` is 1 and is repeated; `dim` is 1 or 2.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
AF_API void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim], LocalTensor<uint8_t>& sharedTmpBuffer) {
    AF_CALL("Broadcast");
    AF_DTYPES("Broadcast", T, int8_t, uint8_t, half, float);
    static_assert(dim == 1 || dim == 2, "AscendC::Broadcast: dim must be 1 or 2");
    static_assert(axis >= 0 && axis < dim, "AscendC::Broadcast: axis must be less than dim");
    uint64_t from = 1, to = 1;
    for (int32_t i = 0; i < dim; ++i) {
        if (srcShape[i] != dstShape[i] && !(srcShape[i] == 1)) {
            af_sim::fail(af_sim::Rule::Usage, "srcShape", srcShape[i], dstShape[i],
                         "axis %d has %u elements and cannot become %u", i, srcShape[i], dstShape[i]);
        }
        from *= srcShape[i];
        to *= dstShape[i];
    }
    if (dim == 2 && axis == 0 && srcShape[dim - 1] * sizeof(T) % 32 != 0) {
        af_sim::fail(af_sim::Rule::Alignment, "srcShape[1]", int64_t(srcShape[dim - 1] * sizeof(T)), 32,
                     "a row that is repeated must fill whole 32-byte blocks");
    }
    const af_sim::Operand out = af_sim::written("dst", dst, to), in = af_sim::read("src", src, from);
    const uint64_t tmp_bytes =
        af_sim::broadcast_tmp_size(sizeof(T), dim == 2 && axis == 0, from, to, dstShape[0], dstShape[dim - 1]).least;
    const af_sim::Operand tmp = af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, tmp_bytes);
    af_sim::disjoint(out, in);
    af_sim::disjoint(out, tmp);
    af_sim::disjoint(tmp, in);
    if (!af_sim::issue(PIPE_V, {out, in, tmp}, af_sim::work<T>(to, dstShape[0]))) return;
    const uint32_t rows = dim == 2 ? dstShape[0] : 1, columns = dstShape[dim - 1];
    const uint32_t row_step = dim == 2 && srcShape[0] != 1 ? srcShape[dim - 1] : 0;
    const uint32_t column_step = srcShape[dim - 1] != 1 ? 1 : 0;
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < columns; ++c) dst.Data()[r * columns + c] = src.Data()[r * row_step + c * column_step];
    }
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
AF_API void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dstShape[dim],
                      const uint32_t srcShape[dim]) {
    AF_CALL("Broadcast");
    af_sim::Temporary rest = af_sim::stack_temporary();
    Broadcast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, rest);
}

// dst[i] = firstValue + i * diffValue, in the element type's own arithmetic.
#define AF_ARANGE(name)                                                                                                \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count) {          \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, (int16_t, half, int32_t, float), (int16_t, half, int32_t, float, int64_t));        \
        const uint32_t n = static_cast<uint32_t>(count); /* a negative count is larger than any tensor */              \
        if (!af_sim::issue(PIPE_V, {af_sim::written("dst", dst, n)}, af_sim::work<T>(n, 2))) return;                   \
        for (uint32_t i = 0; i < n; ++i) {                                                                             \
            if constexpr (af_sim::is_one_of<T, half, float>()) {                                                       \
                dst.Data()[i] = T(float(firstValue) + float(i) * float(diffValue));                                    \
            } else {                                                                                                   \
                dst.Data()[i] = static_cast<T>(uint64_t(firstValue) + i * uint64_t(diffValue));                        \
            }                                                                                                          \
        }                                                                                                              \
    }
AF_ARANGE(Arange)
AF_ARANGE(ArithProgression)
#undef AF_ARANGE

struct SelectWithBytesMaskShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

}  // namespace AscendC

namespace af_sim {

// dst = mask == 0 ? first : second, where `pick(i, is_zero)` gives element i.
template <typename T, typename U, typename Pick>
void select_by_bytes(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                     const AscendC::LocalTensor<U>& mask, const Temporary& tmp, bool reuses_mask,
                     const AscendC::SelectWithBytesMaskShapeInfo& info, Pick pick) {
    if (AF_ARCH_A2) require_reserved_ub();
    const uint32_t rows = info.firstAxis, columns = info.srcLastAxis, stride = info.maskLastAxis;
    if (stride < columns || stride * sizeof(U) % 32 != 0 || stride % 16 != 0) {
        fail(Rule::Alignment, "info.maskLastAxis", stride, columns,
             "the mask's last axis must cover the source's, fill 32-byte blocks and be a multiple of 16 elements");
    }
    const uint64_t total = uint64_t(rows) * columns;
    const uint64_t chunk = total < kSelectChunk ? total : kSelectChunk;
    const uint64_t tmp_bytes = select_tmp_bytes(chunk, sizeof(U), stride != columns && !reuses_mask);
    const Operand out = written("dst", dst, total), in = read("src", src, total);
    const Operand bytes = read("mask", mask, uint64_t(rows) * stride);
    const Operand extra = scratch("sharedTmpBuffer", tmp, tmp_bytes);
    disjoint(out, bytes);
    disjoint(out, extra);
    disjoint(in, extra);
    disjoint(bytes, extra);
    if (!issue(PIPE_V, {out, in, bytes, extra}, work<T>(total, 4))) return;
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < columns; ++c) {
            const uint64_t i = uint64_t(r) * columns + c;
            dst.Data()[i] = pick(src.Data()[i], mask.Data()[uint64_t(r) * stride + c] == U(0));
        }
    }
}

}  // namespace af_sim

namespace AscendC {

// Mask 0 takes src0 and anything else src1: the opposite of selection by bits.
template <typename T, typename U, bool isReuseMask = true>
AF_API void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info) {
    AF_CALL("Select");
    AF_FLOATING("Select", T);
    AF_DTYPES("Select", U, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t);
    af_sim::select_by_bytes(dst, src0, mask, sharedTmpBuffer, isReuseMask, info,
                            [src1](T value, bool is_zero) { return is_zero ? value : src1; });
}
template <typename T, typename U, bool isReuseMask = true>
AF_API void Select(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info) {
    AF_CALL("Select");
    AF_FLOATING("Select", T);
    AF_DTYPES("Select", U, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t);
    af_sim::select_by_bytes(dst, src1, mask, sharedTmpBuffer, isReuseMask, info,
                            [src0](T value, bool is_zero) { return is_zero ? src0 : value; });
}

}  // namespace AscendC
