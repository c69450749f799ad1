// How 64-bit integers are joined, on the scalar unit: in any order they give one result.
#pragma once
#include "af_npu_base.h"

// As the joins of vectors: `first` op `second`, of `count` elements, or of `lanes` in each of `repeats` whose strides
// are in blocks of 32 bytes.
template <typename Operator>
struct af_each {
  template <typename T>
  static __aicore__ inline void one(const AscendC::LocalTensor<T>& to, uint32_t at, T value) {
    to.SetValue(at, Operator::of(to.GetValue(at), value));
  }
  template <typename T>
  static __aicore__ inline void whole(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& first,
                                      const AscendC::LocalTensor<T>& second, uint32_t count) {
    rows(to, first, second, count, 1, 0, 0);
  }
  template <typename T>
  static __aicore__ inline void rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& first,
                                     const AscendC::LocalTensor<T>& second, uint32_t lanes, uint32_t repeats,
                                     uint32_t stride, uint32_t second_stride) {
    constexpr uint32_t block = 32 / sizeof(T);
    af_order<AscendC::HardEvent::V_S>();
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
      const uint32_t own = repeat * stride * block, other = repeat * second_stride * block;
      for (uint32_t i = 0; i < lanes; ++i) {
        to.SetValue(own + i, Operator::of(first.GetValue(own + i), second.GetValue(other + i)));
      }
    }
    af_order<AscendC::HardEvent::S_V>();
  }
};

#define AF_NPU_EACH(name, expression)          \
  struct name {                                \
    template <typename T>                      \
    static __aicore__ inline T of(T a, T b) {  \
      return expression;                       \
    }                                          \
  };
AF_NPU_EACH(af_add_one, static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)))
AF_NPU_EACH(af_multiply_one, static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)))
AF_NPU_EACH(af_larger_one, a > b ? a : b)
AF_NPU_EACH(af_smaller_one, a < b ? a : b)
#undef AF_NPU_EACH

using af_each_sum = af_each<af_add_one>;
using af_each_prod = af_each<af_multiply_one>;
using af_each_max = af_each<af_larger_one>;
using af_each_min = af_each<af_smaller_one>;
