// Copies of up to five dimensions from GM to UB.
#include <algorithm>
#include <cstring>

#include "access.h"
#include "dma.h"
#include "errors.h"

namespace af_sim {
namespace {

void check_field(const char* name, uint64_t value, int bits) {
    const int64_t most = (int64_t(1) << bits) - 1;
    if (value <= static_cast<uint64_t>(most)) return;
    fail(Rule::Limit, name, static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)), most,
         "the field has %d bits", bits);
}

}  // namespace

void nddma(const View& dst, const void* src, uint64_t src_left, DType type, int dim, const uint64_t* srcStride,
           const uint32_t* dstStride, const uint32_t* size, const uint8_t* left, const uint8_t* right, uint64_t value,
           bool nearest) {
    const uint32_t unit = size_of(type);
    core->clocks.issue(PIPE_MTE2);
    uint64_t count = 1, last_source = 0, last_target = 0;
    for (int d = 0; d < dim; ++d) {
        check_field("loopSrcStride", srcStride[d], 40);
        check_field("loopDstStride", dstStride[d], 20);
        check_field("loopSize", size[d], 20);
        const uint64_t padded = uint64_t(size[d]) + left[d] + right[d];
        if (size[d] == 0) return;
        count *= padded;
        last_source += uint64_t(size[d] - 1) * srcStride[d];
        last_target += (padded - 1) * dstStride[d];
    }
    check_operand(PIPE_MTE2, "dst", dst, Access::Write, (last_target + 1) * unit, 32);
    const uint64_t source = reinterpret_cast<uint64_t>(src);
    check_gm("src", source, (last_source + 1) * unit, src_left);
    gm_read(PIPE_MTE2, "src", source, source + (last_source + 1) * unit);
    uint32_t index[5] = {};
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t from = 0, to = 0;
        bool is_padding = false;
        for (int d = 0; d < dim; ++d) {
            to += uint64_t(index[d]) * dstStride[d];
            const int64_t inside = int64_t(index[d]) - left[d];
            const int64_t nearest_inside = std::clamp<int64_t>(inside, 0, int64_t(size[d]) - 1);
            is_padding |= inside != nearest_inside;
            from += static_cast<uint64_t>(nearest_inside) * srcStride[d];
        }
        ub_write(PIPE_MTE2, "dst", dst.offset + to * unit, dst.offset + (to + 1) * unit);
        if (launch.values) {
            memcpy(core->ub + dst.offset + to * unit,
                   is_padding && !nearest ? reinterpret_cast<const uint8_t*>(&value)
                                          : reinterpret_cast<const uint8_t*>(source) + from * unit,
                   unit);
        }
        for (int d = 0; d < dim; ++d) {
            if (++index[d] < uint32_t(size[d]) + left[d] + right[d]) break;
            index[d] = 0;
        }
    }
    core->bytes_loaded += count * unit;
    Dma whole;
    whole.block_bytes = static_cast<uint32_t>(count * unit);
    record_dma(Step::Load, PIPE_MTE2, whole);
}

}  // namespace af_sim
