// Rows made of lanes: loops over plain types, and chunks that widen 16-bit floats.
#pragma once
#include "lane_math.h"

namespace af_sim {

// The scalar operand of a row in type T.
template <typename T> T scalar_of(const RowScalar& s) {
    if constexpr (is_int<T>) {
        T value;
        memcpy(&value, &s.bits, sizeof value);
        return value;
    } else {
        return static_cast<T>(s.real);
    }
}

enum class Second : uint8_t { Row, Scalar, ScalarLeft, None };

template <typename F, typename T, Second second, bool reads_dst>
void row(void* dst, const void* a, const void* b, const RowScalar& s, uint32_t n) {
    T* d = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
    const T c = scalar_of<T>(s);
    for (uint32_t i = 0; i < n; ++i) {
        const T old = reads_dst ? d[i] : T(0);
        if constexpr (second == Second::Row) d[i] = F::eval(old, x[i], y[i], s);
        else if constexpr (second == Second::Scalar) d[i] = F::eval(old, x[i], c, s);
        else if constexpr (second == Second::ScalarLeft) d[i] = F::eval(old, c, x[i], s);
        else d[i] = F::eval(old, x[i], T(0), s);
    }
}

// Widened rows: 16-bit floats, and mixtures of half and float.
constexpr uint32_t kChunk = 512;

template <typename F, Second second, bool reads_dst, DType dst_type, DType a_type, DType b_type>
void wide_row(void* dst, const void* a, const void* b, const RowScalar& s, uint32_t n) {
    alignas(64) float d[kChunk], x[kChunk], y[kChunk];
    const auto load = [](DType type, float* to, const void* from, uint32_t first, uint32_t count) {
        const uint8_t* at = static_cast<const uint8_t*>(from) + uint64_t(first) * size_of(type);
        if (type == DType::F32) memcpy(to, at, count * sizeof(float));
        else widen_row(type, to, at, count);
    };
    for (uint32_t first = 0; first < n; first += kChunk) {
        const uint32_t count = n - first < kChunk ? n - first : kChunk;
        load(a_type, x, a, first, count);
        if (second == Second::Row) load(b_type, y, b, first, count);
        if (reads_dst) load(dst_type, d, dst, first, count);
        row<F, float, second, reads_dst>(d, x, y, s, count);
        uint8_t* out = static_cast<uint8_t*>(dst) + uint64_t(first) * size_of(dst_type);
        if (dst_type == DType::F32) memcpy(out, d, count * sizeof(float));
        else narrow_row(dst_type, out, d, count);
    }
}

template <typename F, Second second = Second::Row, bool reads_dst = false> RowFn float_row(DType type) {
    switch (type) {
        case DType::F32: return row<F, float, second, reads_dst>;
        case DType::F16: return wide_row<F, second, reads_dst, DType::F16, DType::F16, DType::F16>;
        case DType::BF16: return wide_row<F, second, reads_dst, DType::BF16, DType::BF16, DType::BF16>;
        default: return nullptr;
    }
}

template <typename F, Second second = Second::Row, bool reads_dst = false> RowFn int_row(DType type) {
    switch (type) {
        case DType::I8: return row<F, int8_t, second, reads_dst>;
        case DType::Bool:
        case DType::U8: return row<F, uint8_t, second, reads_dst>;
        case DType::I16: return row<F, int16_t, second, reads_dst>;
        case DType::U16: return row<F, uint16_t, second, reads_dst>;
        case DType::I32: return row<F, int32_t, second, reads_dst>;
        case DType::U32: return row<F, uint32_t, second, reads_dst>;
        case DType::I64: return row<F, int64_t, second, reads_dst>;
        case DType::U64: return row<F, uint64_t, second, reads_dst>;
        default: return nullptr;
    }
}

template <typename F, Second second = Second::Row, bool reads_dst = false> RowFn any_row(DType type) {
    const RowFn found = float_row<F, second, reads_dst>(type);
    return found != nullptr ? found : int_row<F, second, reads_dst>(type);
}

}  // namespace af_sim
