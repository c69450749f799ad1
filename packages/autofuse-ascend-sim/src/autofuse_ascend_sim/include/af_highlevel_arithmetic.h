// Arithmetic of one element: 16-bit floating-point types compute in float and round once, integers wrap, NaN spreads.
#pragma once
#include <cstdint>

#include "af_types.h"

namespace af_sim {

template <typename T> constexpr bool is_floating() { return is_one_of<T, half, bfloat16_t, float, double>(); }

template <typename T> bool is_nan(T value) {
    if constexpr (is_floating<T>()) {
        return __builtin_isnan(static_cast<double>(value));
    } else {
        return false;
    }
}
template <typename T> T larger(T a, T b) { return is_nan(a) || (!is_nan(b) && a > b) ? a : b; }
template <typename T> T smaller(T a, T b) { return is_nan(a) || (!is_nan(b) && a < b) ? a : b; }

template <typename T> T sum_of(T a, T b) {
    if constexpr (is_floating<T>()) {
        return T(a + b);
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
}
template <typename T> T difference_of(T a, T b) {
    if constexpr (is_floating<T>()) {
        return T(a - b);
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    }
}
template <typename T> T product_of(T a, T b) {
    if constexpr (is_floating<T>()) {
        return T(a * b);
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
}
// Integers truncate towards zero; a division by zero gives 0, where a chip promises nothing.
template <typename T> T quotient_of(T a, T b) {
    if constexpr (is_floating<T>()) {
        return T(a / b);
    } else {
        if (b == T(0)) return T(0);
        return b == static_cast<T>(-1) && T(-1) < T(0) ? difference_of(T(0), a) : static_cast<T>(a / b);
    }
}

}  // namespace af_sim
