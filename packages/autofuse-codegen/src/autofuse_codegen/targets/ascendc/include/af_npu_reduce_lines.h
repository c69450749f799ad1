// Reductions of elements that do not lie as whole vectors of partial results: of several lines with gaps in between, of
// pieces that start anywhere, and along the innermost axis with one partial result.
#pragma once
#include "af_npu_reduce.h"

// Scratch of such a reduction: element numbers as byte offsets, the same for a first vector that starts at some lane,
// and elements moved to the lanes that they belong to. `most` elements are moved at once.
template <typename T>
struct af_moves {
  AscendC::LocalTensor<uint32_t> offsets;
  AscendC::LocalTensor<uint32_t> first;
  AscendC::LocalTensor<T> moved;
  uint32_t most;

  // `used` bytes of `scratch`, which has `bytes`, are in use for other things.
  __aicore__ inline af_moves(const AscendC::LocalTensor<uint8_t>& scratch, uint32_t used, uint32_t bytes) {
    constexpr uint32_t lanes = 256 / sizeof(T);
    const uint32_t left = bytes - used - lanes * 4;
    most = af_smaller(left / static_cast<uint32_t>(4 + sizeof(T)) / lanes * lanes, 255 * lanes);
    first = scratch[used].template ReinterpretCast<uint32_t>();
    offsets = first[lanes];
    moved = scratch[used + lanes * 4 + most * 4].template ReinterpretCast<T>();
    const auto numbers = offsets.template ReinterpretCast<int32_t>();
    AscendC::CreateVecIndex(numbers, static_cast<int32_t>(0), most);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(numbers, numbers, static_cast<int32_t>(sizeof(T)), static_cast<int32_t>(most));
    AscendC::PipeBarrier<PIPE_V>();
  }
};

// Joins `count` elements of one row from element `at` of `from` on, the first to partial `lane`, to its partials.
template <typename Join, typename T>
__aicore__ inline void af_join_moved(const AscendC::LocalTensor<T>& partials, const AscendC::LocalTensor<T>& from,
                                     uint32_t at, uint32_t count, uint32_t lane, const af_moves<T>& moves) {
  constexpr uint32_t lanes = 256 / sizeof(T);
  const uint32_t head = lane == 0 ? 0 : af_smaller(lanes - lane, count);
  if (head > 0) {
    const auto numbers = moves.first.template ReinterpretCast<int32_t>();
    AscendC::Adds(numbers, moves.offsets.template ReinterpretCast<int32_t>(),
                  -static_cast<int32_t>(lane * sizeof(T)), static_cast<int32_t>(lanes));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Maxs(numbers, numbers, static_cast<int32_t>(0), static_cast<int32_t>(lanes));
    AscendC::PipeBarrier<PIPE_V>();
    // Lanes before the first one get its element, and are not joined.
    AscendC::Gather(moves.moved, from, moves.first, static_cast<uint32_t>(at * sizeof(T)), lane + head);
    AscendC::PipeBarrier<PIPE_V>();
    Join::some(partials, partials, moves.moved, lane, lane + head);
  }
  uint32_t now = 0;
  for (uint32_t done = head; done < count; done += now) {
    now = af_smaller(count - done, moves.most);
    AscendC::Gather(moves.moved, from, moves.offsets, static_cast<uint32_t>((at + done) * sizeof(T)), now);
    af_join_rows<Join>(partials, moves.moved, 1, now, now);
  }
}

// Reduces blocks of `lines` times `columns` elements, whose lines are `pitch` apart: each of `rows` blocks, `stride`
// apart, becomes one element, once the last of its elements is there. `scratch` has `bytes`.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_lines(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t rows,
                                       uint32_t stride, uint32_t lines, uint32_t columns, uint32_t pitch, af_i64 start,
                                       af_i64 total, uint32_t leaf, T identity,
                                       const AscendC::LocalTensor<T>& partials,
                                       const AscendC::LocalTensor<uint8_t>& scratch, uint32_t bytes) {
  constexpr uint32_t lanes = 256 / sizeof(T);
  const auto places = scratch.template ReinterpretCast<T>();
  const af_moves<T> moves(scratch, af_round_up(rows, 16) * 32, bytes);
  for (uint32_t line = 0; line < lines; ++line) {
    uint32_t now = 0;
    for (uint32_t at = 0; at < columns; at += now) {
      const af_i64 number = start + static_cast<af_i64>(line) * columns + at;
      const uint32_t first = static_cast<uint32_t>(number % leaf), lane = first % lanes;
      now = af_smaller(columns - at, leaf - first);
      if (first == 0) AscendC::Duplicate(partials, identity, static_cast<int32_t>(rows * lanes));
      if (lane == 0 && at % lanes == 0) {
        af_join_rows<Join>(partials, from[line * pitch + at], rows, stride, now);
      } else {
        for (uint32_t row = 0; row < rows; ++row) {
          af_join_moved<Join>(partials[row * lanes], from[row * stride + line * pitch], at, now, lane, moves);
        }
      }
      if (first + now < leaf && number + now < total) continue;
      af_close_leaf<Join>(sink, partials, places, rows, first + now, number / leaf, number + now == total);
    }
  }
}

// Reduces with one partial result for each of `rows` rows, `stride` apart, of blocks of `lines` times `columns` elements:
// one element of all rows after the other. `scratch`: 4 bytes and an element for each row, rows rounded up to 64.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_one_by_one(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t rows,
                                            uint32_t stride, uint32_t lines, uint32_t columns, uint32_t pitch,
                                            af_i64 start, af_i64 total, uint32_t leaf, T identity,
                                            const AscendC::LocalTensor<T>& partials,
                                            const AscendC::LocalTensor<uint8_t>& scratch) {
  const uint32_t whole = af_round_up(rows, 64);
  const auto numbers = scratch.template ReinterpretCast<int32_t>();
  const auto offsets = scratch.template ReinterpretCast<uint32_t>();
  const auto moved = scratch[whole * 4].template ReinterpretCast<T>();
  AscendC::CreateVecIndex(numbers, static_cast<int32_t>(0), rows);
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(numbers, numbers, static_cast<int32_t>(stride * sizeof(T)), static_cast<int32_t>(rows));
  AscendC::PipeBarrier<PIPE_V>();
  for (uint32_t line = 0; line < lines; ++line) {
    for (uint32_t at = 0; at < columns; ++at) {
      const af_i64 number = start + static_cast<af_i64>(line) * columns + at;
      const uint32_t first = static_cast<uint32_t>(number % leaf);
      if (first == 0) AscendC::Duplicate(partials, identity, static_cast<int32_t>(rows));
      AscendC::Gather(moved, from, offsets, static_cast<uint32_t>((line * pitch + at) * sizeof(T)), rows);
      AscendC::PipeBarrier<PIPE_V>();
      Join::whole(partials, partials, moved, rows);
      if (first + 1 < leaf && number + 1 < total) continue;
      sink.template take<Join>(partials, rows, number / leaf, number + 1 == total);
    }
  }
}
