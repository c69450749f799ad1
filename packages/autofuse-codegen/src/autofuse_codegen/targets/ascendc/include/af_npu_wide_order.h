// 64-bit integers on vector cores without comparisons for them: order, extremes, selection. T: int64_t or uint64_t.
#pragma once
#include "af_npu_wide.h"

// Words that are all ones where x < y, else 0.
template <typename T>
struct af_comparison {
  af_words x0, x1, y0, y1, low, room;

  __aicore__ inline explicit af_comparison(af_room& from)
      : x0(from.take<int32_t>()), x1(from.take<int32_t>()), y0(from.take<int32_t>()), y1(from.take<int32_t>()),
        low(from.take<int32_t>()), room(from.take<int32_t>()) {}

  __aicore__ inline void halves(const af_words& x, const af_words& y, uint32_t n) const {
    af_low_halves(x0, x, n);
    af_low_halves(y0, y, n);
    af_high_halves(x1, x, n);
    af_high_halves(y1, y, n);
  }

  __aicore__ inline void less(const af_words& to, const af_words& x, const af_words& y, uint32_t n) const {
    halves(x, y, n);
    af_words_sub(to, x0, y0, n);
    af_words_borrow(low, x0, y0, to, room, n);
    if (static_cast<T>(-1) < static_cast<T>(0)) {  // order of signed words, as that of words without signs
      af_words_plus(x1, x1, -2147483647 - 1, n);
      af_words_plus(y1, y1, -2147483647 - 1, n);
    }
    af_words_sub(x0, x1, y1, n);
    af_words_add(x0, x0, low, n);
    af_words_borrow(to, x1, y1, x0, room, n);
  }

  // Words that are 0 where x is y.
  __aicore__ inline void differ(const af_words& to, const af_words& x, const af_words& y, uint32_t n) const {
    halves(x, y, n);
    af_words_sub(x0, x0, y0, n);
    af_words_sub(x1, x1, y1, n);
    af_words_or(to, x0, x1, n);
  }
};

// Bits of a comparison; `count` is a number of whole vectors.
template <AscendC::CMPMODE mode, typename T, typename A, typename B>
__aicore__ inline void af_wide_compare(const AscendC::LocalTensor<uint8_t>& bits, A a, B b, uint32_t count,
                                       const AscendC::LocalTensor<uint8_t>& scratch) {
  using AscendC::CMPMODE;
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_comparison<T> order(room);
  const af_words found = room.take<int32_t>();
  constexpr bool is_same = mode == CMPMODE::EQ || mode == CMPMODE::NE;
  constexpr bool is_swapped = mode == CMPMODE::GT || mode == CMPMODE::LE;
  constexpr int32_t wanted = mode == CMPMODE::LT || mode == CMPMODE::GT ? -1 : 0;
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    if (is_same) {
      order.differ(found, x, y, n);
    } else if (is_swapped) {
      order.less(found, y, x, n);
    } else {
      order.less(found, x, y, n);
    }
    const auto some = bits[at / 8];
    af_step();
    AscendC::Compares(some, found, wanted, CMPMODE::EQ, n);
    if (mode == CMPMODE::NE) {
      const auto words = some.template ReinterpretCast<uint16_t>();
      af_step();
      AscendC::Not(words, words, static_cast<int32_t>(n / 16));
    }
  }
}

// The smaller or larger of two.
template <bool smaller, typename T, typename A, typename B>
__aicore__ inline void af_wide_extreme(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                       const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_comparison<T> order(room);
  const af_words found = room.take<int32_t>(), mask = room.take<int32_t>(2 * AF_PIECE);
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    if (smaller) {
      order.less(found, x, y, n);
    } else {
      order.less(found, y, x, n);
    }
    af_lengthen(mask, found, n);
    af_words_blend(to[at].template ReinterpretCast<int32_t>(), mask, x, y, order.x0, 2 * n);
  }
}
template <typename T, typename A, typename B>
__aicore__ inline void af_wide_min(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& scratch) {
  af_wide_extreme<true, T>(to, a, b, count, scratch);
}
template <typename T, typename A, typename B>
__aicore__ inline void af_wide_max(const AscendC::LocalTensor<T>& to, A a, B b, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& scratch) {
  af_wide_extreme<false, T>(to, a, b, count, scratch);
}

// a where the bit is 1, else b.
template <typename T, typename A, typename B>
__aicore__ inline void af_wide_select(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<uint8_t>& bits, A a,
                                      B b, uint32_t count, const AscendC::LocalTensor<uint8_t>& scratch) {
  af_room room{scratch};
  const auto left = af_pieces<T>(a, room);
  const auto right = af_pieces<T>(b, room);
  const af_words ones = room.take<int32_t>(), found = room.take<int32_t>();
  const af_words mask = room.take<int32_t>(2 * AF_PIECE), other = room.take<int32_t>(2 * AF_PIECE);
  AscendC::Duplicate(ones, static_cast<int32_t>(-1), static_cast<int32_t>(AF_PIECE));
  for (uint32_t at = 0; at < count; at += AF_PIECE) {
    const uint32_t n = af_smaller(count - at, AF_PIECE);
    const af_words x = left.piece(at).template ReinterpretCast<int32_t>();
    const af_words y = right.piece(at).template ReinterpretCast<int32_t>();
    af_step();
    AscendC::Select(found.template ReinterpretCast<float>(), bits[at / 8], ones.template ReinterpretCast<float>(), 0.0f,
                    AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
    af_lengthen(mask, found, n);
    af_words_blend(to[at].template ReinterpretCast<int32_t>(), mask, x, y, other, 2 * n);
  }
}
