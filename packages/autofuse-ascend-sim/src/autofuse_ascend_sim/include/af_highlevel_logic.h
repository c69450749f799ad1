// 350 only: bitwise and logical functions, classification, fused multiply-add, clamp, where.
//
// Configurations are the first template parameter and have a default, types are deduced: `BitwiseAnd(dst, a, b, n)`.
#pragma once
#include "af_highlevel_map.h"

#if AF_ARCH_350
namespace af_sim {
struct ElementwiseConfig {
    bool isReuseSource = false;
};
constexpr ElementwiseConfig kElementwiseConfig = {};
}  // namespace af_sim

namespace AscendC {

#define AF_INTEGERS int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t
#define AF_EVERYTHING bool, AF_INTEGERS, half, bfloat16_t, float
#define AF_CONFIGURED const af_sim::ElementwiseConfig& config = af_sim::kElementwiseConfig

#define AF_BITWISE(name, operation)                                                                               \
    template <AF_CONFIGURED, typename T>                                                                          \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,           \
                     const uint32_t count) {                                                                      \
        AF_CALL(#name);                                                                                           \
        AF_DTYPES(#name, T, AF_INTEGERS);                                                                         \
        af_sim::map(af_sim::MapRule{0, true, 1}, dst, nullptr, count,                                             \
                    [](T a, T b) { return static_cast<T>(a operation b); }, src0, src1);                          \
    }
AF_BITWISE(BitwiseAnd, &)
AF_BITWISE(BitwiseOr, |)
AF_BITWISE(BitwiseXor, ^)
#undef AF_BITWISE

template <AF_CONFIGURED, typename T>
AF_API void BitwiseNot(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("BitwiseNot");
    AF_DTYPES("BitwiseNot", T, AF_INTEGERS);
    af_sim::map(af_sim::MapRule{0, true, 1}, dst, nullptr, count, [](T a) { return static_cast<T>(~a); }, src);
}

#define AF_LOGICAL(name, expression)                                                                              \
    template <AF_CONFIGURED, typename T, typename U>                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,           \
                     const uint32_t count) {                                                                      \
        AF_CALL(#name);                                                                                           \
        AF_DTYPES(#name, T, bool);                                                                                \
        AF_DTYPES(#name, U, AF_EVERYTHING);                                                                       \
        af_sim::map(af_sim::MapRule{0, false, 3}, dst, nullptr, count, [](U x, U y) -> T {                        \
            const bool a = af_sim::exact(x) != 0, b = af_sim::exact(y) != 0;                                      \
            return expression;                                                                                    \
        }, src0, src1);                                                                                           \
    }
AF_LOGICAL(LogicalAnd, a && b)
AF_LOGICAL(LogicalOr, a || b)
AF_LOGICAL(LogicalXor, a != b)
#undef AF_LOGICAL

template <AF_CONFIGURED, typename T, typename U>
AF_API void LogicalNot(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count) {
    AF_CALL("LogicalNot");
    AF_DTYPES("LogicalNot", T, bool);
    AF_DTYPES("LogicalNot", U, AF_EVERYTHING);
    af_sim::map(af_sim::MapRule{0, false, 2}, dst, nullptr, count, [](U x) -> T { return af_sim::exact(x) == 0; }, src);
}

}  // namespace AscendC

namespace af_sim {

// A flag as an element: bool, or 1 and 0 in a floating-point type.
template <typename T> T flag_element(bool value) {
    if constexpr (is_one_of<T, bool>()) {
        return value;
    } else {
        return T(value ? 1.0f : 0.0f);
    }
}

// An operand that is a tensor or a scalar.
template <typename T> struct ElementOf {
    using Type = T;
    static T at(const T& value, uint32_t) { return value; }
    static Operand operand(const char* name, const T&, const Operand& instead, uint32_t) {
        Operand unused = instead;  // a scalar touches no bytes of UB: an empty part of another operand stands for it
        unused.name = name;
        unused.region.piece_bytes = 0;
        return unused;
    }
};
template <typename T> struct ElementOf<AscendC::LocalTensor<T>> {
    using Type = T;
    static T at(const AscendC::LocalTensor<T>& tensor, uint32_t i) { return tensor.Data()[i]; }
    static Operand operand(const char* name, const AscendC::LocalTensor<T>& tensor, const Operand&, uint32_t count) {
        return read(name, tensor, count);
    }
};

}  // namespace af_sim

namespace AscendC {

#define AF_CLASSIFY(name, expression)                                                                             \
    template <AF_CONFIGURED, typename T, typename U>                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count) {                \
        AF_CALL(#name);                                                                                           \
        AF_FLOATING(#name, U);                                                                                    \
        AF_DTYPES(#name, T, bool, U);                                                                             \
        af_sim::map(af_sim::MapRule{0, false, 2}, dst, nullptr, count, [](U in) -> T {                            \
            const double x = af_sim::exact(in);                                                                   \
            return af_sim::flag_element<T>(expression);                                                           \
        }, src);                                                                                                  \
    }                                                                                                             \
    template <AF_CONFIGURED, typename T, typename U>                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src,                                        \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t count) {                         \
        AF_CALL(#name);                                                                                           \
        static_cast<void>(sharedTmpBuffer);                                                                       \
        name(dst, src, count);                                                                                    \
    }
AF_CLASSIFY(IsNan, x != x)
AF_CLASSIFY(IsInf, __builtin_isinf(x) != 0)
#undef AF_CLASSIFY

// The order of the template parameters is reversed against IsNan: T is the source.
template <typename T, typename U>
AF_API void IsFinite(const LocalTensor<U>& dst, const LocalTensor<T>& src, uint32_t calCount) {
    AF_CALL("IsFinite");
    AF_DTYPES("IsFinite", T, half, bfloat16_t, float);
    AF_DTYPES("IsFinite", U, bool, T);
    af_sim::map(af_sim::MapRule{0, false, 2}, dst, nullptr, calCount,
                [](T x) -> U { return af_sim::flag_element<U>(__builtin_isfinite(af_sim::exact(x)) != 0); }, src);
}

template <AF_CONFIGURED, typename T>
AF_API void Fma(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const LocalTensor<T>& src2, const uint32_t count) {
    AF_CALL("Fma");
    AF_FLOATING("Fma", T);
    af_sim::map(af_sim::MapRule{0, false, 1}, dst, nullptr, count, [](T a, T b, T c) {
        return T(__builtin_fmaf(float(a), float(b), float(c)));
    }, src0, src1, src2);
}
template <AF_CONFIGURED, typename T>
AF_API void Fma(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const LocalTensor<T>& src2, const LocalTensor<uint8_t>&, const uint32_t count) {
    AF_CALL("Fma");
    Fma(dst, src0, src1, src2, count);
}

template <AF_CONFIGURED, typename T>
AF_API void Rint(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Rint");
    AF_FLOATING("Rint", T);
    af_sim::map(af_sim::MapRule{0, false, 1}, dst, nullptr, count,
                [](T x) { return af_sim::rounded<T>(__builtin_nearbyint(af_sim::exact(x))); }, src);
}
template <AF_CONFIGURED, typename T>
AF_API void Rint(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>&, const uint32_t count) {
    AF_CALL("Rint");
    Rint(dst, src, count);
}

template <AF_CONFIGURED, typename T>
AF_API void SinCos(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t count) {
    AF_CALL("SinCos");
    AF_FLOATING("SinCos", T);
    const af_sim::Operand sine = af_sim::written("dst0", dst0, count), cosine = af_sim::written("dst1", dst1, count);
    const af_sim::Operand in = af_sim::read("src", src, count);
    const af_sim::Operand tmp =
        af_sim::scratch("sharedTmpBuffer", sharedTmpBuffer, 8 * af_sim::rounded_up(count, 32) + 32);
    af_sim::disjoint(sine, cosine);
    af_sim::disjoint(sine, in);
    af_sim::disjoint(cosine, in);
    if (!af_sim::issue(PIPE_V, {sine, cosine, in, tmp}, af_sim::work<T>(count, 24))) return;
    for (uint32_t i = 0; i < count; ++i) {
        const double x = af_sim::exact(src.Data()[i]);
        dst0.Data()[i] = af_sim::rounded<T>(__builtin_sin(x));
        dst1.Data()[i] = af_sim::rounded<T>(__builtin_cos(x));
    }
}
template <AF_CONFIGURED, typename T>
AF_API void SinCos(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("SinCos");
    SinCos(dst0, dst1, src, af_sim::stack_temporary(), count);
}

// Logic with a scalar on either side; both sides hold elements of one type.
#define AF_LOGICAL_SCALAR(name, operation)                                                                        \
    template <AF_CONFIGURED, typename T, typename U, typename S>                                                  \
    AF_API void name(const LocalTensor<T>& dst, const U& src0, const S& src1, const uint32_t count) {             \
        AF_CALL(#name);                                                                                           \
        AF_DTYPES(#name, T, bool);                                                                                \
        AF_DTYPES(#name, typename af_sim::ElementOf<U>::Type, AF_EVERYTHING);                                     \
        AF_DTYPES(#name, typename af_sim::ElementOf<S>::Type, typename af_sim::ElementOf<U>::Type);               \
        const af_sim::Operand out = af_sim::written("dst", dst, count);                                           \
        if (!af_sim::issue(PIPE_V, {out, af_sim::ElementOf<U>::operand("src0", src0, out, count),                 \
                                    af_sim::ElementOf<S>::operand("src1", src1, out, count)},                     \
                           af_sim::work<T>(3ull * count, 3))) {                                                   \
            return;                                                                                               \
        }                                                                                                         \
        for (uint32_t i = 0; i < count; ++i) {                                                                    \
            const bool a = af_sim::exact(af_sim::ElementOf<U>::at(src0, i)) != 0;                                 \
            const bool b = af_sim::exact(af_sim::ElementOf<S>::at(src1, i)) != 0;                                 \
            dst.Data()[i] = a operation b;                                                                        \
        }                                                                                                         \
    }
AF_LOGICAL_SCALAR(LogicalAnds, &&)
AF_LOGICAL_SCALAR(LogicalOrs, ||)
#undef AF_LOGICAL_SCALAR

// A tensor or a scalar on either side: `min` and `max` are elements of T.
template <AF_CONFIGURED, typename T, typename U, typename S>
AF_API void Clamp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& min, const S& max, const uint32_t count) {
    AF_CALL("Clamp");
    AF_DTYPES("Clamp", T, AF_INTEGERS, half, bfloat16_t, float);
    const af_sim::Operand out = af_sim::written("dst", dst, count), in = af_sim::read("src", src, count);
    if (!af_sim::issue(PIPE_V, {out, in, af_sim::ElementOf<U>::operand("min", min, in, count),
                                af_sim::ElementOf<S>::operand("max", max, in, count)}, af_sim::work<T>(count, 2))) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const T value = src.Data()[i], low = af_sim::ElementOf<U>::at(min, i), high = af_sim::ElementOf<S>::at(max, i);
        const T raised = value < low ? low : value;
        dst.Data()[i] = raised > high ? high : raised;
    }
}

// dst = condition ? src0 : src1; either source may be a scalar.
template <typename T, typename U, typename S, typename V>
AF_API void Where(const LocalTensor<T>& dst, const U& src0, const S& src1, const LocalTensor<V>& condition,
                  const uint32_t count) {
    AF_CALL("Where");
    AF_DTYPES("Where", T, AF_EVERYTHING);
    AF_DTYPES("Where", V, bool);
    const af_sim::Operand out = af_sim::written("dst", dst, count), in = af_sim::read("condition", condition, count);
    if (!af_sim::issue(PIPE_V, {out, in, af_sim::ElementOf<U>::operand("src0", src0, in, count),
                                af_sim::ElementOf<S>::operand("src1", src1, in, count)}, af_sim::work<T>(count, 2))) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        dst.Data()[i] = condition.Data()[i] ? static_cast<T>(af_sim::ElementOf<U>::at(src0, i))
                                            : static_cast<T>(af_sim::ElementOf<S>::at(src1, i));
    }
}

#undef AF_CONFIGURED
#undef AF_EVERYTHING
#undef AF_INTEGERS

}  // namespace AscendC

namespace af_sim::factor {
constexpr TmpFactor Hypot = plain(0, 0);
}

namespace AscendC {

AF_MATH_BINARY(Hypot, 6, (half, bfloat16_t, float),
               return af_sim::rounded<T>(__builtin_hypot(af_sim::exact(a), af_sim::exact(b)));)
AF_MATH_BINARY_WHOLE(Hypot)

}  // namespace AscendC
#endif
