// Planes of which a part has no data: what lies inside of the data is gathered, the rest is filled.
#pragma once
#include "af_npu_box.h"
#include "af_npu_stage.h"

// Elements `from` to `to` of the block at the start of each row become `value`.
template <typename T>
__aicore__ inline void af_fill_lanes(const AscendC::LocalTensor<T>& block, T value, uint32_t from, uint32_t to,
                                     uint32_t rows, uint32_t pitch) {
  if (from >= to) return;
  uint64_t lanes[2] = {((1ULL << to) - 1) & ~((1ULL << from) - 1), 0};
  const uint32_t blocks = static_cast<uint32_t>(pitch * sizeof(T) / 32), together = blocks > 255 ? 1 : 255;
  const uint8_t stride = static_cast<uint8_t>(blocks > 255 ? 8 : blocks);
  for (uint32_t row = 0; row < rows; row += together) {
    const uint8_t repeats = static_cast<uint8_t>(af_smaller(rows - row, together));
    AscendC::Duplicate(block[row * pitch], value, lanes, repeats, 1, stride);
  }
}

// `rows` x `columns` elements of 16 or 32 bits, of which those in `inside` x `along` are those of a plane, and all
// others `fill`.
template <typename T>
__aicore__ inline void af_load_plane_box(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                         const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                         af_span inside, af_span along, T fill,
                                         const AscendC::LocalTensor<uint8_t>& scratch) {
  constexpr uint32_t block = 32 / sizeof(T);
  const uint32_t apart = rows == 1 ? af_round_up(columns, block) : pitch;
  if (plane.across == 1) {
    af_load_box(to, from, plane.offset, rows, columns, plane.down, apart, inside, along, fill);
    return;
  }
  const uint32_t width = af_round_up(columns, block), count = inside.to - inside.from, length = along.to - along.from;
  if (count == 0 || length == 0) {
    for (uint32_t row = 0; row < rows; ++row) af_fill_rows(to[row * apart], fill, 1, width, width);
    return;
  }
  for (uint32_t row = 0; row < inside.from; ++row) af_fill_rows(to[row * apart], fill, 1, width, width);
  for (uint32_t row = inside.to; row < rows; ++row) af_fill_rows(to[row * apart], fill, 1, width, width);
  const uint32_t first = along.from / block * block, last = af_round_up(along.to, block);
  const auto target = to[inside.from * apart];
  const af_i64 start = plane.offset + inside.from * plane.down + along.from * plane.across;
  af_gather_plane(target[first], from, {start, plane.down, plane.across}, count, length, apart, along.from - first,
                  scratch);
  for (uint32_t row = 0; row < count; ++row) {
    af_fill_rows(target[row * apart], fill, 1, first, first);
    if (last < width) af_fill_rows(target[row * apart + last], fill, 1, width - last, width - last);
  }
  af_fill_lanes(target[first], fill, 0, along.from - first, count, apart);
  if (along.to < last) af_fill_lanes(target[last - block], fill, block - (last - along.to), block, count, apart);
}

// The same for elements of 8 and 64 bits, on the scalar unit.
template <typename T>
__aicore__ inline void af_load_plane_box_each(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                              const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                              af_span inside, af_span along, T fill,
                                              const AscendC::LocalTensor<uint8_t>& scratch) {
  const uint32_t width = af_round_up(columns, 32 / sizeof(T)), apart = rows == 1 ? width : pitch;
  for (uint32_t row = 0; row < rows; ++row) af_fill(to[row * apart], fill, width);
  af_order<AscendC::HardEvent::V_S>();
  const uint32_t count = inside.to - inside.from, length = along.to - along.from;
  if (count == 0 || length == 0) return;
  const af_i64 start = plane.offset + inside.from * plane.down + along.from * plane.across;
  af_pick_plane(to[inside.from * apart + along.from], from, {start, plane.down, plane.across}, count, length, apart, scratch);
}
