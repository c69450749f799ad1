#pragma once
#include <cstdint>

namespace fe {
struct PlatFormInfos {
  uint32_t vector_cores = 0;
  uint64_t ub_bytes = 0;
};
}  // namespace fe
