// Mathematical functions: trigonometric, hyperbolic, logarithms, error function, gamma, rounding, powers, sums.
#pragma once
#include "af_highlevel_map.h"

namespace af_sim {

// Gamma's logarithmic derivative: reflected to x > 0, raised to x >= 10 by its recurrence, then its asymptotic series.
inline double digamma(double x) {
    constexpr double pi = 3.14159265358979323846;
    if (x != x || x == -__builtin_inf()) return __builtin_nan("");
    if (x <= 0) {
        if (x == __builtin_floor(x)) return __builtin_nan("");
        return digamma(1 - x) - pi / __builtin_tan(pi * x);
    }
    double low = 0;
    for (; x < 10; x += 1) low -= 1 / x;
    const double r = 1 / (x * x);
    return low + __builtin_log(x) - 0.5 / x -
           r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691.0 / 32760)))));
}

// Integer power modulo 2^32, the way repeated multiplication gives it; a negative exponent truncates towards zero.
inline int32_t integer_power(int32_t base, int32_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint32_t result = 1, factor = static_cast<uint32_t>(base);
    for (uint32_t rest = static_cast<uint32_t>(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) result *= factor;
        factor *= factor;
    }
    return static_cast<int32_t>(result);
}

template <typename T> T power(T base, T exponent) {
    if constexpr (is_one_of<T, int32_t>()) {
        return integer_power(base, exponent);
    } else {
        return rounded<T>(__builtin_pow(exact(base), exact(exponent)));
    }
}

template <typename T> constexpr MapRule power_rule(bool has_scalar) {
    return {power_tmp_size(sizeof(T), is_one_of<T, int32_t>(), has_scalar, 0).least, false, 1, true};
}

}  // namespace af_sim

namespace AscendC {

AF_MATH_UNARY(Acos, 12, __builtin_acos(x))
AF_MATH_UNARY_WHOLE(Acos)
AF_MATH_UNARY(Asin, 12, __builtin_asin(x))
AF_MATH_UNARY_WHOLE(Asin)
AF_MATH_UNARY(Acosh, 6, __builtin_acosh(x))
AF_MATH_UNARY_WHOLE(Acosh)
AF_MATH_UNARY(Asinh, 8, __builtin_asinh(x))
AF_MATH_UNARY_WHOLE(Asinh)
AF_MATH_UNARY(Atan, 20, __builtin_atan(x))
AF_MATH_UNARY_WHOLE(Atan)
AF_MATH_UNARY(Atanh, 6, __builtin_atanh(x))
AF_MATH_UNARY_WHOLE(Atanh)
AF_MATH_UNARY(Sin, 16, __builtin_sin(x))
AF_MATH_UNARY_WHOLE(Sin)
AF_MATH_UNARY(Cos, 16, __builtin_cos(x))
AF_MATH_UNARY_WHOLE(Cos)
AF_MATH_UNARY(Tan, 20, __builtin_tan(x))
AF_MATH_UNARY_WHOLE(Tan)
AF_MATH_UNARY(Sinh, 6, __builtin_sinh(x))
AF_MATH_UNARY_WHOLE(Sinh)
AF_MATH_UNARY(Cosh, 6, __builtin_cosh(x))
AF_MATH_UNARY_WHOLE(Cosh)
AF_MATH_UNARY(Tanh, 1, __builtin_tanh(x))
AF_MATH_UNARY_WHOLE(Tanh)
AF_MATH_UNARY(Erf, 1, __builtin_erf(x))
AF_MATH_UNARY_WHOLE(Erf)
AF_MATH_UNARY(Erfc, 20, __builtin_erfc(x))
AF_MATH_UNARY_WHOLE(Erfc)
AF_MATH_UNARY(Log2, 2, __builtin_log2(x))
AF_MATH_UNARY_WHOLE(Log2)
AF_MATH_UNARY(Trunc, 2, __builtin_trunc(x))
AF_MATH_UNARY_WHOLE(Trunc)
AF_MATH_UNARY(Frac, 3, (__builtin_isinf(x) ? __builtin_copysign(0.0, x) : x - __builtin_trunc(x)))
AF_MATH_UNARY_WHOLE(Frac)
AF_MATH_UNARY(Sign, 1, (x != x ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0))
AF_MATH_UNARY_WHOLE(Sign)
AF_MATH_UNARY(Floor, 2, __builtin_floor(x))
AF_MATH_UNARY(Ceil, 2, __builtin_ceil(x))
AF_MATH_UNARY(Round, 2, __builtin_nearbyint(x))  // ties to even
AF_MATH_UNARY(Lgamma, 40, __builtin_lgamma(x))

AF_MATH_BINARY(Fmod, 10, (half, float), return af_sim::rounded<T>(__builtin_fmod(af_sim::exact(a), af_sim::exact(b)));)
AF_MATH_BINARY_WHOLE(Fmod)
AF_MATH_BINARY(Xor, 4, (int16_t, uint16_t), return static_cast<T>(a ^ b);)
AF_MATH_BINARY_WHOLE(Xor)

template <typename T, bool isReuseSource = false>
AF_API void Digamma(const LocalTensor<T>& dst, const LocalTensor<T>& src, LocalTensor<uint8_t>& sharedTmpBuffer,
                    const uint32_t calCount) {
    AF_CALL("Digamma");
    AF_FLOATING("Digamma", T);
    af_sim::map(af_sim::rule_of<T>(af_sim::factor::Digamma, isReuseSource, 40), dst, &sharedTmpBuffer, calCount,
                [](T x) { return af_sim::rounded<T>(af_sim::digamma(af_sim::exact(x))); }, src);
}
template <typename T, bool isReuseSource = false>
AF_API void Digamma(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {
    AF_CALL("Digamma");
    af_sim::Temporary rest = af_sim::stack_temporary();
    Digamma<T, isReuseSource>(dst, src, rest, calCount);
}

// The precise exponential. It shares its name with the instruction and differs by the second template argument.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
AF_API void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                const uint32_t calCount) {
    AF_CALL("Exp");
    AF_FLOATING("Exp", T);
    af_sim::map(af_sim::rule_of<T>(af_sim::factor::ExpTaylor, isReuseSource, 6 + 2 * taylorExpandLevel), dst,
                &sharedTmpBuffer, calCount, [](T x) { return af_sim::rounded<T>(__builtin_exp(af_sim::exact(x))); }, src);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
AF_API void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {
    AF_CALL("Exp");
    Exp<T, taylorExpandLevel, isReuseSource>(dst, src, af_sim::stack_temporary(), calCount);
}

// Logarithms that need no temporary.
#define AF_LOGARITHM(name, function)                                                                       \
    template <typename T, bool isReuseSource = false>                                                      \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {      \
        AF_CALL(#name);                                                                                    \
        AF_FLOATING(#name, T);                                                                             \
        af_sim::map(af_sim::MapRule{0, false, 2}, dst, nullptr, calCount,                                  \
                    [](T x) { return af_sim::rounded<T>(function(af_sim::exact(x))); }, src);              \
    }                                                                                                      \
    template <typename T, bool isReuseSource = false>                                                      \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src) {                               \
        AF_CALL(#name);                                                                                    \
        name<T, isReuseSource>(dst, src, src.GetSize());                                                   \
    }
AF_LOGARITHM(Log, __builtin_log)
AF_LOGARITHM(Log10, __builtin_log10)
#undef AF_LOGARITHM

// Power: tensor ^ tensor, tensor ^ scalar, scalar ^ tensor; each with and without temporary and count.
#define AF_POWER(base_type, exponent_type, has_scalar, count_source, call)                                             \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void Power(const LocalTensor<T>& dst, base_type src0, exponent_type src1,                                   \
                      const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) {                                \
        AF_CALL("Power");                                                                                              \
        AF_DTYPES("Power", T, half, float, int32_t);                                                                   \
        const af_sim::MapRule rule = af_sim::power_rule<T>(has_scalar);                                                \
        const LocalTensor<uint8_t>* tmp = &sharedTmpBuffer;                                                            \
        call                                                                                                           \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void Power(const LocalTensor<T>& dst, base_type src0, exponent_type src1,                                   \
                      const LocalTensor<uint8_t>& sharedTmpBuffer) {                                                   \
        AF_CALL("Power");                                                                                              \
        Power<T, isReuseSource>(dst, src0, src1, sharedTmpBuffer, count_source.GetSize());                             \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void Power(const LocalTensor<T>& dst, base_type src0, exponent_type src1, uint32_t calCount) {              \
        AF_CALL("Power");                                                                                              \
        Power<T, isReuseSource>(dst, src0, src1, af_sim::stack_temporary(), calCount);                                 \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void Power(const LocalTensor<T>& dst, base_type src0, exponent_type src1) {                                 \
        AF_CALL("Power");                                                                                              \
        Power<T, isReuseSource>(dst, src0, src1, af_sim::stack_temporary(), count_source.GetSize());                   \
    }
AF_POWER(const LocalTensor<T>&, const LocalTensor<T>&, false, src0,
         af_sim::map(rule, dst, tmp, calCount, [](T a, T b) { return af_sim::power(a, b); }, src0, src1);)
AF_POWER(const LocalTensor<T>&, const T&, true, src0,
         af_sim::map(rule, dst, tmp, calCount, [b = src1](T a) { return af_sim::power(a, b); }, src0);)
AF_POWER(const T&, const LocalTensor<T>&, true, src1,
         af_sim::map(rule, dst, tmp, calCount, [a = src0](T b) { return af_sim::power(a, b); }, src1);)
#undef AF_POWER

// dst += a src, with a temporary; the instruction of the same name needs none.
template <typename T, typename U, bool isReuseSource = false>
AF_API void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U scalarValue,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    AF_CALL("Axpy");
    static_assert((af_sim::is_one_of<T, half>() && af_sim::is_one_of<U, half>()) ||
                      (af_sim::is_one_of<T, float>() && af_sim::is_one_of<U, half, float>()),
                  "AscendC::Axpy: the pairs are half with half, float with float, float with half");
    const af_sim::Operand out = af_sim::updated("dst", dst, calCount);
    const af_sim::Operand in = af_sim::read("src", src, calCount);
    const af_sim::Operand tmp =
        af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, af_sim::factor::Axpy.least_bytes(sizeof(T), isReuseSource));
    af_sim::disjoint(out, in);
    af_sim::disjoint(out, tmp);
    if (!af_sim::issue(PIPE_V, {out, in, tmp}, af_sim::work<T>(calCount, 2))) return;
    for (uint32_t i = 0; i < calCount; ++i) {
        dst.Data()[i] = af_sim::rounded<T>(af_sim::exact(dst.Data()[i]) +
                                           af_sim::exact(scalarValue) * af_sim::exact(src.Data()[i]));
    }
}

// One-sided limits that let NaN through.
#define AF_CLAMP(name, comparison)                                                                                     \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                             \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar, const uint32_t calCount) {           \
        AF_CALL(#name);                                                                                                \
        AF_FLOATING(#name, T);                                                                                         \
        af_sim::map(af_sim::MapRule{sizeof(T) == 2 ? 128u : 64u, false, 2}, dst, &sharedTmpBuffer, calCount,           \
                    [scalar](T x) { return float(x) comparison float(scalar) ? scalar : x; }, src);                    \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T scalar, const uint32_t calCount) {  \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src, af_sim::stack_temporary(), scalar, calCount);                                 \
    }
AF_CLAMP(ClampMax, >)
AF_CLAMP(ClampMin, <)
#undef AF_CLAMP

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis = true;
    bool isReuseSource = false;
    bool outputLastRow = false;
    CumSumAlgorithm algorithm = CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE;
};
constexpr CumSumConfig defaultCumSumConfig = {};
struct CumSumInfo {
    uint32_t outter = 0;
    uint32_t inner = 0;
};

// Running sums of an outter x inner matrix along the last or the first axis, accumulated in float.
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
AF_API void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& cumSumInfo) {
    AF_CALL("CumSum");
    AF_FLOATING("CumSum", T);
    const uint32_t rows = cumSumInfo.outter, columns = cumSumInfo.inner;
    if (columns * sizeof(T) % 32 != 0) {
        af_sim::fail(af_sim::Rule::Alignment, "cumSumInfo.inner", int64_t(columns * sizeof(T)), 32,
                     "a row must fill whole 32-byte blocks");
    }
    const uint64_t tmp_bytes = af_sim::cumsum_tmp_size(sizeof(T), config.isLastAxis, rows, columns).least;
    const uint64_t total = uint64_t(rows) * columns;
    const af_sim::Operand out = af_sim::written("dst", dstTensor, total), in = af_sim::read("src", srcTensor, total);
    af_sim::disjoint(out, in);
    const af_sim::Operand last = config.outputLastRow ? af_sim::written("lastRow", lastRowTensor, columns) : out;
    const af_sim::Operand tmp =
        tmp_bytes > 0 ? af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, tmp_bytes) : in;
    if (!af_sim::issue(PIPE_V, {in, tmp, out, last}, af_sim::work<T>(total, config.isLastAxis ? columns : rows))) return;
    T* target = dstTensor.Data();
    for (uint32_t r = 0; r < rows; ++r) {
        float row_sum = 0;
        for (uint32_t c = 0; c < columns; ++c) {
            const float value = float(srcTensor.Data()[r * columns + c]);
            if (config.isLastAxis) {
                row_sum += value;
                target[r * columns + c] = T(row_sum);
            }
        }
    }
    for (uint32_t c = 0; c < columns && !config.isLastAxis; ++c) {
        float column_sum = 0;
        for (uint32_t r = 0; r < rows; ++r) {
            column_sum += float(srcTensor.Data()[r * columns + c]);
            target[r * columns + c] = T(column_sum);
        }
    }
    for (uint32_t c = 0; c < columns && config.outputLastRow && rows > 0; ++c) {
        lastRowTensor.Data()[c] = target[(rows - 1) * columns + c];
    }
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
AF_API void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
                   const CumSumInfo& cumSumInfo) {
    AF_CALL("CumSum");
    af_sim::Temporary rest = af_sim::stack_temporary();
    CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, rest, cumSumInfo);
}

}  // namespace AscendC
