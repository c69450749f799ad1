// Masked copies, index sequences and GM fills.
#include <cstring>

#include "access.h"
#include "errors.h"
#include "vector.h"

namespace af_sim {

void vector_copy(const Lanes& lanes, const VectorOperand& dst, const VectorOperand& src) {
    const LanePlan plan = plan_lanes(lanes, size_of(dst.dtype));
    check_overlap(plan, dst, src, false);
    const VectorPort ports[] = {{dst, Access::Write}, {src, Access::Read}};
    if (!issue_vector(plan, ports, 2, dst.dtype)) return;
    const uint32_t unit = size_of(dst.dtype);
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) {
                memcpy(core->ub + dst.view.offset + lane_offset(plan, dst, r, lane),
                       core->ub + src.view.offset + lane_offset(plan, src, r, lane), unit);
            }
        }
    }
}

void vector_index(const Lanes& lanes, const VectorOperand& dst, const ScalarValue& first) {
    const LanePlan plan = plan_lanes(lanes, size_of(dst.dtype));
    const VectorPort ports[] = {{dst, Access::Write}};
    if (!issue_vector(plan, ports, 1, dst.dtype)) return;
    const auto write = [&](uint32_t r, uint32_t lane) {
        uint8_t* at = core->ub + dst.view.offset + lane_offset(plan, dst, r, lane);
        const uint64_t index = uint64_t(r) * plan.lanes + lane;
        const auto store = [&](auto start) {
            using T = decltype(start);
            memcpy(&start, &first.bits, sizeof start);
            T value;
            if constexpr (is_one_of<T, half, float>()) value = T(float(start) + static_cast<float>(index));
            else value = static_cast<T>(static_cast<uint64_t>(start) + index);
            memcpy(at, &value, sizeof value);
        };
        switch (dst.dtype) {
            case DType::F16: return store(half());
            case DType::F32: return store(float());
            case DType::I8: return store(int8_t());
            case DType::I16: return store(int16_t());
            case DType::I32: return store(int32_t());
            default: return store(int64_t());
        }
    };
    for (uint32_t r = 0; r < plan.repeats; ++r) {
        uint32_t count;
        const LaneRun* runs = plan.runs_of(r, count);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t lane = runs[i].first; lane < runs[i].end; ++lane) write(r, lane);
        }
    }
}

void fill_global(const void* address, uint64_t bytes_left, DType type, uint64_t elements, uint64_t bits) {
    if (core->buffer_count != 0) {
        fail(Rule::Usage, "dst", core->buffer_count, 0, "a GM fill uses UB freely and must come before any InitBuffer");
    }
    const uint32_t unit = size_of(type);
    const uint64_t begin = reinterpret_cast<uint64_t>(address);
    check_gm("dst", begin, elements <= UINT64_MAX / unit ? elements * unit : UINT64_MAX, bytes_left);
    core->clocks.issue(PIPE_MTE3);
    gm_write(PIPE_MTE3, "dst", begin, begin + elements * unit, false);
    core->bytes_stored += elements * unit;
    record(Step::Store, PIPE_MTE3, static_cast<uint32_t>(elements * unit), 0, 0);
    if (!launch.values) return;
    for (uint64_t i = 0; i < elements; ++i) memcpy(reinterpret_cast<uint8_t*>(begin) + i * unit, &bits, unit);
}

}  // namespace af_sim
