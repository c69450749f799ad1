// UB use and what must be true when a kernel ends.
#pragma once
#include <cstdint>

#include "seam.h"

namespace af_sim {

inline uint64_t round_to_block(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

// Offset of `bytes` for `buffers` buffers, from the pool or else from the pipe.
uint32_t take_ub(uint64_t bytes, uint32_t buffers, Extent* pool);
void note_ub_use(uint32_t end);
void check_no_leaks(const char* when);  // queue tensors that were not freed
void check_no_open_flags();             // flags that were set and never waited for

}  // namespace af_sim
