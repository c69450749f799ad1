// DMA between GM and UB, and copies of whole blocks inside UB.
#include <algorithm>
#include <cstring>

#include "access.h"
#include "atomics.h"
#include "dma.h"
#include "errors.h"
#include "lifetime.h"
#include "scheduler.h"

namespace af_sim {
namespace {

constexpr uint8_t kDummy = 0xFF;  // what undefined padding is made of: NaN in every floating-point type

// Calls fn(begin, end) for `count` pieces of `bytes` every `stride` bytes; contiguous pieces are one.
template <typename Fn> void each_range(uint64_t start, uint64_t bytes, int64_t stride, uint32_t count, Fn&& fn) {
    if (bytes == 0 || count == 0) return;
    if (stride == static_cast<int64_t>(bytes)) {
        fn(start, start + bytes * count);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t at = start + static_cast<uint64_t>(stride * static_cast<int64_t>(i));
        fn(at, at + bytes);
    }
}

void check_fields(const Dma& dma) {
    if (dma.blocks > launch.soc.limits.copy_blocks) {
        fail(Rule::Limit, "blockCount", dma.blocks, launch.soc.limits.copy_blocks, "blockCount can be %u at most", launch.soc.limits.copy_blocks);
    }
    if (!dma.byte_granular) return;
    if (dma.block_bytes > launch.soc.limits.copy_block_bytes) {
        fail(Rule::Limit, "blockLen", dma.block_bytes, launch.soc.limits.copy_block_bytes, "blockLen can be %u bytes at most", launch.soc.limits.copy_block_bytes);
    }
    if (dma.block_bytes % size_of(dma.dtype) != 0) {
        fail(Rule::Limit, "blockLen", dma.block_bytes, size_of(dma.dtype),
             "blockLen of %u bytes is not a whole number of %s elements", dma.block_bytes, name_of(dma.dtype));
    }
}

// Strides of 350 have 64 bits and a sign, of which addresses have 40; only a load may go back, to repeat its block.
void check_strides(const Dma& dma, const char* global_name, int64_t least_global, const char* local_name) {
    constexpr int64_t most = int64_t(1) << 40;
    if (dma.global_gap < least_global || dma.global_gap > most) {
        fail(Rule::Limit, global_name, dma.global_gap, dma.global_gap > most ? most : least_global,
             "a stride of GM goes from %lld to 2^40 bytes here", static_cast<long long>(least_global));
    }
    if (dma.local_gap < 0 || dma.local_gap > most) {
        fail(Rule::Limit, local_name, dma.local_gap, dma.local_gap > most ? most : 0,
             "a stride of UB goes from 0 to 2^40 bytes");
    }
}

struct Loops {
    uint32_t outer, inner;
    Core::LoopMode mode;
};
Loops loops_of(bool is_load) {
    const Core::LoopMode& mode = core->loop_mode[is_load];
    return {mode.size2, mode.size1, mode};
}

void load_once(const Dma& dma, const View& dst, uint64_t source, uint64_t source_left) {
    const uint64_t row = dma.compact ? dma.block_bytes : round_to_block(dma.left_bytes + dma.block_bytes + dma.right_bytes);
    const int64_t local_stride = static_cast<int64_t>(row) + dma.local_gap;
    const int64_t global_stride = static_cast<int64_t>(dma.block_bytes) + dma.global_gap;
    uint64_t extent = static_cast<uint64_t>(local_stride * static_cast<int64_t>(dma.blocks - 1)) + row;
    if (dma.compact) extent = round_to_block(extent);
    check_operand(PIPE_MTE2, "dst", dst, Access::Write, extent, 32);
    const uint64_t span = (global_stride > 0 ? static_cast<uint64_t>(global_stride) * (dma.blocks - 1) : 0) + dma.block_bytes;
    check_gm("src", source, span, source_left);
    each_range(source, dma.block_bytes, global_stride, dma.blocks,
               [](uint64_t lo, uint64_t hi) { gm_read(PIPE_MTE2, "src", lo, hi); });
    each_range(dst.offset, dma.compact ? extent : row, local_stride, dma.compact ? 1 : dma.blocks,
               [](uint64_t lo, uint64_t hi) { ub_write(PIPE_MTE2, "dst", lo, hi); });
    core->bytes_loaded += uint64_t(dma.block_bytes) * dma.blocks;
    record_dma(Step::Load, PIPE_MTE2, dma);
    if (!launch.values) return;

    uint8_t* out = core->ub + dst.offset;
    const auto* in = reinterpret_cast<const uint8_t*>(source);
    const bool fills = dma.pads && (dma.left_bytes != 0 || dma.right_bytes != 0);
    const uint32_t unit = size_of(dma.dtype);
    const auto fill = [&](uint8_t* to, uint64_t bytes) {
        if (!fills) {
            memset(to, kDummy, bytes);
            return;
        }
        for (uint64_t i = 0; i < bytes; i += unit) memcpy(to + i, &dma.pad_value, unit);
    };
    for (uint32_t b = 0; b < dma.blocks; ++b, out += local_stride, in += global_stride) {
        if (dma.left_bytes != 0) fill(out, dma.left_bytes);
        memcpy(out + dma.left_bytes, in, dma.block_bytes);
        const uint64_t used = dma.left_bytes + dma.block_bytes;
        const uint64_t end = dma.compact && b + 1 == dma.blocks ? used + extent - static_cast<uint64_t>(local_stride * b) - row : row;
        if (end > used) fill(out + used, end - used);
    }
}

void store_once(const Dma& dma, uint64_t target, uint64_t target_left, const View& src) {
    const uint64_t row = dma.compact ? dma.block_bytes : round_to_block(dma.block_bytes);
    const int64_t local_stride = static_cast<int64_t>(row) + dma.local_gap;
    const int64_t global_stride = static_cast<int64_t>(dma.block_bytes) + dma.global_gap;
    check_operand(PIPE_MTE3, "src", src, Access::Read,
                  static_cast<uint64_t>(local_stride) * (dma.blocks - 1) + dma.block_bytes, 32);
    check_gm("dst", target, static_cast<uint64_t>(global_stride) * (dma.blocks - 1) + dma.block_bytes, target_left);
    const bool is_atomic = core->atomic != Atomic::None;
    if (is_atomic && core->atomic_type != dma.dtype) {
        fail(Rule::Dtype, "src", -1, -1, "the copy moves %s while the atomic mode was set for %s", name_of(dma.dtype),
             name_of(core->atomic_type));
    }
    each_range(src.offset, dma.block_bytes, local_stride, dma.blocks,
               [](uint64_t lo, uint64_t hi) { ub_read(PIPE_MTE3, "src", lo, hi); });
    each_range(target, dma.block_bytes, global_stride, dma.blocks,
               [&](uint64_t lo, uint64_t hi) { gm_write(PIPE_MTE3, "dst", lo, hi, is_atomic); });
    core->bytes_stored += uint64_t(dma.block_bytes) * dma.blocks;
    record_dma(Step::Store, PIPE_MTE3, dma);
    if (!launch.values) return;
    if (is_atomic) wait_for_lower_blocks();
    const uint8_t* in = core->ub + src.offset;
    auto* out = reinterpret_cast<uint8_t*>(target);
    for (uint32_t b = 0; b < dma.blocks; ++b, in += local_stride, out += global_stride) {
        if (is_atomic) {
            atomic_update(core->atomic, dma.dtype, out, in, dma.block_bytes / size_of(dma.dtype));
        } else {
            memcpy(out, in, dma.block_bytes);
        }
    }
}

}  // namespace

// GM is moved in lines: a short strided block costs as much as a line.
void record_dma(Step step, pipe_t pipe, const Dma& dma) {
    const bool is_load = step == Step::Load;
    const uint64_t line = static_cast<uint64_t>(launch.soc.number("dma.line_bytes"));
    const bool is_strided = dma.blocks > 1 && dma.global_gap != 0;
    const uint64_t counted = is_strided ? std::max<uint64_t>(dma.block_bytes, line) : dma.block_bytes;
    const double per_stride = launch.soc.number(is_load ? "dma.load.stride_cycles" : "dma.store.stride_cycles");
    const double gap = static_cast<double>(std::abs(dma.global_gap) % static_cast<int64_t>(launch.soc.number("dma.stride_modulus_bytes")));
    record(step, pipe, static_cast<uint32_t>(counted * dma.blocks),
           is_strided ? static_cast<float>(per_stride * dma.blocks * gap) : 0.0f, 0);
}

Dma dma_of_count(DType type, uint32_t count) {
    const uint64_t bytes = uint64_t(count) * size_of(type);
    if (bytes % 32 != 0) {
        fail(Rule::Alignment, "count", static_cast<int64_t>(bytes), 32,
             "DataCopy moves whole 32-byte blocks and would drop the last %llu of %llu bytes; use DataCopyPad",
             static_cast<unsigned long long>(bytes % 32), static_cast<unsigned long long>(bytes));
    }
    const uint64_t most_bytes = uint64_t(launch.soc.limits.copy_short_blocks) * 32;
    if (bytes > most_bytes) {
        fail(Rule::Limit, "count", static_cast<int64_t>(bytes), static_cast<int64_t>(most_bytes),
             "one DataCopy moves %u blocks of 32 bytes at most", launch.soc.limits.copy_short_blocks);
    }
    Dma dma;
    dma.dtype = type;
    dma.block_bytes = static_cast<uint32_t>(bytes);
    return dma;
}

Dma dma_of_blocks(DType type, uint32_t blockCount, uint32_t blockLen, uint32_t globalGap, uint32_t localGap) {
    Dma dma;
    dma.dtype = type;
    dma.blocks = blockCount;
    dma.block_bytes = blockLen * 32;
    dma.global_gap = int64_t(globalGap) * 32;
    dma.local_gap = int64_t(localGap) * 32;
    return dma;
}

Dma dma_of_bytes(DType type, uint32_t blockCount, uint64_t blockLen, int64_t globalGapBytes, int64_t localGapBlocks) {
    Dma dma;
    dma.dtype = type;
    dma.blocks = blockCount;
    dma.block_bytes = static_cast<uint32_t>(blockLen);
    dma.global_gap = globalGapBytes;
    // Beyond any address stays beyond it when blocks become bytes.
    dma.local_gap = std::clamp<int64_t>(localGapBlocks, -(int64_t(1) << 40), int64_t(1) << 40) * 32;
    dma.byte_granular = true;
    return dma;
}

void dma_load(Dma dma, const View& dst, const void* src, uint64_t src_left) {
    check_fields(dma);
    if (dma.left_bytes > launch.soc.limits.padding_bytes || dma.right_bytes > launch.soc.limits.padding_bytes) {
        fail(Rule::Limit, dma.left_bytes > launch.soc.limits.padding_bytes ? "leftPadding" : "rightPadding",
             std::max(dma.left_bytes, dma.right_bytes), launch.soc.limits.padding_bytes, "padding can be %u bytes on a side", launch.soc.limits.padding_bytes);
    }
    if (size_of(dma.dtype) == 8 && dma.pads && dma.pad_value != 0) {
        fail(Rule::Limit, "paddingValue", -1, -1, "the padding value of 64-bit elements must be 0");
    }
    check_strides(dma, "srcStride", -static_cast<int64_t>(dma.block_bytes), "dstStride");
    core->clocks.issue(PIPE_MTE2);
    if (dma.blocks == 0 || dma.block_bytes == 0) return;
    const Loops loops = loops_of(true);
    for (uint32_t o = 0; o < loops.outer; ++o) {
        for (uint32_t i = 0; i < loops.inner; ++i) {
            const uint64_t from = o * loops.mode.src2 + i * loops.mode.src1;
            View to = dst;
            const uint64_t shift = o * loops.mode.dst2 + i * loops.mode.dst1;
            to.offset += static_cast<uint32_t>(shift);
            to.bytes = shift > dst.bytes ? 0 : static_cast<uint32_t>(dst.bytes - shift);
            load_once(dma, to, reinterpret_cast<uint64_t>(src) + from, src_left > from ? src_left - from : 0);
        }
    }
}

void dma_store(Dma dma, const void* dst, uint64_t dst_left, const View& src) {
    check_fields(dma);
    check_strides(dma, "dstStride", 0, "srcStride");
    core->clocks.issue(PIPE_MTE3);
    if (dma.blocks == 0 || dma.block_bytes == 0) return;
    const Loops loops = loops_of(false);
    for (uint32_t o = 0; o < loops.outer; ++o) {
        for (uint32_t i = 0; i < loops.inner; ++i) {
            const uint64_t to = o * loops.mode.dst2 + i * loops.mode.dst1;
            View from = src;
            const uint64_t shift = o * loops.mode.src2 + i * loops.mode.src1;
            from.offset += static_cast<uint32_t>(shift);
            from.bytes = shift > src.bytes ? 0 : static_cast<uint32_t>(src.bytes - shift);
            store_once(dma, reinterpret_cast<uint64_t>(dst) + to, dst_left > to ? dst_left - to : 0, from);
        }
    }
}

void ub_copy(const View& dst, const View& src, DType type, uint32_t blocks, uint32_t blockLen, uint32_t srcGap,
             uint32_t dstGap) {
    if (blocks > launch.soc.limits.copy_blocks) {
        fail(Rule::Limit, "blockCount", blocks, launch.soc.limits.copy_blocks, "blockCount can be %u at most", launch.soc.limits.copy_blocks);
    }
    core->clocks.issue(PIPE_V);
    if (blocks == 0 || blockLen == 0) return;
    const uint64_t bytes = uint64_t(blockLen) * 32;
    const int64_t src_stride = static_cast<int64_t>(blockLen + srcGap) * 32;
    const int64_t dst_stride = static_cast<int64_t>(blockLen + dstGap) * 32;
    check_operand(PIPE_V, "src", src, Access::Read, static_cast<uint64_t>(src_stride) * (blocks - 1) + bytes, 32);
    check_operand(PIPE_V, "dst", dst, Access::Write, static_cast<uint64_t>(dst_stride) * (blocks - 1) + bytes, 32);
    each_range(src.offset, bytes, src_stride, blocks, [](uint64_t lo, uint64_t hi) { ub_read(PIPE_V, "src", lo, hi); });
    each_range(dst.offset, bytes, dst_stride, blocks, [](uint64_t lo, uint64_t hi) { ub_write(PIPE_V, "dst", lo, hi); });
    record_vector({bytes * blocks / size_of(type), type, 1});
    if (!launch.values) return;
    for (uint32_t b = 0; b < blocks; ++b) {
        memmove(core->ub + dst.offset + dst_stride * b, core->ub + src.offset + src_stride * b, bytes);
    }
}

void set_loop_mode(uint32_t size1, uint32_t size2, uint64_t src1, uint64_t dst1, uint64_t src2, uint64_t dst2, bool load) {
    core->loop_mode[load] = {size1, size2, src1, dst1, src2, dst2};
}

void set_pad_value(uint64_t bits) { core->pad_value = bits; }
uint64_t pad_value() { return core->pad_value; }

}  // namespace af_sim
