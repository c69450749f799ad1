// Conversions of one value in the scalar unit.
#pragma once
#include "af_highlevel_map.h"

namespace af_sim {

template <AscendC::RoundMode mode> double whole_number(double x) {
    using AscendC::RoundMode;
    if (mode == RoundMode::CAST_FLOOR) return __builtin_floor(x);
    if (mode == RoundMode::CAST_CEIL) return __builtin_ceil(x);
    if (mode == RoundMode::CAST_ROUND) return __builtin_round(x);
    if (mode == RoundMode::CAST_TRUNC) return __builtin_trunc(x);
    return __builtin_nearbyint(x);
}

}  // namespace af_sim

namespace AscendC {

// Floating-point to integer rounds and saturates, NaN becomes 0; everything else rounds to nearest even.
template <typename T, typename U, RoundMode roundMode> AF_API U ScalarCast(T valueIn) {
    AF_CALL("ScalarCast");
    static_assert(af_sim::is_one_of<T, float, half, int32_t>() && af_sim::is_one_of<U, half, bfloat16_t, float, int32_t>(),
                  "AscendC::ScalarCast: the types are half, bfloat16_t, float and int32_t");
    const double value = af_sim::exact(valueIn);
    if constexpr (af_sim::is_one_of<U, int32_t>()) {
        const double whole = af_sim::whole_number<roundMode>(value);
        return whole != whole ? 0 : whole >= 2147483647.0 ? 2147483647 : whole <= -2147483648.0 ? -2147483647 - 1 : U(whole);
    } else {
        static_assert(roundMode == RoundMode::CAST_RINT || roundMode == RoundMode::CAST_NONE,
                      "AscendC::ScalarCast: only CAST_RINT and CAST_NONE are emulated for floating-point results");
        return af_sim::rounded<U>(value);
    }
}

}  // namespace AscendC
