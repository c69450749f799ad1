// Loads whose neighbours in UB are no neighbours in GM: transposed, in reverse, every k-th element.
//
// They are copied into a stage first: with what lies between, as one span, or as lines along the rows. From there words
// are gathered; bytes and pairs of words are picked by the scalar unit.
#pragma once
#include "af_npu_copy.h"
#include "af_npu_fill.h"

constexpr uint32_t AF_STAGE_COLUMNS = 64;  // lines of a block of several rows
constexpr af_i64 AF_STAGE_WASTE = 16;      // most elements of a span for each that is needed
constexpr af_i64 AF_STAGE_STEP = 512;      // most bytes between two elements of a span: what one access costs

constexpr af_i64 AF_STAGE_READ = 1800;     // bytes that are copied while the scalar unit reads one element of GM

// Element (row, column) is `offset` + row * `down` + column * `across` in the data.
struct af_plane {
  af_i64 offset, down, across;
};

// How a plane is cut into blocks of `rows` x `columns` that fit the stage: lines along the rows, `pitch` apart, or spans.
struct af_blocks {
  bool are_lines;
  uint32_t rows, columns, pitch;
};

__aicore__ inline af_i64 af_distance(af_i64 step) { return step < 0 ? -step : step; }

// From the lowest element of `rows` x `columns` of a plane to the highest.
__aicore__ inline af_i64 af_span_elements(const af_plane& plane, uint32_t rows, uint32_t columns) {
  return (rows - 1) * af_distance(plane.down) + (columns - 1) * af_distance(plane.across) + 1;
}

// Blocks for a stage of `room` bytes, 4 for each column among them.
template <typename T>
__aicore__ inline af_blocks af_blocks_of(const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t room) {
  constexpr uint32_t block = 32 / sizeof(T), size = sizeof(T);
  const uint32_t whole = af_round_up(columns, block);
  const af_i64 span = af_span_elements(plane, rows, columns), needed = static_cast<af_i64>(rows) * columns;
  if (span <= AF_STAGE_WASTE * needed && span * size + 4 * whole + 64 <= room) return {false, rows, columns, 0};
  if (rows > 1 && af_distance(plane.down) == 1) {
    const uint32_t together = af_smaller(whole, AF_STAGE_COLUMNS);
    const uint32_t most = af_smaller((room - 4 * together - 64) / (together * size) / block * block, rows);
    return {true, most, together, af_round_up(most, block)};
  }
  const af_i64 step = af_distance(plane.across) * size;
  const bool is_far = step > AF_STAGE_STEP;
  const uint32_t most = (room - 128) / static_cast<uint32_t>(is_far ? 36 : step + 4) / block * block;
  return {is_far, 1, af_smaller(whole, most), block};
}

// Copies block (`row`, `column`) of `rows` x `columns` into the stage.
template <typename T>
__aicore__ inline void af_fill_stage(const AscendC::LocalTensor<T>& stage, const AscendC::GlobalTensor<T>& from,
                                     const af_plane& plane, const af_blocks& blocks, uint32_t row, uint32_t column,
                                     uint32_t rows, uint32_t columns) {
  af_i64 first = plane.offset + row * plane.down + column * plane.across;
  if (plane.down < 0) first += (rows - 1) * plane.down;
  if (blocks.are_lines) {
    af_load(stage, from, first, columns, rows, plane.across, blocks.pitch);
    return;
  }
  if (plane.across < 0) first += (columns - 1) * plane.across;
  const uint32_t span = static_cast<uint32_t>(af_span_elements(plane, rows, columns));
  af_load(stage, from, first, 1, span, span, span);
}

// Where row `row` of `rows` starts in the stage, and how far its elements are apart there.
__aicore__ inline uint32_t af_row_in_stage(const af_plane& plane, uint32_t row, uint32_t rows) {
  return static_cast<uint32_t>((plane.down < 0 ? rows - 1 - row : row) * af_distance(plane.down));
}

__aicore__ inline af_i64 af_step_in_stage(const af_plane& plane, const af_blocks& blocks) {
  return blocks.are_lines ? static_cast<af_i64>(blocks.pitch) : plane.across;
}

// Byte offsets of `columns` elements `step` bytes apart from position `lead` on; of the first one before, of the last
// one behind, up to `count`.
__aicore__ inline void af_stage_offsets(const AscendC::LocalTensor<int32_t>& to, uint32_t lead, uint32_t columns,
                                        uint32_t count, int32_t step) {
  const int32_t n = static_cast<int32_t>(count), last = static_cast<int32_t>(columns - 1);
  AscendC::CreateVecIndex(to, -static_cast<int32_t>(lead), count);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Maxs(to, to, static_cast<int32_t>(0), n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Mins(to, to, last, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(to, to, step, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Adds(to, to, step < 0 ? -step * last : 0, n);
}

// `rows` x `columns` elements of 16 or 32 bits of a plane; rows lie `pitch` apart in `to`, and start at element `lead` of
// its first block. `scratch` is the stage.
template <typename T>
__aicore__ inline void af_gather_plane(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                       const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                       uint32_t lead, const AscendC::LocalTensor<uint8_t>& scratch) {
  constexpr uint32_t block = 32 / sizeof(T);
  const uint32_t end = lead + columns;
  const af_blocks blocks = af_blocks_of<T>(plane, rows, end, scratch.GetSize());
  const auto offsets = scratch.template ReinterpretCast<int32_t>();
  const auto stage = offsets[af_round_up(blocks.columns, 16)].template ReinterpretCast<T>();
  const int32_t step = static_cast<int32_t>(af_step_in_stage(plane, blocks) * static_cast<af_i64>(sizeof(T)));
  for (uint32_t start = 0; start < end; start += blocks.columns) {
    const uint32_t now = af_smaller(end - start, blocks.columns), count = af_round_up(now, block);
    const uint32_t before = start == 0 ? lead : 0, across = now - before, column = start + before - lead;
    af_stage_offsets(offsets, before, across, count, step);
    for (uint32_t row = 0; row < rows; row += blocks.rows) {
      const uint32_t down = af_smaller(rows - row, blocks.rows);
      af_order<AscendC::HardEvent::V_MTE2>();
      af_fill_stage(stage, from, plane, blocks, row, column, down, across);
      af_order<AscendC::HardEvent::MTE2_V>();
      for (uint32_t i = 0; i < down; ++i) {
        const uint32_t first = static_cast<uint32_t>(af_row_in_stage(plane, i, down) * sizeof(T));
        AscendC::Gather(to[(row + i) * pitch + start], stage, offsets.template ReinterpretCast<uint32_t>(), first, count);
      }
    }
  }
}

// Such elements, as rows where they are neighbours.
template <typename T>
__aicore__ inline void af_load_plane(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                     const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                     const AscendC::LocalTensor<uint8_t>& scratch) {
  if (plane.across == 1) {
    af_load(to, from, plane.offset, rows, columns, plane.down, pitch);
    return;
  }
  af_gather_plane(to, from, plane, rows, columns, pitch, 0, scratch);
}

// Elements of 8 and 64 bits, one after the other; the caller hands what the scalar unit wrote to the vector unit, which
// had let go of `to` and `scratch` before.
template <typename T>
__aicore__ inline void af_pick_plane(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                     const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                     const AscendC::LocalTensor<uint8_t>& scratch) {
  const af_blocks blocks = af_blocks_of<T>(plane, rows, columns, scratch.GetSize());
  const auto stage = scratch.template ReinterpretCast<T>();
  const af_i64 step = af_step_in_stage(plane, blocks);
  for (uint32_t column = 0; column < columns; column += blocks.columns) {
    const uint32_t across = af_smaller(columns - column, blocks.columns);
    const af_i64 first = step < 0 ? (1 - static_cast<af_i64>(across)) * step : 0;
    for (uint32_t row = 0; row < rows; row += blocks.rows) {
      const uint32_t down = af_smaller(rows - row, blocks.rows);
      af_fill_stage(stage, from, plane, blocks, row, column, down, across);
      af_order<AscendC::HardEvent::MTE2_S>();
      for (uint32_t i = 0; i < down; ++i) {
        for (uint32_t j = 0; j < across; ++j) {
          const af_i64 place = af_row_in_stage(plane, i, down) + first + j * step;
          to.SetValue((row + i) * pitch + column + j, stage.GetValue(static_cast<uint32_t>(place)));
        }
      }
    }
  }
}

// Such elements, and zeros up to the end of each row's last block.
template <typename T>
__aicore__ inline void af_load_plane_each(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                          const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                          const AscendC::LocalTensor<uint8_t>& scratch) {
  const uint32_t width = af_round_up(columns, 32 / sizeof(T));
  for (uint32_t row = 0; row < rows; ++row) af_fill(to[row * pitch], static_cast<T>(0), width);
  af_order<AscendC::HardEvent::V_S>();
  af_pick_plane(to, from, plane, rows, columns, pitch, scratch);
}

// Copies a row of `size` elements into the stage if it fits and is worth it to read `points` elements of it; false else.
template <typename T>
__aicore__ inline bool af_stage_row(const AscendC::LocalTensor<T>& stage, const AscendC::GlobalTensor<T>& from,
                                    af_i64 offset, af_i64 size, uint32_t points) {
  if (size == 0 || size > stage.GetSize() || size * static_cast<af_i64>(sizeof(T)) > points * AF_STAGE_READ) return false;
  const uint32_t columns = static_cast<uint32_t>(size);
  af_load(stage, from, offset, 1, columns, columns, columns);
  af_order<AscendC::HardEvent::MTE2_S>();
  return true;
}
