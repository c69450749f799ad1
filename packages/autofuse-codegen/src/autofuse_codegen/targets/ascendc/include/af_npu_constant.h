// Operators with a constant operand that have no form for one: the constant fills a block of 32 bytes, and every repeat
// reads that block. `block`: 32 bytes of scratch.
#pragma once
#include "af_npu_fill.h"

#define AF_NPU_WITH_CONSTANT(name, Operator, left, right, left_block, left_repeat, right_block, right_repeat)         \
  template <typename T>                                                                                              \
  __aicore__ inline void name(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from, T value,       \
                              uint32_t count, const AscendC::LocalTensor<T>& block) {                                \
    constexpr uint32_t lanes = 256 / sizeof(T);                                                                      \
    const AscendC::BinaryRepeatParams strides(1, left_block, right_block, 8, left_repeat, right_repeat);             \
    AscendC::Duplicate(block, value, static_cast<int32_t>(32 / sizeof(T)));                                          \
    AscendC::PipeBarrier<PIPE_V>();                                                                                  \
    const uint32_t whole = count / lanes;                                                                            \
    for (uint32_t repeat = 0; repeat < whole; repeat += 255) {                                                       \
      const uint8_t now = static_cast<uint8_t>(af_smaller(whole - repeat, 255));                                     \
      const uint32_t at = repeat * lanes;                                                                            \
      AscendC::Operator(to[at], left, right, static_cast<uint64_t>(lanes), now, strides);                            \
    }                                                                                                                \
    const uint32_t at = whole * lanes;                                                                               \
    if (at < count) AscendC::Operator(to[at], left, right, static_cast<uint64_t>(count - at), 1, strides);           \
  }

AF_NPU_WITH_CONSTANT(af_div_by, Div, from[at], block, 1, 8, 0, 0)
AF_NPU_WITH_CONSTANT(af_div_of, Div, block, from[at], 0, 0, 1, 8)
AF_NPU_WITH_CONSTANT(af_max_with, Max, from[at], block, 1, 8, 0, 0)
AF_NPU_WITH_CONSTANT(af_max_of, Max, block, from[at], 0, 0, 1, 8)
AF_NPU_WITH_CONSTANT(af_min_with, Min, from[at], block, 1, 8, 0, 0)
AF_NPU_WITH_CONSTANT(af_min_of, Min, block, from[at], 0, 0, 1, 8)
#undef AF_NPU_WITH_CONSTANT

// And and Or work on 16 bits; a block holds constants of any width.
#define AF_NPU_BITS_WITH_CONSTANT(name, Operator)                                                                     \
  template <typename T>                                                                                              \
  __aicore__ inline void name(const AscendC::LocalTensor<uint16_t>& to, const AscendC::LocalTensor<uint16_t>& from,  \
                              T value, uint32_t count, const AscendC::LocalTensor<uint8_t>& scratch) {               \
    const auto block = scratch.template ReinterpretCast<uint16_t>();                                                 \
    const AscendC::BinaryRepeatParams strides(1, 1, 0, 8, 8, 0);                                                     \
    af_fill(scratch.template ReinterpretCast<T>(), value, static_cast<uint32_t>(32 / sizeof(T)));                    \
    AscendC::PipeBarrier<PIPE_V>();                                                                                  \
    const uint32_t whole = count / 128;                                                                              \
    for (uint32_t repeat = 0; repeat < whole; repeat += 255) {                                                       \
      const uint8_t now = static_cast<uint8_t>(af_smaller(whole - repeat, 255));                                     \
      const uint32_t at = repeat * 128;                                                                              \
      AscendC::Operator(to[at], from[at], block, static_cast<uint64_t>(128), now, strides);                          \
    }                                                                                                                \
    const uint32_t at = whole * 128;                                                                                 \
    if (at < count) AscendC::Operator(to[at], from[at], block, static_cast<uint64_t>(count - at), 1, strides);       \
  }

AF_NPU_BITS_WITH_CONSTANT(af_and_with, And)
AF_NPU_BITS_WITH_CONSTANT(af_or_with, Or)
#undef AF_NPU_BITS_WITH_CONSTANT
