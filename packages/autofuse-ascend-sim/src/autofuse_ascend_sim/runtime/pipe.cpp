// TPipe, buffers outside of queues, and event ids.
#include <algorithm>

#include "access.h"
#include "errors.h"
#include "events.h"
#include "lifetime.h"

namespace af_sim {

using AscendC::TPosition;

uint32_t take_ub(uint64_t bytes, uint32_t buffers, Extent* pool) {
    const uint32_t most = launch.soc.limits.buffers;
    if (core->buffer_count + buffers > most) {
        fail(Rule::Buffer, "buffers", core->buffer_count + buffers, most, "a kernel can have %u buffers", most);
    }
    core->buffer_count = static_cast<uint16_t>(core->buffer_count + buffers);
    if (pool != nullptr) {
        if (bytes > pool->bytes) {
            fail(Rule::UbCapacity, "len", static_cast<int64_t>(bytes), pool->bytes, "the buffer pool has %u bytes left",
                 pool->bytes);
        }
        const uint32_t at = pool->offset;
        pool->offset += static_cast<uint32_t>(bytes);
        pool->bytes -= static_cast<uint32_t>(bytes);
        return at;
    }
    const uint64_t end = core->ub_top + bytes;
    if (end > launch.soc.ub_bytes) {
        fail(Rule::UbCapacity, "len", static_cast<int64_t>(end), launch.soc.ub_bytes,
             "all buffers together need %llu bytes of UB", static_cast<unsigned long long>(end));
    }
    const uint32_t at = core->ub_top;
    core->ub_top = static_cast<uint32_t>(end);
    note_ub_use(core->ub_top);
    return at;
}

void note_ub_use(uint32_t end) {
    core->ub_high_water = std::max(core->ub_high_water, end);
    const uint32_t reserved = launch.soc.ub_reserved_bytes;
    if (core->uses_reserved_ub && core->ub_high_water > launch.soc.ub_bytes - reserved) {
        fail(Rule::UbCapacity, nullptr, core->ub_high_water, launch.soc.ub_bytes - reserved,
             "the kernel uses an API that needs the last %u bytes of UB, which its buffers occupy", reserved);
    }
}

void require_reserved_ub() {
    if (core->uses_reserved_ub) return;
    core->uses_reserved_ub = true;
    note_ub_use(0);
}

void pipe_begin(void* pipe) {
    if (core->pipe != nullptr && core->pipe != pipe) {
        fail(Rule::Usage, nullptr, -1, -1, "a kernel has one TPipe: destroy the first before making another");
    }
    core->pipe = pipe;
    core->ub_top = 0;
    core->buffer_count = 0;
}

namespace {

// Queues end with their pipe: nothing may be left in them, and their event ids are free again.
void retire_queues(const char* when) {
    check_no_leaks(when);
    for (auto& event : core->flags) {
        for (Flag& flag : event) {
            if (flag.holder == Flag::Holder::Queue) flag.holder = Flag::Holder::Free;
        }
    }
    core->ub_top = 0;
    core->buffer_count = 0;
}

}  // namespace

void pipe_end(void* pipe) {
    if (core->pipe != pipe) return;
    retire_queues("the end of its TPipe");
    core->pipe = nullptr;
}

void pipe_reset() {
    retire_queues("TPipe::Reset");
    core->clocks.barrier_all();
}

void* pipe_current() { return core->pipe; }

Extent buffer_init(uint32_t bytes, Extent* pool) {
    if (bytes == 0) fail(Rule::Usage, "len", 0, -1, "a buffer needs at least one byte");
    const uint64_t rounded = round_to_block(bytes);
    const uint32_t at = take_ub(rounded, 1, pool);
    return {at, static_cast<uint32_t>(rounded), true};
}

View buffer_view(const Extent& extent, uint64_t bytes, uint64_t offset) {
    if (!extent.is_set) fail(Rule::Usage, nullptr, -1, -1, "the buffer is empty: InitBuffer was not called for it");
    if (offset % 32 != 0) fail(Rule::Alignment, "bufOffset", offset % 32, 32, "byte offset %llu in the buffer is not a multiple of 32",
                               static_cast<unsigned long long>(offset));
    if (offset + bytes > extent.bytes) {
        fail(Rule::UbBounds, "length", static_cast<int64_t>(offset + bytes), extent.bytes, "the buffer has %u bytes",
             extent.bytes);
    }
    return {static_cast<uint32_t>(extent.offset + offset), static_cast<uint32_t>(round_to_block(bytes)), 0, 0, true};
}

View rest_of_ub() { return {core->ub_top, launch.soc.ub_bytes - core->ub_top, 0, 0, true}; }

uint32_t ub_bytes() { return launch.soc.ub_bytes; }

View static_view(uint8_t position, uint32_t offset, uint64_t bytes) {
    const auto p = static_cast<TPosition>(position);
    if (p != TPosition::VECIN && p != TPosition::VECOUT && p != TPosition::VECCALC) {
        fail(Rule::Usage, "position", position, -1, "a vector core has VECIN, VECOUT and VECCALC only");
    }
    if (offset % 32 != 0) fail(Rule::Alignment, "addr", offset % 32, 32, "UB address %u is not a multiple of 32", offset);
    if (offset + bytes > launch.soc.ub_bytes) {
        fail(Rule::UbCapacity, "tileSize", static_cast<int64_t>(offset + bytes), launch.soc.ub_bytes,
             "the tensor ends behind UB");
    }
    note_ub_use(static_cast<uint32_t>(offset + bytes));
    return {offset, static_cast<uint32_t>(round_to_block(bytes)), 0, 0, true};
}

int8_t event_fetch(uint8_t event) {
    for (int8_t id = 0; id < kEventIds; ++id) {
        const Flag& flag = core->flags[event][id];
        if (flag.holder == Flag::Holder::Free && !flag.is_set) return id;
    }
    fail(Rule::Limit, "event id", kEventIds + 1, kEventIds, "all %d ids of event %s are in use", kEventIds, event_name(event));
}

int8_t event_alloc(uint8_t event) {
    const int8_t id = event_fetch(event);
    core->flags[event][id].holder = Flag::Holder::Reserved;
    return id;
}

void event_release(uint8_t event, int8_t id) {
    if (id < 0 || id >= kEventIds || core->flags[event][id].holder != Flag::Holder::Reserved) {
        fail(Rule::UnpairedFlag, "id", id, kEventIds, "ReleaseEventID of an id that AllocEventID did not give");
    }
    core->flags[event][id].holder = Flag::Holder::Free;
}

}  // namespace af_sim
