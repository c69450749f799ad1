// Element-wise updates of GM by atomic copies.
#pragma once
#include <cstdint>

#include "seam.h"

namespace af_sim {

void atomic_update(Atomic kind, DType type, uint8_t* target, const uint8_t* source, uint64_t elements);

}  // namespace af_sim
