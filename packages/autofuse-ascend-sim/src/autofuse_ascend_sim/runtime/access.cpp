#include "access.h"

#include <algorithm>
#include <string>

#include "errors.h"

namespace af_sim {
namespace {

std::vector<GmRegion> regions;
constexpr size_t kFirstCompaction = 4096;

[[noreturn]] void missing_sync(pipe_t pipe, const char* name, int other_pipe, uint16_t other_api, void* other_address,
                               const char* what, bool in_ub, uint64_t at, uint64_t bytes) {
    const char* remedy = other_pipe == pipe ? "PipeBarrier" : "queue operation, flag or barrier";
    const GmRegion* region = in_ub ? nullptr : gm_region(at);  // an argument: addresses differ from launch to launch
    fail_with({other_api, other_address}, Rule::MissingSync, name, static_cast<int64_t>(bytes), -1,
              "%s: pipe %s at %s byte %llu (%llu bytes) is not ordered after pipe %s: a %s between them is missing",
              what, pipe_name(pipe), region == nullptr ? "UB" : region->name,
              static_cast<unsigned long long>(region == nullptr ? at : at - region->begin),
              static_cast<unsigned long long>(bytes), pipe_name(other_pipe), remedy);
}

// Vector and scalar units start in order and read before they write; only a read of an unfinished result of their own is
// a hazard there. DMA pipes do not order their own copies.
bool orders_its_own_writes(int pipe) { return pipe == PIPE_S || pipe == PIPE_V; }

void read_state(pipe_t pipe, const char* name, bool in_ub, uint64_t begin, uint64_t end, AccessState& s) {
    const Stamp& seen = core->clocks.pipe[pipe];
    const bool own_scalar = pipe == PIPE_S && s.writer == PIPE_S;
    if (s.write > seen.seen[s.writer] && !own_scalar) {
        missing_sync(pipe, name, s.writer, s.write_api, s.write_address, "read of a result that may not be there yet",
                     in_ub, begin, end - begin);
    }
    s.reads[pipe] = core->clocks.now[pipe];
    s.read_api = core->site.api;
    s.read_address = core->site.address;
    s.flags |= AccessState::kRead;
}

void write_state(pipe_t pipe, const char* name, bool in_ub, uint64_t begin, uint64_t end, AccessState& s,
                 bool is_atomic) {
    const Stamp& seen = core->clocks.pipe[pipe];
    const bool in_order = s.writer == pipe && orders_its_own_writes(pipe);
    const bool both_atomic = is_atomic && (s.flags & AccessState::kLastIsAtomic) != 0;
    // A write by this very instruction is no conflict with itself.
    const bool same_instruction = s.writer == pipe && s.write == core->clocks.now[pipe];
    if (s.write > seen.seen[s.writer] && !in_order && !both_atomic && !same_instruction) {
        missing_sync(pipe, name, s.writer, s.write_api, s.write_address, "overwrites a result that may arrive later",
                     in_ub, begin, end - begin);
    }
    for (int q = 1; q < kPipes; ++q) {  // scalar loads have finished before the next instruction is issued
        if (q == pipe || s.reads[q] <= seen.seen[q]) continue;
        missing_sync(pipe, name, q, s.read_api, s.read_address, "overwrites an operand that may still be read", in_ub,
                     begin, end - begin);
    }
    s.write = core->clocks.now[pipe];
    s.writer = pipe;
    s.write_api = core->site.api;
    s.write_address = core->site.address;
    for (uint32_t& clock : s.reads) clock = 0;
    s.flags |= AccessState::kWritten | AccessState::kInitialised | AccessState::kLastIsAtomic;
    if (!is_atomic) s.flags &= static_cast<uint8_t>(~AccessState::kLastIsAtomic);
}

}  // namespace

void check_operand(pipe_t pipe, const char* name, const View& view, Access access, uint64_t extent, uint32_t alignment) {
    if (!view.is_set) fail(Rule::Usage, name, -1, -1, "the tensor has no memory: it was never allocated or dequeued");
    if (view.buffer != 0) {
        const QueueBuffer& buffer = core->buffers[view.buffer - 1];
        if (buffer.generation != view.generation || buffer.state == BufferState::Free) {
            fail_with(buffer.last_use, Rule::QueueOrder, name, -1, -1, "the tensor is used after FreeTensor");
        }
        const bool producer_reads = access == Access::Read && core->queues[buffer.queue].producer == pipe;
        if (buffer.state == BufferState::Queued && !producer_reads) {
            fail_with(buffer.last_use, Rule::QueueOrder, name, -1, -1,
                      "the tensor is used between EnQue and DeQue, when it belongs to the queue");
        }
    }
    if (alignment > 1 && view.offset % alignment != 0) {
        fail(Rule::Alignment, name, view.offset % alignment, alignment,
             "UB address %u is not a multiple of %u bytes", view.offset, alignment);
    }
    if (extent > view.bytes) {
        fail(Rule::UbBounds, name, static_cast<int64_t>(extent), view.bytes,
             "needs %llu bytes from the tensor's first element, which has %u bytes left",
             static_cast<unsigned long long>(extent), view.bytes);
    }
}

void ub_read(pipe_t pipe, const char* name, uint64_t begin, uint64_t end) {
    if (launch.checks == Checks::Static) return;
    core->ub_shadow.update(begin, end, [&](uint64_t lo, uint64_t hi, AccessState& s) {
        if ((s.flags & AccessState::kInitialised) == 0) {
            fail(Rule::UninitialisedRead, name, static_cast<int64_t>(hi - lo), static_cast<int64_t>(end - begin),
                 "reads %llu bytes at UB byte %llu that nothing has written", static_cast<unsigned long long>(hi - lo),
                 static_cast<unsigned long long>(lo));
        }
        read_state(pipe, name, true, lo, hi, s);
    });
}

void ub_write(pipe_t pipe, const char* name, uint64_t begin, uint64_t end, bool leaves_defined) {
    if (launch.checks == Checks::Static) return;
    core->ub_shadow.update(begin, end, [&](uint64_t lo, uint64_t hi, AccessState& s) {
        write_state(pipe, name, true, lo, hi, s, false);
        if (!leaves_defined) s.flags = 0;
    });
}

void add_gm_region(const char* name, uint64_t begin, uint64_t bytes) {
    regions.push_back({name, begin, begin + bytes});
    std::sort(regions.begin(), regions.end(), [](const GmRegion& a, const GmRegion& b) { return a.begin < b.begin; });
}

const GmRegion* gm_region(uint64_t address) {
    auto it = std::upper_bound(regions.begin(), regions.end(), address,
                               [](uint64_t a, const GmRegion& r) { return a < r.begin; });
    return it == regions.begin() ? nullptr : &*std::prev(it);
}

void check_gm(const char* name, uint64_t address, uint64_t bytes, uint64_t tensor_left) {
    if (bytes > tensor_left) {
        fail(Rule::GmBounds, name, static_cast<int64_t>(bytes), static_cast<int64_t>(tensor_left),
             "needs %llu bytes from the first element; the size given to SetGlobalBuffer leaves %llu",
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(tensor_left));
    }
    const GmRegion* region = gm_region(address);
    if (region == nullptr || address > region->end) {
        fail(Rule::GmBounds, name, static_cast<int64_t>(bytes), 0, "the address lies in no argument of the kernel");
    }
    if (bytes > region->end - address) {
        fail(Rule::GmBounds, name, static_cast<int64_t>(bytes), static_cast<int64_t>(region->end - address),
             "touches %llu bytes from byte %llu of %s, which ends after %llu more",
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address - region->begin),
             region->name, static_cast<unsigned long long>(region->end - address));
    }
}

void gm_read(pipe_t pipe, const char* name, uint64_t begin, uint64_t end) {
    if (launch.checks == Checks::Static) return;
    core->gm_shadow.update(begin, end, [&](uint64_t lo, uint64_t hi, AccessState& s) {
        read_state(pipe, name, false, lo, hi, s);
    });
    compact_gm();
}

void gm_write(pipe_t pipe, const char* name, uint64_t begin, uint64_t end, bool is_atomic) {
    if (launch.checks == Checks::Static) return;
    core->gm_shadow.update(begin, end, [&](uint64_t lo, uint64_t hi, AccessState& s) {
        const bool only_atomic = is_atomic && (s.flags & AccessState::kWritten) == 0;
        write_state(pipe, name, false, lo, hi, s, is_atomic);
        if (only_atomic) s.flags = static_cast<uint8_t>((s.flags & ~AccessState::kWritten) | AccessState::kAtomic);
    });
    compact_gm();
}

// Forgets clocks that every pipe has seen, so that neighbouring tiles become one range.
void compact_gm() {
    if (core->gm_shadow.size() < core->gm_compaction) return;
    const Clocks& clocks = core->clocks;
    const auto settled = [&](int pipe, uint32_t clock) {
        for (int p = 0; p < kPipes; ++p) {
            if (clock > clocks.pipe[p].seen[pipe]) return false;
        }
        return true;
    };
    core->gm_shadow.rewrite([&](AccessState& s) {
        if (s.write != 0 && settled(s.writer, s.write)) {
            s.write = 0;
            s.writer = 0;
        }
        for (int q = 0; q < kPipes; ++q) {
            if (s.reads[q] != 0 && settled(q, s.reads[q])) s.reads[q] = 0;
        }
    });
    core->gm_compaction = std::max(kFirstCompaction, 2 * core->gm_shadow.size());
}

void publish_gm() {
    for (const auto& [begin, range] : core->gm_shadow.ranges()) {
        const AccessState& s = range.state;
        core->published.push_back({begin, range.end, core->sync_phase, s.flags, {s.write_api, s.write_address},
                                   {s.read_api, s.read_address}});
    }
    core->gm_shadow.clear();
    ++core->sync_phase;
}

void record(Step step, pipe_t pipe, uint32_t token, float busy, float latency) {
    Timeline& timeline = core->timeline;
    if (!launch.timeline) return;
    if (timeline.events.size() >= launch.event_limit) {
        timeline.is_complete = false;
        return;
    }
    timeline.events.push_back({step, pipe, core->site.api, token, busy, latency, core->site.address});
}

void record_vector(const Work& work) {
    core->timeline.vector_elements += work.elements;
    if (!launch.timeline) return;
    thread_local std::unordered_map<uint32_t, VectorCost> known;
    const uint32_t key = core->site.api * 16u + static_cast<uint32_t>(work.dtype);
    auto it = known.find(key);
    if (it == known.end()) {
        it = known.emplace(key, launch.soc.vector_cost(api_name(core->site.api), name_of(work.dtype))).first;
    }
    record(Step::Vector, PIPE_V, 0, it->second.per_element * static_cast<float>(work.elements),
           it->second.fixed * static_cast<float>(work.instructions));
}

bool issue(pipe_t pipe, std::initializer_list<Operand> operands, const Work& work) {
    core->clocks.issue(pipe);
    const auto extent = [](const Region& r) -> uint64_t {
        if (r.piece_bytes == 0 || r.pieces == 0 || r.groups == 0) return 0;
        return uint64_t(r.groups - 1) * r.group_stride + uint64_t(r.pieces - 1) * r.piece_stride + r.piece_bytes;
    };
    const auto each_piece = [](const Operand& o, auto&& fn) {
        for (uint32_t g = 0; g < o.region.groups; ++g) {
            for (uint32_t p = 0; p < o.region.pieces; ++p) {
                const uint64_t at = o.view.offset + uint64_t(g) * o.region.group_stride + uint64_t(p) * o.region.piece_stride;
                fn(at, at + o.region.piece_bytes);
            }
        }
    };
    for (const Operand& o : operands) check_operand(pipe, o.name, o.view, o.access, extent(o.region), o.alignment);
    for (const Operand& o : operands) {
        if (o.access != Access::Read && o.access != Access::ReadWrite) continue;
        each_piece(o, [&](uint64_t lo, uint64_t hi) { ub_read(pipe, o.name, lo, hi); });
    }
    for (const Operand& o : operands) {
        if (o.access == Access::Read) continue;
        each_piece(o, [&](uint64_t lo, uint64_t hi) { ub_write(pipe, o.name, lo, hi, o.access != Access::Scratch); });
    }
    if (pipe == PIPE_V) record_vector(work);
    return launch.values;
}

void disjoint(const Operand& a, const Operand& b) {
    // What is larger than its tensor is reported as that, by `issue`.
    if (a.region.piece_bytes > a.view.bytes || b.region.piece_bytes > b.view.bytes) return;
    const uint64_t a_end = uint64_t(a.view.offset) + a.region.piece_bytes;
    const uint64_t b_end = uint64_t(b.view.offset) + b.region.piece_bytes;
    if (a.view.offset < b_end && b.view.offset < a_end && a.region.piece_bytes != 0 && b.region.piece_bytes != 0) {
        fail(Rule::Overlap, a.name, a.view.offset, b.view.offset, "%s and %s share bytes of UB, which this API forbids",
             a.name, b.name);
    }
}

uint8_t* ub_address(uint32_t offset) { return core->ub + offset; }

void* scalar_local(const View& view, uint64_t byte, uint32_t bytes, Access access, const char* operand) {
    check_operand(PIPE_S, operand, view, access, byte + bytes, bytes);
    const uint64_t at = view.offset + byte;
    core->clocks.issue(PIPE_S);
    if (access == Access::Read) {
        ub_read(PIPE_S, operand, at, at + bytes);
    } else {
        ub_write(PIPE_S, operand, at, at + bytes);
    }
    record(Step::Scalar, PIPE_S, 0, core->scalar_access_cycles, 0);
    return core->ub + at;
}

void* scalar_global(const void* address, uint64_t bytes_left, uint32_t bytes, Access access, const char* operand) {
    const uint64_t at = reinterpret_cast<uint64_t>(address);
    check_gm(operand, at, bytes, bytes_left);
    core->clocks.issue(PIPE_S);
    if (access == Access::Read) {
        gm_read(PIPE_S, operand, at, at + bytes);
    } else {
        gm_write(PIPE_S, operand, at, at + bytes, false);
    }
    record(Step::Scalar, PIPE_S, 0, core->scalar_gm_cycles, 0);
    return const_cast<void*>(address);
}

}  // namespace af_sim
