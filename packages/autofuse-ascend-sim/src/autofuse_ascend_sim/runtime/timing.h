// The timing model: replays what blocks recorded against the SoC's numbers.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "timeline.h"

namespace af_sim {

// Writes the estimate as `key value` lines, and a Chrome trace to `trace_path` unless that is empty. `sample` names the
// blocks that ran where they stand for all others.
void write_timing(FILE* out, const std::vector<const Timeline*>& blocks, const std::vector<int64_t>& sample,
                  const std::string& trace_path);

}  // namespace af_sim
