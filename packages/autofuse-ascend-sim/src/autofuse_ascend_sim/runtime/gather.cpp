// Gather, scatter and compaction by element.
#include <cstring>
#include <vector>

#include "access.h"
#include "errors.h"
#include "vector.h"

namespace af_sim {
namespace {

// Byte offsets of the elements, checked against the tensor they point into. In timing-only mode there are none.
std::vector<uint64_t> offsets_of(const View& offsets, uint64_t count, uint32_t base, const View& tensor, const char* name,
                                 uint32_t unit, uint32_t alignment) {
    std::vector<uint64_t> result;
    if (!launch.values) return result;
    result.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t offset;
        memcpy(&offset, core->ub + offsets.offset + i * 4, 4);
        const uint64_t at = uint64_t(base) + offset;
        if (at % alignment != 0) {
            fail(Rule::Alignment, name, static_cast<int64_t>(at % alignment), alignment,
                 "byte offset %llu of element %llu is not a multiple of %u", static_cast<unsigned long long>(at),
                 static_cast<unsigned long long>(i), alignment);
        }
        if (at + unit > tensor.bytes) {
            fail(Rule::UbBounds, name, static_cast<int64_t>(at + unit), tensor.bytes,
                 "element %llu lies at byte %llu, behind the tensor's %u bytes", static_cast<unsigned long long>(i),
                 static_cast<unsigned long long>(at), tensor.bytes);
        }
        result.push_back(at);
    }
    return result;
}

void read_offsets(const View& offsets, const char* name, uint64_t count) {
    check_operand(PIPE_V, name, offsets, Access::Read, count * 4, 32);
    ub_read(PIPE_V, name, offsets.offset, offsets.offset + count * 4);
}

bool ranges_meet(const View& a, uint64_t a_bytes, const View& b, uint64_t b_bytes) {
    return a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
}

}  // namespace

void vector_gather(const Lanes& lanes, const VectorOperand& dst, const View& src, const View& offsets, uint32_t base) {
    const uint32_t unit = size_of(dst.dtype);
    const LanePlan plan = plan_lanes(lanes, unit < 2 ? 2 : unit);
    const uint64_t count = plan.is_dense ? plan.elements : uint64_t(plan.repeats) * plan.lanes;
    core->clocks.issue(PIPE_V);
    if (plan.elements == 0) return;
    check_operand(PIPE_V, "src", src, Access::Read, 0, 32);
    read_offsets(offsets, "srcOffset", count);
    check_operand(PIPE_V, dst.name, dst.view, Access::Write, operand_extent(plan, dst), 32);
    if (dst.view.is_set && ranges_meet(dst.view, operand_extent(plan, dst), src, src.bytes)) {
        fail(Rule::Overlap, "src", src.offset, dst.view.offset, "Gather cannot work in place");
    }
    const std::vector<uint64_t> from = offsets_of(offsets, count, base, src, "srcOffset", unit, unit);
    const auto each_lane = [&](auto&& fn) {
        for (uint32_t r = 0; r < plan.repeats; ++r) {
            uint32_t runs_count;
            const LaneRun* runs = plan.runs_of(r, runs_count);
            for (uint32_t i = 0; i < runs_count; ++i) {
                for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) fn(r, lane, uint64_t(r) * plan.lanes + lane);
            }
        }
    };
    if (launch.values) {
        each_lane([&](uint32_t, uint32_t, uint64_t i) {
            ub_read(PIPE_V, "src", src.offset + from[i], src.offset + from[i] + unit);
        });
    }
    each_operand_range(plan, dst, [&](uint64_t lo, uint64_t hi) { ub_write(PIPE_V, "dst", lo, hi); });
    record_vector({plan.charged, dst.dtype, 1});
    if (!launch.values) return;
    each_lane([&](uint32_t r, uint32_t lane, uint64_t i) {
        memcpy(core->ub + dst.view.offset + lane_offset(plan, dst, r, lane), core->ub + src.offset + from[i], unit);
    });
}

void gather_blocks(const VectorOperand& dst, const View& src, const View& offsets, uint32_t repeats) {
    core->clocks.issue(PIPE_V);
    if (repeats == 0) return;
    if (dst.block_stride == 0) fail(Rule::Limit, "dstBlkStride", 0, 1, "a block stride of 0 is not defined for a destination");
    const uint64_t count = 8ull * repeats;
    check_operand(PIPE_V, "src0", src, Access::Read, 0, 32);
    read_offsets(offsets, "offset", count);
    const uint64_t extent = (uint64_t(repeats - 1) * dst.repeat_stride + 7ull * dst.block_stride + 1) * 32;
    check_operand(PIPE_V, "dst", dst.view, Access::Write, extent, 32);
    const std::vector<uint64_t> from = offsets_of(offsets, count, 0, src, "offset", 32, 32);
    const auto target = [&](uint64_t i) {
        return dst.view.offset + ((i / 8) * dst.repeat_stride + (i % 8) * dst.block_stride) * 32;
    };
    for (uint64_t i = 0; i < from.size(); ++i) ub_read(PIPE_V, "src0", src.offset + from[i], src.offset + from[i] + 32);
    for (uint64_t i = 0; i < count; ++i) ub_write(PIPE_V, "dst", target(i), target(i) + 32);
    record_vector({count * 32 / size_of(dst.dtype), dst.dtype, 1});
    for (uint64_t i = 0; i < from.size(); ++i) memcpy(core->ub + target(i), core->ub + src.offset + from[i], 32);
}

void vector_scatter(const Lanes& lanes, const VectorOperand& src, const View& dst, const View& offsets, uint32_t base) {
    const uint32_t unit = size_of(src.dtype);
    const LanePlan plan = plan_lanes(lanes, unit < 2 ? 2 : unit);
    const uint64_t count = plan.is_dense ? plan.elements : uint64_t(plan.repeats) * plan.lanes;
    core->clocks.issue(PIPE_V);
    if (plan.elements == 0) return;
    check_operand(PIPE_V, src.name, src.view, Access::Read, operand_extent(plan, src), 32);
    check_operand(PIPE_V, "dst", dst, Access::Write, 0, 32);
    read_offsets(offsets, "dstOffset", count);
    each_operand_range(plan, src, [&](uint64_t lo, uint64_t hi) { ub_read(PIPE_V, "src", lo, hi); });
    const std::vector<uint64_t> to = offsets_of(offsets, count, base, dst, "dstOffset", unit, unit);
    record_vector({plan.charged, src.dtype, 1});
    if (!launch.values) return;
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t runs_count;
        const LaneRun* runs = plan.runs_of(r, runs_count);
        for (uint32_t i = 0; i < runs_count; ++i) {
            for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
                const uint64_t at = dst.offset + to[uint64_t(r) * plan.lanes + lane];
                ub_write(PIPE_V, "dst", at, at + unit);
                memcpy(core->ub + at, core->ub + src.view.offset + lane_offset(plan, src, r, lane), unit);
            }
        }
    }
}

uint64_t gather_mask(const View& dst, const VectorOperand& src, uint8_t pattern, const View& bits,
                     uint32_t bits_repeat_stride, bool reduce_mode, uint32_t mask, uint32_t repeats) {
    const uint32_t unit = size_of(src.dtype);
    core->clocks.issue(PIPE_V);
    core->mask_counts = false;
    const uint32_t lanes = reduce_mode ? mask : 256 / unit;
    if (repeats == 0 || lanes == 0) return 0;
    const uint32_t per_block = 32 / unit;
    const auto source = [&](uint32_t r, uint32_t lane) {
        return src.view.offset + (uint64_t(r) * src.repeat_stride + uint64_t(lane / per_block) * src.block_stride) * 32 +
               (lane % per_block) * unit;
    };
    check_operand(PIPE_V, "src0", src.view, Access::Read, source(repeats - 1, lanes - 1) + unit - src.view.offset, 32);
    for (uint32_t r = 0; r < repeats; ++r) {
        for (uint32_t lane = 0; lane < lanes; lane += per_block) {
            const uint32_t last = lanes - lane < per_block ? lanes - lane : per_block;
            ub_read(PIPE_V, "src0", source(r, lane), source(r, lane) + last * unit);
        }
    }
    const uint64_t pattern_bytes = (lanes + 7) / 8;
    if (pattern == 0) {
        check_operand(PIPE_V, "src1Pattern", bits, Access::Read,
                      uint64_t(repeats - 1) * bits_repeat_stride * 32 + pattern_bytes, 32);
        for (uint32_t r = 0; r < repeats; ++r) {
            const uint64_t at = bits.offset + uint64_t(r) * bits_repeat_stride * 32;
            ub_read(PIPE_V, "src1Pattern", at, at + pattern_bytes);
        }
    }
    const auto is_kept = [&](uint32_t r, uint32_t lane) {
        switch (pattern) {
            case 0: {
                const uint8_t* stream = core->ub + bits.offset + uint64_t(r) * bits_repeat_stride * 32;
                return ((stream[lane / 8] >> (lane % 8)) & 1) != 0;
            }
            case 1: return lane % 2 == 0;
            case 2: return lane % 2 == 1;
            case 7: return true;
            default: return lane % 4 == static_cast<uint32_t>(pattern - 3);
        }
    };
    record_vector({uint64_t(lanes) * repeats, src.dtype, 1});
    std::vector<uint8_t> kept;
    for (uint32_t r = 0; r < repeats; ++r) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (pattern == 0 && !launch.values) continue;
            if (!is_kept(r, lane)) continue;
            const uint8_t* from = core->ub + source(r, lane);
            kept.insert(kept.end(), from, from + unit);
        }
    }
    check_operand(PIPE_V, "dst", dst, Access::Write, kept.size(), 32);
    if (!kept.empty()) {
        ub_write(PIPE_V, "dst", dst.offset, dst.offset + kept.size());
        memcpy(core->ub + dst.offset, kept.data(), kept.size());
    }
    return kept.size() / unit;
}

}  // namespace af_sim
