// Changes of layout: TransDataTo5HD, transposition with parameters, and interleaving (350).
#pragma once
#include "af_highlevel_map.h"

namespace af_sim {

constexpr uint32_t kListLength = 16;

// One UB block of an address list, with what may be touched from there.
struct ListedBlocks {
    View view[kListLength];
};

inline View view_of_address(uint64_t address) {
    const View rest = rest_of_ub();
    const uint64_t offset = address - reinterpret_cast<uint64_t>(ub_address(0));
    const uint64_t end = uint64_t(rest.offset) + rest.bytes;
    if (offset >= end) {
        fail(Rule::UbBounds, "address list", static_cast<int64_t>(offset), static_cast<int64_t>(end),
             "an address in the list is not in UB: it must come from GetPhyAddr");
    }
    View view;
    view.offset = static_cast<uint32_t>(offset);
    view.bytes = static_cast<uint32_t>(end - offset);
    view.is_set = true;
    return view;
}

template <uint32_t... i> struct Indices {};
template <uint32_t n, uint32_t... i> struct IndicesUpTo : IndicesUpTo<n - 1, n - 1, i...> {};
template <uint32_t... i> struct IndicesUpTo<0, i...> { using Type = Indices<i...>; };

template <uint32_t... i>
bool issue_lists(const Operand* dst, const Operand* src, const Work& amount, Indices<i...>) {
    return issue(PIPE_V, {src[i]..., dst[i]...}, amount);
}

// dst[i][j] = src[j][i] for 16 blocks of elements. 8-bit elements use one half of each block; 32-bit elements turn 16
// blocks of 8 into 8 columns of 16, each in two neighbouring blocks of the list.
template <typename T>
void transpose_lists(const ListedBlocks& dst, const ListedBlocks& src, const AscendC::TransDataTo5HDParams& params) {
    constexpr uint32_t size = sizeof(T);
    const uint32_t repeats = params.repeatTimes;
    if (repeats == 1 && (params.dstRepStride != 0 || params.srcRepStride != 0)) {
        fail(Rule::Limit, params.dstRepStride != 0 ? "dstRepStride" : "srcRepStride",
             params.dstRepStride != 0 ? params.dstRepStride : params.srcRepStride, 0,
             "with one repeat both repeat strides must be 0: the chip adds them to the addresses");
    }
    const uint32_t bytes = size == 1 ? 16 : 32;
    Operand to[kListLength], from[kListLength];
    for (uint32_t i = 0; i < kListLength; ++i) {
        const auto operand = [&](const char* name, View view, Access access, bool high, uint16_t stride) {
            const uint32_t shift = size == 1 && high ? 16 : 0;
            view.offset += shift;
            view.bytes = view.bytes > shift ? view.bytes - shift : 0;
            return Operand{name, view, access, Region{bytes, repeats, stride * 32u}, size == 1 ? 16u : 32u};
        };
        to[i] = operand("dstList", dst.view[i], Access::Write, params.dstHighHalf, params.dstRepStride);
        from[i] = operand("srcList", src.view[i], Access::Read, params.srcHighHalf, params.srcRepStride);
    }
    if (!issue_lists(to, from, work<T>(uint64_t(repeats) * 256 / (size == 4 ? 2 : 1), repeats),
                     typename IndicesUpTo<kListLength>::Type())) {
        return;
    }
    constexpr uint32_t columns = size == 4 ? 8 : 16;
    for (uint32_t r = 0; r < repeats; ++r) {
        T block[kListLength][columns];
        for (uint32_t j = 0; j < kListLength; ++j) {
            __builtin_memcpy(block[j], ub_address(from[j].view.offset + r * params.srcRepStride * 32u), sizeof block[j]);
        }
        for (uint32_t c = 0; c < columns; ++c) {
            for (uint32_t j = 0; j < kListLength; ++j) {
                const uint32_t target = size == 4 ? 2 * c + j / 8 : c, within = size == 4 ? j % 8 : j;
                uint8_t* at = ub_address(to[target].view.offset + r * params.dstRepStride * 32u) + within * size;
                __builtin_memcpy(at, &block[j][c], size);
            }
        }
    }
}

}  // namespace af_sim

namespace AscendC {

#define AF_5HD_TYPES(T)                                                                                               \
    AF_DTYPES_PER_SOC("TransDataTo5HD", T, (int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float),      \
                      (int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float, bfloat16_t))

template <typename T>
AF_API void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams) {
    AF_CALL("TransDataTo5HD");
    AF_5HD_TYPES(T);
    af_sim::ListedBlocks dst, src;
    for (uint32_t i = 0; i < af_sim::kListLength; ++i) {
        dst.view[i] = dstList[i].View();
        src.view[i] = srcList[i].View();
    }
    af_sim::transpose_lists<T>(dst, src, nchwconvParams);
}

// Lists of addresses from GetPhyAddr.
template <typename T>
AF_API void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams) {
    AF_CALL("TransDataTo5HD");
    AF_5HD_TYPES(T);
    af_sim::ListedBlocks dst, src;
    for (uint32_t i = 0; i < af_sim::kListLength; ++i) {
        dst.view[i] = af_sim::view_of_address(dstList[i]);
        src.view[i] = af_sim::view_of_address(srcList[i]);
    }
    af_sim::transpose_lists<T>(dst, src, nchwconvParams);
}

// Lists of addresses in UB, which the scalar unit wrote: S and V must be synchronised before.
template <typename T>
AF_API void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                           const TransDataTo5HDParams& nchwconvParams) {
    AF_CALL("TransDataTo5HD");
    AF_5HD_TYPES(T);
    if (!af_sim::issue(PIPE_V, {af_sim::read("dst", dst, af_sim::kListLength), af_sim::read("src", src, af_sim::kListLength)},
                       af_sim::work<uint64_t>(2 * af_sim::kListLength))) {
        return;
    }
    af_sim::ListedBlocks to, from;
    for (uint32_t i = 0; i < af_sim::kListLength; ++i) {
        to.view[i] = af_sim::view_of_address(dst.Data()[i]);
        from.view[i] = af_sim::view_of_address(src.Data()[i]);
    }
    af_sim::transpose_lists<T>(to, from, nchwconvParams);
}
#undef AF_5HD_TYPES

enum class TransposeType : uint8_t { TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC, TRANSPOSE_NHWC2NCHW };

struct TransposeParamsExt {
    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

// 16 x 16 elements of 16 bits, or channels moved behind or before the positions of an image.
template <typename T>
AF_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& transposeParams) {
    AF_CALL("Transpose");
    AF_DTYPES("Transpose", T, int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float);
    const auto& p = transposeParams;
    if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        if constexpr (sizeof(T) == 2) {
            if (AF_ARCH_A2 && !af_sim::is_one_of<T, uint16_t>()) {
                af_sim::fail(af_sim::Rule::Dtype, "src", -1, -1, "TRANSPOSE_ND2ND_B16 takes uint16_t on " AF_SOC_NAME);
            }
            Transpose(dst, src);
        } else {
            af_sim::fail(af_sim::Rule::Dtype, "src", sizeof(T), 2, "TRANSPOSE_ND2ND_B16 takes elements of 16 bits");
        }
        return;
    }
    const uint64_t channels = p.cSize, positions = uint64_t(p.hSize) * p.wSize, images = p.nSize;
    if (channels > 4095) af_sim::fail(af_sim::Rule::Limit, "cSize", p.cSize, 4095, "too many channels");
    if (positions > 4095) {
        af_sim::fail(af_sim::Rule::Limit, "hSize * wSize", static_cast<int64_t>(positions), 4095, "too many positions");
    }
    if (positions * sizeof(T) % 32 != 0) {
        af_sim::fail(af_sim::Rule::Alignment, "hSize * wSize", static_cast<int64_t>(positions * sizeof(T)), 32,
                     "the positions of a channel must fill whole 32-byte blocks");
    }
    const bool to_last = p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
    const uint64_t square = (sizeof(T) == 1 ? 32 : 16) * (32 / sizeof(T)) * sizeof(T);
    const uint64_t total = images * channels * positions;
    const af_sim::Operand out = af_sim::written("dst", dst, total), in = af_sim::read("src", src, total);
    const af_sim::Operand tmp =
        af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, (to_last ? channels + 2 : 2 * channels + 1) * square);
    af_sim::disjoint(out, in);
    af_sim::disjoint(out, tmp);
    if (!af_sim::issue(PIPE_V, {out, in, tmp}, af_sim::work<T>(total, static_cast<uint32_t>(2 * channels)))) return;
    for (uint64_t n = 0; n < images; ++n) {
        const uint64_t start = n * channels * positions;
        for (uint64_t c = 0; c < channels; ++c) {
            for (uint64_t i = 0; i < positions; ++i) {
                const uint64_t first = start + c * positions + i, last = start + i * channels + c;
                dst.Data()[to_last ? last : first] = src.Data()[to_last ? first : last];
            }
        }
    }
}

#if AF_ARCH_350
#define AF_ANY_WIDTH(name, T)                                                                                     \
    AF_DTYPES(name, T, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)

// a0 b0 a1 b1 ...: the first `count` elements in dst0, the others in dst1.
template <typename T>
AF_API void Interleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                       const LocalTensor<T>& src1, const int32_t count) {
    AF_CALL("Interleave");
    AF_ANY_WIDTH("Interleave", T);
    const uint32_t n = static_cast<uint32_t>(count);
    const af_sim::Operand low = af_sim::written("dst0", dst0, n), high = af_sim::written("dst1", dst1, n);
    const af_sim::Operand a = af_sim::read("src0", src0, n), b = af_sim::read("src1", src1, n);
    for (const af_sim::Operand& out : {low, high}) {
        af_sim::disjoint(out, a);
        af_sim::disjoint(out, b);
    }
    if (!af_sim::issue(PIPE_V, {low, high, a, b}, af_sim::work<T>(2ull * n))) return;
    for (uint32_t i = 0; i < 2 * n; ++i) {
        (i < n ? dst0.Data()[i] : dst1.Data()[i - n]) = i % 2 == 0 ? src0.Data()[i / 2] : src1.Data()[i / 2];
    }
}

// The even elements of src0 followed by src1 in dst0, the odd ones in dst1.
template <typename T>
AF_API void DeInterleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                         const LocalTensor<T>& src1, const int32_t count) {
    AF_CALL("DeInterleave");
    AF_ANY_WIDTH("DeInterleave", T);
    const uint32_t n = static_cast<uint32_t>(count);
    const af_sim::Operand even = af_sim::written("dst0", dst0, n), odd = af_sim::written("dst1", dst1, n);
    const af_sim::Operand a = af_sim::read("src0", src0, n), b = af_sim::read("src1", src1, n);
    for (const af_sim::Operand& out : {even, odd}) {
        af_sim::disjoint(out, a);
        af_sim::disjoint(out, b);
    }
    if (!af_sim::issue(PIPE_V, {even, odd, a, b}, af_sim::work<T>(2ull * n))) return;
    for (uint32_t i = 0; i < 2 * n; ++i) {
        (i % 2 == 0 ? dst0 : dst1).Data()[i / 2] = i < n ? src0.Data()[i] : src1.Data()[i - n];
    }
}
template <typename T>
AF_API void DeInterleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src,
                         const int32_t srcCount) {
    AF_CALL("DeInterleave");
    AF_ANY_WIDTH("DeInterleave", T);
    const uint32_t n = static_cast<uint32_t>(srcCount), half_count = n / 2;
    const af_sim::Operand even = af_sim::written("dst0", dst0, half_count), odd = af_sim::written("dst1", dst1, half_count);
    const af_sim::Operand in = af_sim::read("src", src, n);
    af_sim::disjoint(even, in);
    af_sim::disjoint(odd, in);
    if (!af_sim::issue(PIPE_V, {even, odd, in}, af_sim::work<T>(n))) return;
    for (uint32_t i = 0; i < 2 * half_count; ++i) (i % 2 == 0 ? dst0 : dst1).Data()[i / 2] = src.Data()[i];
}
#undef AF_ANY_WIDTH
#endif

}  // namespace AscendC
