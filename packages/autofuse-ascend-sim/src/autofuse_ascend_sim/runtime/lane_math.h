// What an instruction does to one lane: d is the old destination, a and b the sources, s the scalar.
#pragma once
#include <cmath>
#include <cstring>
#include <type_traits>

#include "rows.h"

namespace af_sim {

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
#undef AF_ROW2

}  // namespace af_sim
