// Reductions that blocks share: results of leaves in global memory.
#pragma once
#include "af_npu_copy.h"
#include "af_npu_reduce.h"

// Values of leaves go to global memory as they are, for all blocks to join them. The results of a leaf are `rows` rows of
// `results`, from element `first` on there, `stride` apart, `pitch` apart in UB; the next leaf is `step` elements on.
template <typename T>
struct af_leaves {
  AscendC::GlobalTensor<T> to;
  af_i64 first;
  af_i64 step;
  af_i64 stride;
  uint32_t results;
  uint32_t rows;
  uint32_t pitch;

  template <typename Join>
  __aicore__ inline void take(const AscendC::LocalTensor<T>& value, uint32_t, af_i64 number, bool) const {
    af_order<AscendC::HardEvent::V_MTE3>();
    af_store(to, first + number * step, value, rows, results, stride, pitch);
    af_order<AscendC::HardEvent::MTE3_V>();
  }
};

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
        for (uint32_t at = 0; at < pitch; at += lanes) {
          const auto own = some[2 * apart * pair * pitch + at];
          const uint32_t next = together == 1 ? 8 : 2 * apart * stride;
          Join::rows(own, own, own[apart * pitch], af_smaller(pitch - at, lanes), together, next, next);
        }
      }
    }
    sink.template take<Join>(some, pitch, number, leaf + most >= leaves);
    queue.FreeTensor(some);
  }
}
