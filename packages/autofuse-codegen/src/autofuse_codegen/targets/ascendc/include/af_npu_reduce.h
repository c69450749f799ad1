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
      af_copy(is_last ? to : levels, value, count);
      return;
    }
    uint32_t lowest = 0, trailing = 0;
    while ((waiting >> lowest & 1) == 0) ++lowest;
    while ((number >> trailing & 1) != 0) ++trailing;
    for (af_i64 left = waiting >> lowest; left != 0; left >>= 1, ++lowest) {
      if ((left & 1) == 0) continue;
      const auto target = is_last ? to : levels[trailing * level];
      Join::whole(left == 1 ? target : value, levels[lowest * level], value, count);
      if (left != 1) {
        AscendC::PipeBarrier<PIPE_V>();
      }
    }
  }
};

// Or they go to global memory as they are, for all blocks to join them. The results of a leaf are `rows` rows of
// `results`, dense from element `first` on there, `pitch` apart in UB; the next leaf is `step` elements on.
template <typename T>
struct af_leaves {
  AscendC::GlobalTensor<T> to;
  af_i64 first;
  af_i64 step;
  uint32_t results;
  uint32_t rows;
  uint32_t pitch;

  template <typename Join>
  __aicore__ inline void take(const AscendC::LocalTensor<T>& value, uint32_t, af_i64 number, bool) const {
    af_order<AscendC::HardEvent::V_MTE3>();
    af_store(to, first + number * step, value, rows, results, results, pitch);
    af_order<AscendC::HardEvent::MTE3_V>();
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

// Halves the partials of a leaf to one each, and hands these on. `columns`: a block for each row, rows
// rounded up to 16.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_close_leaf(const Sink& sink, const AscendC::LocalTensor<T>& partials,
                                     const AscendC::LocalTensor<T>& columns, uint32_t rows, af_i64 number,
                                     bool is_last) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  for (uint32_t half = lanes / 2; half >= block; half /= 2) {
    for (uint32_t row = 0; row < rows; row += 255) {
      const auto some = partials[row * lanes];
      Join::rows(some, some, some[half], half, af_smaller(rows - row, 255), 8, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
  }
  const uint32_t pitch = af_round_up(rows, 16);
  af_columns_of(columns, partials, rows, pitch);
  AscendC::PipeBarrier<PIPE_V>();
  for (uint32_t half = block / 2; half > 0; half /= 2) {
    Join::whole(columns, columns, columns[half * pitch], half * pitch);
    AscendC::PipeBarrier<PIPE_V>();
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
  if (whole > 0 && (together == 1 || rows < whole)) {
    for (uint32_t row = 0; row < rows; ++row) {
      const auto own = partials[row * lanes];
      Join::rows(own, own, from[row * pitch], lanes, whole, 0, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
  } else {
    for (uint32_t part = 0; part < whole; ++part) {
      for (uint32_t row = 0; row < rows; row += together) {
        const auto own = partials[row * lanes];
        Join::rows(own, own, from[row * pitch + part * lanes], lanes, af_smaller(rows - row, together), 8, stride);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
  }
  if (tail == 0) return;
  for (uint32_t row = 0; row < rows; row += together) {
    const auto own = partials[row * lanes];
    const uint32_t now = af_smaller(rows - row, together);
    Join::rows(own, own, from[row * pitch + whole * lanes], tail, now, 8, now == 1 ? 8 : stride);
  }
  AscendC::PipeBarrier<PIPE_V>();
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
    AscendC::PipeBarrier<PIPE_V>();
    af_join_rows<Join>(partials, from[static_cast<uint32_t>(at - elements.start)], rows, pitch, now);
    if (now < room && at + now < elements.total) return;
    af_close_leaf<Join>(sink, partials, columns, rows, at / leaf, at + now == elements.total);
  }
}

// Joins `count` rows of `elements`, one behind the other: all to one row of partial results.
template <typename Join, typename T>
__aicore__ inline void af_join_down(const AscendC::LocalTensor<T>& partials, const AscendC::LocalTensor<T>& from,
                                    uint32_t count, uint32_t elements) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  const uint32_t stride = elements / block;
  if (stride > 255) {
    for (uint32_t row = 0; row < count; ++row) {
      Join::whole(partials, partials, from[row * elements], elements);
      AscendC::PipeBarrier<PIPE_V>();
    }
    return;
  }
  for (uint32_t row = 0; row < count; row += 255) {
    for (uint32_t at = 0; at < elements; at += lanes) {
      const auto own = partials[at];
      const uint32_t now = af_smaller(count - row, 255), active = af_smaller(elements - at, lanes);
      Join::rows(own, own, from[row * elements + at], active, now, 0, stride);
    }
    AscendC::PipeBarrier<PIPE_V>();
  }
}

// Joins `count` rows of `elements` to partial results that are rows, too, `step` apart: row i to partial i modulo
// `width`.
template <typename Join, typename T>
__aicore__ inline void af_join_across(const AscendC::LocalTensor<T>& partials, const AscendC::LocalTensor<T>& from,
                                      uint32_t first, uint32_t count, uint32_t elements, uint32_t step,
                                      uint32_t width) {
  uint32_t now = 0;
  for (uint32_t row = 0; row < count; row += now) {
    const uint32_t partial = (first + row) % width;
    now = af_smaller(count - row, width - partial);
    const uint32_t together = step == elements ? now : 1;
    for (uint32_t i = 0; i < now; i += together) {
      const auto own = partials[(partial + i) * step];
      Join::whole(own, own, from[(row + i) * elements], together * elements);
    }
    AscendC::PipeBarrier<PIPE_V>();
  }
}

// Reduces rows of `elements` with one another: `rows` of them, one behind the other, become one, once the last is there.
// `partials` has `width` rows, `step` apart.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_down(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t elements,
                                      const af_part& rows, uint32_t leaf, uint32_t width, T identity,
                                      const AscendC::LocalTensor<T>& partials, uint32_t step) {
  const af_i64 end = rows.start + rows.count;
  uint32_t now = 0;
  for (af_i64 at = rows.start; at < end; at += now) {
    const uint32_t first = static_cast<uint32_t>(at % leaf), room = leaf - first;
    now = end - at < room ? static_cast<uint32_t>(end - at) : room;
    if (first == 0) {
      for (uint32_t i = 0; i < width; ++i) {
        AscendC::Duplicate(partials[i * step], identity, static_cast<int32_t>(elements));
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
    const auto some = from[static_cast<uint32_t>(at - rows.start) * elements];
    if (width == 1) {
      af_join_down<Join>(partials, some, now, elements);
    } else {
      af_join_across<Join>(partials, some, first, now, elements, step, width);
    }
    if (now < room && at + now < rows.total) return;
    for (uint32_t half = width / 2; half > 0; half /= 2) {
      const uint32_t together = step == elements ? half : 1;
      for (uint32_t i = 0; i < half; i += together) {
        Join::whole(partials[i * step], partials[i * step], partials[(half + i) * step], together * elements);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
    sink.template take<Join>(partials, elements, at / leaf, at + now == rows.total);
  }
}

// Joins the results of `leaves` leaves in global memory, as `af_leaves` leaves them there, some at a time: as many as
// `queue`, whose buffers have `bytes`, has room for, but a power of two.
template <typename Join, typename T, typename Queue>
__aicore__ inline void af_join_leaves(const af_stack<T>& sink, const af_leaves<T>& from, af_i64 leaves, Queue& queue,
                                      uint32_t bytes) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  const uint32_t pitch = af_round_up(from.results, block), stride = pitch / block;
  uint32_t most = 1;
  while (most < 64 && 2 * most * pitch * sizeof(T) <= bytes) most *= 2;
  af_i64 number = 0;
  for (af_i64 leaf = 0; leaf < leaves; leaf += most, ++number) {
    const uint32_t now = leaves - leaf < most ? static_cast<uint32_t>(leaves - leaf) : most;
    AscendC::LocalTensor<T> some = queue.template AllocTensor<T>();
    af_load(some, from.to, from.first + leaf * from.step, now, from.results, from.step, pitch);
    queue.EnQue(some);
    some = queue.template DeQue<T>();
    for (uint32_t apart = 1; apart < now; apart *= 2) {
      AscendC::PipeBarrier<PIPE_V>();
      const uint32_t pairs = (now + apart - 1) / (2 * apart);
      const uint32_t together = 2 * apart * stride > 255 ? 1 : pairs;
      for (uint32_t pair = 0; pair < pairs; pair += together) {
        for (uint32_t at = 0; at < from.results; at += lanes) {
          const auto own = some[2 * apart * pair * pitch + at];
          const uint32_t next = together == 1 ? 8 : 2 * apart * stride;
          Join::rows(own, own, own[apart * pitch], af_smaller(from.results - at, lanes), together, next, next);
        }
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
    sink.template take<Join>(some, from.results, number, leaf + most >= leaves);
    queue.FreeTensor(some);
  }
}
