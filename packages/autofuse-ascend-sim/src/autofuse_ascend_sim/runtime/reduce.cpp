// Reductions. Orders of evaluation are part of the result: trees add neighbours, one rounding per addition.
#include <algorithm>
#include <cstring>
#include <vector>

#include "access.h"
#include "errors.h"
#include "vector.h"

namespace af_sim {
namespace {

enum Order : uint8_t { kValueIndex, kIndexValue, kOnlyValue, kOnlyIndex };

// A value on its way through a tree: floats as float, rounded to the element type after every step, integers wrapping.
struct Node {
    double real = 0;
    int64_t whole = 0;
    uint32_t index = 0;
};

bool is_float(DType type) { return type == DType::F16 || type == DType::BF16 || type == DType::F32; }

Node load(DType type, const uint8_t* at, uint32_t index) {
    Node node;
    node.index = index;
    const auto as = [&](auto sample) {
        memcpy(&sample, at, sizeof sample);
        return sample;
    };
    switch (type) {
        case DType::F16: node.real = double(half_value_of(as(uint16_t()))); break;
        case DType::F32: node.real = double(as(float())); break;
        case DType::I16: node.whole = as(int16_t()); break;
        case DType::U16: node.whole = as(uint16_t()); break;
        case DType::I32: node.whole = as(int32_t()); break;
        case DType::U32: node.whole = as(uint32_t()); break;
        case DType::I64: node.whole = as(int64_t()); break;
        case DType::U64: node.whole = static_cast<int64_t>(as(uint64_t())); break;
        default: break;
    }
    return node;
}

void store(DType type, uint8_t* at, const Node& node) {
    const auto put = [&](auto value) { memcpy(at, &value, sizeof value); };
    switch (type) {
        case DType::F16: put(half_bits_of(static_cast<float>(node.real))); break;
        case DType::F32: put(static_cast<float>(node.real)); break;
        case DType::I16:
        case DType::U16: put(static_cast<uint16_t>(node.whole)); break;
        case DType::I32:
        case DType::U32: put(static_cast<uint32_t>(node.whole)); break;
        default: put(node.whole); break;
    }
}

double rounded(DType type, double value) {
    if (type == DType::F16) return double(half_value_of(half_bits_of(static_cast<float>(value))));
    return double(static_cast<float>(value));
}

bool is_less(DType type, const Node& a, const Node& b) {
    if (is_float(type)) return a.real < b.real;
    if (type == DType::U64) return static_cast<uint64_t>(a.whole) < static_cast<uint64_t>(b.whole);
    return a.whole < b.whole;
}

Node combine(Reduction kind, DType type, const Node& a, const Node& b) {
    if (kind == Reduction::Sum) {
        Node sum;
        sum.real = rounded(type, double(static_cast<float>(a.real) + static_cast<float>(b.real)));
        sum.whole = static_cast<int64_t>(static_cast<uint64_t>(a.whole) + static_cast<uint64_t>(b.whole));
        return sum;
    }
    if (a.real != a.real) return a;  // NaN wins
    if (b.real != b.real) return b;
    const bool b_wins = kind == Reduction::Max ? is_less(type, a, b) : is_less(type, b, a);
    return b_wins ? b : a;  // of equals the first
}

// Neighbours first; an absent lane passes its neighbour through.
Node tree(Reduction kind, DType type, const std::vector<Node>& nodes, const std::vector<bool>& present, bool& any) {
    std::vector<Node> level = nodes;
    std::vector<bool> has = present;
    while (level.size() > 1) {
        const size_t half_size = (level.size() + 1) / 2;
        for (size_t i = 0; i < half_size; ++i) {
            const size_t a = 2 * i, b = 2 * i + 1;
            if (b >= level.size() || !has[b]) {
                level[i] = level[a];
                has[i] = has[a];
            } else if (!has[a]) {
                level[i] = level[b];
                has[i] = true;
            } else {
                level[i] = combine(kind, type, level[a], level[b]);
                has[i] = true;
            }
        }
        level.resize(half_size);
        has.resize(half_size);
    }
    any = !has.empty() && has[0];
    return level.empty() ? Node{} : level[0];
}

// The lanes of one repeat.
void load_repeat(const LanePlan& plan, const VectorOperand& src, uint32_t r, std::vector<Node>& nodes,
                 std::vector<bool>& present) {
    nodes.assign(plan.lanes, Node{});
    present.assign(plan.lanes, false);
    uint32_t count;
    const LaneRun* runs = plan.runs_of(r, count);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
            nodes[lane] = load(src.dtype, core->ub + src.view.offset + lane_offset(plan, src, r, lane), lane);
            present[lane] = true;
        }
    }
}

LanePlan reduction_plan(const Lanes& lanes, DType type) { return plan_lanes(lanes, std::max(2u, size_of(type))); }

bool issue_reduction(const LanePlan& plan, const VectorOperand& dst, const VectorOperand& src, const Region& out,
                     uint32_t alignment) {
    core->clocks.issue(PIPE_V);
    check_operand(PIPE_V, src.name, src.view, Access::Read, operand_extent(plan, src), 32);
    const uint64_t extent = plan.repeats == 0 || out.piece_bytes == 0
                                ? 0
                                : uint64_t(out.groups - 1) * out.group_stride + uint64_t(out.pieces - 1) * out.piece_stride + out.piece_bytes;
    check_operand(PIPE_V, dst.name, dst.view, Access::Write, extent, alignment);
    each_operand_range(plan, src, [&](uint64_t lo, uint64_t hi) { ub_read(PIPE_V, src.name, lo, hi); });
    if (extent != 0) {
        for (uint32_t g = 0; g < out.groups; ++g) {
            for (uint32_t p = 0; p < out.pieces; ++p) {
                const uint64_t at = dst.view.offset + uint64_t(g) * out.group_stride + uint64_t(p) * out.piece_stride;
                ub_write(PIPE_V, dst.name, at, at + out.piece_bytes);
            }
        }
    }
    record_vector({plan.charged, src.dtype, 1});
    return launch.values && plan.elements != 0;
}

void check_strides(int32_t dst_stride, const VectorOperand& src) {
    if (dst_stride < 0 || dst_stride > 65535) fail(Rule::Limit, "dstRepStride", dst_stride, 65535, "a stride can be 0 to 65535");
    if (src.block_stride > 65535) fail(Rule::Limit, "srcBlkStride", src.block_stride, 65535, "a stride can be 0 to 65535");
    if (src.repeat_stride > 65535) fail(Rule::Limit, "srcRepStride", src.repeat_stride, 65535, "a stride can be 0 to 65535");
}

void put_index(uint8_t* at, uint32_t unit, uint32_t index) {
    const uint64_t wide = index;
    memcpy(at, &wide, unit);
}

}  // namespace

void reduce_repeats(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                    int32_t dst_stride, uint8_t order, bool has_index) {
    check_strides(dst_stride, src);
    const LanePlan plan = reduction_plan(lanes, src.dtype);
    const uint32_t unit = size_of(dst.dtype);
    const bool only_index = has_index && order == kOnlyIndex;
    const bool both = has_index && (order == kValueIndex || order == kIndexValue);
    const uint32_t result = only_index ? 4 : both ? 2 * unit : unit;
    const uint32_t alignment = has_index && order != kOnlyValue ? std::max(4u, unit) : unit;
    const uint32_t stride = static_cast<uint32_t>(dst_stride) * result;
    if (!issue_reduction(plan, dst, src, Region{result, 1, 0, plan.repeats, stride}, alignment)) return;
    std::vector<Node> nodes;
    std::vector<bool> present;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        load_repeat(plan, src, r, nodes, present);
        bool any = false;
        const Node node = tree(kind, src.dtype, nodes, present, any);
        if (!any) continue;
        uint8_t* at = core->ub + dst.view.offset + uint64_t(r) * stride;
        if (only_index) {
            put_index(at, 4, node.index);
        } else {
            store(dst.dtype, at + (both && order == kIndexValue ? unit : 0), node);
            if (both) put_index(at + (order == kValueIndex ? unit : 0), unit, node.index);
        }
        if (kind == Reduction::Sum) core->reduce_sum = is_float(src.dtype) ? node.real : double(node.whole);
        core->reduce_value = is_float(src.dtype) ? node.real : double(node.whole);
        core->reduce_index = node.index;
    }
}

void reduce_blocks(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                   int32_t dst_stride, bool fills_masked) {
    check_strides(dst_stride, src);
    const LanePlan plan = reduction_plan(lanes, src.dtype);
    const uint32_t unit = size_of(src.dtype);
    const uint32_t per_block = 32 / unit, stride = static_cast<uint32_t>(dst_stride) * 8 * unit;
    // Only blocks with an active lane are written on A2; the 350 fills the others with the identity.
    uint32_t runs_count = 0;
    const LaneRun* runs = plan.repeats == 0 ? nullptr : plan.runs_of(0, runs_count);
    const uint32_t blocks = fills_masked ? 8 : runs_count == 0 ? 0 : (runs[runs_count - 1].end + per_block - 1) / per_block;
    if (!issue_reduction(plan, dst, src, Region{blocks * unit, 1, 0, plan.repeats, stride}, 8 * unit)) return;
    std::vector<Node> nodes, part;
    std::vector<bool> present, part_present;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        load_repeat(plan, src, r, nodes, present);
        for (uint32_t b = 0; b < 8; ++b) {
            part.assign(nodes.begin() + b * per_block, nodes.begin() + (b + 1) * per_block);
            part_present.assign(present.begin() + b * per_block, present.begin() + (b + 1) * per_block);
            bool any = false;
            Node node = tree(kind, src.dtype, part, part_present, any);
            if (!any) {
                if (!fills_masked) continue;
                constexpr double kInfinity = __builtin_inf();
                node.real = kind == Reduction::Sum ? 0 : kind == Reduction::Max ? -kInfinity : kInfinity;
            }
            store(dst.dtype, core->ub + dst.view.offset + uint64_t(r) * stride + b * unit, node);
        }
    }
}

void reduce_pairs(const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src, int32_t dst_stride) {
    check_strides(dst_stride, src);
    const LanePlan plan = reduction_plan(lanes, src.dtype);
    const uint32_t unit = size_of(src.dtype), stride = static_cast<uint32_t>(dst_stride) * 128;
    uint32_t runs_count = 0;
    const LaneRun* runs = plan.repeats == 0 ? nullptr : plan.runs_of(0, runs_count);
    const uint32_t pairs = runs_count == 0 ? 0 : (runs[runs_count - 1].end + 1) / 2;
    if (!issue_reduction(plan, dst, src, Region{pairs * unit, 1, 0, plan.repeats, stride}, 32)) return;
    std::vector<Node> nodes;
    std::vector<bool> present;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        load_repeat(plan, src, r, nodes, present);
        for (uint32_t p = 0; p < plan.lanes / 2; ++p) {
            bool any = false;
            const Node node = tree(Reduction::Sum, src.dtype, {nodes[2 * p], nodes[2 * p + 1]},
                                   {present[2 * p], present[2 * p + 1]}, any);
            if (any) store(dst.dtype, core->ub + dst.view.offset + uint64_t(r) * stride + p * unit, node);
        }
    }
}

namespace {

// Elements of the temporary. With an index every level of (value, index) pairs is kept, each from a new block.
uint64_t temporary_elements(Reduction kind, const LanePlan& plan, uint32_t unit, bool is_tree, bool with_index) {
    const uint64_t block = 32 / unit;
    const auto round = [&](uint64_t n) { return (n + block - 1) / block * block; };
    if (kind == Reduction::Sum) return is_tree ? round(plan.repeats) : 0;
    if (!with_index) return round(uint64_t(plan.repeats) * 2);
    uint64_t total = 0, results = plan.repeats;
    for (;;) {
        total += round(results * 2);
        if (results <= 1) return total;
        results = (results * 2 + plan.lanes - 1) / plan.lanes;
    }
}

}  // namespace

void reduce_all(Reduction kind, const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src,
                const VectorOperand& tmp, bool is_tree, bool with_index) {
    const LanePlan plan = reduction_plan(lanes, src.dtype);
    const uint32_t unit = size_of(src.dtype);
    const uint64_t needed = temporary_elements(kind, plan, unit, is_tree, with_index) * unit;
    if (with_index && unit == 2 && plan.elements > 65536) {
        fail(Rule::Limit, "count", static_cast<int64_t>(plan.elements), 65536, "an index of this type ends at 65535");
    }
    if (needed != 0) {
        check_operand(PIPE_V, tmp.name, tmp.view, Access::Scratch, needed, 32);
        core->clocks.issue(PIPE_V);
        ub_write(PIPE_V, tmp.name, tmp.view.offset, tmp.view.offset + needed, false);
    }
    const uint32_t result = with_index ? 2 * unit : unit;
    if (!issue_reduction(plan, dst, src, Region{result}, 32)) return;
    std::vector<Node> nodes, results;
    std::vector<bool> present, have;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        load_repeat(plan, src, r, nodes, present);
        bool any = false;
        Node node = tree(kind, src.dtype, nodes, present, any);
        node.index += r * plan.lanes;
        if (!any) continue;
        results.push_back(node);
        have.push_back(true);
    }
    Node total;
    if (is_tree) {
        bool any = false;
        total = tree(kind, src.dtype, results, have, any);
    } else {
        total = results[0];
        for (size_t i = 1; i < results.size(); ++i) total = combine(kind, src.dtype, total, results[i]);
    }
    uint8_t* at = core->ub + dst.view.offset;
    store(dst.dtype, at, total);
    if (with_index) put_index(at + unit, unit, total.index);
    if (kind == Reduction::Sum) core->reduce_sum = is_float(src.dtype) ? total.real : double(total.whole);
    core->reduce_value = is_float(src.dtype) ? total.real : double(total.whole);
    core->reduce_index = total.index;
}

void accumulated(DType type, void* sum) {
    Node node;
    node.real = core->reduce_sum;
    node.whole = static_cast<int64_t>(core->reduce_sum);
    store(type, static_cast<uint8_t*>(sum), node);
}

void accumulated_extreme(DType type, void* value, void* index) {
    Node node;
    node.real = core->reduce_value;
    node.whole = static_cast<int64_t>(core->reduce_value);
    store(type, static_cast<uint8_t*>(value), node);
    if (index != nullptr) put_index(static_cast<uint8_t*>(index), size_of(type), static_cast<uint32_t>(core->reduce_index));
}

}  // namespace af_sim
