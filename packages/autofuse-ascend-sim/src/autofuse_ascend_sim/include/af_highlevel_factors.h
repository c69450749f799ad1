// How much temporary memory a high-level function needs: a factor of 256 bytes per function and element size, and the
// bytes that come on top. The numbers are those of architecture 2201; 350's are not published and taken to be the same.
#pragma once
#include <cstdint>

namespace af_sim {

struct TmpFactor {
    uint32_t half;           // buffers of 256 bytes for 2-byte elements
    uint32_t single;         // and for 4-byte elements
    uint32_t half_reused;    // the same where the source may be overwritten
    uint32_t single_reused;
    bool needs_reserved_ub = false;  // on A2 and A3 the function also works in the last 8 KB of UB

    constexpr uint32_t of(uint32_t element_bytes, bool reuses_source) const {
        if (element_bytes == 2) return reuses_source ? half_reused : half;
        return reuses_source ? single_reused : single;
    }
    constexpr uint32_t least_bytes(uint32_t element_bytes, bool reuses_source) const {
        return 256 * of(element_bytes, reuses_source);
    }
};

namespace factor {
constexpr TmpFactor plain(uint32_t half, uint32_t single) { return {half, single, half, single, false}; }

constexpr TmpFactor Acos = plain(6, 2), Asin = plain(6, 2), Acosh = plain(2, 1), Asinh = plain(3, 3);
constexpr TmpFactor Atan = plain(12, 5), Atanh = plain(4, 1), Tan = plain(10, 4);
constexpr TmpFactor Sin = {8, 3, 8, 2, false}, Cos = {8, 3, 8, 2, false};
constexpr TmpFactor Sinh = plain(4, 1), Cosh = plain(6, 2), Tanh = plain(4, 1);
constexpr TmpFactor Erf = plain(8, 3), Erfc = plain(16, 7), Log2 = plain(4, 0);
constexpr TmpFactor Floor = plain(2, 0), Ceil = plain(2, 1), Round = plain(1, 1), Trunc = plain(2, 1);
constexpr TmpFactor Frac = plain(4, 0), Fmod = plain(8, 1), Sign = {3, 3, 3, 3, true}, Axpy = plain(4, 1);
constexpr TmpFactor Xor = plain(1, 1), Sigmoid = plain(1, 1), ExpTaylor = {4, 3, 4, 2, false};
constexpr TmpFactor Lgamma = {26, 8, 26, 7, true}, Digamma = {16, 7, 16, 6, true};
}  // namespace factor

constexpr uint64_t rounded_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }
constexpr uint64_t larger_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

// The largest power of two that is at most `n`, halved when it is `n` itself: where a reduction folds.
constexpr uint32_t fold_point(uint32_t n) {
    uint32_t power = 1;
    while (power <= n / 2) power *= 2;
    return power == n && power > 1 ? power / 2 : power;
}

enum class ReduceKind : uint8_t { Sum, Extreme, Product, Logic };

// Bytes of temporary for reducing a `first` x `last` matrix of `size`-byte elements along its last or first axis.
constexpr uint64_t reduction_tmp_bytes(ReduceKind kind, uint64_t size, bool last_axis, uint32_t first, uint32_t last,
                                       bool reuses_source) {
    const bool is_byte_logic = kind == ReduceKind::Logic && size == 1;
    if (reuses_source && kind == ReduceKind::Product) return last_axis ? 256 : 0;
    if (reuses_source && !(is_byte_logic && last_axis)) return 0;
    if (!last_axis) {
        if (kind == ReduceKind::Sum) return fold_point(first) * rounded_up(last, 8) * 4;
        return fold_point(first) * rounded_up(last * size, 32);
    }
    if (kind == ReduceKind::Sum) return last <= 64 ? 0 : uint64_t(first) * fold_point(last) * 4;
    if (kind == ReduceKind::Product) return (larger_of(8, fold_point(last)) + uint64_t(first) * 8) * 4 + 256;
    if (is_byte_logic) return 2 * rounded_up(last, 32) + uint64_t(first) * 32;
    return last <= 32 / size ? 0 : uint64_t(first) * (last < 256 / size ? 32 : 256);
}

struct TmpSize {
    uint64_t least = 0, most = 0;
};

// Power of `n` elements: 4 to 14 buffers of a repeat, one of them shorter for half, and 256 bytes for floating types.
constexpr TmpSize power_tmp_size(uint64_t size, bool is_integer, bool has_scalar, uint64_t n) {
    const uint64_t buffers = size == 2 ? 14 : is_integer ? (has_scalar ? 7 : 6) : (has_scalar ? 5 : 4);
    const uint64_t repeat = size == 2 ? 128 : 256, extra = is_integer ? 0 : 256;
    return {buffers * repeat + extra, buffers * larger_of(n * size, repeat) + extra};
}

// Broadcast of `from` to `to` elements in rows of `columns`; a block holds e elements, 8-bit types go through half.
constexpr TmpSize broadcast_tmp_size(uint64_t size, bool repeats_rows, uint64_t from, uint64_t to, uint64_t rows,
                                     uint64_t columns) {
    const bool is_byte = size == 1;
    const uint64_t s = is_byte ? 2 : size, e = 32 / s, padded = rounded_up(columns, e);
    const uint64_t staging = is_byte ? (rounded_up(from, 16) + rounded_up(to, 16)) * 2 : 0;
    if (from == 1 || from == to) return {staging + (is_byte ? 32 : 0), staging + (is_byte ? 32 : 0)};
    if (repeats_rows) return {staging + 32, staging + 32};
    const bool is_aligned = columns * s % 32 == 0;
    return {staging + e * e * s + (is_aligned ? 0 : e * padded * s),
            staging + rounded_up(rows, 8) * e * s + (is_aligned ? 0 : rows * padded * s)};
}

constexpr uint64_t sum_tmp_bytes(uint64_t n, uint64_t size) {
    return rounded_up((n * size + 255) / 256, 32 / size) * size;
}
// With a wider accumulator a row of `inner` elements is widened as well.
constexpr uint64_t mean_tmp_bytes(uint64_t n, uint64_t inner, uint64_t size, uint64_t sum_size) {
    return rounded_up((n * sum_size + 255) / 256, 32) + (sum_size > size ? inner * 4 : 0);
}

// Selection by a mask of bytes, `chunk` elements at a time.
constexpr uint64_t select_tmp_bytes(uint64_t chunk, uint64_t mask_size, bool compacts_mask) {
    return larger_of(1024, rounded_up(chunk, 32) * 2 + 512) + (compacts_mask ? rounded_up(chunk * mask_size, 32) : 0);
}
constexpr uint64_t kSelectChunk = 4096;

// Running sums: 16 rows at a time along the last axis; half also needs its rows in float along the first.
constexpr TmpSize cumsum_tmp_size(uint64_t size, bool last_axis, uint64_t outter, uint64_t inner) {
    if (!last_axis) return {size == 2 ? outter * inner * 4 : 0, size == 2 ? outter * inner * 4 : 0};
    const uint64_t row = inner * size * 2 + (size == 2 ? inner * 2 : 0);
    return {16 * row, rounded_up(outter, 16) * row};
}

}  // namespace af_sim
