#include "timing.h"

namespace af_sim {

void write_timing(FILE* out, const std::vector<const Timeline*>& blocks, const std::vector<int64_t>&, const std::string&) {
    fprintf(out, "timed_blocks %zu\n", blocks.size());
}

int64_t system_cycle() { return 0; }

}  // namespace af_sim
