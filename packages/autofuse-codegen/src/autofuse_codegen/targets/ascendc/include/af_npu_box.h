// Loads of which a part has no data: what lies inside of the data is copied, the rest is filled.
//
// Copies write whole blocks of 32 bytes, and what they add to the first and the last one is the fill as well; all other
// blocks are filled by the vector unit. No block is written by both.
#pragma once
#include "af_npu_copy.h"
#include "af_npu_fill.h"
#include "af_npu_span.h"

// The bits of `value`, repeated up to 32.
template <typename T>
__aicore__ inline uint32_t af_word_of(T value) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<uint8_t>(value) * 0x01010101u;
  } else if constexpr (sizeof(T) == 2) {
    return af_bits_as<uint16_t>(value) * 0x00010001u;
  } else {
    return af_bits_as<uint32_t>(value);
  }
}

// `rows` rows of `width` elements, `pitch` apart, become `value`; width and pitch are whole numbers of blocks.
template <typename T>
__aicore__ inline void af_fill_rows(const AscendC::LocalTensor<T>& to, T value, uint32_t rows, uint32_t width,
                                    uint32_t pitch) {
  if (rows == 0 || width == 0) return;
  if (rows == 1 || width == pitch) {
    if constexpr (sizeof(T) == 8) {
      af_fill(to, value, rows * width);
    } else {
      const auto words = to.template ReinterpretCast<uint32_t>();
      AscendC::Duplicate(words, af_word_of(value), static_cast<int32_t>(rows * width * sizeof(T) / 4));
    }
    return;
  }
  const uint32_t blocks = static_cast<uint32_t>(pitch * sizeof(T) / 32);
  if (sizeof(T) == 8 || blocks > 255) {
    for (uint32_t row = 0; row < rows; ++row) af_fill_rows(to[row * pitch], value, 1, width, width);
    return;
  }
  if constexpr (sizeof(T) < 8) {
    const auto words = to.template ReinterpretCast<uint32_t>();
    const uint32_t row_words = static_cast<uint32_t>(width * sizeof(T) / 4), step = blocks * 8;
    for (uint32_t row = 0; row < rows; row += 255) {
      const uint8_t repeats = static_cast<uint8_t>(af_smaller(rows - row, 255));
      for (uint32_t at = 0; at < row_words; at += 64) {
        const uint64_t mask = af_smaller(row_words - at, 64);
        AscendC::Duplicate(words[row * step + at], af_word_of(value), mask, repeats, 1, static_cast<uint8_t>(blocks));
      }
    }
  }
}

// `rows` rows of `columns` elements, of which those in `down` x `across` lie in GM, element (0, 0) at `offset`, rows
// `stride` apart; all others become `fill`. Elements of 64 bits fill with 0 alone.
template <typename T>
__aicore__ inline void af_load_box(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   af_i64 offset, uint32_t rows, uint32_t columns, af_i64 stride, uint32_t pitch,
                                   af_span down, af_span across, T fill) {
  constexpr uint32_t block = 32 / sizeof(T);
  if (af_is_whole(down, rows) && af_is_whole(across, columns)) {
    af_load(to, from, offset, rows, columns, stride, pitch);
    return;
  }
  const uint32_t width = af_round_up(columns, block), apart = rows == 1 ? width : pitch;
  const uint32_t inside = down.to - down.from, length = across.to - across.from;
  if (inside == 0 || length == 0) {
    af_fill_rows(to, fill, rows, width, apart);
    return;
  }
  af_fill_rows(to, fill, down.from, width, apart);
  if (down.to < rows) af_fill_rows(to[down.to * apart], fill, rows - down.to, width, apart);
  const uint32_t first = across.from / block * block, last = af_round_up(across.to, block);
  const auto target = to[down.from * apart];
  af_fill_rows(target, fill, inside, first, apart);
  if (last < width) af_fill_rows(target[last], fill, inside, width - last, apart);
  const uint8_t left = static_cast<uint8_t>(across.from - first), right = static_cast<uint8_t>(last - across.to);
  const AscendC::DataCopyPadExtParams<T> padding(left + right > 0, left, right, fill);
  const uint32_t bytes = static_cast<uint32_t>(length * sizeof(T));
  const uint32_t free_blocks = (apart - (last - first)) / block;
  const af_i64 gap = (stride - length) * static_cast<af_i64>(sizeof(T)), start = offset + across.from;
  const bool fits = gap >= 0 && gap <= AF_COPY_GAP;
  const uint32_t most = fits ? AF_COPY_ROWS : 1;
  for (uint32_t row = 0; row < inside; row += most) {
    const uint32_t now = af_smaller(inside - row, most);
    const AscendC::DataCopyExtParams some(static_cast<uint16_t>(now), bytes, static_cast<uint32_t>(fits ? gap : 0),
                                          free_blocks, 0);
    const uint64_t place = static_cast<uint64_t>(start + (down.from + row) * stride);
    AscendC::DataCopyPad(target[row * apart + first], from[place], some, padding);
  }
}
