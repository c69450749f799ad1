// 64-bit integers on vector cores without arithmetic for them, by their 32-bit halves. T: int64_t or uint64_t.
//
// In memory the low word of each element stands at an even place, the high word behind it.
#pragma once
#include "af_npu_pieces.h"

constexpr uint64_t AF_EVEN_WORDS = 0x5555555555555555ULL, AF_ODD_WORDS = ~AF_EVEN_WORDS;

// f(first word, mask, repeats) for all instructions that cover `words` words, of which those in `places` count.
template <typename F>
__aicore__ inline void af_words_at(uint64_t places, uint32_t words, F f) {
  const uint32_t whole = words / 64, left = words % 64;
  uint64_t mask[2] = {places, 0};
  if (whole > 0) f(0u, mask, static_cast<uint8_t>(whole));
  mask[0] = places & ((1ULL << left) - 1);
  if (left > 0) f(whole * 64, mask, static_cast<uint8_t>(1));
}

// Words at even (1) or odd (2) places of `n` elements.
__aicore__ inline void af_every_other(const af_words& to, const af_words& from, uint8_t place, uint32_t n) {
  uint64_t kept = 0;
  af_step();
  AscendC::GatherMask(to, from, place, true, 2 * n, AscendC::GatherMaskParams(1, 1, 8, 8), kept);
}
__aicore__ inline void af_low_halves(const af_words& to, const af_words& from, uint32_t n) {
  af_every_other(to, from, 1, n);
}
__aicore__ inline void af_high_halves(const af_words& to, const af_words& from, uint32_t n) {
  af_every_other(to, from, 2, n);
}

// Each word becomes an element, with its sign.
__aicore__ inline void af_lengthen(const af_words& to, const af_words& from, uint32_t n) {
  af_step();
  AscendC::Cast(to.template ReinterpretCast<int64_t>(), from, AscendC::RoundMode::CAST_NONE, n);
}

// Elements of `n` low and high halves. By way of float: 16 bits of a high half and its place are exact there.
// `high` and `room`, as long as `to`, are used up.
__aicore__ inline void af_join_halves(const af_words& to, const af_words& low, const af_words& high, const af_words& room,
                                      uint32_t n) {
  const auto real = room.template ReinterpretCast<float>();
  const int32_t count = static_cast<int32_t>(n);
  af_words_left(room, high, 16, n);
  af_words_right0(room, room, 16, n);
  af_step();
  AscendC::Cast(real, room, AscendC::RoundMode::CAST_RINT, n);
  af_step();
  AscendC::Muls(real, real, 4294967296.0f, count);
  af_step();
  AscendC::Cast(to.template ReinterpretCast<int64_t>(), real, AscendC::RoundMode::CAST_RINT, n);
  af_words_right(high, high, 16, n);
  const auto upper = high.template ReinterpretCast<float>();
  af_step();
  AscendC::Cast(upper, high, AscendC::RoundMode::CAST_RINT, n);
  af_step();
  AscendC::Muls(upper, upper, 281474976710656.0f, count);
  af_step();
  AscendC::Cast(room.template ReinterpretCast<int64_t>(), upper, AscendC::RoundMode::CAST_RINT, n);
  af_words_or(to, to, room, 2 * n);
  af_lengthen(room, low, n);
  af_step();
  af_words_at(AF_EVEN_WORDS, 2 * n, [&](uint32_t at, uint64_t mask[], uint8_t repeats) {
    AscendC::Add(to[at], to[at], room[at], mask, repeats, AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
  });
}

// The sum and the difference: what low halves carry or borrow goes to the high ones.
template <typename T, typename A, typename B>
__aicore__ inline void af_wide_add(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words carry = room.take<int32_t>(2 * AF_PIECE), other = room.take<int32_t>(2 * AF_PIECE);
  const af_words dense = room.take<int32_t>();
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE), words = 2 * n;
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    const af_words sum = to[at].template ReinterpretCast<int32_t>();
    af_words_add(sum, x, y, words);
    af_words_not(other, sum, words);
    af_words_or(carry, x, y, words);
    af_words_and(carry, carry, other, words);
    af_words_and(other, x, y, words);
    af_words_or(carry, carry, other, words);
    af_words_right(carry, carry, 31, words);
    af_low_halves(dense, carry, n);
    af_lengthen(other, dense, n);
    af_step();
    af_words_at(AF_ODD_WORDS, words, [&](uint32_t first, uint64_t mask[], uint8_t repeats) {
      AscendC::Sub(sum[first], sum[first], other[first], mask, repeats, AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    });
  }
}

template <typename T, typename A, typename B>
__aicore__ inline void af_wide_sub(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words borrow = room.take<int32_t>(2 * AF_PIECE), other = room.take<int32_t>(2 * AF_PIECE);
  const af_words dense = room.take<int32_t>();
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE), words = 2 * n;
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    const af_words difference = to[at].template ReinterpretCast<int32_t>();
    af_words_sub(difference, x, y, words);
    af_words_borrow(borrow, x, y, difference, other, words);
    af_low_halves(dense, borrow, n);
    af_lengthen(other, dense, n);
    af_step();
    af_words_at(AF_ODD_WORDS, words, [&](uint32_t first, uint64_t mask[], uint8_t repeats) {
      AscendC::Add(difference[first], difference[first], other[first], mask, repeats,
                   AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    });
  }
}

// The low 64 bits of the product: low * low in full by 16 bits, and what the high halves add to its upper word.
template <typename T, typename A, typename B>
__aicore__ inline void af_wide_mul(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words x = room.take<int32_t>(), y = room.take<int32_t>(), high = room.take<int32_t>();
  const af_words x0 = room.take<int32_t>(), y0 = room.take<int32_t>(), middle = room.take<int32_t>();
  const af_words wide = room.take<int32_t>(2 * AF_PIECE);
  const af_words part = wide, rest = wide[AF_PIECE];
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words p = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words q = right.piece(at).template ReinterpretCast<int32_t>();
    af_low_halves(x, p, n);
    af_low_halves(y, q, n);
    af_high_halves(part, p, n);
    af_high_halves(rest, q, n);
    af_words_mul(high, part, y, n);
    af_words_mul(rest, rest, x, n);
    af_words_add(high, high, rest, n);
    af_words_left(x0, x, 16, n);
    af_words_right0(x0, x0, 16, n);
    af_words_left(y0, y, 16, n);
    af_words_right0(y0, y0, 16, n);
    af_words_mul(middle, x0, y0, n);  // low by low: its upper half
    af_words_right0(middle, middle, 16, n);
    af_words_right0(part, x, 16, n);
    af_words_mul(rest, part, y0, n);  // high by low: its upper half, and its lower half in the middle
    af_words_right0(y0, rest, 16, n);
    af_words_add(high, high, y0, n);
    af_words_left(rest, rest, 16, n);
    af_words_right0(rest, rest, 16, n);
    af_words_add(middle, middle, rest, n);
    af_words_right0(rest, y, 16, n);
    af_words_mul(part, part, rest, n);  // high by high
    af_words_add(high, high, part, n);
    af_words_mul(rest, rest, x0, n);  // low by high
    af_words_right0(part, rest, 16, n);
    af_words_add(high, high, part, n);
    af_words_left(rest, rest, 16, n);
    af_words_right0(rest, rest, 16, n);
    af_words_add(middle, middle, rest, n);
    af_words_right0(middle, middle, 16, n);
    af_words_add(high, high, middle, n);
    af_words_mul(x, x, y, n);
    af_join_halves(to[at].template ReinterpretCast<int32_t>(), x, high, wide, n);
  }
}

// Shifts by a number of 1 to 63.
template <typename T>
__aicore__ inline void af_wide_left(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from, uint32_t by,
                                    uint32_t count, const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const af_words low = room.take<int32_t>(), high = room.take<int32_t>(), wide = room.take<int32_t>(2 * AF_PIECE);
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = from[at].template ReinterpretCast<int32_t>();
    af_low_halves(low, x, n);
    if (by >= 32) {
      af_words_left(high, low, static_cast<int32_t>(by - 32), n);
      af_words_sub(low, low, low, n);
    } else {
      af_high_halves(high, x, n);
      af_words_left(high, high, static_cast<int32_t>(by), n);
      af_words_right0(wide, low, 32 - by, n);
      af_words_or(high, high, wide, n);
      af_words_left(low, low, static_cast<int32_t>(by), n);
    }
    af_join_halves(to[at].template ReinterpretCast<int32_t>(), low, high, wide, n);
  }
}

template <typename T>
__aicore__ inline void af_wide_right(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                     uint32_t by, uint32_t count, const AscendC::LocalTensor<uint8_t>& scratch) {
  constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(0);
  af_room room{scratch};
  const af_words low = room.take<int32_t>(), high = room.take<int32_t>(), wide = room.take<int32_t>(2 * AF_PIECE);
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = from[at].template ReinterpretCast<int32_t>();
    af_high_halves(high, x, n);
    if (by >= 32) {
      if (has_sign) {
        af_words_right(low, high, static_cast<int32_t>(by - 32), n);
      } else {
        af_words_right0(low, high, by - 32, n);
      }
    } else {
      af_low_halves(low, x, n);
      af_words_right0(low, low, by, n);
      af_words_left(wide, high, static_cast<int32_t>(32 - by), n);
      af_words_or(low, low, wide, n);
    }
    const uint32_t rest = by < 31 ? by : 31;
    if (has_sign) {
      af_words_right(high, high, static_cast<int32_t>(rest), n);
    } else if (by >= 32) {
      af_words_sub(high, high, high, n);
    } else {
      af_words_right0(high, high, by, n);
    }
    af_join_halves(to[at].template ReinterpretCast<int32_t>(), low, high, wide, n);
  }
}

// uint32_t to 64 bits: the high words are 0.
template <typename T>
__aicore__ inline void af_wide_of_words(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<uint32_t>& from,
                                        uint32_t count) {
  const af_words words = to.template ReinterpretCast<int32_t>();
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words some = words[2 * at];
    af_lengthen(some, from[at].template ReinterpretCast<int32_t>(), n);
    af_step();
    af_words_at(AF_ODD_WORDS, 2 * n, [&](uint32_t first, uint64_t mask[], uint8_t repeats) {
      AscendC::Duplicate(some[first], static_cast<int32_t>(0), mask, repeats, 1, 8);
    });
  }
}
