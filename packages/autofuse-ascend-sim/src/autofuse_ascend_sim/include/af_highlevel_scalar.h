// 350 only: a scalar on either side of an element-wise instruction, as a value or as the first element of a tensor.
//
// `Adds(dst, src, 2.0f, n)` and `Adds(dst, 2.0f, src, n)`; with two tensors the configuration says which is the scalar.
#pragma once
#include "af_highlevel_arithmetic.h"
#include "af_highlevel_map.h"

#if AF_ARCH_350
namespace AscendC {

struct BinaryDefaultType {};
constexpr BinaryConfig DEFAULT_BINARY_CONFIG = {};

}  // namespace AscendC

namespace af_sim {

// One side of a flexible-scalar call: a value, a whole tensor, or the first element of a tensor.
template <typename T> struct FlexibleSide {
    static constexpr bool is_tensor = false;
    using Element = T;
};
template <typename T> struct FlexibleSide<AscendC::LocalTensor<T>> {
    static constexpr bool is_tensor = true;
    using Element = T;
};
template <typename Side> Operand flexible_operand(const char* name, const Side& side, bool is_scalar, uint32_t count) {
    return read(name, side, is_scalar ? 1 : count);
}
template <typename T, typename Side> T flexible_element(const Side& side, bool is_scalar, uint32_t i) {
    if constexpr (FlexibleSide<Side>::is_tensor) {
        return side.Data()[is_scalar ? 0 : i];
    } else {
        return side;
    }
}

template <typename U, typename S, typename V, typename F>
void flexible_scalar(const U& dst, const S& src0, const V& src1, int32_t count, int scalar_index, F f) {
    using T = typename U::PrimType;
    const uint32_t n = static_cast<uint32_t>(count);
    const bool both = FlexibleSide<S>::is_tensor && FlexibleSide<V>::is_tensor;
    const bool left = both && scalar_index == 0, right = both && scalar_index == 1;
    bool compute;
    if constexpr (FlexibleSide<S>::is_tensor && FlexibleSide<V>::is_tensor) {
        compute = issue(PIPE_V, {written("dst", dst, n), flexible_operand("src0", src0, left, n),
                                 flexible_operand("src1", src1, right, n)}, work<T>(n));
    } else if constexpr (FlexibleSide<S>::is_tensor) {
        compute = issue(PIPE_V, {written("dst", dst, n), read("src0", src0, n)}, work<T>(n));
    } else {
        compute = issue(PIPE_V, {written("dst", dst, n), read("src1", src1, n)}, work<T>(n));
    }
    if (!compute) return;
    for (uint32_t i = 0; i < n; ++i) {
        dst.Data()[i] = f(flexible_element<T>(src0, left, i), flexible_element<T>(src1, right, i));
    }
}

template <bool condition, typename T = void> struct EnableIf {};
template <typename T> struct EnableIf<true, T> { using Type = T; };

}  // namespace af_sim

namespace AscendC {

#define AF_FLEXIBLE(name, function, types)                                                                             \
    template <typename T = BinaryDefaultType, bool isSetMask = true, const BinaryConfig& config = DEFAULT_BINARY_CONFIG, \
              typename U, typename S, typename V,                                                                      \
              typename af_sim::EnableIf<__is_same(T, BinaryDefaultType)>::Type* = nullptr>                             \
    AF_API void name(const U& dst, const S& src0, const V& src1, const int32_t& count) {                               \
        AF_CALL(#name);                                                                                                \
        using Element = typename U::PrimType;                                                                          \
        AF_DTYPES_OF_LIST(#name, Element, types);                                                                      \
        static_assert(af_sim::FlexibleSide<S>::is_tensor || af_sim::FlexibleSide<V>::is_tensor,                        \
                      "AscendC::" #name ": one source must be a LocalTensor");                                         \
        static_assert(__is_same(typename af_sim::FlexibleSide<S>::Element, Element) &&                                 \
                          __is_same(typename af_sim::FlexibleSide<V>::Element, Element),                               \
                      "AscendC::" #name ": both sources must have exactly the element type of dst");                   \
        af_sim::flexible_scalar(dst, src0, src1, count, config.scalarTensorIndex,                                      \
                                [](Element a, Element b) { return af_sim::function(a, b); });                          \
    }
#define AF_FLEXIBLE_MAIN (int8_t, uint8_t, int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t)
AF_FLEXIBLE(Adds, sum_of, AF_FLEXIBLE_MAIN)
AF_FLEXIBLE(Maxs, larger, AF_FLEXIBLE_MAIN)
AF_FLEXIBLE(Mins, smaller, AF_FLEXIBLE_MAIN)
AF_FLEXIBLE(Muls, product_of, (int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t))
AF_FLEXIBLE(Subs, difference_of, (int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t))
AF_FLEXIBLE(Divs, quotient_of, (half, float, int64_t, uint64_t))
#undef AF_FLEXIBLE_MAIN

#define AF_FLEXIBLE_BITS(name, operation)                                                                              \
    template <typename T = BinaryDefaultType, bool isSetMask = true, const BinaryConfig& config = DEFAULT_BINARY_CONFIG, \
              typename U, typename S, typename V,                                                                      \
              typename af_sim::EnableIf<__is_same(T, BinaryDefaultType)>::Type* = nullptr>                             \
    AF_API void name(const U& dst, const S& src0, const V& src1, const int32_t& count) {                               \
        AF_CALL(#name);                                                                                                \
        using Element = typename U::PrimType;                                                                          \
        AF_DTYPES(#name, Element, int16_t, uint16_t, int64_t, uint64_t);                                               \
        af_sim::flexible_scalar(dst, src0, src1, count, config.scalarTensorIndex,                                      \
                                [](Element a, Element b) { return static_cast<Element>(a operation b); });             \
    }
AF_FLEXIBLE_BITS(Ands, &)
AF_FLEXIBLE_BITS(Ors, |)
#undef AF_FLEXIBLE_BITS
#undef AF_FLEXIBLE

}  // namespace AscendC
#endif
