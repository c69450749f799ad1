// Reductions by the tree that all targets share: the same bits whatever the tile, the pieces or the number of cores.
//
// A leaf has as many partial results as a vector has lanes; element i of the leaf is joined to partial i modulo that
// number. The partials of a leaf are halved to one, and leaves are joined like the digits of a binary counter: a stack
// holds one finished subtree for each digit 1 of the number of leaves so far.
#pragma once
#include "af_npu_copy.h"
#include "af_npu_fill.h"

// A bit for each of the lanes from `begin` to `end`, of the first 64.
__aicore__ inline uint64_t af_lanes(uint32_t begin, uint32_t end) {
  const uint64_t before = begin < 64 ? (1ULL << begin) - 1 : ~0ULL;
  return (end < 64 ? (1ULL << end) - 1 : ~0ULL) & ~before;
}

// Join: `first` op `second`. Of two equal operands the instruction takes the one it is given last.
#define AF_NPU_JOIN(name, Operator)                                                                                   \
  struct name {                                                                                                      \
    template <typename T>                                                                                            \
    static __aicore__ inline void whole(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& first,     \
                                        const AscendC::LocalTensor<T>& second, uint32_t count) {                     \
      AscendC::Operator(to, second, first, static_cast<int32_t>(count));                                             \
    }                                                                                                                \
    template <typename T>                                                                                            \
    static __aicore__ inline void rows(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& first,      \
                                       const AscendC::LocalTensor<T>& second, uint32_t lanes, uint32_t repeats,      \
                                       uint32_t stride, uint32_t second_stride) {                                    \
      const uint8_t own = static_cast<uint8_t>(stride), other = static_cast<uint8_t>(second_stride);                 \
      const AscendC::BinaryRepeatParams strides(1, 1, 1, own, other, own);                                           \
      AscendC::Operator(to, second, first, static_cast<uint64_t>(lanes), static_cast<uint8_t>(repeats), strides);    \
    }                                                                                                                \
    template <typename T>                                                                                            \
    static __aicore__ inline void some(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<T>& first,      \
                                       const AscendC::LocalTensor<T>& second, uint32_t begin, uint32_t end) {        \
      uint64_t lanes[2] = {af_lanes(begin, end), af_lanes(begin < 64 ? 0 : begin - 64, end < 64 ? 0 : end - 64)};     \
      const AscendC::BinaryRepeatParams strides(1, 1, 1, 8, 8, 8);                                                   \
      AscendC::Operator(to, second, first, lanes, static_cast<uint8_t>(1), strides);                                 \
    }                                                                                                                \
  };

AF_NPU_JOIN(af_join_sum, Add)
AF_NPU_JOIN(af_join_prod, Mul)
AF_NPU_JOIN(af_join_max, Max)
AF_NPU_JOIN(af_join_min, Min)
#undef AF_NPU_JOIN

// Where the elements of a tile stand among those that are joined: `count` of them from number `start` on, of `total`.
struct af_part {
  af_i64 start;
  af_i64 count;
  af_i64 total;
};

// Where values of leaves go: they are joined to those before them on a stack, whose levels are `level` apart, and the
// last one to `to`.
template <typename T>
struct af_stack {
  AscendC::LocalTensor<T> to;
  AscendC::LocalTensor<T> levels;
  uint32_t level;

  // The value of leaf `number`, `count` elements.
  template <typename Join>
  __aicore__ inline void take(const AscendC::LocalTensor<T>& value, uint32_t count, af_i64 number, bool is_last) const {
    const af_i64 waiting = is_last ? number : number & ~(number + 1);
    if (waiting == 0) {
      AscendC::PipeBarrier<PIPE_V>();
      af_copy(is_last ? to : levels, value, count);
      return;
    }
    uint32_t lowest = 0, trailing = 0;
    while ((waiting >> lowest & 1) == 0) ++lowest;
    while ((number >> trailing & 1) != 0) ++trailing;
    for (af_i64 left = waiting >> lowest; left != 0; left >>= 1, ++lowest) {
      if ((left & 1) == 0) continue;
      const auto target = is_last ? to : levels[trailing * level];
      AscendC::PipeBarrier<PIPE_V>();
      Join::whole(left == 1 ? target : value, levels[lowest * level], value, count);
    }
  }
};

// The first block of each of `rows` rows of 256 bytes as columns, `pitch` elements apart, `pitch` a multiple of 16.
template <typename T>
__aicore__ inline void af_columns_of(const AscendC::LocalTensor<T>& columns, const AscendC::LocalTensor<T>& from,
                                     uint32_t rows, uint32_t pitch) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T), parts = 16 / block, together = 254;
  uint32_t now = 0;
  for (uint32_t row = 0; row < rows; row += now) {
    const uint32_t groups = af_smaller((rows - row) / 16, together);
    now = groups > 0 ? groups * 16 : rows - row;
    AscendC::LocalTensor<T> to[16], source[16];
    for (uint32_t i = 0; i < 16; ++i) {
      to[i] = columns[i / parts * pitch + row + i % parts * block];
      source[i] = from[(row + af_smaller(i, now - 1)) * lanes];
    }
    const bool is_one = groups < 2;
    AscendC::TransDataTo5HD(to, source, AscendC::TransDataTo5HDParams(false, false,
                            static_cast<uint8_t>(is_one ? 1 : groups), is_one ? 0 : parts, is_one ? 0 : 128));
  }
}

// Halves the partials of a leaf of `filled` elements to one each, and hands these on. What no element was joined to
// changes nothing, and is left out. `columns`: a block for each row, rows rounded up to 16.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_close_leaf(const Sink& sink, const AscendC::LocalTensor<T>& partials,
                                     const AscendC::LocalTensor<T>& columns, uint32_t rows, uint32_t filled,
                                     af_i64 number, bool is_last) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  for (uint32_t half = lanes / 2; half >= block; half /= 2) {
    if (filled <= half) continue;
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t row = 0; row < rows; row += 255) {
      const auto some = partials[row * lanes];
      Join::rows(some, some, some[half], half, af_smaller(rows - row, 255), 8, 8);
    }
  }
  const uint32_t pitch = af_round_up(rows, 16);
  AscendC::PipeBarrier<PIPE_V>();
  af_columns_of(columns, partials, rows, pitch);
  for (uint32_t half = block / 2; half > 0; half /= 2) {
    if (filled <= half) continue;
    AscendC::PipeBarrier<PIPE_V>();
    Join::whole(columns, columns, columns[half * pitch], half * pitch);
  }
  sink.template take<Join>(columns, af_round_up(rows, block), number, is_last);
}

// Joins `count` elements of each of `rows` rows, `pitch` elements apart, to its partials: whole vectors, then the rest.
template <typename Join, typename T>
__aicore__ inline void af_join_rows(const AscendC::LocalTensor<T>& partials, const AscendC::LocalTensor<T>& from,
                                    uint32_t rows, uint32_t pitch, uint32_t count) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  const uint32_t whole = count / lanes, tail = count % lanes, stride = pitch / block;
  const uint32_t together = rows == 1 || stride > 255 ? 1 : 255;
  const bool is_long = together == 1 || rows < whole;  // a row at a time, else a vector of many rows
  for (uint32_t part = 0; part < (is_long && whole > 0 ? 1 : whole); ++part) {
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t row = 0; row < rows; row += is_long ? 1 : together) {
      const auto own = partials[row * lanes];
      const uint32_t now = is_long ? whole : af_smaller(rows - row, together);
      Join::rows(own, own, from[row * pitch + part * lanes], lanes, now, is_long ? 0 : 8, is_long ? 8 : stride);
    }
  }
  if (tail == 0) return;
  AscendC::PipeBarrier<PIPE_V>();
  for (uint32_t row = 0; row < rows; row += together) {
    const auto own = partials[row * lanes];
    const uint32_t now = af_smaller(rows - row, together);
    Join::rows(own, own, from[row * pitch + whole * lanes], tail, now, 8, now == 1 ? 8 : stride);
  }
}

// Reduces rows: each becomes one element, once the last of its elements is there. `partials` has a vector for each row,
// and keeps what it holds from one piece of the rows to the next.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_rows(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t rows,
                                      uint32_t pitch, const af_part& elements, uint32_t leaf, T identity,
                                      const AscendC::LocalTensor<T>& partials,
                                      const AscendC::LocalTensor<T>& columns) {
  constexpr uint32_t lanes = 256 / sizeof(T);
  const af_i64 end = elements.start + elements.count;
  uint32_t now = 0;
  for (af_i64 at = elements.start; at < end; at += now) {
    const uint32_t room = static_cast<uint32_t>(leaf - at % leaf);
    now = end - at < room ? static_cast<uint32_t>(end - at) : room;
    if (room == leaf) AscendC::Duplicate(partials, identity, static_cast<int32_t>(rows * lanes));
    af_join_rows<Join>(partials, from[static_cast<uint32_t>(at - elements.start)], rows, pitch, now);
    if (now < room && at + now < elements.total) return;
    af_close_leaf<Join>(sink, partials, columns, rows, leaf - room + now, at / leaf, at + now == elements.total);
  }
}
