// Checks of one access to memory: bounds, ownership, initialisation and synchronisation.
#pragma once
#include <cstdint>

#include "core.h"

namespace af_sim {

void check_operand(pipe_t pipe, const char* name, const View& view, Access access, uint64_t extent_bytes,
                   uint32_t alignment);
// Bytes [begin, end) of UB, after check_operand. `name` is the operand for messages.
void ub_read(pipe_t pipe, const char* name, uint64_t begin, uint64_t end);
void ub_write(pipe_t pipe, const char* name, uint64_t begin, uint64_t end, bool leaves_defined = true);

struct GmRegion {
    const char* name;
    uint64_t begin, end;
};
void add_gm_region(const char* name, uint64_t begin, uint64_t bytes);
const GmRegion* gm_region(uint64_t address);
void check_gm(const char* name, uint64_t address, uint64_t bytes, uint64_t tensor_left);
void gm_read(pipe_t pipe, const char* name, uint64_t begin, uint64_t end);
void gm_write(pipe_t pipe, const char* name, uint64_t begin, uint64_t end, bool is_atomic);
void compact_gm();
void publish_gm();  // ends a phase of the current block

// Appends to the timeline of the current core, as far as it records.
void record(Step step, pipe_t pipe, uint32_t token, float busy, float latency);
void record_vector(const Work& work);

}  // namespace af_sim
