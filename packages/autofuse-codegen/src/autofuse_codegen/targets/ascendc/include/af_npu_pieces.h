// Operators that no instruction makes are composed of several, AF_PIECE elements at a time, in scratch.
//
// An operand is a tensor or a number. The vector unit starts its instructions in order: each step here waits for the
// results of those before.
#pragma once
#include "af_npu_fill.h"

constexpr uint32_t AF_PIECE = 512;

// Scratch, taken from its beginning on.
struct af_room {
  AscendC::LocalTensor<uint8_t> rest;

  template <typename T>
  __aicore__ inline AscendC::LocalTensor<T> take(uint32_t elements = AF_PIECE) {
    const auto taken = rest.template ReinterpretCast<T>();
    rest = rest[static_cast<uint32_t>(elements * sizeof(T))];
    return taken;
  }
};

// An operand by pieces. A number fills a piece of scratch, once.
template <typename T>
struct af_many {
  AscendC::LocalTensor<T> all;

  __aicore__ inline af_many(const AscendC::LocalTensor<T>& tensor, af_room& room) : all(tensor) { (void)room; }
  __aicore__ inline AscendC::LocalTensor<T> piece(uint32_t at) const { return all[at]; }
};

template <typename T>
struct af_one {
  AscendC::LocalTensor<T> filled;

  __aicore__ inline af_one(T value, af_room& room) : filled(room.template take<T>()) { af_fill(filled, value, AF_PIECE); }
  __aicore__ inline AscendC::LocalTensor<T> piece(uint32_t at) const {
    (void)at;
    return filled;
  }
};

template <typename T>
__aicore__ inline af_many<T> af_pieces(const AscendC::LocalTensor<T>& tensor, af_room& room) {
  return af_many<T>(tensor, room);
}
template <typename T>
__aicore__ inline af_one<T> af_pieces(T value, af_room& room) {
  return af_one<T>(value, room);
}

__aicore__ inline void af_step() { AscendC::PipeBarrier<PIPE_V>(); }

// 32-bit words: each function waits for what was computed before. `n` counts words.
using af_words = AscendC::LocalTensor<int32_t>;

__aicore__ inline AscendC::LocalTensor<uint16_t> af_bits_of(const af_words& x) {
  return x.template ReinterpretCast<uint16_t>();
}

#define AF_NPU_WORDS(name, Operator, type, scale)                                                             \
  __aicore__ inline void name(const af_words& to, const af_words& a, const af_words& b, uint32_t n) {            \
    af_step();                                                                                                \
    AscendC::Operator(to.template ReinterpretCast<type>(), a.template ReinterpretCast<type>(),                \
                      b.template ReinterpretCast<type>(), static_cast<int32_t>(scale * n));                   \
  }
AF_NPU_WORDS(af_words_add, Add, int32_t, 1)
AF_NPU_WORDS(af_words_sub, Sub, int32_t, 1)
AF_NPU_WORDS(af_words_mul, Mul, int32_t, 1)
AF_NPU_WORDS(af_words_and, And, uint16_t, 2)
AF_NPU_WORDS(af_words_or, Or, uint16_t, 2)
#undef AF_NPU_WORDS

__aicore__ inline void af_words_not(const af_words& to, const af_words& a, uint32_t n) {
  af_step();
  AscendC::Not(af_bits_of(to), af_bits_of(a), static_cast<int32_t>(2 * n));
}

__aicore__ inline void af_words_left(const af_words& to, const af_words& a, int32_t by, uint32_t n) {
  af_step();
  AscendC::ShiftLeft(to, a, by, static_cast<int32_t>(n));
}

// The sign moves in.
__aicore__ inline void af_words_right(const af_words& to, const af_words& a, int32_t by, uint32_t n) {
  af_step();
  AscendC::ShiftRight(to, a, by, static_cast<int32_t>(n));
}

// Zeros move in.
__aicore__ inline void af_words_right0(const af_words& to, const af_words& a, uint32_t by, uint32_t n) {
  af_step();
  AscendC::ShiftRight(to.template ReinterpretCast<uint32_t>(), a.template ReinterpretCast<uint32_t>(), by,
                      static_cast<int32_t>(n));
}

__aicore__ inline void af_words_plus(const af_words& to, const af_words& a, int32_t number, uint32_t n) {
  af_step();
  AscendC::Adds(to, a, number, static_cast<int32_t>(n));
}

__aicore__ inline void af_words_times(const af_words& to, const af_words& a, int32_t number, uint32_t n) {
  af_step();
  AscendC::Muls(to, a, number, static_cast<int32_t>(n));
}

// a where `mask` is all ones, b where it is 0; `mask` and `room` are used up.
__aicore__ inline void af_words_blend(const af_words& to, const af_words& mask, const af_words& a, const af_words& b,
                                      const af_words& room, uint32_t n) {
  af_words_and(room, a, mask, n);
  af_words_not(mask, mask, n);
  af_words_and(mask, b, mask, n);
  af_words_or(to, room, mask, n);
}

// All ones where a < b without signs, else 0: the borrow of difference = a - b. `to` and `room` are scratch of their own.
__aicore__ inline void af_words_borrow(const af_words& to, const af_words& a, const af_words& b, const af_words& difference,
                                       const af_words& room, uint32_t n) {
  af_words_not(to, a, n);
  af_words_or(room, to, b, n);
  af_words_and(to, to, b, n);
  af_words_and(room, room, difference, n);
  af_words_or(to, to, room, n);
  af_words_right(to, to, 31, n);
}
