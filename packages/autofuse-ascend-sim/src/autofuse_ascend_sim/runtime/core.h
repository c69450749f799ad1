// State of one emulated vector core while it runs one block.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "clocks.h"
#include "seam.h"
#include "shadow.h"
#include "soc.h"
#include "timeline.h"

namespace af_sim {

constexpr int kPipes = 4;  // S, V, MTE2, MTE3: the values of pipe_t
constexpr int kEventIds = 8;
constexpr int kEvents = static_cast<int>(AscendC::HardEvent::MAX);

enum class Checks : uint8_t { Static, Full };

// What a launch has in common for all blocks.
struct Launch {
    Soc soc;
    std::string library;  // path of the kernel's shared object
    std::vector<int64_t> sample;  // timing-only: the blocks that run, for all; empty: all run
    Checks checks = Checks::Full;
    bool values = true;        // false: timing-only
    bool timeline = true;
    int64_t blocks = 1;
    uint64_t workspace_bytes = 0;
    uint64_t tiling_key = 0;
    uint64_t event_limit = 0;  // timeline entries per block

    // How many of the first `blocks` blocks run.
    int64_t running(int64_t blocks_in_question) const {
        if (sample.empty()) return blocks_in_question;
        int64_t count = 0;
        for (const int64_t b : sample) count += b < blocks_in_question ? 1 : 0;
        return count;
    }
};
extern Launch launch;

enum class BufferState : uint8_t { Free, Allocated, Queued, Dequeued };
inline const char* name_of(BufferState state) {
    constexpr const char* names[] = {"free", "allocated", "queued", "dequeued"};
    return names[static_cast<int>(state)];
}

struct QueueBuffer {
    uint32_t offset = 0;
    uint16_t queue = 0;
    uint16_t generation = 0;
    BufferState state = BufferState::Free;
    Stamp released;               // what the consumer had done when it freed the buffer
    Stamp filled;                 // what the producer had done when it enqueued it
    uint32_t released_token = 0;  // timeline tokens of the two
    uint32_t filled_token = 0;
    int8_t event_id = -1;
    Site last_use;
};

struct Queue {
    uint8_t source = 0, target = 0;
    pipe_t producer = PIPE_MTE2, consumer = PIPE_V;
    uint8_t fill_event = 0, free_event = 0;
    int32_t depth = 1;
    uint32_t bytes = 0;
    uint16_t first_buffer = 0, buffers = 0, next = 0;
    std::vector<uint16_t> waiting;  // enqueued buffers, oldest first
    bool is_retired = false;  // checked for leaks already
    Site created;
};

struct Flag {
    enum class Holder : uint8_t { Free, Queue, Reserved } holder = Holder::Free;
    bool is_set = false;
    Stamp stamp;
    uint32_t token = 0;
    Site set_at;
};

struct Core {
    int64_t block = 0;
    uint8_t* ub = nullptr;
    uint32_t ub_top = 0, ub_high_water = 0;
    uint16_t buffer_count = 0;
    void* pipe = nullptr;
    bool uses_reserved_ub = false;
    bool has_kernel_type = false;
    KernelMetaType kernel_type = KERNEL_TYPE_AIV_ONLY;  // as KERNEL_TASK_TYPE_DEFAULT declares

    int call_depth = 0;
    Site site;  // outermost API call in progress

    Clocks clocks;
    UbShadow ub_shadow;
    GmShadow gm_shadow;
    Timeline timeline;

    std::vector<Queue> queues;
    std::vector<QueueBuffer> buffers;
    Flag flags[kEvents][kEventIds] = {};
    uint32_t next_token = 1;

    bool mask_counts = false;
    uint64_t mask[2] = {~uint64_t(0), ~uint64_t(0)};
    uint64_t compare_mask[2] = {0, 0};
    float deq_scale = 1.0f;
    uint64_t pad_value = 0;
    bool saturates = false;
    uint64_t gather_remaining = 0;
    double reduce_sum = 0, reduce_value = 0;
    uint64_t reduce_index = 0;
    Atomic atomic = Atomic::None;
    DType atomic_type = DType::F32;
    struct LoopMode {
        uint32_t size1 = 1, size2 = 1;
        uint64_t src1 = 0, dst1 = 0, src2 = 0, dst2 = 0;
    } loop_mode[2];  // store, load

    float scalar_access_cycles = 0, scalar_gm_cycles = 0;
    size_t gm_compaction = 4096;

    uint32_t sync_phase = 0;
    std::vector<GmRecord> published;  // GM accesses of this block, by phase
    uint64_t bytes_loaded = 0, bytes_stored = 0;
};

extern thread_local Core* core;

}  // namespace af_sim
