// Values along one more axis.
#pragma once
#include "af_npu_fill.h"

// `copies` rows of `to` become `row`, which is a whole number of 32-byte blocks long.
template <typename T>
__aicore__ inline void af_repeat_row(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& row,
                                     uint32_t copies, uint32_t elements) {
  const auto target = to.template ReinterpretCast<uint32_t>();
  const auto source = row.template ReinterpretCast<uint32_t>();
  const uint32_t words = static_cast<uint32_t>(elements * sizeof(T) / 4);
  const uint32_t blocks = words / 8;
  const uint32_t most = blocks > 4095 ? 1 : 255;
  const uint16_t stride = static_cast<uint16_t>(blocks > 4095 ? 8 : blocks);
  for (uint32_t copy = 0; copy < copies; copy += most) {
    const uint8_t repeats = static_cast<uint8_t>(af_smaller(copies - copy, most));
    for (uint32_t at = 0; at < words; at += 64) {
      const uint64_t mask = af_smaller(words - at, 64);
      AscendC::Copy(target[copy * words + at], source[at], mask, repeats, AscendC::CopyRepeatParams(1, 1, stride, 0));
    }
  }
}

// Row i of `to`, `pitch` elements of 16 or 32 bits, becomes element i of `column`. `scratch`: 32 bytes a row, rows
// rounded up to 8.
template <typename T>
__aicore__ inline void af_spread_words(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& column,
                                       uint32_t rows, uint32_t pitch, const AscendC::LocalTensor<T>& scratch) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T), most = 248 * 8;
  for (uint32_t row = 0; row < rows; row += most) {
    const uint8_t repeats = static_cast<uint8_t>((af_smaller(rows - row, most) + 7) / 8);
    AscendC::Brcb(scratch[row * block], column[row], repeats, AscendC::BrcbRepeatParams(1, 8));
  }
  AscendC::PipeBarrier<PIPE_V>();
  const uint32_t stride = pitch / block, together = stride > 4095 ? 1 : 255;
  const uint16_t repeat_stride = static_cast<uint16_t>(stride > 4095 ? 8 : stride);
  for (uint32_t row = 0; row < rows; row += together) {
    const uint8_t repeats = static_cast<uint8_t>(af_smaller(rows - row, together));
    for (uint32_t at = 0; at < pitch; at += lanes) {
      const uint64_t mask = af_smaller(pitch - at, lanes);
      AscendC::Copy(to[row * pitch + at], scratch[row * block], mask, repeats,
                    AscendC::CopyRepeatParams(1, 0, repeat_stride, 1));
    }
  }
}

// The same for bytes, by way of half. `scratch` has room for the column and for `to` in half besides.
template <typename T>
__aicore__ inline void af_spread_bytes(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& column,
                                       uint32_t rows, uint32_t pitch, const AscendC::LocalTensor<uint8_t>& scratch) {
  const uint32_t narrow_bytes = af_round_up(rows, 16) * 2, block_bytes = af_round_up(rows, 8) * 32;
  const auto narrow = scratch.template ReinterpretCast<half>();
  const auto blocks = scratch[narrow_bytes].template ReinterpretCast<half>();
  const auto wide = scratch[narrow_bytes + block_bytes].template ReinterpretCast<half>();
  AscendC::Cast(narrow, column, AscendC::RoundMode::CAST_NONE, af_round_up(rows, 16));
  AscendC::PipeBarrier<PIPE_V>();
  af_spread_words(wide, narrow, rows, pitch, blocks);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Cast(to, wide, AscendC::RoundMode::CAST_RINT, rows * pitch);
}

// The same for 64 bits, one row after the other.
template <typename T>
__aicore__ inline void af_spread_pairs(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& column,
                                       uint32_t rows, uint32_t pitch) {
  af_order<AscendC::HardEvent::V_S>();
  for (uint32_t row = 0; row < rows; ++row) af_fill(to[row * pitch], column.GetValue(row), pitch);
}
