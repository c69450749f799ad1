// Errors out of kernels: bits of a word that each core keeps in a cache line of its own, zeroed before the launch.
#pragma once
#include "af_npu_base.h"

constexpr uint32_t AF_STATUS_DIVIDE_BY_ZERO = 1u << 0;
constexpr uint32_t AF_STATUS_INDEX_OUT_OF_RANGE = 1u << 1;
constexpr uint32_t AF_STATUS_NEGATIVE_POWER = 1u << 3;
constexpr uint32_t AF_STATUS_LINE_WORDS = 16;

// Adds the bits of `raised` to the core's word at `status`.
__aicore__ inline void af_raise(GM_ADDR status, uint32_t raised) {
  if (raised == 0) return;
  AscendC::GlobalTensor<uint32_t> line;
  __gm__ uint32_t* const words = reinterpret_cast<__gm__ uint32_t*>(status);
  line.SetGlobalBuffer(words + AscendC::GetBlockIdx() * AF_STATUS_LINE_WORDS, AF_STATUS_LINE_WORDS);
  line.SetValue(0, line.GetValue(0) | raised);
  AscendC::DataCacheCleanAndInvalid<uint32_t, AscendC::CacheLine::SINGLE_CACHE_LINE, AscendC::DcciDst::CACHELINE_OUT>(line);
}
