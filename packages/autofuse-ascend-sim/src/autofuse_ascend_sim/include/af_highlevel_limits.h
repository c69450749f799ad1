// The largest and smallest values of an element type, as values and as fills of a tensor.
#pragma once
#include "af_highlevel_map.h"

namespace af_sim {

template <typename T> constexpr bool has_limits() {
    return is_one_of<T, half, float, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>()
#if AF_ARCH_350
           || is_one_of<T, bfloat16_t>()
#endif
        ;
}

template <typename T> constexpr T from_bits(uint32_t bits) {
    if constexpr (is_one_of<T, float>()) {
        return __builtin_bit_cast(float, bits);
    } else {
        return __builtin_bit_cast(T, static_cast<uint16_t>(bits));
    }
}

}  // namespace af_sim

namespace AscendC {

// Lowest is the most negative value; Min is that as well for integers, and the smallest positive normal number otherwise.
template <typename T> class NumericLimits {
    static_assert(af_sim::has_limits<T>(), "AscendC::NumericLimits: this element type is not supported on " AF_SOC_NAME);
    static constexpr bool is_integer = !af_sim::is_one_of<T, half, bfloat16_t, float>();
    static constexpr bool is_signed = T(-1) < T(0);
    static constexpr uint32_t bits = 8 * sizeof(T);

    static constexpr T pick(uint32_t in_half, uint32_t in_bfloat16, uint32_t in_float) {
        static_assert(!is_integer, "AscendC::NumericLimits: integers have Max, Lowest and Min");
        return af_sim::from_bits<T>(sizeof(T) == 4 ? in_float : af_sim::is_one_of<T, half>() ? in_half : in_bfloat16);
    }

public:
    static constexpr T Max() {
        if constexpr (is_integer) {
            return static_cast<T>(is_signed ? (uint64_t(1) << (bits - 1)) - 1 : (uint64_t(1) << bits) - 1);
        } else {
            return pick(0x7bffu, 0x7f7fu, 0x7f7fffffu);
        }
    }
    static constexpr T Lowest() {
        if constexpr (is_integer) {
            return is_signed ? static_cast<T>(-static_cast<int64_t>(Max()) - 1) : T(0);
        } else {
            return pick(0xfbffu, 0xff7fu, 0xff7fffffu);
        }
    }
    static constexpr T Min() {
        if constexpr (is_integer) {
            return Lowest();
        } else {
            return pick(0x0400u, 0x0080u, 0x00800000u);
        }
    }
    static constexpr T Infinity() { return pick(0x7c00u, 0x7f80u, 0x7f800000u); }
    static constexpr T NegativeInfinity() { return pick(0xfc00u, 0xff80u, 0xff800000u); }
    static constexpr T QuietNaN() { return pick(0x7e00u, 0x7fc0u, 0x7fc00000u); }
    static constexpr T SignalingNaN() { return pick(0x7d00u, 0x7fa0u, 0x7fa00000u); }
    static constexpr T DeNormMin() { return pick(0x0001u, 0x0001u, 0x00000001u); }

#define AF_LIMIT_FILL(name)                                                                   \
    AF_API static void name(const LocalTensor<T>& dst, uint32_t count) {                      \
        AF_CALL("NumericLimits::" #name);                                                     \
        af_sim::map(af_sim::MapRule(), dst, nullptr, count, [] { return name(); });           \
    }
    AF_LIMIT_FILL(Max)
    AF_LIMIT_FILL(Lowest)
    AF_LIMIT_FILL(Min)
    AF_LIMIT_FILL(Infinity)
    AF_LIMIT_FILL(NegativeInfinity)
    AF_LIMIT_FILL(QuietNaN)
    AF_LIMIT_FILL(SignalingNaN)
    AF_LIMIT_FILL(DeNormMin)
#undef AF_LIMIT_FILL
};

}  // namespace AscendC
