// Activations. Gelu is the tanh form: gelu(x, approximate="none") needs Erf.
#pragma once
#include "af_highlevel_map.h"

namespace af_sim {

inline double sigmoid(double x) { return 1 / (1 + __builtin_exp(-x)); }
inline double swish(double x, double beta) {
    return x == -__builtin_inf() ? -0.0 : x / (1 + __builtin_exp(-beta * x));
}
inline double gelu_tanh(double x) {
    constexpr double scale = 0.79788456080286535588;  // sqrt(2 / pi)
    if (x == -__builtin_inf()) return -0.0;
    return x / (1 + __builtin_exp(-2 * scale * (x + 0.044715 * x * x * x)));  // x (1 + tanh(u)) / 2 without cancellation
}
// The quadratic approximation of erf: sgn(z) [a (min(|z|, b) - b)^2 + 1] with a = -0.2888, b = 1.769, z = x / sqrt(2).
inline double gelu_quadratic(double x) {
    const double z = __builtin_fabs(0.70710678118654752440 * x), rest = (z < 1.769 ? z : 1.769) - 1.769;
    if (x == -__builtin_inf()) return -0.0;
    return x * (__builtin_copysign(-0.1444 * rest * rest + 0.5, x) + 0.5);
}

}  // namespace af_sim

namespace AscendC {

AF_MATH_UNARY(Sigmoid, 1, af_sim::sigmoid(x))
AF_MATH_UNARY_WHOLE(Sigmoid)

template <typename T, bool isReuseSource = false>
AF_API void Silu(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t dataSize) {
    AF_CALL("Silu");
    AF_FLOATING("Silu", T);
    af_sim::map(af_sim::MapRule{0, false, 4}, dst, nullptr, dataSize,
                [](T x) { return af_sim::rounded<T>(af_sim::swish(af_sim::exact(x), 1)); }, src);
}

template <typename T, bool isReuseSource = false>
AF_API void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t dataSize, const T scalarValue) {
    AF_CALL("Swish");
    AF_FLOATING("Swish", T);
    const double beta = af_sim::exact(scalarValue);
    af_sim::map(af_sim::MapRule{0, false, 5}, dst, nullptr, dataSize,
                [beta](T x) { return af_sim::rounded<T>(af_sim::swish(af_sim::exact(x), beta)); }, src);
}

// dst may be src; the temporary holds at least 768 bytes.
#define AF_GELU(name, instructions, formula)                                                                           \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                    \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                             \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize) {                           \
        AF_CALL(#name);                                                                                                \
        AF_FLOATING(#name, T);                                                                                         \
        af_sim::map(af_sim::MapRule{768, true, instructions}, dst, &sharedTmpBuffer, dataSize,                         \
                    [](T in) { const double x = af_sim::exact(in); return af_sim::rounded<T>(formula); }, src);        \
    }                                                                                                                  \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                    \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t dataSize) {                  \
        AF_CALL(#name);                                                                                                \
        name<T, highPrecision, highPerformance>(dst, src, af_sim::stack_temporary(), dataSize);                        \
    }
AF_GELU(Gelu, 10, af_sim::gelu_tanh(x))
AF_GELU(FasterGelu, 6, af_sim::swish(x, 1.702))
AF_GELU(FasterGeluV2, 10, af_sim::gelu_quadratic(x))
#undef AF_GELU

template <typename T, bool isReuseSource = false>
AF_API void ReGlu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                  const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
    AF_CALL("ReGlu");
    AF_DTYPES("ReGlu", T, half, bfloat16_t, float);
    const af_sim::MapRule rule{0, false, 4};  // the least temporary is not published, so it is not checked
    af_sim::map(rule, dst, &sharedTmpBuffer, calCount, [](T a, T b) {
        const double gate = af_sim::exact(b);
        return af_sim::rounded<T>(af_sim::exact(a) * (gate > 0 ? gate : gate != gate ? gate : 0));
    }, src0, src1);
}
template <typename T, bool isReuseSource = false>
AF_API void ReGlu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                  const uint32_t calCount) {
    AF_CALL("ReGlu");
    ReGlu<T, isReuseSource>(dst, src0, src1, af_sim::stack_temporary(), calCount);
}

template <typename T, bool isReuseSource = false>
AF_API void SwiGLU(LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const float& beta,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) {
    AF_CALL("SwiGLU");
    AF_FLOATING("SwiGLU", T);
    const af_sim::MapRule rule{0, false, 6};  // the least temporary is not published, so it is not checked
    af_sim::map(rule, dst, &sharedTmpBuffer, calCount, [beta](T a, T b) {
        return af_sim::rounded<T>(af_sim::exact(a) * af_sim::swish(af_sim::exact(b), beta));
    }, src0, src1);
}
template <typename T, bool isReuseSource = false>
AF_API void SwiGLU(LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const float& beta,
                   const LocalTensor<uint8_t>& sharedTmpBuffer) {
    AF_CALL("SwiGLU");
    SwiGLU<T, isReuseSource>(dst, src0, src1, beta, sharedTmpBuffer, src0.GetSize());
}
template <typename T, bool isReuseSource = false>
AF_API void SwiGLU(LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const float& beta,
                   uint32_t calCount) {
    AF_CALL("SwiGLU");
    SwiGLU<T, isReuseSource>(dst, src0, src1, beta, af_sim::stack_temporary(), calCount);
}
template <typename T, bool isReuseSource = false>
AF_API void SwiGLU(LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const float& beta) {
    AF_CALL("SwiGLU");
    SwiGLU<T, isReuseSource>(dst, src0, src1, beta, af_sim::stack_temporary(), src0.GetSize());
}

}  // namespace AscendC
