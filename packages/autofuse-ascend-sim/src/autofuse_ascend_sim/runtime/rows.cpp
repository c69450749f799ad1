#include "rows.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace af_sim {

void widen_row(DType type, float* to, const void* from, uint32_t n) {
    const uint16_t* in = static_cast<const uint16_t*>(from);
    uint32_t i = 0;
    if (type == DType::BF16) {
        for (; i < n; ++i) to[i] = bfloat16_value_of(in[i]);
        return;
    }
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
    }
#endif
    for (; i < n; ++i) to[i] = half_value_of(in[i]);
}

void narrow_row(DType type, void* to, const float* from, uint32_t n) {
    uint16_t* out = static_cast<uint16_t*>(to);
    uint32_t i = 0;
    if (type == DType::BF16) {
        for (; i < n; ++i) out[i] = bfloat16_bits_of(from[i]);
        return;
    }
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    }
#endif
    for (; i < n; ++i) out[i] = half_bits_of(from[i]);
}

namespace {

template <typename T> constexpr bool is_int = std::is_integral<T>::value;
template <typename T> using Unsigned = std::make_unsigned_t<T>;

// Integer arithmetic wraps around.
template <typename T> T add(T a, T b) {
    if constexpr (is_int<T>) return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    else return a + b;
}
template <typename T> T sub(T a, T b) {
    if constexpr (is_int<T>) return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
    else return a - b;
}
template <typename T> T mul(T a, T b) {
    if constexpr (is_int<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return a * b;
}
template <typename T> T div(T a, T b) {
    if constexpr (is_int<T>) {
        if (b == 0) return static_cast<T>(-1);  // not documented
        if constexpr (std::is_signed<T>::value) {
            if (b == -1) return sub(T(0), a);
        }
        return static_cast<T>(a / b);
    } else {
        return a / b;
    }
}
// NaN wins, whichever side it is on.
template <typename T> T larger(T a, T b) { return a > b ? a : (a != a ? a : b); }
template <typename T> T smaller(T a, T b) { return a < b ? a : (a != a ? a : b); }
template <typename T> T relu(T a) { return a > T(0) ? a : (a != a ? a : T(0)); }
template <typename T> T shift_left(T a, int64_t by) {
    return by < 0 || by >= int64_t(8 * sizeof(T)) ? T(0) : static_cast<T>(static_cast<Unsigned<T>>(a) << by);
}
template <typename T> T shift_right(T a, int64_t by, bool rounds) {
    const int64_t most = int64_t(8 * sizeof(T));
    if (by <= 0) return a;
    if (by >= most) return rounds ? T(0) : static_cast<T>(a < 0 ? -1 : 0);
    const T floor = static_cast<T>(a >> by);
    return rounds ? add(floor, static_cast<T>((a >> (by - 1)) & 1)) : floor;
}

#define AF_ROW2(Name, expression)                                                                      \
    struct Name {                                                                                      \
        template <typename T> static T eval(T d, T a, T b, const RowScalar& s) {                       \
            (void)d, (void)a, (void)b, (void)s;                                                        \
            return expression;                                                                         \
        }                                                                                              \
    }
AF_ROW2(RowAdd, add(a, b));
AF_ROW2(RowSub, sub(a, b));
AF_ROW2(RowMul, mul(a, b));
AF_ROW2(RowDiv, div(a, b));
AF_ROW2(RowMax, larger(a, b));
AF_ROW2(RowMin, smaller(a, b));
AF_ROW2(RowAnd, static_cast<T>(a & b));
AF_ROW2(RowOr, static_cast<T>(a | b));
AF_ROW2(RowAddRelu, relu(add(a, b)));
AF_ROW2(RowSubRelu, relu(sub(a, b)));
AF_ROW2(RowShiftLeft, shift_left(a, int64_t(b)));
AF_ROW2(RowShiftRight, shift_right(a, int64_t(b), false));
AF_ROW2(RowPrelu, a >= T(0) ? a : a * b);
AF_ROW2(RowAbsSub, std::fabs(a - b));
AF_ROW2(RowExpSub, std::exp(a - b));
AF_ROW2(RowMulAddDst, add(mul(a, b), d));
AF_ROW2(RowFusedMulAdd, add(mul(a, d), b));
AF_ROW2(RowMulAddRelu, relu(add(mul(a, d), b)));
AF_ROW2(RowRelu, relu(a));
struct RowAbs {
    template <typename T> static T eval(T, T a, T, const RowScalar&) {
        if constexpr (is_int<T>) return a < 0 ? sub(T(0), a) : a;
        else return std::fabs(a);
    }
};
AF_ROW2(RowExp, std::exp(a));
AF_ROW2(RowLn, std::log(a));
AF_ROW2(RowSqrt, std::sqrt(a));
AF_ROW2(RowRsqrt, T(1) / std::sqrt(a));
AF_ROW2(RowReciprocal, T(1) / a);
AF_ROW2(RowWholeReciprocal, div(T(1), a));
AF_ROW2(RowNot, static_cast<T>(~a));
AF_ROW2(RowNeg, sub(T(0), a));
struct RowNegFloat {
    template <typename T> static T eval(T, T a, T, const RowScalar&) { return -a; }
};
AF_ROW2(RowCopy, a);
AF_ROW2(RowLeakyRelu, a >= T(0) || a != a ? a : a * T(s.real));
AF_ROW2(RowAxpy, add(mul(a, b), d));

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

// Arithmetic in a wider type and a saturating conversion to the destination.
template <typename D> D saturated(double value) {
    if (value != value) return D(0);
    const double rounded = std::nearbyint(value);
    if (rounded <= double(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (rounded >= double(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(rounded);
}

template <typename F, typename D, DType a_type> void half_to_int_row(void* dst, const void* a, const void* b,
                                                                     const RowScalar& s, uint32_t n) {
    D* out = static_cast<D*>(dst);
    const uint16_t* x = static_cast<const uint16_t*>(a);
    const uint16_t* y = static_cast<const uint16_t*>(b);
    for (uint32_t i = 0; i < n; ++i) {
        const float value = F::eval(0.0f, half_value_of(x[i]), half_value_of(y[i]), s);
        out[i] = saturated<D>(double(half_value_of(half_bits_of(value))));
    }
}

template <typename F, typename D, typename A> void int_to_any_row(void* dst, const void* a, const void* b,
                                                                  const RowScalar& s, uint32_t n) {
    D* out = static_cast<D*>(dst);
    const A* x = static_cast<const A*>(a);
    const A* y = static_cast<const A*>(b);
    for (uint32_t i = 0; i < n; ++i) {
        const A value = F::eval(A(0), x[i], y[i], s);
        if constexpr (is_int<D>) out[i] = saturated<D>(double(value));
        else out[i] = static_cast<D>(value);
    }
}

template <typename F> RowFn narrowing_row(DType dst, DType a) {
    if (dst == DType::F16 && a == DType::F32) return wide_row<F, Second::Row, false, DType::F16, DType::F32, DType::F32>;
    if (dst == DType::I8 && a == DType::F16) return half_to_int_row<F, int8_t, DType::F16>;
    if (dst == DType::U8 && a == DType::F16) return half_to_int_row<F, uint8_t, DType::F16>;
    if (dst == DType::I8 && a == DType::I16) return int_to_any_row<F, int8_t, int16_t>;
    if (dst == DType::F32 && a == DType::I64) return int_to_any_row<F, float, int64_t>;
    if (dst == DType::I32 && a == DType::I64) return int_to_any_row<F, int32_t, int64_t>;
    return nullptr;
}

// half(relu(scale * (a + b))) of int32 operands.
void add_deq_relu(void* dst, const void* a, const void* b, const RowScalar& s, uint32_t n) {
    uint16_t* out = static_cast<uint16_t*>(dst);
    const int32_t* x = static_cast<const int32_t*>(a);
    const int32_t* y = static_cast<const int32_t*>(b);
    for (uint32_t i = 0; i < n; ++i) out[i] = half_bits_of(relu(float(add(x[i], y[i])) * s.factor));
}

template <typename T> void shift_right_scalar(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    for (uint32_t i = 0; i < n; ++i) out[i] = shift_right(x[i], int64_t(s.real), s.option != 0);
}
template <typename T> void shift_left_scalar(void* dst, const void* a, const void*, const RowScalar& s, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    for (uint32_t i = 0; i < n; ++i) out[i] = shift_left(x[i], int64_t(s.real));
}
#define AF_BY_INT_TYPE(function)                          \
    switch (dst) {                                        \
        case DType::I8: return function<int8_t>;          \
        case DType::U8: return function<uint8_t>;         \
        case DType::I16: return function<int16_t>;        \
        case DType::U16: return function<uint16_t>;       \
        case DType::I32: return function<int32_t>;        \
        case DType::U32: return function<uint32_t>;       \
        case DType::I64: return function<int64_t>;        \
        case DType::U64: return function<uint64_t>;       \
        default: return nullptr;                          \
    }

// Shift amounts of a tensor are signed and as wide as the values, so the row of the signed type reads them rightly.
template <typename T, bool left> void shift_tensor(void* dst, const void* a, const void* b, const RowScalar&, uint32_t n) {
    T* out = static_cast<T*>(dst);
    const T* x = static_cast<const T*>(a);
    const auto* by = static_cast<const std::make_signed_t<T>*>(b);
    for (uint32_t i = 0; i < n; ++i) out[i] = left ? shift_left(x[i], by[i]) : shift_right(x[i], by[i], false);
}
template <typename T> constexpr RowFn shift_tensor_left = shift_tensor<T, true>;
template <typename T> constexpr RowFn shift_tensor_right = shift_tensor<T, false>;

template <DType type> void fill_row(void* dst, const void*, const void*, const RowScalar& s, uint32_t n) {
    constexpr uint32_t unit = size_of(type);
    uint8_t* out = static_cast<uint8_t*>(dst);
    for (uint32_t i = 0; i < n; ++i) memcpy(out + i * unit, &s.bits, unit);
}

template <typename T> void copy_row(void* dst, const void* a, const void*, const RowScalar&, uint32_t n) {
    memmove(dst, a, n * sizeof(T));
}

template <bool reads_dst, typename F> RowFn mixed_float_row(DType dst, DType a, DType b) {
    if (dst == DType::F32 && a == DType::F16 && (b == DType::F16)) {
        return wide_row<F, Second::Row, reads_dst, DType::F32, DType::F16, DType::F16>;
    }
    return nullptr;
}

}  // namespace

RowFn find_row(Op op, DType dst, DType a, DType b) {
    const bool is_mixed = dst != a;
    switch (op) {
        case Op::Add: return any_row<RowAdd>(dst);
        case Op::Sub: return any_row<RowSub>(dst);
        case Op::Mul: return any_row<RowMul>(dst);
        case Op::Div: return any_row<RowDiv>(dst);
        case Op::Max: return any_row<RowMax>(dst);
        case Op::Min: return any_row<RowMin>(dst);
        case Op::And: return int_row<RowAnd>(dst);
        case Op::Or: return int_row<RowOr>(dst);
        case Op::AddRelu: return any_row<RowAddRelu>(dst);
        case Op::SubRelu: return any_row<RowSubRelu>(dst);
        case Op::AddReluCast: return narrowing_row<RowAddRelu>(dst, a);
        case Op::SubReluCast: return narrowing_row<RowSubRelu>(dst, a);
        case Op::MulCast: return narrowing_row<RowMul>(dst, a);
        case Op::ShiftLeft: AF_BY_INT_TYPE(shift_tensor_left)
        case Op::ShiftRight: AF_BY_INT_TYPE(shift_tensor_right)
        case Op::Prelu: return float_row<RowPrelu>(dst);
        case Op::AbsSub: return float_row<RowAbsSub>(dst);
        case Op::ExpSub: return is_mixed ? mixed_float_row<false, RowExpSub>(dst, a, b) : float_row<RowExpSub>(dst);
        case Op::MulAddDst:
            return is_mixed ? mixed_float_row<true, RowMulAddDst>(dst, a, b) : any_row<RowMulAddDst, Second::Row, true>(dst);
        case Op::FusedMulAdd: return any_row<RowFusedMulAdd, Second::Row, true>(dst);
        case Op::MulAddRelu: return any_row<RowMulAddRelu, Second::Row, true>(dst);
        case Op::AddDeqRelu: return add_deq_relu;
        case Op::Relu: return any_row<RowRelu, Second::None>(dst);
        case Op::Abs: return any_row<RowAbs, Second::None>(dst);
        case Op::Exp: return float_row<RowExp, Second::None>(dst);
        case Op::Ln: return float_row<RowLn, Second::None>(dst);
        case Op::Sqrt: return float_row<RowSqrt, Second::None>(dst);
        case Op::Rsqrt: return float_row<RowRsqrt, Second::None>(dst);
        case Op::Reciprocal: {
            if (dst == DType::I64 || dst == DType::U64) return int_row<RowWholeReciprocal, Second::None>(dst);
            return float_row<RowReciprocal, Second::None>(dst);
        }
        case Op::Not: {
            if (dst == DType::F16) return int_row<RowNot, Second::None>(DType::U16);
            if (dst == DType::F32) return int_row<RowNot, Second::None>(DType::U32);
            return int_row<RowNot, Second::None>(dst);
        }
        case Op::Neg: {
            const RowFn found = float_row<RowNegFloat, Second::None>(dst);
            return found != nullptr ? found : int_row<RowNeg, Second::None>(dst);
        }
        case Op::Copy:
            switch (size_of(dst)) {
                case 1: return copy_row<uint8_t>;
                case 2: return copy_row<uint16_t>;
                case 4: return copy_row<uint32_t>;
                default: return copy_row<uint64_t>;
            }
        case Op::Adds: return any_row<RowAdd, Second::Scalar>(dst);
        case Op::Muls: return any_row<RowMul, Second::Scalar>(dst);
        case Op::Maxs: return any_row<RowMax, Second::Scalar>(dst);
        case Op::Mins: return any_row<RowMin, Second::Scalar>(dst);
        case Op::LeakyRelu: return float_row<RowLeakyRelu, Second::Scalar>(dst);
        case Op::ShiftLefts: AF_BY_INT_TYPE(shift_left_scalar)
        case Op::ShiftRights: AF_BY_INT_TYPE(shift_right_scalar)
        case Op::Subs: return any_row<RowSub, Second::Scalar>(dst);
        case Op::SubsLeft: return any_row<RowSub, Second::ScalarLeft>(dst);
        case Op::Divs: return any_row<RowDiv, Second::Scalar>(dst);
        case Op::DivsLeft: return any_row<RowDiv, Second::ScalarLeft>(dst);
        case Op::Ands: return int_row<RowAnd, Second::Scalar>(dst);
        case Op::Ors: return int_row<RowOr, Second::Scalar>(dst);
        case Op::Axpy:
            if (dst == DType::F32 && a == DType::F16) {
                return wide_row<RowAxpy, Second::Scalar, true, DType::F32, DType::F16, DType::F16>;
            }
            return any_row<RowAxpy, Second::Scalar, true>(dst);
        case Op::MulsCast:
            if (dst == DType::F16 && a == DType::F32) {
                return wide_row<RowMul, Second::Scalar, false, DType::F16, DType::F32, DType::F32>;
            }
            return nullptr;
        case Op::Duplicate:
            switch (size_of(dst)) {
                case 1: return fill_row<DType::U8>;
                case 2: return fill_row<DType::U16>;
                case 4: return fill_row<DType::U32>;
                default: return fill_row<DType::U64>;
            }
        case Op::Truncate:
        case Op::Cast:
        case Op::Count: break;
    }
    return nullptr;
}

}  // namespace af_sim
