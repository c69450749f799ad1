// The body behind the element-wise high-level functions: check operands, issue one composed instruction, compute.
//
// Values are computed in double and rounded once to the element type, so every function here is within 1 ULP of the
// exact result; a chip's own approximations are coarser. Source, destination and temporary may not share a byte unless
// a function says so.
#pragma once
#include <cstdint>

#include "af_highlevel_factors.h"
#include "af_pipe.h"
#include "af_sim.h"
#include "af_tensor.h"

namespace af_sim {

using Temporary = AscendC::LocalTensor<uint8_t>;

struct MapRule {
    uint64_t tmp_bytes = 0;      // least size of the temporary; 0 = it is not used
    bool may_overlap = false;    // whether dst may be src
    uint32_t instructions = 1;   // vector instructions behind the call; 1 where the SoC files have a cost of the whole
    bool needs_reserved_ub = false;
};

template <typename T> constexpr MapRule rule_of(const TmpFactor& factor, bool reuses_source, uint32_t instructions) {
    return {factor.least_bytes(sizeof(T), reuses_source), false, instructions, factor.needs_reserved_ub};
}

// Converts the exact result to an element: floating-point types round once, integers are already exact.
template <typename T> T rounded(double value) {
    if constexpr (is_one_of<T, half, bfloat16_t>()) {
        return T(static_cast<float>(value));
    } else {
        return static_cast<T>(value);
    }
}
template <typename T> double exact(T value) {
    if constexpr (is_one_of<T, half, bfloat16_t>()) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return static_cast<double>(value);
    }
}

// dst[i] = f(src[i]...) for `count` elements of equally long sources.
template <typename D, typename F, typename... S>
void map(const MapRule& rule, const AscendC::LocalTensor<D>& dst, const Temporary* tmp, uint32_t count, F f,
         const AscendC::LocalTensor<S>&... src) {
    if (AF_ARCH_A2 && rule.needs_reserved_ub) require_reserved_ub();
    const Operand out = written("dst", dst, count);
    if (!rule.may_overlap) (disjoint(out, read("src", src, count)), ...);
    const Work amount = work<D>(uint64_t(count) * rule.instructions, rule.instructions);
    bool compute;
    if (tmp != nullptr && rule.tmp_bytes > 0) {
        const Operand extra = scratch("sharedTmpBuffer", *tmp, rule.tmp_bytes);
        disjoint(out, extra);
        (disjoint(extra, read("src", src, count)), ...);
        compute = issue(PIPE_V, {out, read("src", src, count)..., extra}, amount);
    } else {
        compute = issue(PIPE_V, {out, read("src", src, count)...}, amount);
    }
    if (!compute) return;
    D* target = dst.Data();
    for (uint32_t i = 0; i < count; ++i) target[i] = f(src.Data()[i]...);
}

// The rest of UB, for the overloads that take no temporary.
inline Temporary stack_temporary() {
    Temporary rest;
    AscendC::PopStackBuffer<uint8_t, AscendC::TPosition::LCM>(rest);
    return rest;
}

}  // namespace af_sim

// Types of floating-point functions that exist on every SoC.
#define AF_FLOATING(name, T) AF_DTYPES(name, T, half, float)

// The four overloads of a unary function: with and without temporary, with and without count. `formula` is C++ of the
// double `x`.
#define AF_MATH_UNARY(name, instructions, formula)                                                                     \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                             \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {                           \
        AF_CALL(#name);                                                                                                \
        AF_FLOATING(#name, T);                                                                                         \
        af_sim::map(af_sim::rule_of<T>(af_sim::factor::name, isReuseSource, instructions), dst, &sharedTmpBuffer,      \
                    calCount, [](T in) { const double x = af_sim::exact(in); return af_sim::rounded<T>(formula); },    \
                    src);                                                                                              \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount) {                  \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src, af_sim::stack_temporary(), calCount);                                         \
    }

#define AF_MATH_UNARY_WHOLE(name)                                                                                      \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                             \
                     const LocalTensor<uint8_t>& sharedTmpBuffer) {                                                    \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src, sharedTmpBuffer, src.GetSize());                                              \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src) {                                           \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src, af_sim::stack_temporary(), src.GetSize());                                    \
    }

// The overloads of a function of two tensors; `body` is C++ that returns the element for `a` and `b` of type T.
#define AF_MATH_BINARY(name, instructions, types, body)                                                                \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_OF_LIST(#name, T, types);                                                                            \
        af_sim::map(af_sim::rule_of<T>(af_sim::factor::name, isReuseSource, instructions), dst, &sharedTmpBuffer,      \
                    calCount, [](T a, T b) -> T { body }, src0, src1);                                                 \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const uint32_t calCount) {                                                                        \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src0, src1, af_sim::stack_temporary(), calCount);                                  \
    }

#define AF_MATH_BINARY_WHOLE(name)                                                                                     \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const LocalTensor<uint8_t>& sharedTmpBuffer) {                                                    \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src0, src1, sharedTmpBuffer, src0.GetSize());                                      \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1) {              \
        AF_CALL(#name);                                                                                                \
        name<T, isReuseSource>(dst, src0, src1, af_sim::stack_temporary(), src0.GetSize());                            \
    }
