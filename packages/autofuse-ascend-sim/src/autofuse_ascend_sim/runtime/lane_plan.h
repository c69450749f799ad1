// Which lanes of which repeats a vector instruction computes, and where an operand has them in UB.
#pragma once
#include <cstdint>

#include "core.h"

namespace af_sim {

struct LaneRun {
    uint32_t first, end;
};

struct LanePlan {
    uint32_t lanes = 0;        // of one repeat
    uint32_t repeats = 0;
    bool is_dense = false;     // count form: operands are contiguous
    uint64_t elements = 0;     // computed
    uint64_t charged = 0;      // for the timing model: masked lanes cost as well
    LaneRun runs[64];          // active lanes of every repeat but the last
    uint32_t run_count = 0;
    LaneRun last_runs[64];     // and of the last one
    uint32_t last_run_count = 0;

    const LaneRun* runs_of(uint32_t repeat, uint32_t& count) const {
        const bool is_last = repeat + 1 == repeats;
        count = is_last ? last_run_count : run_count;
        return is_last ? last_runs : runs;
    }
};

// Resolves the mask form, the mask register and counter mode. `widest` is the widest element in bytes.
LanePlan plan_lanes(const Lanes& lanes, uint32_t widest);

// Byte offsets from the operand's first byte.
uint64_t lane_offset(const LanePlan& plan, const VectorOperand& o, uint32_t repeat, uint32_t lane);
// One byte behind the last one touched.
uint64_t operand_extent(const LanePlan& plan, const VectorOperand& o);

// Calls fn(begin, end) for every contiguous range of UB the operand touches, neighbours joined.
template <typename Fn> void each_operand_range(const LanePlan& plan, const VectorOperand& o, Fn&& fn) {
    const uint32_t unit = size_of(o.dtype);
    if (plan.is_dense) {
        fn(uint64_t(o.view.offset), o.view.offset + plan.elements * unit);
        return;
    }
    const uint32_t per_block = 32 / unit;
    uint64_t begin = 0, end = 0;
    const auto add = [&](uint64_t lo, uint64_t hi) {
        if (lo == end && end != begin) {
            end = hi;
            return;
        }
        if (lo == begin && hi == end) return;  // the same block again: stride 0
        if (end != begin) fn(begin, end);
        begin = lo;
        end = hi;
    };
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        const uint64_t base = o.view.offset + uint64_t(r) * o.repeat_stride * 32;
        for (uint32_t i = 0; i < count; ++i) {
            if (o.block_stride == 1) {
                add(base + runs[i].first * unit, base + runs[i].end * unit);
                continue;
            }
            for (uint32_t lane = runs[i].first; lane < runs[i].end;) {
                const uint32_t block = lane / per_block;
                const uint32_t stop = runs[i].end < (block + 1) * per_block ? runs[i].end : (block + 1) * per_block;
                const uint64_t at = base + uint64_t(block) * o.block_stride * 32;
                add(at + (lane % per_block) * unit, at + (lane % per_block + stop - lane) * unit);
                lane = stop;
            }
        }
    }
    if (end != begin) fn(begin, end);
}

}  // namespace af_sim
