// Loads whose neighbours in UB are no neighbours in GM: transposed, in reverse, every k-th element.
//
// What lies between is copied into a stage, as one span or as lines along the rows, and the elements are gathered from
// there; bytes are picked by the scalar unit. What would copy too much in vain is read from GM one by one.
#pragma once
#include "af_npu_copy.h"
#include "af_npu_fill.h"

constexpr uint32_t AF_STAGE_COLUMNS = 64;  // of a block of lines
constexpr af_i64 AF_STAGE_WASTE = 16;      // most elements of a span for each that is needed
constexpr af_i64 AF_STAGE_STEP = 512;      // most bytes between two elements of a row

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

// Words of offsets, and of what it takes to compute them, for each element of a row.
template <typename T>
constexpr uint32_t af_offset_words() {
  return sizeof(T) == 8 ? 6 : 1;
}

// Blocks for a stage of `room` bytes; of no rows where the scalar unit is better.
template <typename T>
__aicore__ inline af_blocks af_blocks_of(const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t room) {
  constexpr uint32_t block = 32 / sizeof(T), size = sizeof(T), offset_bytes = 4 * af_offset_words<T>();
  const af_i64 span = af_span_elements(plane, rows, columns), needed = static_cast<af_i64>(rows) * columns;
  const af_i64 offsets = static_cast<af_i64>(af_round_up(columns, block)) * offset_bytes + 32;
  if (span <= AF_STAGE_WASTE * needed && span * size + offsets <= room) return {false, rows, columns, 0};
  if (rows > 1 && af_distance(plane.down) == 1) {
    const uint32_t together = af_smaller(af_round_up(columns, block), AF_STAGE_COLUMNS);
    const uint32_t most = (room - together * offset_bytes) / (together * size) / block * block;
    return {true, af_smaller(rows, most), together, af_round_up(af_smaller(rows, most), block)};
  }
  const af_i64 step = af_distance(plane.across) * size;
  if (step > AF_STAGE_STEP) return {false, 0, 0, 0};
  const uint32_t most = (room - 64) / static_cast<uint32_t>(step + offset_bytes) / block * block;
  return {false, 1, af_smaller(columns, most), 0};
}

// Byte offsets of `columns` elements `step` apart in a stage, and of the last one again up to a whole block.
template <typename T>
__aicore__ inline void af_stage_offsets(const AscendC::LocalTensor<int32_t>& to, uint32_t columns, af_i64 step) {
  constexpr uint32_t words = sizeof(T) == 8 ? 2 : 1;
  const uint32_t count = af_round_up(columns, 32 / sizeof(T)) * words;
  const int32_t n = static_cast<int32_t>(count), last = static_cast<int32_t>(columns - 1);
  const int32_t bytes = static_cast<int32_t>(step * static_cast<af_i64>(sizeof(T)));
  const auto index = words == 2 ? to[count] : to, twice = words == 2 ? to[2 * count] : to;
  AscendC::CreateVecIndex(to, static_cast<int32_t>(0), count);
  AscendC::PipeBarrier<PIPE_V>();
  if constexpr (words == 2) {  // element i / 2, word i % 2
    AscendC::ShiftRight(index, to, static_cast<int32_t>(1), n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(twice, index, static_cast<int32_t>(2), n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(to, to, twice, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(to, to, static_cast<int32_t>(4), n);
  }
  AscendC::Mins(index, index, last, n);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(index, index, bytes, n);
  if (bytes < 0) {
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(index, index, -bytes * last, n);
  }
  AscendC::PipeBarrier<PIPE_V>();
  if constexpr (words == 2) {
    AscendC::Add(to, to, index, n);
    AscendC::PipeBarrier<PIPE_V>();
  }
}

// `columns` elements from byte `start` of the stage on, at `offsets` from there, in whole blocks.
template <typename T>
__aicore__ inline void af_pick_row(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& stage,
                                   const AscendC::LocalTensor<uint32_t>& offsets, uint32_t start, uint32_t columns) {
  const uint32_t count = af_round_up(columns, 32 / sizeof(T));
  if constexpr (sizeof(T) == 8) {
    AscendC::Gather(to.template ReinterpretCast<uint32_t>(), stage.template ReinterpretCast<uint32_t>(), offsets, start,
                    2 * count);
  } else {
    AscendC::Gather(to, stage, offsets, start, count);
  }
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

// Where row `row` of `rows` starts in the stage, in elements.
__aicore__ inline uint32_t af_row_in_stage(const af_plane& plane, uint32_t row, uint32_t rows) {
  return static_cast<uint32_t>((plane.down < 0 ? rows - 1 - row : row) * af_distance(plane.down));
}

template <typename T>
__aicore__ inline void af_load_elements(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                        const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch) {
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const af_i64 place = plane.offset + row * plane.down + column * plane.across;
      to.SetValue(row * pitch + column, from.GetValue(static_cast<uint64_t>(place)));
    }
  }
}

// `rows` x `columns` elements of a plane; rows lie `pitch` apart in `to`. `scratch` is the stage.
template <typename T>
__aicore__ inline void af_load_plane(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                     const af_plane& plane, uint32_t rows, uint32_t columns, uint32_t pitch,
                                     const AscendC::LocalTensor<uint8_t>& scratch) {
  if (plane.across == 1) {
    af_load(to, from, plane.offset, rows, columns, plane.down, pitch);
    return;
  }
  const af_blocks blocks = af_blocks_of<T>(plane, rows, columns, scratch.GetSize());
  const bool is_scalar = sizeof(T) == 1 || blocks.rows == 0;
  if (is_scalar) {
    for (uint32_t row = 0; row < rows; ++row) af_fill(to[row * pitch], static_cast<T>(0), af_round_up(columns, 32 / sizeof(T)));
    af_order<AscendC::HardEvent::V_S>();
  }
  if (blocks.rows == 0) {
    af_load_elements(to, from, plane, rows, columns, pitch);
    af_order<AscendC::HardEvent::S_V>();
    return;
  }
  const uint32_t offset_words = af_round_up(blocks.columns, 32 / sizeof(T)) * af_offset_words<T>();
  const auto offsets = scratch.template ReinterpretCast<int32_t>();
  const auto stage = offsets[af_round_up(offset_words, 8)].template ReinterpretCast<T>();
  for (uint32_t column = 0; column < columns; column += blocks.columns) {
    const uint32_t across = af_smaller(columns - column, blocks.columns);
    const af_i64 step = blocks.are_lines ? blocks.pitch : plane.across;
    if constexpr (sizeof(T) > 1) af_stage_offsets<T>(offsets, across, step);
    for (uint32_t row = 0; row < rows; row += blocks.rows) {
      const uint32_t down = af_smaller(rows - row, blocks.rows);
      if constexpr (sizeof(T) > 1) {
        af_order<AscendC::HardEvent::V_MTE2>();
        af_fill_stage(stage, from, plane, blocks, row, column, down, across);
        af_order<AscendC::HardEvent::MTE2_V>();
        for (uint32_t i = 0; i < down; ++i) {
          const uint32_t start = static_cast<uint32_t>(af_row_in_stage(plane, i, down) * sizeof(T));
          af_pick_row(to[(row + i) * pitch + column], stage, offsets.ReinterpretCast<uint32_t>(), start, across);
        }
      } else {
        af_order<AscendC::HardEvent::S_MTE2>();
        af_fill_stage(stage, from, plane, blocks, row, column, down, across);
        af_order<AscendC::HardEvent::MTE2_S>();
        const af_i64 first = step < 0 ? (1 - static_cast<af_i64>(across)) * step : 0;
        for (uint32_t i = 0; i < down; ++i) {
          for (uint32_t j = 0; j < across; ++j) {
            const af_i64 place = af_row_in_stage(plane, i, down) + first + j * step;
            to.SetValue((row + i) * pitch + column + j, stage.GetValue(static_cast<uint32_t>(place)));
          }
        }
      }
    }
  }
  if (is_scalar) af_order<AscendC::HardEvent::S_V>();
}
