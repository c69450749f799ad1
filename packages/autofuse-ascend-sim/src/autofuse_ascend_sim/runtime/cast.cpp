// Conversions with every documented rounding mode. Float to integer saturates; NaN becomes 0.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "errors.h"
#include "rows.h"

namespace af_sim {
namespace {

enum Mode : uint8_t { kNone, kRint, kFloor, kCeil, kRound, kTrunc, kOdd };

template <typename T> constexpr bool is_16_bit_float = std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value;
template <typename T> constexpr bool is_int = std::is_integral<T>::value;

// To an integral value. Ties: RINT to even, ROUND away from zero.
double round_to_integer(double x, uint8_t mode) {
    switch (mode) {
        case kFloor: return std::floor(x);
        case kCeil: return std::ceil(x);
        case kRound: return std::round(x);
        case kTrunc: return std::trunc(x);
        default: return std::nearbyint(x);
    }
}

// Given the nearest representable value and its two neighbours, the one that `mode` asks for.
template <typename Wide, typename Value, typename Toward>
Value choose(Wide exact, Value nearest, uint8_t mode, Toward&& neighbour, bool nearest_is_odd) {
    const Wide rounded = static_cast<Wide>(nearest);
    if (rounded == exact || exact != exact) return nearest;
    const bool is_above = rounded > exact;
    const Value low = is_above ? neighbour(nearest, false) : nearest;
    const Value high = is_above ? nearest : neighbour(nearest, true);
    switch (mode) {
        case kFloor: return low;
        case kCeil: return high;
        case kTrunc: return exact < 0 ? high : low;
        case kRound: {
            const Wide to_low = exact - static_cast<Wide>(low), to_high = static_cast<Wide>(high) - exact;
            if (to_low == to_high) return exact < 0 ? low : high;
            return nearest;
        }
        case kOdd: return nearest_is_odd ? nearest : (is_above ? low : high);
        default: return nearest;
    }
}

template <typename H> uint16_t bits_of_16(float x) {
    return std::is_same<H, half>::value ? half_bits_of(x) : bfloat16_bits_of(x);
}
template <typename H> float value_of_16(uint16_t bits) {
    return std::is_same<H, half>::value ? half_value_of(bits) : bfloat16_value_of(bits);
}

// Order of 16-bit floats as integers: one step up or down, across zero as well.
uint16_t step(uint16_t bits, bool up) {
    const bool is_negative = (bits & 0x8000) != 0;
    if ((bits & 0x7fff) == 0) return up ? 0x0001 : 0x8001;
    return static_cast<uint16_t>(bits + (is_negative != up ? 1 : -1));
}

template <typename H> struct Stored {
    uint16_t bits;
    explicit operator double() const { return double(value_of_16<H>(bits)); }
};

template <typename H> uint16_t to_16(double x, uint8_t mode) {
    // Nearest-even of the double directly: rounding to float first could round twice.
    float f = static_cast<float>(x);
    if (double(f) != x && std::isfinite(f)) {  // make the float sticky so that ties are not invented
        uint32_t b;
        memcpy(&b, &f, 4);
        const bool above = std::fabs(double(f)) > std::fabs(x);
        if (above) --b;
        b |= 1;
        memcpy(&f, &b, 4);
    }
    const Stored<H> nearest{bits_of_16<H>(f)};
    if (mode == kNone || mode == kRint) return nearest.bits;
    const auto neighbour = [](Stored<H> v, bool up) { return Stored<H>{step(v.bits, up)}; };
    return choose<double>(x, nearest, mode, neighbour, (nearest.bits & 1) != 0).bits;
}

template <typename Wide> float to_float(Wide x, uint8_t mode) {
    const float nearest = static_cast<float>(x);
    if (mode == kNone || mode == kRint) return nearest;
    uint32_t bits;
    memcpy(&bits, &nearest, 4);
    const auto neighbour = [](float v, bool up) {
        return std::nextafter(v, up ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity());
    };
    return choose<Wide>(x, nearest, mode, neighbour, (bits & 1) != 0);
}

template <typename D, typename S> D int_to_int(S x) {
    const __int128 value = x;
    if (value < __int128(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (value > __int128(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(x);
}

template <typename D> D real_to_int(double x, uint8_t mode) {
    if (x != x) return D(0);
    const double r = round_to_integer(x, mode);
    if (r <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(r);
}

template <typename T> double real_of(const T& x) {
    if constexpr (is_16_bit_float<T>) return double(float(x));
    else return static_cast<double>(x);
}

template <typename D, typename S> D convert(const S& x, uint8_t mode) {
    if constexpr (is_int<S> && is_int<D>) {
        return int_to_int<D>(x);
    } else if constexpr (is_int<D>) {
        return real_to_int<D>(real_of(x), mode);
    } else if constexpr (std::is_same<D, S>::value) {  // rounds to an integral value
        return D(static_cast<float>(round_to_integer(real_of(x), mode)));
    } else if constexpr (is_16_bit_float<D>) {
        D result;
        result.bits = to_16<D>(real_of(x), mode);
        return result;
    } else if constexpr (std::is_same<D, float>::value) {
        if constexpr (is_16_bit_float<S>) return float(x);
        else if constexpr (is_int<S>) return to_float<long double>(static_cast<long double>(x), mode);
        else return to_float<double>(x, mode);
    } else {
        return static_cast<D>(x);
    }
}

template <typename D, typename S> void row(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    const S* in = static_cast<const S*>(a);
    D* out = static_cast<D*>(dst);
    const uint8_t mode = s.option;
    if constexpr (std::is_same<D, float>::value && is_16_bit_float<S>) {
        widen_row(dtype_of<S>, out, a, n);
        return;
    } else if constexpr (is_16_bit_float<D> && std::is_same<S, float>::value) {
        if (mode == kNone || mode == kRint) {
            narrow_row(dtype_of<D>, dst, in, n);
            return;
        }
    }
    for (uint32_t i = 0; i < n; ++i) out[i] = convert<D, S>(in[i], mode);
}

// int32 to half: the value is scaled by SetDeqScale.
void dequantise(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    const int32_t* in = static_cast<const int32_t*>(a);
    uint16_t* out = static_cast<uint16_t*>(dst);
    for (uint32_t i = 0; i < n; ++i) out[i] = half_bits_of(static_cast<float>(in[i]) * s.factor);
}

struct Pair {
    DType dst, src;
    RowFn fn;
};
template <typename D, typename S> constexpr Pair pair() { return {dtype_of<D>, dtype_of<S>, row<D, S>}; }

}  // namespace

void check_cast(DType dst, DType src, uint8_t round_mode, bool is_350) {
    constexpr const char* names[] = {"CAST_NONE", "CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
    const uint16_t modes = cast_modes(dst, src, is_350);
    if (round_mode < 16 && ((modes >> round_mode) & 1) != 0) return;
    std::string allowed;
    for (int mode = 0; mode < 7; ++mode) {
        if (((modes >> mode) & 1) != 0) allowed += std::string(allowed.empty() ? "" : ", ") + names[mode];
    }
    fail(Rule::Limit, "roundMode", round_mode, -1, "%s to %s takes %s, not %s", name_of(src), name_of(dst), allowed.c_str(),
         round_mode < 7 ? names[round_mode] : "this mode");
}

RowFn find_cast(DType dst, DType src, uint8_t) {
    static constexpr Pair pairs[] = {
        pair<half, int8_t>(), pair<half, uint8_t>(), pair<half, int16_t>(), pair<float, int16_t>(), pair<int8_t, half>(),
        pair<uint8_t, half>(), pair<int16_t, half>(), pair<int32_t, half>(), pair<float, half>(),
        pair<float, bfloat16_t>(), pair<int32_t, bfloat16_t>(), pair<int16_t, int32_t>(), pair<float, int32_t>(),
        pair<int64_t, int32_t>(), pair<half, float>(), pair<bfloat16_t, float>(), pair<int16_t, float>(),
        pair<int32_t, float>(), pair<int64_t, float>(), pair<float, float>(), pair<int32_t, int64_t>(),
        pair<float, int64_t>(),
        // 350 adds
        pair<int16_t, int8_t>(), pair<int32_t, int8_t>(), pair<uint16_t, uint8_t>(), pair<uint32_t, uint8_t>(),
        pair<uint8_t, int16_t>(), pair<int32_t, int16_t>(), pair<uint32_t, int16_t>(), pair<uint8_t, uint16_t>(),
        pair<uint32_t, uint16_t>(), pair<bfloat16_t, half>(), pair<half, bfloat16_t>(), pair<uint8_t, int32_t>(),
        pair<uint16_t, int32_t>(), pair<uint8_t, uint32_t>(), pair<int16_t, uint32_t>(), pair<uint16_t, uint32_t>(),
        pair<half, half>(), pair<bfloat16_t, bfloat16_t>(), pair<double, int64_t>(), pair<bfloat16_t, double>(), pair<float, double>(), pair<int32_t, double>(),
        pair<int64_t, double>(), {DType::F16, DType::I32, dequantise}};
    for (const Pair& p : pairs) {
        if (p.dst == dst && p.src == src) return p.fn;
    }
    return nullptr;
}

}  // namespace af_sim
