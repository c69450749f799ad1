// Conversions that no Cast makes as they are meant.
#pragma once
#include "af_npu_base.h"

// The low words of 64-bit integers; Cast would saturate.
__aicore__ inline void af_low_words(const AscendC::LocalTensor<int32_t>& to,
                                    const AscendC::LocalTensor<int64_t>& from, uint32_t count) {
  uint64_t kept = 0;
  AscendC::GatherMask(to, from.template ReinterpretCast<int32_t>(), static_cast<uint8_t>(1), true, 2 * count,
                      AscendC::GatherMaskParams(1, 1, 8, 8), kept);
}
