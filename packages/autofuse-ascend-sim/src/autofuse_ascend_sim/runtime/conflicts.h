// Two blocks that touch the same byte of GM between two SyncAll, at least one of them writing.
#pragma once
#include <vector>

#include "scheduler.h"
#include "shadow.h"

namespace af_sim {

bool find_conflict(const std::vector<const std::vector<GmRecord>*>& blocks, Failure& failure);

}  // namespace af_sim
