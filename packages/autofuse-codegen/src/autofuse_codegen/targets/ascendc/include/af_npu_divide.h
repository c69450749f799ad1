// Division of 32-bit integers, T: int32_t or uint32_t. Divisors of 0 raise an alarm and give 0.
//
// Quotients of magnitudes come from float, a little too small, and are completed by quotients of what is left over:
// the first one lacks 1537 at most, the next 1; a dividend of 2^31 and more by 1 takes a third.
#pragma once
#include "af_npu_alarm.h"

enum class af_division { trunc_div, floor_div, trunc_mod, floor_mod };

struct af_divider {
  af_words quotient, rest, divisor, low, high;

  __aicore__ inline explicit af_divider(af_room& from)
      : quotient(from.take<int32_t>()), rest(from.take<int32_t>()), divisor(from.take<int32_t>()),
        low(from.take<int32_t>()), high(from.take<int32_t>()) {}

  // x without its sign bit as a sign, rounded once. `to` may be `high`.
  __aicore__ inline void real_of(const AscendC::LocalTensor<float>& to, const af_words& x, const af_words& room,
                                 uint32_t n) const {
    const auto upper = to.template ReinterpretCast<int32_t>();
    const auto lower = room.template ReinterpretCast<float>();
    const int32_t count = static_cast<int32_t>(n);
    af_words_right0(upper, x, 16, n);
    af_words_left(room, x, 16, n);
    af_words_right0(room, room, 16, n);
    af_step();
    AscendC::Cast(to, upper, AscendC::RoundMode::CAST_RINT, n);
    AscendC::Cast(lower, room, AscendC::RoundMode::CAST_RINT, n);
    af_step();
    AscendC::Muls(to, to, 65536.0f, count);
    af_step();
    AscendC::Add(to, to, lower, count);
  }

  // Divides `rest` by `divisor`, which is not 0, both without signs: `quotient`, and what is left in `rest`.
  __aicore__ inline void run(uint32_t n, uint32_t passes, const af_words& room) const {
#if __NPU_ARCH__ == 3510
    (void)passes;
    af_step();
    AscendC::Div(quotient.template ReinterpretCast<uint32_t>(), rest.template ReinterpretCast<uint32_t>(),
                 divisor.template ReinterpretCast<uint32_t>(), static_cast<int32_t>(n));
    af_words_mul(room, quotient, divisor, n);
    af_words_sub(rest, rest, room, n);
#else
    const auto over = low.template ReinterpretCast<float>(), under = high.template ReinterpretCast<float>();
    const int32_t count = static_cast<int32_t>(n);
    real_of(under, divisor, room, n);
    for (uint32_t pass = 0; pass < passes; ++pass) {
      real_of(over, rest, room, n);
      af_step();
      AscendC::Div(over, over, under, count);
      af_step();
      AscendC::Muls(over, over, 0.99999952316284179688f, count);  // 1 - 2^-21
      af_step();
      AscendC::Cast(room, over, AscendC::RoundMode::CAST_TRUNC, n);
      if (pass == 0) {
        af_words_plus(quotient, room, 0, n);
      } else {
        af_words_add(quotient, quotient, room, n);
      }
      af_words_mul(room, room, divisor, n);
      af_words_sub(rest, rest, room, n);
    }
    af_words_sub(room, rest, divisor, n);
    af_words_borrow(low, rest, divisor, room, high, n);  // all ones where nothing is left to divide
    af_words_add(quotient, quotient, low, n);
    af_words_plus(quotient, quotient, 1, n);
    af_words_not(low, low, n);
    af_words_and(low, low, divisor, n);
    af_words_sub(rest, rest, low, n);
#endif
  }
};

template <af_division kind, typename T, typename A, typename B>
__aicore__ inline void af_divide(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count, af_live live,
                                 const AscendC::LocalTensor<uint8_t>& scratch, uint32_t& raised) {
  constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(0);
  constexpr bool wants_rest = kind == af_division::trunc_mod || kind == af_division::floor_mod;
  constexpr bool is_floor = has_sign && (kind == af_division::floor_div || kind == af_division::floor_mod);
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_divider divider(room);
  const af_words nonzero = room.take<int32_t>(), other = room.take<int32_t>(), sign = room.take<int32_t>();
  const auto bits = room.take<uint8_t>();
  AscendC::Duplicate(nonzero, static_cast<int32_t>(-1), static_cast<int32_t>(AF_PIECE));
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    const af_words result = to[at].template ReinterpretCast<int32_t>();
    af_words_times(nonzero, y, -1, n);
    af_words_or(nonzero, nonzero, y, n);
    af_words_right(nonzero, nonzero, 31, n);
    af_raise_zeros(nonzero, bits, at, n, live, AF_STATUS_DIVIDE_BY_ZERO, raised);
    af_words_add(divider.divisor, y, nonzero, n);  // 1 in place of 0
    af_words_plus(divider.divisor, divider.divisor, 1, n);
    if (has_sign) {
      const int32_t words = static_cast<int32_t>(n);
      af_words_times(other, divider.divisor, -1, n);
      af_words_times(divider.rest, x, -1, n);
      af_step();
      AscendC::Max(divider.divisor, divider.divisor, other, words);
      AscendC::Max(divider.rest, divider.rest, x, words);
    } else {
      af_words_plus(divider.rest, x, 0, n);
    }
    divider.run(n, has_sign ? 2 : 3, other);
    const af_words made = wants_rest ? divider.rest : divider.quotient;
    if (!has_sign) {
      af_words_and(result, made, nonzero, n);
      continue;
    }
    const af_words &negative = divider.low, &left_over = divider.high;
    af_words_right(sign, x, 31, n);
    if (is_floor || !wants_rest) {  // all ones where the signs differ
      af_words_right(other, y, 31, n);
      af_words_add(negative, sign, other, n);
      af_words_left(negative, negative, 31, n);
      af_words_right(negative, negative, 31, n);
    }
    if (is_floor) {  // there all ones where something is left over
      af_words_times(left_over, divider.rest, -1, n);
      af_words_right(left_over, left_over, 31, n);
      af_words_and(left_over, left_over, negative, n);
    }
    af_words_times(sign, wants_rest ? sign : negative, 2, n);  // 0 or -1 to 1 or -1
    af_words_plus(sign, sign, 1, n);
    af_words_mul(made, made, sign, n);
    if (is_floor && wants_rest) af_words_and(left_over, left_over, y, n);
    if (is_floor) af_words_add(made, made, left_over, n);
    af_words_and(result, made, nonzero, n);
  }
}
