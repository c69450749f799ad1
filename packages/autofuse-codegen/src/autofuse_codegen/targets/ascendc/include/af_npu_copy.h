// Rows between GM and UB. Offsets and strides of GM are in elements; rows in UB start every `pitch` elements.
//
// One DataCopyPad moves up to 4,095 rows whose distance in bytes fits 32 bits without a sign; others go one by one.
#pragma once
#include "af_npu_base.h"

constexpr uint32_t AF_COPY_ROWS = 4095;
constexpr af_i64 AF_COPY_GAP = 4294967295LL;

template <typename T>
__aicore__ inline void af_load(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, af_i64 offset,
                               uint32_t rows, uint32_t columns, af_i64 stride, uint32_t pitch) {
  const AscendC::DataCopyPadExtParams<T> padding;
  if (rows == 1 || (stride == columns && pitch == columns)) {
    const AscendC::DataCopyExtParams whole(1, static_cast<uint32_t>(rows * columns * sizeof(T)), 0, 0, 0);
    AscendC::DataCopyPad(to, from[static_cast<uint64_t>(offset)], whole, padding);
    return;
  }
  const uint32_t bytes = static_cast<uint32_t>(columns * sizeof(T));
  const uint32_t free_blocks = static_cast<uint32_t>(pitch * sizeof(T) / 32 - (bytes + 31) / 32);
  const af_i64 gap = (stride - columns) * static_cast<af_i64>(sizeof(T));
  const bool fits = gap >= 0 && gap <= AF_COPY_GAP;
  const uint32_t most = fits ? AF_COPY_ROWS : 1;
  for (uint32_t row = 0; row < rows; row += most) {
    const uint32_t now = af_smaller(rows - row, most);
    const AscendC::DataCopyExtParams some(static_cast<uint16_t>(now), bytes, static_cast<uint32_t>(fits ? gap : 0),
                                          free_blocks, 0);
    AscendC::DataCopyPad(to[row * pitch], from[static_cast<uint64_t>(offset + row * stride)], some, padding);
  }
}

template <typename T>
__aicore__ inline void af_store(const AscendC::GlobalTensor<T>& to, af_i64 offset, const AscendC::LocalTensor<T>& from,
                                uint32_t rows, uint32_t columns, af_i64 stride, uint32_t pitch) {
  if (rows == 1 || (stride == columns && pitch == columns)) {
    const AscendC::DataCopyExtParams whole(1, static_cast<uint32_t>(rows * columns * sizeof(T)), 0, 0, 0);
    AscendC::DataCopyPad(to[static_cast<uint64_t>(offset)], from, whole);
    return;
  }
  const uint32_t bytes = static_cast<uint32_t>(columns * sizeof(T));
  const uint32_t free_blocks = static_cast<uint32_t>(pitch * sizeof(T) / 32 - (bytes + 31) / 32);
  const af_i64 gap = (stride - columns) * static_cast<af_i64>(sizeof(T));
  const bool fits = gap >= 0 && gap <= AF_COPY_GAP;
  const uint32_t most = fits ? AF_COPY_ROWS : 1;
  for (uint32_t row = 0; row < rows; row += most) {
    const uint32_t now = af_smaller(rows - row, most);
    const AscendC::DataCopyExtParams some(static_cast<uint16_t>(now), bytes, free_blocks,
                                          static_cast<uint32_t>(fits ? gap : 0), 0);
    AscendC::DataCopyPad(to[static_cast<uint64_t>(offset + row * stride)], from[row * pitch], some);
  }
}
