// Errors of element-wise operators: bits that the scalar unit collects for the status word.
//
// Rows of `columns` elements start every `pitch` elements: what stands between them raises nothing.
#pragma once
#include "af_npu_pieces.h"
#include "af_npu_status.h"

struct af_live {
  uint32_t columns, pitch;

  __aicore__ inline bool has(uint32_t at) const { return at % pitch < columns; }
};

// Raises `alarm` where one of the first `n` words is 0 that belongs to a row; the first of them is element `at`.
// `words` has contents for a whole piece, `bits` room for a bit each.
__aicore__ inline void af_raise_zeros(const af_words& words, const AscendC::LocalTensor<uint8_t>& bits, uint32_t at,
                                      uint32_t n, af_live live, uint32_t alarm, uint32_t& raised) {
  const auto found = bits.template ReinterpretCast<uint32_t>();
  af_step();
  AscendC::Compares(bits, words, static_cast<int32_t>(0), AscendC::CMPMODE::EQ, AF_PIECE);
  af_order<AscendC::HardEvent::V_S>();
  for (uint32_t i = 0; i < n; i += 32) {
    uint32_t zeros = found.GetValue(i / 32);
    for (uint32_t lane = i; zeros != 0 && lane < n; ++lane, zeros >>= 1) {
      if ((zeros & 1u) != 0 && live.has(at + lane)) raised |= alarm;
    }
  }
}
