#include "lane_plan.h"

#include <algorithm>

#include "errors.h"

namespace af_sim {
namespace {

uint32_t runs_of_first(uint32_t lanes, LaneRun* runs) {
    runs[0] = {0, lanes};
    return lanes == 0 ? 0 : 1;
}

uint32_t runs_of_bits(const uint64_t mask[2], uint32_t lanes, LaneRun* runs) {
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < lanes;) {
        const auto is_active = [&](uint32_t l) { return ((mask[l / 64] >> (l % 64)) & 1) != 0; };
        if (!is_active(lane)) {
            ++lane;
            continue;
        }
        const uint32_t first = lane;
        while (lane < lanes && is_active(lane)) ++lane;
        runs[count++] = {first, lane};
    }
    return count;
}

uint64_t lanes_in(const LaneRun* runs, uint32_t count) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; ++i) total += runs[i].end - runs[i].first;
    return total;
}

void count_total(LanePlan& plan, uint64_t total) {
    plan.repeats = static_cast<uint32_t>((total + plan.lanes - 1) / plan.lanes);
    plan.run_count = runs_of_first(plan.lanes, plan.runs);
    const uint32_t rest = static_cast<uint32_t>(total % plan.lanes);
    plan.last_run_count = runs_of_first(rest == 0 && total != 0 ? plan.lanes : rest, plan.last_runs);
    plan.elements = plan.charged = total;
}

}  // namespace

LanePlan plan_lanes(const Lanes& form, uint32_t widest) {
    LanePlan plan;
    plan.lanes = 256 / widest;
    if (form.form == Lanes::Form::Count) {
        plan.is_dense = true;
        count_total(plan, form.mask[0]);
        return plan;
    }
    if (core->mask_counts && !form.mask_is_per_repeat) {  // the low word is the number of elements; repeats are ignored
        count_total(plan, form.form == Lanes::Form::Register ? core->mask[0] : form.mask[0]);
        return plan;
    }
    const uint32_t most_repeats = launch.soc.limits.repeats;
    if (form.repeats > most_repeats) {
        fail(Rule::Limit, "repeatTime", form.repeats, most_repeats, "one instruction repeats %u times at most", most_repeats);
    }
    if (core->mask_counts) {  // Copy: the mask is the number of elements of each repeat, which may exceed 256 bytes
        const uint64_t lanes = form.form == Lanes::Form::Register ? core->mask[0] : form.mask[0];
        plan.lanes = static_cast<uint32_t>(std::min<uint64_t>(lanes, UINT32_MAX));
        plan.repeats = form.repeats;
        plan.run_count = plan.last_run_count = runs_of_first(plan.lanes, plan.runs);
        plan.last_runs[0] = plan.runs[0];
        plan.elements = plan.charged = uint64_t(plan.lanes) * plan.repeats;
        return plan;
    }
    const uint32_t mask_lanes = std::min<uint32_t>(plan.lanes, 128);
    switch (form.form) {
        case Lanes::Form::Continuous:
            if (form.mask[0] > mask_lanes) {
                fail(Rule::Limit, "mask", static_cast<int64_t>(form.mask[0]), mask_lanes,
                     "a repeat of this type has %u lanes", mask_lanes);
            }
            plan.run_count = runs_of_first(static_cast<uint32_t>(form.mask[0]), plan.runs);
            break;
        case Lanes::Form::Bits:
            if (mask_lanes <= 64 && form.mask[1] != 0) {
                fail(Rule::Limit, "mask[1]", static_cast<int64_t>(form.mask[1]), 0, "a repeat of this type has %u lanes",
                     mask_lanes);
            }
            if (mask_lanes < 64 && (form.mask[0] >> mask_lanes) != 0) {
                fail(Rule::Limit, "mask[0]", static_cast<int64_t>(form.mask[0]), (int64_t(1) << mask_lanes) - 1,
                     "a repeat of this type has %u lanes", mask_lanes);
            }
            plan.run_count = runs_of_bits(form.mask, mask_lanes, plan.runs);
            break;
        case Lanes::Form::Register: plan.run_count = runs_of_bits(core->mask, mask_lanes, plan.runs); break;
        case Lanes::Form::Count: break;
    }
    plan.repeats = form.repeats;
    std::copy(plan.runs, plan.runs + plan.run_count, plan.last_runs);
    plan.last_run_count = plan.run_count;
    plan.elements = lanes_in(plan.runs, plan.run_count) * plan.repeats;
    plan.charged = uint64_t(plan.repeats) * plan.lanes;
    return plan;
}

uint64_t lane_offset(const LanePlan& plan, const VectorOperand& o, uint32_t repeat, uint32_t lane) {
    const uint32_t unit = size_of(o.dtype);
    if (plan.is_dense) return (uint64_t(repeat) * plan.lanes + lane) * unit;
    const uint32_t per_block = 32 / unit;
    return (uint64_t(repeat) * o.repeat_stride + uint64_t(lane / per_block) * o.block_stride) * 32 +
           (lane % per_block) * unit;
}

uint64_t operand_extent(const LanePlan& plan, const VectorOperand& o) {
    if (plan.elements == 0) return 0;
    const uint32_t unit = size_of(o.dtype);
    if (plan.is_dense) return plan.elements * unit;
    uint64_t extent = 0;
    for (uint32_t r : {plan.repeats >= 2 ? plan.repeats - 2 : 0, plan.repeats - 1}) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        if (count == 0) continue;
        for (uint32_t i = 0; i < count; ++i) {  // with block stride 0 the last lane need not have the highest address
            extent = std::max(extent, lane_offset(plan, o, r, runs[i].end - 1) + unit);
            if (o.block_stride == 0) {
                extent = std::max(extent, uint64_t(r) * o.repeat_stride * 32 +
                                              std::min<uint64_t>(32, uint64_t(runs[i].end - runs[i].first) * unit));
            }
        }
    }
    return extent;
}

}  // namespace af_sim
