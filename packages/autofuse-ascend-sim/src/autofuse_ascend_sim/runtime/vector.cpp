#include "vector.h"

#include <algorithm>
#include <cstring>

#include "access.h"
#include "errors.h"

namespace af_sim {
namespace {

double real_of(const ScalarValue& value) {
    const auto as = [&](auto sample) {
        memcpy(&sample, &value.bits, sizeof sample);
        return sample;
    };
    switch (value.dtype) {
        case DType::Bool:
        case DType::U8: return as(uint8_t());
        case DType::I8: return as(int8_t());
        case DType::I16: return as(int16_t());
        case DType::U16: return as(uint16_t());
        case DType::I32: return as(int32_t());
        case DType::U32: return as(uint32_t());
        case DType::I64: return static_cast<double>(as(int64_t()));
        case DType::U64: return static_cast<double>(as(uint64_t()));
        case DType::F16: return double(half_value_of(as(uint16_t())));
        case DType::BF16: return double(bfloat16_value_of(as(uint16_t())));
        case DType::F32: return double(as(float()));
        case DType::F64: return as(double());
    }
    return 0;
}

uint32_t lane_width(std::initializer_list<DType> types) {
    uint32_t widest = 1;
    for (DType type : types) widest = std::max(widest, size_of(type));
    return widest;
}

uint32_t mask_width(const Lanes& lanes, std::initializer_list<DType> types) {
    const uint32_t widest = lane_width(types);
    return lanes.form == Lanes::Form::Count ? widest : std::max(widest, 2u);
}

struct Gathered {
    alignas(64) uint8_t bytes[256 * 8];
};

void gather(const LanePlan& plan, const VectorOperand& o, uint32_t repeat, uint8_t* to) {
    const uint32_t unit = size_of(o.dtype);
    uint32_t count;
    const LaneRun* runs = plan.runs_of(repeat, count);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
            memcpy(to + lane * unit, core->ub + o.view.offset + lane_offset(plan, o, repeat, lane), unit);
        }
    }
}

void scatter(const LanePlan& plan, const VectorOperand& o, uint32_t repeat, const uint8_t* from) {
    const uint32_t unit = size_of(o.dtype);
    uint32_t count;
    const LaneRun* runs = plan.runs_of(repeat, count);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
            memcpy(core->ub + o.view.offset + lane_offset(plan, o, repeat, lane), from + lane * unit, unit);
        }
    }
}

bool accumulates(Op op, DType type) {
    const bool op_allows = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Max || op == Op::Min ||
                           op == Op::AddRelu || op == Op::SubRelu;
    return op_allows && (type == DType::F16 || type == DType::F32 || type == DType::I32);
}

}  // namespace

void check_overlap(const LanePlan& plan, const VectorOperand& dst, const VectorOperand& src, bool accumulates) {
    const uint64_t dst_extent = operand_extent(plan, dst), src_extent = operand_extent(plan, src);
    if (dst_extent > dst.view.bytes || src_extent > src.view.bytes) return;  // issue_vector reports that
    const uint64_t dst_begin = dst.view.offset, dst_end = dst_begin + dst_extent;
    const uint64_t src_begin = src.view.offset, src_end = src_begin + src_extent;
    if (dst_begin >= src_end || src_begin >= dst_end) return;
    const bool same_size = size_of(dst.dtype) == size_of(src.dtype);
    const bool same_start = dst_begin == src_begin && same_size;
    if (same_start && (plan.is_dense || (dst.block_stride == src.block_stride && dst.repeat_stride == src.repeat_stride))) {
        if (plan.is_dense || dst.repeat_stride != 0 || plan.repeats <= 1 || accumulates) return;
    }
    const auto range_of = [&](const VectorOperand& o, uint32_t repeat) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(repeat, count);
        const uint64_t lo = o.view.offset + (count == 0 ? 0 : lane_offset(plan, o, repeat, runs[0].first));
        const uint64_t hi = o.view.offset + (count == 0 ? 0 : lane_offset(plan, o, repeat, runs[count - 1].end - 1)) + size_of(o.dtype);
        return std::pair<uint64_t, uint64_t>(lo, std::max(lo, hi));
    };
    for (uint32_t written = 0; written < plan.repeats; ++written) {
        const auto [d_lo, d_hi] = range_of(dst, written);
        for (uint32_t reading = written; reading < plan.repeats; ++reading) {
            const auto [s_lo, s_hi] = range_of(src, reading);
            if (d_lo >= s_hi || s_lo >= d_hi) continue;
            const bool coincides = same_size && d_lo == s_lo && d_hi == s_hi && (plan.is_dense || dst.block_stride == src.block_stride);
            if (coincides && (reading == written || accumulates)) continue;
            fail(Rule::Overlap, src.name, static_cast<int64_t>(std::min(d_hi, s_hi) - std::max(d_lo, s_lo)), 0,
                 reading == written
                     ? "dst and %s overlap partly inside repeat %u: they must be equal or disjoint"
                     : "%s is read in repeat %u after an earlier repeat has overwritten it through dst",
                 src.name, reading);
        }
    }
}

bool issue_vector(const LanePlan& plan, const VectorPort* ports, uint32_t count, DType cost_type) {
    core->clocks.issue(PIPE_V);
    for (uint32_t i = 0; i < count; ++i) {
        const VectorOperand& o = ports[i].operand;
        if (i == 0 && !plan.is_dense && o.block_stride == 0 && plan.repeats > 0) {
            fail(Rule::Limit, o.name, 0, 1, "a block stride of 0 is not defined for a destination");
        }
        check_operand(PIPE_V, o.name, o.view, ports[i].access, operand_extent(plan, o), 32);
    }
    if (plan.elements != 0 && launch.checks == Checks::Full) {
        for (uint32_t i = 0; i < count; ++i) {
            if (ports[i].access == Access::Write) continue;
            const char* name = ports[i].operand.name;
            each_operand_range(plan, ports[i].operand, [&](uint64_t lo, uint64_t hi) { ub_read(PIPE_V, name, lo, hi); });
        }
        const char* name = ports[0].operand.name;
        each_operand_range(plan, ports[0].operand, [&](uint64_t lo, uint64_t hi) { ub_write(PIPE_V, name, lo, hi); });
    }
    record_vector({plan.charged, cost_type, 1});
    return launch.values && plan.elements != 0;
}

void compute_rows(const LanePlan& plan, RowFn fn, const RowScalar& scalar, const VectorOperand& dst,
                  const VectorOperand* a, const VectorOperand* b, bool reads_dst) {
    uint8_t* const ub = core->ub;
    const auto at = [&](const VectorOperand* o, uint64_t offset) {
        return o == nullptr ? nullptr : ub + o->view.offset + offset;
    };
    if (plan.is_dense) {
        fn(at(&dst, 0), at(a, 0), at(b, 0), scalar, static_cast<uint32_t>(plan.elements));
        return;
    }
    const auto is_plain = [](const VectorOperand* o) { return o == nullptr || o->block_stride == 1; };
    const bool direct = is_plain(&dst) && is_plain(a) && is_plain(b) && plan.run_count <= 1 && plan.last_run_count <= 1;
    Gathered d, x, y;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        if (count == 0) continue;
        if (direct) {
            const uint32_t first = runs[0].first;
            fn(at(&dst, lane_offset(plan, dst, r, first)), a == nullptr ? nullptr : at(a, lane_offset(plan, *a, r, first)),
               b == nullptr ? nullptr : at(b, lane_offset(plan, *b, r, first)), scalar, runs[0].end - first);
            continue;
        }
        if (a != nullptr) gather(plan, *a, r, x.bytes);
        if (b != nullptr) gather(plan, *b, r, y.bytes);
        if (reads_dst) gather(plan, dst, r, d.bytes);
        const uint32_t du = size_of(dst.dtype), au = a == nullptr ? 0 : size_of(a->dtype), bu = b == nullptr ? 0 : size_of(b->dtype);
        for (uint32_t i = 0; i < count; ++i) {  // only lanes that are active hold values
            const uint32_t first = runs[i].first;
            fn(d.bytes + first * du, x.bytes + first * au, y.bytes + first * bu, scalar, runs[i].end - first);
        }
        scatter(plan, dst, r, d.bytes);
    }
}

void vector_binary(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src0,
                   const VectorOperand& src1) {
    const bool reads_dst = op == Op::MulAddDst || op == Op::FusedMulAdd || op == Op::MulAddRelu;
    const LanePlan plan = plan_lanes(lanes, mask_width(lanes, {dst.dtype, src0.dtype, src1.dtype}));
    check_overlap(plan, dst, src0, false);
    const bool idiom = accumulates(op, dst.dtype) && (src1.repeat_stride == 0 || dst.repeat_stride == 0);
    check_overlap(plan, dst, src1, idiom);
    const VectorPort ports[] = {{dst, reads_dst ? Access::ReadWrite : Access::Write}, {src0, Access::Read}, {src1, Access::Read}};
    if (!issue_vector(plan, ports, 3, dst.dtype)) return;
    RowScalar scalar;
    scalar.factor = core->deq_scale;
    compute_rows(plan, find_row(op, dst.dtype, src0.dtype, src1.dtype), scalar, dst, &src0, &src1, reads_dst);
}

void vector_unary(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src) {
    const LanePlan plan = plan_lanes(lanes, mask_width(lanes, {dst.dtype, src.dtype}));
    check_overlap(plan, dst, src, false);
    const VectorPort ports[] = {{dst, Access::Write}, {src, Access::Read}};
    if (!issue_vector(plan, ports, 2, dst.dtype)) return;
    compute_rows(plan, find_row(op, dst.dtype, src.dtype, src.dtype), {}, dst, &src, nullptr, false);
}

void vector_scalar(Op op, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                   const ScalarValue& value, uint8_t option) {
    const bool reads_dst = op == Op::Axpy;
    const LanePlan plan = plan_lanes(lanes, mask_width(lanes, {dst.dtype, src.dtype}));
    check_overlap(plan, dst, src, false);
    const VectorPort ports[] = {{dst, reads_dst ? Access::ReadWrite : Access::Write}, {src, Access::Read}};
    if (!issue_vector(plan, ports, 2, dst.dtype)) return;
    compute_rows(plan, find_row(op, dst.dtype, src.dtype, src.dtype), {real_of(value), value.bits, option, 1.0f}, dst,
                 &src, nullptr, reads_dst);
}

void vector_fill(const Lanes& lanes, const VectorOperand& dst, const ScalarValue& value) {
    const LanePlan plan = plan_lanes(lanes, mask_width(lanes, {dst.dtype}));
    const VectorPort ports[] = {{dst, Access::Write}};
    if (!issue_vector(plan, ports, 1, dst.dtype)) return;
    compute_rows(plan, find_row(Op::Duplicate, dst.dtype, dst.dtype, dst.dtype), {real_of(value), value.bits, 0, 1.0f},
                 dst, nullptr, nullptr, false);
}

void vector_cast(uint8_t round_mode, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src) {
    const LanePlan plan = plan_lanes(lanes, mask_width(lanes, {dst.dtype, src.dtype}));
    check_overlap(plan, dst, src, false);
    const VectorPort ports[] = {{dst, Access::Write}, {src, Access::Read}};
    const DType wider = size_of(dst.dtype) > size_of(src.dtype) ? dst.dtype : src.dtype;
    if (!issue_vector(plan, ports, 2, wider)) return;
    RowScalar scalar;
    scalar.factor = core->deq_scale;
    scalar.option = round_mode;
    compute_rows(plan, find_cast(dst.dtype, src.dtype, round_mode), scalar, dst, &src, nullptr, false);
}

void set_mask_mode(bool counter) { core->mask_counts = counter; }
void set_mask(uint64_t high, uint64_t low) {
    core->mask[0] = low;
    core->mask[1] = high;
}
void set_deq_scale(float scale) { core->deq_scale = scale; }

}  // namespace af_sim
