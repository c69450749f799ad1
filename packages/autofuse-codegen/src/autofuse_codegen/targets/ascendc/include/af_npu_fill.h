// Constants in UB. Duplicate takes elements of 16 and 32 bits.
#pragma once
#include "af_npu_base.h"

// The first `count` elements become `value`; of bytes, the one after an odd count as well.
template <typename T>
__aicore__ inline void af_fill(const AscendC::LocalTensor<T>& to, T value, uint32_t count) {
  if constexpr (sizeof(T) == 1) {
    const uint16_t pair = static_cast<uint16_t>(static_cast<uint8_t>(value) * 0x0101u);
    AscendC::Duplicate(to.template ReinterpretCast<uint16_t>(), pair, static_cast<int32_t>((count + 1) / 2));
  } else if constexpr (sizeof(T) == 8) {
    // Low words go to the even places, high words to the odd ones.
    const auto words = to.template ReinterpretCast<uint32_t>();
    const uint32_t low = static_cast<uint32_t>(static_cast<uint64_t>(value));
    const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
    uint32_t now = 0;
    for (uint32_t at = 0; at < 2 * count; at += now) {
      const uint32_t left = 2 * count - at, whole = af_smaller(left / 64, 255);
      const uint64_t lanes = whole > 0 ? ~0ULL : (1ULL << left) - 1;
      const uint8_t repeats = static_cast<uint8_t>(whole > 0 ? whole : 1);
      uint64_t even[2] = {lanes & 0x5555555555555555ULL, 0};
      uint64_t odd[2] = {lanes & 0xaaaaaaaaaaaaaaaaULL, 0};
      AscendC::Duplicate(words[at], low, even, repeats, 1, 8);
      AscendC::Duplicate(words[at], high, odd, repeats, 1, 8);
      now = whole > 0 ? whole * 64 : left;
    }
  } else {
    AscendC::Duplicate(to, value, static_cast<int32_t>(count));
  }
}

// The bits of `value` as those of another type of the same size.
template <typename To, typename From>
__aicore__ inline To af_bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "bits keep their number");
  return __builtin_bit_cast(To, value);
}

// A copy inside UB, of 16 bits at a time.
template <typename T>
__aicore__ inline void af_copy(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from, uint32_t count) {
  const auto target = to.template ReinterpretCast<uint16_t>();
  const auto source = from.template ReinterpretCast<uint16_t>();
  const uint32_t words = static_cast<uint32_t>((count * sizeof(T) + 1) / 2), whole = words / 128;
  for (uint32_t repeat = 0; repeat < whole; repeat += 255) {
    const uint8_t now = static_cast<uint8_t>(af_smaller(whole - repeat, 255));
    const uint32_t at = repeat * 128;
    AscendC::Copy(target[at], source[at], static_cast<uint64_t>(128), now, AscendC::CopyRepeatParams(1, 1, 8, 8));
  }
  const uint32_t at = whole * 128;
  if (at < words) {
    const uint64_t mask = words - at;
    AscendC::Copy(target[at], source[at], mask, 1, AscendC::CopyRepeatParams(1, 1, 8, 8));
  }
}

// Memory of `bytes` gets defined contents, so that lanes behind the last element may be read.
__aicore__ inline void af_define(const AscendC::LocalTensor<uint8_t>& memory, uint32_t bytes) {
  AscendC::Duplicate(memory.template ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0),
                     static_cast<int32_t>(bytes / 4));
}

// Elements from the end of the 32-byte block that holds the last of `count` up to `end` get defined contents.
template <typename T>
__aicore__ inline void af_close(const AscendC::LocalTensor<T>& to, uint32_t count, uint32_t end) {
  const uint32_t first = af_round_up(count, 32 / sizeof(T));
  if (first >= end) return;
  AscendC::Duplicate(to[first].template ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0),
                     static_cast<int32_t>((end - first) * sizeof(T) / 4));
}

// The same from the beginning of that block, before `count` elements are written.
template <typename T>
__aicore__ inline void af_close_early(const AscendC::LocalTensor<T>& to, uint32_t count, uint32_t end) {
  const uint32_t first = count / (32 / sizeof(T)) * (32 / sizeof(T));
  if (first >= end) return;
  AscendC::Duplicate(to[first].template ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0),
                     static_cast<int32_t>((end - first) * sizeof(T) / 4));
}

// What lies between the last block of each row of `columns` elements and the next row, `pitch` elements on.
template <typename T>
__aicore__ inline void af_close_rows(const AscendC::LocalTensor<T>& to, uint32_t rows, uint32_t columns,
                                     uint32_t pitch) {
  const uint32_t first = af_round_up(columns, 32 / sizeof(T));
  if (first >= pitch) return;
  const uint64_t mask = (pitch - first) * sizeof(T) / 4;
  const uint32_t blocks = static_cast<uint32_t>(pitch * sizeof(T) / 32), together = blocks > 255 ? 1 : 255;
  const uint8_t stride = static_cast<uint8_t>(blocks > 255 ? 8 : blocks);
  for (uint32_t row = 0; row < rows; row += together) {
    const uint8_t repeats = static_cast<uint8_t>(af_smaller(rows - row, together));
    AscendC::Duplicate(to[row * pitch + first].template ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0), mask,
                       repeats, 1, stride);
  }
}
