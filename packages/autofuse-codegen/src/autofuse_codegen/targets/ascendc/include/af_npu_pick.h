// Elements of 16 or 32 bits at indices that a tensor in UB says: the vector unit gathers them from a stage, which holds
// the row that they are from, or just them.
#pragma once
#include "af_npu_stage.h"

constexpr uint32_t AF_PICKED = 256;                         // indices that become places together
constexpr uint32_t AF_PICK_BYTES = 2 * 4 * AF_PICKED + 64;  // what that takes in front of the stage

// True where all `count` words are 0; the scalar unit waits for them. `bits` has a bit for each.
__aicore__ inline bool af_are_zero(const AscendC::LocalTensor<int32_t>& words, uint32_t count,
                                   const AscendC::LocalTensor<uint8_t>& bits) {
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Compares(bits, words, static_cast<int32_t>(0), AscendC::CMPMODE::EQ, count);
  AscendC::PipeBarrier<PIPE_V>();
  const auto others = bits.ReinterpretCast<uint16_t>();
  AscendC::Not(others, others, static_cast<int32_t>(count / 16));
  af_order<AscendC::HardEvent::V_S>();
  const auto found = bits.ReinterpretCast<uint64_t>();
  uint64_t any = 0;
  for (uint32_t i = 0; i < count / 64; ++i) any |= found.GetValue(i);
  return any == 0;
}

// Offsets in bytes of elements `indices` of a row of `size`; false, and no offsets, where one is outside. What is
// `known` to be inside is not looked at.
template <bool known, typename T, typename Index>
__aicore__ inline bool af_pick_offsets(const AscendC::LocalTensor<int32_t>& places,
                                       const AscendC::LocalTensor<Index>& indices, uint32_t count, af_i64 size,
                                       const AscendC::LocalTensor<int32_t>& outside,
                                       const AscendC::LocalTensor<uint8_t>& bits) {
  const int32_t n = static_cast<int32_t>(count);
  if constexpr (sizeof(Index) == 8) {  // what 32 bits do not hold becomes the least or the largest that they hold
    AscendC::Cast(places, indices, AscendC::RoundMode::CAST_NONE, count);
  } else {
    AscendC::Adds(places, indices, static_cast<int32_t>(0), n);
  }
  if constexpr (!known) {
    const uint32_t whole = af_round_up(count, 64);
    AscendC::Duplicate(outside, static_cast<int32_t>(0), static_cast<int32_t>(whole));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Maxs(outside, places, static_cast<int32_t>(0), n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mins(outside, outside, static_cast<int32_t>(size - 1), n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(outside, outside, places, n);
    if (!af_are_zero(outside, whole, bits)) return false;
  }
  AscendC::PipeBarrier<PIPE_V>();
  AscendC::Muls(places, places, static_cast<int32_t>(sizeof(T)), n);
  AscendC::PipeBarrier<PIPE_V>();
  return true;
}

// The stage behind what places take.
template <typename T>
__aicore__ inline AscendC::LocalTensor<T> af_pick_stage(const AscendC::LocalTensor<uint8_t>& scratch) {
  return scratch[AF_PICK_BYTES].template ReinterpretCast<T>();
}

// Copies a row of `size` elements into the stage of `scratch` if it fits and is worth it to read `points` elements of it;
// false else.
template <typename T>
__aicore__ inline bool af_pick_from(const AscendC::GlobalTensor<T>& from, af_i64 offset, af_i64 size, uint32_t points,
                                    const AscendC::LocalTensor<uint8_t>& scratch) {
  const af_i64 bytes = size * static_cast<af_i64>(sizeof(T));
  if (size == 0 || bytes > scratch.GetSize() - AF_PICK_BYTES || bytes > points * AF_STAGE_READ) return false;
  const uint32_t columns = static_cast<uint32_t>(size);
  af_load(af_pick_stage<T>(scratch), from, offset, 1, columns, columns, columns);
  af_order<AscendC::HardEvent::MTE2_S>();
  return true;
}

// `count` elements of the row of `size` in the stage. False, and nothing that counts in `to`, where an index is outside:
// the scalar unit may write there then, as it may have done before.
template <bool known, typename T, typename Index>
__aicore__ inline bool af_pick_row(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<Index>& indices,
                                   uint32_t count, af_i64 size, const AscendC::LocalTensor<uint8_t>& scratch) {
  const auto places = scratch.ReinterpretCast<int32_t>(), outside = places[AF_PICKED];
  const auto bits = scratch[2 * 4 * AF_PICKED];
  const auto stage = af_pick_stage<T>(scratch);
  af_order<AscendC::HardEvent::S_V>();
  for (uint32_t at = 0; at < count; at += AF_PICKED) {
    const uint32_t now = af_smaller(count - at, AF_PICKED);
    if (!af_pick_offsets<known, T>(places, indices[at], now, size, outside, bits)) return false;
    AscendC::Gather(to[at], stage, places.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0), now);
  }
  af_order<AscendC::HardEvent::V_MTE2>();
  return true;
}

// The same of a row of `size` elements from element `offset` of `from` on, which no stage holds: each is copied by itself.
template <bool known, typename T, typename Index>
__aicore__ inline bool af_pick_far(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                   af_i64 offset, const AscendC::LocalTensor<Index>& indices, uint32_t count,
                                   af_i64 size, const AscendC::LocalTensor<uint8_t>& scratch) {
  constexpr uint32_t block = 32 / sizeof(T);
  const auto places = scratch.ReinterpretCast<int32_t>();
  const auto stage = af_pick_stage<T>(scratch);
  af_order<AscendC::HardEvent::S_V>();
  af_stage_offsets(places, 0, AF_PICKED, AF_PICKED, 32);
  for (uint32_t at = 0; at < count; at += AF_PICKED) {
    const uint32_t now = af_smaller(count - at, AF_PICKED);
    for (uint32_t i = 0; i < now; ++i) {
      const af_i64 index = static_cast<af_i64>(indices.GetValue(at + i));
      if (!known && (index < 0 || index >= size)) {
        af_order<AscendC::HardEvent::V_S>();
        return false;
      }
      af_load(stage[i * block], from, offset + index, 1, 1, 1, 1);
    }
    af_order<AscendC::HardEvent::MTE2_V>();
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Gather(to[at], stage, places.ReinterpretCast<uint32_t>(), static_cast<uint32_t>(0), now);
    af_order<AscendC::HardEvent::V_MTE2>();
  }
  return true;
}
