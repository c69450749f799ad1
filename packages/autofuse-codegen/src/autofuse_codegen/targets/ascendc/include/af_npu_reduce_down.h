// Reductions of whole rows with one another: rows of partial results.
#pragma once
#include "af_npu_reduce.h"

// Joins `count` rows of `elements`, one behind the other: all to one row of partial results.
template <typename Join, typename T>
__aicore__ inline void af_join_down(const AscendC::LocalTensor<T>& partials, const AscendC::LocalTensor<T>& from,
                                    uint32_t count, uint32_t elements) {
  constexpr uint32_t block = 32 / sizeof(T), lanes = 256 / sizeof(T);
  const uint32_t stride = elements / block, together = stride > 255 ? 1 : 255;
  for (uint32_t row = 0; row < count; row += together) {
    AscendC::PipeBarrier<PIPE_V>();
    if (together == 1) {
      Join::whole(partials, partials, from[row * elements], elements);
      continue;
    }
    for (uint32_t at = 0; at < elements; at += lanes) {
      const auto own = partials[at];
      const uint32_t now = af_smaller(count - row, together), active = af_smaller(elements - at, lanes);
      Join::rows(own, own, from[row * elements + at], active, now, 0, stride);
    }
  }
}

// Reduces rows of `elements` with one another: `rows` of them, one behind the other, become one, once the last is there.
// There is one row of partial results.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_down(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t elements,
                                      const af_part& rows, uint32_t leaf, T identity,
                                      const AscendC::LocalTensor<T>& partials) {
  const af_i64 end = rows.start + rows.count;
  uint32_t now = 0;
  for (af_i64 at = rows.start; at < end; at += now) {
    const uint32_t first = static_cast<uint32_t>(at % leaf), room = leaf - first;
    now = end - at < room ? static_cast<uint32_t>(end - at) : room;
    if (first == 0) AscendC::Duplicate(partials, identity, static_cast<int32_t>(elements));
    af_join_down<Join>(partials, from[static_cast<uint32_t>(at - rows.start) * elements], now, elements);
    if (now < room && at + now < rows.total) return;
    sink.template take<Join>(partials, elements, at / leaf, at + now == rows.total);
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
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < now; i += together) {
      const auto own = partials[(partial + i) * step];
      Join::whole(own, own, from[(row + i) * elements], together * elements);
    }
  }
}

// The same with `width` rows of partial results, `step` apart.
template <typename Join, typename T, typename Sink>
__aicore__ inline void af_reduce_across(const Sink& sink, const AscendC::LocalTensor<T>& from, uint32_t elements,
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
    const auto some = from[static_cast<uint32_t>(at - rows.start) * elements];
    af_join_across<Join>(partials, some, first, now, elements, step, width);
    if (now < room && at + now < rows.total) return;
    for (uint32_t half = width / 2; half > 0; half /= 2) {
      const uint32_t together = step == elements ? half : 1;
      AscendC::PipeBarrier<PIPE_V>();
      for (uint32_t i = 0; i < half; i += together) {
        Join::whole(partials[i * step], partials[i * step], partials[(half + i) * step], together * elements);
      }
    }
    sink.template take<Join>(partials, elements, at / leaf, at + now == rows.total);
  }
}
