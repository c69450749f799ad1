// UB use and what must be true when a kernel ends.
#pragma once
#include <cstdint>

namespace af_sim {

void note_ub_use(uint32_t end);
void check_no_leaks(const char* when);  // queue tensors that were not freed
void check_no_open_flags();             // flags that were set and never waited for

}  // namespace af_sim
