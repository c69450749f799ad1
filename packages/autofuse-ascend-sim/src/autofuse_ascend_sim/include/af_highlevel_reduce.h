// Reductions of a matrix along its last axis (AR) or its first (RA), and sums of rows.
//
// Sums and products fold halves: the largest power of two of the axis keeps, the rest is added onto its front, then the
// upper half is added onto the lower until one repeat is left, which an instruction reduces pairwise. Every step rounds
// to the element type. Rows of the source start on 32-byte blocks (srcInnerPad = true).
#pragma once
#include "af_highlevel_arithmetic.h"
#include "af_highlevel_map.h"

namespace AscendC {

namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

struct SumParams {
    uint32_t outter = 1;  // rows
    uint32_t inner = 0;   // elements from one row to the next, whole 32-byte blocks
    uint32_t n = 0;       // elements of a row
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};

}  // namespace AscendC

namespace af_sim {

// Reduces `n` values in place, `stride` elements apart, by folding and a pairwise end of at most `lanes` values.
template <typename T, typename F> T fold(T* values, uint32_t n, uint32_t stride, uint32_t lanes, F join) {
    while (n > lanes) {
        const uint32_t kept = fold_point(n);
        for (uint32_t i = kept; i < n; ++i) values[(i - kept) * stride] = join(values[(i - kept) * stride], values[i * stride]);
        n = kept;
    }
    while (n > 1) {
        for (uint32_t i = 0; i < n / 2; ++i) values[i * stride] = join(values[2 * i * stride], values[(2 * i + 1) * stride]);
        if (n % 2 != 0) values[(n / 2) * stride] = values[(n - 1) * stride];
        n = (n + 1) / 2;
    }
    return values[0];
}

struct Matrix {
    uint32_t rows, columns, row_elements;  // row_elements: from one row to the next
};

template <typename T> Matrix matrix_of(const char* api, const uint32_t shape[], bool inner_pad) {
    if (!inner_pad && AF_ARCH_A2) {
        fail(Rule::Usage, "srcInnerPad", 0, 1, "%s: rows must start on 32-byte blocks, so srcInnerPad must be true", api);
    }
    const uint32_t stride = inner_pad ? static_cast<uint32_t>(rounded_up(shape[1] * sizeof(T), 32) / sizeof(T)) : shape[1];
    return {shape[0], shape[1], stride};
}

// dst[r] (AR) or dst[c] (RA) = fold of the row or column; `finish` maps the folded value to the result.
template <typename T, typename Join, typename Finish>
void reduce_matrix(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src, const Temporary& tmp,
                   const Matrix& m, bool last_axis, uint64_t tmp_bytes, Join join, Finish finish) {
    const uint64_t used = m.rows == 0 ? 0 : uint64_t(m.rows - 1) * m.row_elements + m.columns;
    const uint32_t results = last_axis ? m.rows : m.columns;
    const Operand out = written("dst", dst, results);
    Operand in = read("src", src, m.columns);
    in.region.pieces = m.rows;
    in.region.piece_stride = static_cast<uint32_t>(m.row_elements * sizeof(T));
    const Operand whole = read("src", src, used);
    disjoint(out, whole);
    const Work amount = work<T>(used, last_axis ? 2 * m.rows : 1);
    bool compute;
    if (tmp_bytes > 0) {
        const Operand extra = scratch("sharedTmpBuffer", tmp, tmp_bytes);
        disjoint(out, extra);
        disjoint(extra, whole);
        compute = issue(PIPE_V, {out, in, extra}, amount);
    } else {
        compute = issue(PIPE_V, {out, in}, amount);
    }
    if (!compute || used == 0) return;
    const uint32_t length = last_axis ? m.columns : m.rows;
    T* column = static_cast<T*>(__builtin_malloc(length * sizeof(T)));
    for (uint32_t result = 0; result < results; ++result) {
        for (uint32_t i = 0; i < length; ++i) {
            column[i] = src.Data()[last_axis ? uint64_t(result) * m.row_elements + i : uint64_t(i) * m.row_elements + result];
        }
        dst.Data()[result] = finish(fold(column, length, 1, last_axis ? 64 : 1, join), length);
    }
    __builtin_free(column);
}

template <typename T, typename pattern> constexpr bool reduces_last_axis() {
    static_assert(is_one_of<pattern, AscendC::Pattern::Reduce::AR, AscendC::Pattern::Reduce::RA>(),
                  "the reduction pattern must be AscendC::Pattern::Reduce::AR or RA");
    return __is_same(pattern, AscendC::Pattern::Reduce::AR);
}

}  // namespace af_sim

namespace AscendC {

// A pattern reduction with and without temporary. `joined` is C++ of `a` and `b`, `finished` of `value` and `n`.
#define AF_REDUCE(name, kind, a2, a350, joined, finished)                                                              \
    template <class T, class pattern, bool isReuseSource = false>                                                      \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                             \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[], bool srcInnerPad) {       \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const af_sim::Matrix m = af_sim::matrix_of<T>(#name, srcShape, srcInnerPad);                                   \
        constexpr bool last_axis = af_sim::reduces_last_axis<T, pattern>();                                            \
        const uint64_t tmp_bytes = af_sim::reduction_tmp_bytes(af_sim::ReduceKind::kind, sizeof(T), last_axis, m.rows, \
                                                               m.columns, isReuseSource);                              \
        af_sim::reduce_matrix(dst, src, sharedTmpBuffer, m, last_axis, tmp_bytes,                                      \
                              [](T a, T b) -> T { return joined; },                                                    \
                              [](T value, uint32_t n) -> T { static_cast<void>(n); return finished; });                \
    }                                                                                                                  \
    template <class T, class pattern, bool isReuseSource = false>                                                      \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t srcShape[],                  \
                     bool srcInnerPad) {                                                                               \
        AF_CALL(#name);                                                                                                \
        name<T, pattern, isReuseSource>(dst, src, af_sim::stack_temporary(), srcShape, srcInnerPad);                   \
    }

#define AF_REDUCE_EXTREME_350 (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)
AF_REDUCE(ReduceSum, Sum, (float), (int32_t, uint32_t, float, int64_t, uint64_t), af_sim::sum_of(a, b), value)
AF_REDUCE(ReduceMean, Sum, (float), (float), af_sim::sum_of(a, b), T(value / T(n)))
AF_REDUCE(ReduceMax, Extreme, (half, float), AF_REDUCE_EXTREME_350, af_sim::larger(a, b), value)
AF_REDUCE(ReduceMin, Extreme, (half, float), AF_REDUCE_EXTREME_350, af_sim::smaller(a, b), value)
AF_REDUCE(ReduceProd, Product, (float), (float), T(a * b), value)
AF_REDUCE(ReduceAny, Logic, (uint8_t, float), (uint8_t, float), af_sim::larger(a, b), value)
AF_REDUCE(ReduceAll, Logic, (uint8_t, float), (uint8_t, float), af_sim::smaller(a, b), value)
#undef AF_REDUCE
#undef AF_REDUCE_EXTREME_350

// Sum of each row; dst holds the sums side by side, padded to a 32-byte block.
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
AF_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                const SumParams& sumParams) {
    AF_CALL("Sum");
    AF_FLOATING("Sum", T);
    static_assert(reduceDim == -1, "AscendC::Sum: only the last axis (reduceDim = -1) can be reduced");
    const auto& p = sumParams;
    const uint64_t tmp_bytes = af_sim::sum_tmp_bytes(p.n, sizeof(T));
    af_sim::reduce_matrix(dst, src, sharedTmpBuffer, af_sim::Matrix{p.outter, p.n, p.inner}, true, tmp_bytes,
                          [](T a, T b) { return T(float(a) + float(b)); }, [](T value, uint32_t) { return value; });
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
AF_API void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& sumParams) {
    AF_CALL("Sum");
    Sum<T, reduceDim, isReuseSource, isBasicBlock>(dst, src, af_sim::stack_temporary(), sumParams);
}

// Mean of each row. With accType = float, half rows are summed in float.
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
AF_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const MeanParams& meanParams) {
    AF_CALL("Mean");
    AF_FLOATING("Mean", T);
    static_assert(af_sim::is_one_of<accType, T, float>(), "AscendC::Mean: the sum is in T or in float");
    static_assert(reduceDim == -1, "AscendC::Mean: only the last axis (reduceDim = -1) can be reduced");
    const auto& p = meanParams;
    const uint64_t tmp_bytes = af_sim::mean_tmp_bytes(p.n, p.inner, sizeof(T), sizeof(accType));
    const af_sim::Operand out = af_sim::written("dst", dst, p.outter);
    af_sim::Operand in = af_sim::read("src", src, p.n);
    in.region.pieces = p.outter;
    in.region.piece_stride = static_cast<uint32_t>(p.inner * sizeof(T));
    const af_sim::Operand tmp = af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, tmp_bytes);
    af_sim::disjoint(out, af_sim::read("src", src, uint64_t(p.outter) * p.inner));
    af_sim::disjoint(out, tmp);
    if (!af_sim::issue(PIPE_V, {out, in, tmp}, af_sim::work<T>(uint64_t(p.outter) * p.n, 3 * p.outter))) return;
    accType* row = static_cast<accType*>(__builtin_malloc((uint64_t(p.n) + 1) * sizeof(accType)));
    for (uint32_t r = 0; r < p.outter && p.n > 0; ++r) {
        for (uint32_t i = 0; i < p.n; ++i) row[i] = accType(float(src.Data()[uint64_t(r) * p.inner + i]));
        const accType sum =
            af_sim::fold(row, p.n, 1, 64, [](accType a, accType b) { return accType(float(a) + float(b)); });
        dst.Data()[r] = T(float(sum) / float(p.n));
    }
    __builtin_free(row);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
AF_API void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MeanParams& meanParams) {
    AF_CALL("Mean");
    Mean<T, accType, isReuseSource, isBasicBlock, reduceDim>(dst, src, af_sim::stack_temporary(), meanParams);
}

// dst[0] = sum of a ^ b, modulo 2^16.
template <typename T, bool isReuseSource = false>
AF_API void ReduceXorSum(LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                         LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) {
    AF_CALL("ReduceXorSum");
    AF_DTYPES("ReduceXorSum", T, int16_t);
    const af_sim::Operand out = af_sim::written("dst", dst, 1);
    const af_sim::Operand a = af_sim::read("src0", src0, calCount), b = af_sim::read("src1", src1, calCount);
    af_sim::disjoint(out, a);
    af_sim::disjoint(out, b);
    const af_sim::Operand tmp = af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, 0);
    if (!af_sim::issue(PIPE_V, {out, a, b, tmp}, af_sim::work<T>(calCount, 6))) return;
    uint16_t sum = 0;
    for (uint32_t i = 0; i < calCount; ++i) sum = static_cast<uint16_t>(sum + (src0.Data()[i] ^ src1.Data()[i]));
    dst.Data()[0] = static_cast<T>(sum);
}

}  // namespace AscendC
