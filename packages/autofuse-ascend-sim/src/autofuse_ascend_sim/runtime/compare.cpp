// Compare and select: bits in a dense little-endian stream, one per lane.
#include <cstring>

#include "access.h"
#include "errors.h"
#include "vector.h"

namespace af_sim {
namespace {

using AscendC::CMPMODE;

template <typename T> bool holds(CMPMODE mode, const T& a, const T& b) {
    switch (mode) {
        case CMPMODE::LT: return a < b;
        case CMPMODE::GT: return a > b;
        case CMPMODE::EQ: return a == b;
        case CMPMODE::LE: return a <= b;
        case CMPMODE::GE: return a >= b;
        case CMPMODE::NE: return a != b;
    }
    return false;
}

template <typename T> bool compare_as(CMPMODE mode, const uint8_t* a, const uint8_t* b) {
    T x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if constexpr (is_one_of<T, half, bfloat16_t>()) return holds(mode, float(x), float(y));
    else return holds(mode, x, y);
}

using Comparison = bool (*)(CMPMODE, const uint8_t*, const uint8_t*);
Comparison comparison_of(DType type) {
    switch (type) {
        case DType::Bool:
        case DType::U8: return compare_as<uint8_t>;
        case DType::I8: return compare_as<int8_t>;
        case DType::I16: return compare_as<int16_t>;
        case DType::U16: return compare_as<uint16_t>;
        case DType::I32: return compare_as<int32_t>;
        case DType::U32: return compare_as<uint32_t>;
        case DType::I64: return compare_as<int64_t>;
        case DType::U64: return compare_as<uint64_t>;
        case DType::F16: return compare_as<half>;
        case DType::BF16: return compare_as<bfloat16_t>;
        case DType::F32: return compare_as<float>;
        case DType::F64: return compare_as<double>;
    }
    return nullptr;
}

const uint8_t* element(const LanePlan& plan, const VectorOperand* o, const ScalarValue& value, uint32_t r, uint32_t lane) {
    if (o == nullptr) return reinterpret_cast<const uint8_t*>(&value.bits);
    return core->ub + o->view.offset + lane_offset(plan, *o, r, lane);
}

bool bit_of(const uint8_t* stream, uint64_t index) { return ((stream[index / 8] >> (index % 8)) & 1) != 0; }

void put_bit(uint8_t* stream, uint64_t index, bool value) {
    const uint8_t bit = static_cast<uint8_t>(1u << (index % 8));
    stream[index / 8] = static_cast<uint8_t>(value ? stream[index / 8] | bit : stream[index / 8] & ~bit);
}

// Sources by lanes, further operands as plain ranges.
struct Range {
    const char* name;
    View view;
    Access access;
    uint64_t bytes;
    uint32_t alignment;
};

bool issue_with(const LanePlan& plan, std::initializer_list<const VectorOperand*> sources, const VectorOperand* dst,
                std::initializer_list<Range> ranges, DType cost_type) {
    core->clocks.issue(PIPE_V);
    for (const VectorOperand* o : sources) {
        if (o != nullptr) check_operand(PIPE_V, o->name, o->view, Access::Read, operand_extent(plan, *o), 32);
    }
    for (const Range& r : ranges) check_operand(PIPE_V, r.name, r.view, r.access, r.bytes, r.alignment);
    if (dst != nullptr) {
        if (!plan.is_dense && dst->block_stride == 0 && plan.repeats > 0) {
            fail(Rule::Limit, dst->name, 0, 1, "a block stride of 0 is not defined for a destination");
        }
        check_operand(PIPE_V, dst->name, dst->view, Access::Write, operand_extent(plan, *dst), 32);
    }
    for (const VectorOperand* o : sources) {
        if (o == nullptr) continue;
        each_operand_range(plan, *o, [&](uint64_t lo, uint64_t hi) { ub_read(PIPE_V, o->name, lo, hi); });
    }
    for (const Range& r : ranges) {
        if (r.access == Access::Read) ub_read(PIPE_V, r.name, r.view.offset, r.view.offset + r.bytes);
        else ub_write(PIPE_V, r.name, r.view.offset, r.view.offset + r.bytes);
    }
    if (dst != nullptr) {
        each_operand_range(plan, *dst, [&](uint64_t lo, uint64_t hi) { ub_write(PIPE_V, dst->name, lo, hi); });
    }
    record_vector({plan.charged, cost_type, 1});
    return launch.values && plan.elements != 0;
}

// Compare ignores masks: all lanes of every repeat.
Lanes all_lanes(const Lanes& lanes, uint32_t width) {
    if (lanes.form == Lanes::Form::Count || core->mask_counts) return lanes;
    const uint32_t count = 256 / (width < 2 ? 2 : width);
    return {Lanes::Form::Continuous, {count, 0}, lanes.repeats, false};
}

}  // namespace

void vector_compare(uint8_t mode, const Lanes& lanes, const View& dst, const VectorOperand& src0,
                    const VectorOperand* src1, const ScalarValue& value, bool exact_repeats) {
    const uint32_t unit = size_of(src0.dtype);
    if (lanes.form == Lanes::Form::Count && exact_repeats && lanes.mask[0] * unit % 256 != 0) {
        fail(Rule::Alignment, "count", static_cast<int64_t>(lanes.mask[0] * unit), 256,
             "Compare works on whole repeats of 256 bytes and would leave the last %llu bytes out",
             static_cast<unsigned long long>(lanes.mask[0] * unit % 256));
    }
    const LanePlan plan = plan_lanes(all_lanes(lanes, unit), unit);
    const uint64_t bytes = (plan.elements + 7) / 8;
    if (!issue_with(plan, {&src0, src1}, nullptr, {{"dst", dst, Access::Write, bytes, 32}}, src0.dtype)) return;
    const Comparison compare = comparison_of(src0.dtype);
    uint8_t* out = core->ub + dst.offset;
    uint64_t index = 0;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        for (uint32_t lane = 0; count != 0 && lane < runs[0].end; ++lane, ++index) {
            put_bit(out, index, compare(static_cast<CMPMODE>(mode), element(plan, &src0, value, r, lane),
                                        element(plan, src1, value, r, lane)));
        }
    }
}

void compare_to_mask(uint8_t mode, const Lanes& lanes, const VectorOperand& src0, const VectorOperand& src1) {
    const LanePlan plan = plan_lanes(lanes, size_of(src0.dtype));
    if (!issue_with(plan, {&src0, &src1}, nullptr, {}, src0.dtype)) return;
    const Comparison compare = comparison_of(src0.dtype);
    uint32_t count;
    const LaneRun* runs = plan.runs_of(0, count);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
            put_bit(reinterpret_cast<uint8_t*>(core->compare_mask), lane,
                    compare(static_cast<CMPMODE>(mode), element(plan, &src0, {}, 0, lane), element(plan, &src1, {}, 0, lane)));
        }
    }
}

void read_compare_mask(const View& dst) {
    const Operand o{"dst", dst, Access::Write, Region{16}};
    if (issue(PIPE_V, {o}, {16, DType::U8, 1})) memcpy(core->ub + dst.offset, core->compare_mask, 16);
}

void write_compare_mask(const View& src) {
    const Operand o{"src", src, Access::Read, Region{16}};
    if (issue(PIPE_V, {o}, {16, DType::U8, 1})) memcpy(core->compare_mask, core->ub + src.offset, 16);
}

void vector_select(uint8_t mode, const Lanes& lanes, const VectorOperand& dst, const View& bits, const VectorOperand& src0,
                   const VectorOperand* src1, const ScalarValue& value) {
    const LanePlan plan = plan_lanes(lanes, size_of(dst.dtype));
    check_overlap(plan, dst, src0, false);
    if (src1 != nullptr) check_overlap(plan, dst, *src1, false);
    const bool same_bits = mode == 0;
    const uint64_t stream = same_bits ? plan.lanes : uint64_t(plan.repeats) * plan.lanes;
    const uint64_t used = same_bits ? stream : (plan.elements < stream && plan.is_dense ? plan.elements : stream);
    const uint64_t bytes = (used + 7) / 8;
    const bool from_register = !bits.is_set;
    const bool computes =
        from_register ? issue_with(plan, {&src0, src1}, &dst, {}, dst.dtype)
                      : issue_with(plan, {&src0, src1}, &dst, {{"selMask", bits, Access::Read, bytes, 32}}, dst.dtype);
    if (!computes) return;
    const uint8_t* mask = from_register ? reinterpret_cast<const uint8_t*>(core->compare_mask) : core->ub + bits.offset;
    const uint32_t unit = size_of(dst.dtype);
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
                const bool first = bit_of(mask, same_bits ? lane : uint64_t(r) * plan.lanes + lane);
                uint64_t chosen = 0;
                memcpy(&chosen, first ? element(plan, &src0, value, r, lane) : element(plan, src1, value, r, lane), unit);
                memcpy(core->ub + dst.view.offset + lane_offset(plan, dst, r, lane), &chosen, unit);
            }
        }
    }
}

}  // namespace af_sim
