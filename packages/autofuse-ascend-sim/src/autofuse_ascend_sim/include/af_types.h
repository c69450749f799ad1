// 16-bit floating-point types and the element types an instruction can name.
//
// half and bfloat16_t hold bits. Arithmetic happens in float and is rounded to nearest-even when it is stored, so a
// scalar expression rounds once per assignment and a vector instruction once per instruction.
#pragma once
#include <cstdint>

namespace af_sim {

constexpr uint16_t half_bits_of(float value) {
    const uint32_t all = __builtin_bit_cast(uint32_t, value);
    const uint16_t sign = static_cast<uint16_t>((all >> 16) & 0x8000u);
    const uint32_t x = all & 0x7fffffffu;
    if (x > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((x >> 13) & 0x3ffu));  // NaN stays quiet
    if (x >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);                        // 65520 and up: infinity
    if (x < 0x33000000u) return sign;                                                          // below half a subnormal
    if (x < 0x38800000u) {                                                                     // subnormal result
        const uint32_t shift = 126u - (x >> 23);
        const uint32_t mantissa = (x & 0x7fffffu) | 0x800000u;
        const uint32_t kept = mantissa >> shift;
        const uint32_t rest = mantissa & ((1u << shift) - 1u);
        const uint32_t middle = 1u << (shift - 1u);
        return static_cast<uint16_t>(sign | (kept + ((rest > middle || (rest == middle && (kept & 1u))) ? 1u : 0u)));
    }
    const uint32_t rebased = x - 0x38000000u;
    return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

constexpr float half_value_of(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 31u;
    const uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-08f;  // 2^-24
        return sign ? -magnitude : magnitude;
    }
    const uint32_t rebased = exponent == 31u ? 255u : exponent + 112u;
    return __builtin_bit_cast(float, sign | (rebased << 23) | (mantissa << 13));
}

constexpr uint16_t bfloat16_bits_of(float value) {
    const uint32_t x = __builtin_bit_cast(uint32_t, value);
    if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((x >> 16) | 0x40u);
    return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

constexpr float bfloat16_value_of(uint16_t bits) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

enum class DType : uint8_t { Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64 };

constexpr uint32_t size_of(DType type) {
    constexpr uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return sizes[static_cast<int>(type)];
}

}  // namespace af_sim

struct half {
    uint16_t bits;
    half() = default;
    constexpr half(float value) : bits(af_sim::half_bits_of(value)) {}
    constexpr half(double value) : bits(af_sim::half_bits_of(static_cast<float>(value))) {}
    constexpr half(int value) : bits(af_sim::half_bits_of(static_cast<float>(value))) {}
    constexpr half(unsigned value) : bits(af_sim::half_bits_of(static_cast<float>(value))) {}
    constexpr operator float() const { return af_sim::half_value_of(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    constexpr bfloat16_t(float value) : bits(af_sim::bfloat16_bits_of(value)) {}
    constexpr bfloat16_t(double value) : bits(af_sim::bfloat16_bits_of(static_cast<float>(value))) {}
    constexpr bfloat16_t(int value) : bits(af_sim::bfloat16_bits_of(static_cast<float>(value))) {}
    constexpr operator float() const { return af_sim::bfloat16_value_of(bits); }
};

namespace af_sim {

template <typename T> struct DTypeOf;  // a type without a specialisation cannot be an element of a tensor
template <> struct DTypeOf<bool> { static constexpr DType value = DType::Bool; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::I8; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::U8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::I16; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::U16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::I32; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::U32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::I64; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::U64; };
template <> struct DTypeOf<half> { static constexpr DType value = DType::F16; };
template <> struct DTypeOf<bfloat16_t> { static constexpr DType value = DType::BF16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::F32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::F64; };

template <typename T> constexpr DType dtype_of = DTypeOf<T>::value;

template <typename T, typename U> struct TypePair {};

template <typename T, typename... Allowed> constexpr bool is_one_of() { return (__is_same(T, Allowed) || ...); }

}  // namespace af_sim
