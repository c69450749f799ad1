// Shifts by tensors and powers of 32-bit integers, T: int32_t or uint32_t.
#pragma once
#include "af_npu_alarm.h"

// `to` becomes all ones where bit `bit` of x is set, else 0.
__aicore__ inline void af_bit_mask(const af_words& to, const af_words& x, int32_t bit, uint32_t n) {
  af_words_left(to, x, 31 - bit, n);
  af_words_right(to, to, 31, n);
}

// Bit by bit of the amount. Amounts that are negative or reach 32 give 0, or the sign where it moves in.
template <bool is_left, typename T, typename A, typename B>
__aicore__ inline void af_shift(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                const AscendC::LocalTensor<uint8_t>& scratch) {
  constexpr bool keeps_sign = !is_left && static_cast<T>(-1) < static_cast<T>(0);
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words amount = room.take<int32_t>(), beyond = room.take<int32_t>(), mask = room.take<int32_t>();
  const af_words moved = room.take<int32_t>(), other = room.take<int32_t>();
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    const af_words result = to[at].template ReinterpretCast<int32_t>();
    af_words_right0(beyond, y, 5, n);
    af_words_times(beyond, beyond, -1, n);
    af_words_right(beyond, beyond, 31, n);  // all ones where the amount is 32 and more
    if (keeps_sign) {
      af_words_or(amount, y, beyond, n);
    } else {
      af_words_plus(amount, y, 0, n);
    }
    af_words_plus(result, x, 0, n);
    for (int32_t bit = 0; bit < 5; ++bit) {
      af_bit_mask(mask, amount, bit, n);
      if (is_left) {
        af_words_left(moved, result, 1 << bit, n);
      } else if (keeps_sign) {
        af_words_right(moved, result, 1 << bit, n);
      } else {
        af_words_right0(moved, result, 1u << bit, n);
      }
      af_words_blend(result, mask, moved, result, other, n);
    }
    if (!keeps_sign) {
      af_words_not(beyond, beyond, n);
      af_words_and(result, result, beyond, n);
    }
  }
}

// a to the power b, by squaring, with the low bits. Negative exponents raise an alarm.
template <typename T, typename A, typename B>
__aicore__ inline void af_power(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count, af_live live,
                                const AscendC::LocalTensor<uint8_t>& scratch, uint32_t& raised) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words base = room.take<int32_t>(), factor = room.take<int32_t>(), mask = room.take<int32_t>();
  const auto bits = room.take<uint8_t>();
  AscendC::Duplicate(factor, static_cast<int32_t>(-1), static_cast<int32_t>(AF_PIECE));
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    const af_words result = to[at].template ReinterpretCast<int32_t>();
    if (static_cast<T>(-1) < static_cast<T>(0)) {
      af_words_right(factor, y, 31, n);
      af_words_not(factor, factor, n);
      af_raise_zeros(factor, bits, at, n, live, AF_STATUS_NEGATIVE_POWER, raised);
    }
    af_words_plus(base, x, 0, n);
    af_step();
    AscendC::Duplicate(result, static_cast<int32_t>(1), static_cast<int32_t>(n));
    for (int32_t bit = 0; bit < 32; ++bit) {
      af_bit_mask(mask, y, bit, n);
      af_words_plus(factor, base, -1, n);
      af_words_and(factor, factor, mask, n);
      af_words_plus(factor, factor, 1, n);  // the base, or 1
      af_words_mul(result, result, factor, n);
      af_words_mul(base, base, base, n);
    }
  }
}
