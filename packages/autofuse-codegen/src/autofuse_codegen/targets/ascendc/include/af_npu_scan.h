// Scans: every element joined with those before it, one after the other; exclusive ones leave the element itself out,
// and give the first one what joining nothing gives. Reverse ones start at the end.
//
// Along an outer axis whole rows are joined. Along the innermost one eight rows or more are transposed first, so that
// columns become rows; fewer are walked by the scalar unit.
#pragma once
#include "af_npu_fill.h"

template <bool product, typename T>
__aicore__ inline T af_joined(T a, T b) {
  if constexpr (product) {
    return static_cast<T>(a * b);
  } else {
    return static_cast<T>(a + b);
  }
}

template <bool product, typename T>
__aicore__ inline void af_join_rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& a,
                                    const AscendC::LocalTensor<T>& b, uint32_t elements) {
  if constexpr (product) {
    AscendC::Mul(to, a, b, static_cast<int32_t>(elements));
  } else {
    AscendC::Add(to, a, b, static_cast<int32_t>(elements));
  }
}

// Element e of row i lies at i * stride + e * step; element by element, on the scalar unit.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_elements(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                        uint32_t rows, uint32_t stride, uint32_t elements, uint32_t step) {
  for (uint32_t e = 0; e < elements; ++e) {
    T sum = static_cast<T>(product ? 1 : 0);
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t at = (reverse ? rows - 1 - i : i) * stride + e * step;
      const T value = from.GetValue(at), before = sum;
      sum = i == 0 ? value : af_joined<product>(sum, value);
      to.SetValue(at, exclusive ? before : sum);
    }
  }
}

// `rows` rows of `elements`, a whole number of blocks, one after the other.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                    uint32_t rows, uint32_t elements) {
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t at = (reverse ? rows - 1 - i : i) * elements;
    const uint32_t before = i == 0 ? at : reverse ? at + elements : at - elements;
    const auto target = to[at], value = from[exclusive ? before : at];
    if (exclusive && i == 0) {
      af_fill(target, static_cast<T>(product ? 1 : 0), elements);
    } else if (i == (exclusive ? 1 : 0)) {
      af_copy(target, value, elements);
    } else {
      AscendC::PipeBarrier<PIPE_V>();
      af_join_rows<product>(target, to[before], value, elements);
    }
  }
}

// The same for types without vector arithmetic.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_each(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                    uint32_t rows, uint32_t elements) {
  af_order<AscendC::HardEvent::V_S>();
  af_scan_elements<product, exclusive, reverse>(to, from, rows, elements, elements, 1);
  af_order<AscendC::HardEvent::S_V>();
}

// Offsets 0, step, 2 * step, ... in bytes.
__aicore__ inline void af_offsets(const AscendC::LocalTensor<uint32_t>& to, uint32_t count, uint32_t step) {
  const auto signed_to = to.ReinterpretCast<int32_t>();
  AscendC::CreateVecIndex(signed_to, static_cast<int32_t>(0), count);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(signed_to, signed_to, static_cast<int32_t>(step), static_cast<int32_t>(count));
}

// Along rows of `columns` elements of 32 bits, `pitch` apart, eight or more of them. `scratch` has 8 bytes an element
// and 1 KiB.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_transposed(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                          uint32_t rows, uint32_t columns, uint32_t pitch,
                                          const AscendC::LocalTensor<uint8_t>& scratch) {
  const uint32_t length = af_round_up(rows, 8), first = exclusive && !reverse ? 1 : 0;
  const auto down = scratch.template ReinterpretCast<uint32_t>(), across = down[length];
  const auto turned = across[pitch].template ReinterpretCast<T>();
  af_offsets(down, rows, static_cast<uint32_t>(pitch * sizeof(T)));
  af_offsets(across, pitch, static_cast<uint32_t>(length * sizeof(T)));
  af_fill(turned, static_cast<T>(product ? 1 : 0), (pitch + 1) * length);
  for (uint32_t column = 0; column < columns; ++column) {
    AscendC::Gather(turned[(first + column) * length], from, down, static_cast<uint32_t>(column * sizeof(T)), rows);
  }
  for (uint32_t i = 1; i < columns; ++i) {
    const auto target = turned[(first + (reverse ? columns - 1 - i : i)) * length];
    const auto before = turned[(first + (reverse ? columns - i : i - 1)) * length];
    AscendC::PipeBarrier<PIPE_V>();
    af_join_rows<product>(target, before, target, length);
  }
  AscendC::PipeBarrier<PIPE_V>();
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t start = static_cast<uint32_t>((row + (exclusive && reverse ? length : 0)) * sizeof(T));
    AscendC::Gather(to[row * pitch], turned, across, start, pitch);
  }
}

// Along rows of `columns` elements, `pitch` apart.
template <bool product, bool exclusive, bool reverse, typename T>
__aicore__ inline void af_scan_columns(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                       uint32_t rows, uint32_t columns, uint32_t pitch,
                                       const AscendC::LocalTensor<uint8_t>& scratch) {
  if constexpr (sizeof(T) == 4) {
    if (rows >= 8) {
      af_scan_transposed<product, exclusive, reverse>(to, from, rows, columns, pitch, scratch);
      return;
    }
  }
  (void)scratch;
  af_fill(to, static_cast<T>(0), rows * pitch);
  af_order<AscendC::HardEvent::V_S>();
  af_scan_elements<product, exclusive, reverse>(to, from, columns, 1, rows, pitch);
  af_order<AscendC::HardEvent::S_V>();
}
