// Reductions inside a repeat, and over a whole tensor.
//
// Sums add neighbours: a binary tree of pairs (0,1), (2,3), ... with one rounding per addition. Masked lanes take no part.
#pragma once
#include <cstdint>

#include "af_vector.h"

namespace af_sim {

enum class Reduction : uint8_t { Sum, Max, Min };

// One result per repeat. `stride` is in results, as documented for the form.
void reduce_repeats(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                    int32_t dst_stride, uint8_t order, bool has_index);
// One result per 32-byte block; dst stride per repeat in 8 results.
void reduce_blocks(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                   int32_t dst_stride, bool fills_masked);
// One sum per pair of neighbours; dst stride per repeat in 128 bytes.
void reduce_pairs(const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src, int32_t dst_stride);
// One result in all. `is_tree` adds the repeats' sums as a tree, otherwise in order.
void reduce_all(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                const VectorOperand& tmp, bool is_tree, bool with_index);
constexpr Reduction reduction_of(int8_t reduce_type) {
    return reduce_type == 0 ? Reduction::Sum : reduce_type == 1 ? Reduction::Max : Reduction::Min;
}
void accumulated(DType type, void* sum);
void accumulated_extreme(DType type, void* value, void* index);

}  // namespace af_sim

namespace AscendC {

#if AF_ARCH_A2
#define AF_REDUCE_TYPES(name, T) AF_DTYPES(name, T, half, float)
#define AF_REDUCE_ALL_TYPES(name, T) AF_DTYPES(name, T, half, float)
#define AF_REDUCE_SUM_TYPES(T) AF_DTYPES("ReduceSum", T, half, float)
#else
#define AF_REDUCE_TYPES(name, T) AF_DTYPES(name, T, int16_t, uint16_t, int32_t, uint32_t, half, float)
#define AF_REDUCE_ALL_TYPES(name, T) \
    AF_DTYPES(name, T, int16_t, uint16_t, int32_t, uint32_t, half, float, int64_t, uint64_t)
#define AF_REDUCE_SUM_TYPES(T) AF_DTYPES("ReduceSum", T, half, float, int32_t, uint32_t, int64_t, uint64_t)
#endif

// A mask of a reduction: lanes of a repeat, or bits.
#define AF_FOR_BOTH_MASKS(macro, ...) macro(const int32_t mask, __VA_ARGS__) macro(const uint64_t mask[], __VA_ARGS__)

#if AF_ARCH_350
#define AF_SUM_TEMPLATE template <typename T, bool isSetMask = true, typename U = T>
#define AF_SUM_DST U
#else
#define AF_SUM_TEMPLATE template <typename T, bool isSetMask = true>
#define AF_SUM_DST T
#endif

#define AF_WHOLE_SUM(mask_parameter, unused)                                                                           \
    AF_SUM_TEMPLATE                                                                                                    \
    AF_API void WholeReduceSum(const LocalTensor<AF_SUM_DST>& dst, const LocalTensor<T>& src, mask_parameter,          \
                               const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,       \
                               const int32_t srcRepStride) {                                                           \
        AF_CALL("WholeReduceSum");                                                                                     \
        AF_REDUCE_TYPES("WholeReduceSum", T);                                                                          \
        af_sim::reduce_repeats(af_sim::Reduction::Sum, af_sim::masked<isSetMask>(mask, repeatTime),                    \
                               af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),   \
                               dstRepStride, 2, false);                                                                \
    }
AF_FOR_BOTH_MASKS(AF_WHOLE_SUM, 0)
#undef AF_WHOLE_SUM

#define AF_WHOLE_EXTREME(mask_parameter, name, kind)                                                                   \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, mask_parameter, const int32_t repeatTime,   \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,               \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {                                             \
        AF_CALL(#name);                                                                                                \
        AF_REDUCE_TYPES(#name, T);                                                                                     \
        af_sim::reduce_repeats(af_sim::Reduction::kind, af_sim::masked<isSetMask>(mask, repeatTime),                   \
                               af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),   \
                               dstRepStride, uint8_t(order), true);                                                    \
    }
AF_FOR_BOTH_MASKS(AF_WHOLE_EXTREME, WholeReduceMax, Max)
AF_FOR_BOTH_MASKS(AF_WHOLE_EXTREME, WholeReduceMin, Min)
#undef AF_WHOLE_EXTREME

// Here the number of repeats comes before the mask.
#define AF_BLOCK(mask_parameter, name, kind)                                                                           \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, mask_parameter,   \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride) {             \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES(#name, T, half, float);                                                                              \
        af_sim::reduce_blocks(af_sim::Reduction::kind, af_sim::masked<isSetMask>(mask, repeatTime),                    \
                              af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),    \
                              dstRepStride, AF_ARCH_350);                                                              \
    }
AF_FOR_BOTH_MASKS(AF_BLOCK, BlockReduceSum, Sum)
AF_FOR_BOTH_MASKS(AF_BLOCK, BlockReduceMax, Max)
AF_FOR_BOTH_MASKS(AF_BLOCK, BlockReduceMin, Min)
#undef AF_BLOCK

#define AF_PAIR(mask_parameter, unused)                                                                                \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,          \
                              mask_parameter, const int32_t dstRepStride, const int32_t srcBlkStride,                  \
                              const int32_t srcRepStride) {                                                            \
        AF_CALL("PairReduceSum");                                                                                      \
        AF_DTYPES("PairReduceSum", T, half, float);                                                                    \
        af_sim::reduce_pairs(af_sim::masked<isSetMask>(mask, repeatTime), af_sim::operand("dst", dst),                 \
                             af_sim::operand("src", src, srcBlkStride, srcRepStride), dstRepStride);                   \
    }
AF_FOR_BOTH_MASKS(AF_PAIR, 0)
#undef AF_PAIR

AF_SUM_TEMPLATE
AF_API void RepeatReduceSum(const LocalTensor<AF_SUM_DST>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride) {
    AF_CALL("RepeatReduceSum");
    AF_REDUCE_TYPES("RepeatReduceSum", T);
    if (dstBlkStride < 0) af_sim::fail(af_sim::Rule::Limit, "dstBlkStride", dstBlkStride, 0, "a stride is negative");
    af_sim::reduce_repeats(af_sim::Reduction::Sum, af_sim::masked<isSetMask>(uint64_t(mask), repeatTime),
                           af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),
                           dstRepStride, 2, false);
}

// The newer names: kind as a template parameter, the mask always before the number of repeats.
#define AF_REDUCE_REPEAT(mask_parameter, unused)                                                                       \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AF_API void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, mask_parameter,                     \
                             const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,         \
                             const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {         \
        AF_CALL("ReduceRepeat");                                                                                       \
        AF_REDUCE_TYPES("ReduceRepeat", U);                                                                            \
        constexpr bool is_sum = reduceType == ReduceType::SUM;                                                         \
        static_assert(is_sum || __is_same(T, U), "AscendC::ReduceRepeat: MAX and MIN keep the element type");          \
        af_sim::reduce_repeats(af_sim::reduction_of(int8_t(reduceType)), af_sim::masked<isSetMask>(mask, repeatTime),  \
                               af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),   \
                               dstRepStride, is_sum ? 2 : uint8_t(order), !is_sum);                                    \
    }
#define AF_REDUCE_DATA_BLOCK(mask_parameter, unused)                                                                   \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AF_API void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, mask_parameter,                  \
                                const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,      \
                                const int32_t srcRepStride) {                                                          \
        AF_CALL("ReduceDataBlock");                                                                                    \
        AF_DTYPES("ReduceDataBlock", U, half, float);                                                                  \
        static_assert(__is_same(T, U), "AscendC::ReduceDataBlock: keeps the element type");                            \
        af_sim::reduce_blocks(af_sim::reduction_of(int8_t(reduceType)), af_sim::masked<isSetMask>(mask, repeatTime),   \
                              af_sim::operand("dst", dst), af_sim::operand("src", src, srcBlkStride, srcRepStride),    \
                              dstRepStride, AF_ARCH_350);                                                              \
    }
#define AF_REDUCE_PAIR_ELEM(mask_parameter, unused)                                                                    \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                                    \
    AF_API void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, mask_parameter,                   \
                               const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,       \
                               const int32_t srcRepStride) {                                                           \
        AF_CALL("ReducePairElem");                                                                                     \
        AF_DTYPES("ReducePairElem", U, half, float);                                                                   \
        static_assert(reduceType == ReduceType::SUM, "AscendC::ReducePairElem: pairs can be summed only");             \
        af_sim::reduce_pairs(af_sim::masked<isSetMask>(mask, repeatTime), af_sim::operand("dst", dst),                 \
                             af_sim::operand("src", src, srcBlkStride, srcRepStride), dstRepStride);                   \
    }
AF_FOR_BOTH_MASKS(AF_REDUCE_REPEAT, 0)
AF_FOR_BOTH_MASKS(AF_REDUCE_DATA_BLOCK, 0)
AF_FOR_BOTH_MASKS(AF_REDUCE_PAIR_ELEM, 0)
#undef AF_REDUCE_REPEAT
#undef AF_REDUCE_DATA_BLOCK
#undef AF_REDUCE_PAIR_ELEM

template <typename T, bool isSetMask = true>
AF_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count) {
    AF_CALL("ReduceSum");
    AF_REDUCE_SUM_TYPES(T);
    af_sim::reduce_all(af_sim::Reduction::Sum, af_sim::counted(count), af_sim::operand("dst", dst),
                       af_sim::operand("src", src), af_sim::operand("sharedTmpBuffer", sharedTmpBuffer), false, false);
}
#define AF_REDUCE_SUM_MASKED(mask_parameter, unused)                                                                   \
    template <typename T>                                                                                              \
    AF_API void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer, \
                          mask_parameter, const int32_t repeatTime, const int32_t srcRepStride) {                      \
        AF_CALL("ReduceSum");                                                                                          \
        AF_REDUCE_SUM_TYPES(T);                                                                                        \
        af_sim::reduce_all(af_sim::Reduction::Sum, af_sim::masked<true>(mask, repeatTime), af_sim::operand("dst", dst), \
                           af_sim::operand("src", src, 1, srcRepStride),                                               \
                           af_sim::operand("sharedTmpBuffer", sharedTmpBuffer), true, false);                          \
    }
AF_FOR_BOTH_MASKS(AF_REDUCE_SUM_MASKED, 0)
#undef AF_REDUCE_SUM_MASKED

#define AF_REDUCE_EXTREME_MASKED(mask_parameter, name, kind)                                                           \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,      \
                     mask_parameter, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0) {        \
        AF_CALL(#name);                                                                                                \
        AF_REDUCE_TYPES(#name, T);                                                                                     \
        af_sim::reduce_all(af_sim::Reduction::kind, af_sim::masked<true>(mask, repeatTime),                            \
                           af_sim::operand("dst", dst), af_sim::operand("src", src, 1, srcRepStride),                  \
                           af_sim::operand("sharedTmpBuffer", sharedTmpBuffer), true, calIndex);                       \
    }
#define AF_REDUCE_EXTREME(name, kind)                                                                                  \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,      \
                     const int32_t count, bool calIndex = 0) {                                                         \
        AF_CALL(#name);                                                                                                \
        AF_REDUCE_ALL_TYPES(#name, T);                                                                                 \
        af_sim::reduce_all(af_sim::Reduction::kind, af_sim::counted(count), af_sim::operand("dst", dst),               \
                           af_sim::operand("src", src), af_sim::operand("sharedTmpBuffer", sharedTmpBuffer), true,     \
                           calIndex);                                                                                  \
    }                                                                                                                  \
    AF_FOR_BOTH_MASKS(AF_REDUCE_EXTREME_MASKED, name, kind)
AF_REDUCE_EXTREME(ReduceMax, Max)
AF_REDUCE_EXTREME(ReduceMin, Min)
#undef AF_REDUCE_EXTREME
#undef AF_REDUCE_EXTREME_MASKED

template <typename T> AF_API T GetReduceRepeatSumSpr() {
    AF_CALL("GetReduceRepeatSumSpr");
    T sum;
    af_sim::accumulated(af_sim::dtype_of<T>, &sum);
    return sum;
}
template <typename T> AF_API T GetAccVal() {
    AF_CALL("GetAccVal");
    return GetReduceRepeatSumSpr<T>();
}
#if AF_ARCH_A2
template <typename T> AF_API void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
    AF_CALL("GetReduceRepeatMaxMinSpr");
    af_sim::accumulated_extreme(af_sim::dtype_of<T>, &maxMinValue, nullptr);
}
template <typename T> AF_API void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
    AF_CALL("GetReduceRepeatMaxMinSpr");
    af_sim::accumulated_extreme(af_sim::dtype_of<T>, &maxMinValue, &maxMinIndex);
}
template <typename T> AF_API void GetReduceMaxMinCount(T& maxMinValue) {
    AF_CALL("GetReduceMaxMinCount");
    GetReduceRepeatMaxMinSpr<T>(maxMinValue);
}
template <typename T> AF_API void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
    AF_CALL("GetReduceMaxMinCount");
    GetReduceRepeatMaxMinSpr<T>(maxMinValue, maxMinIndex);
}
#endif

}  // namespace AscendC
