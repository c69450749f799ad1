#include "conflicts.h"

#include <algorithm>
#include <string>

#include "access.h"

namespace af_sim {
namespace {

struct Use {
    uint64_t begin, end;
    uint32_t phase;
    uint8_t flags;
    int64_t block;
    Site write_site, read_site;
};

bool writes(const Use& u) { return (u.flags & (AccessState::kWritten | AccessState::kAtomic)) != 0; }

bool conflict(const Use& a, const Use& b) {
    if (a.block == b.block || (!writes(a) && !writes(b))) return false;
    const auto only_atomic = [](const Use& u) {
        return (u.flags & (AccessState::kWritten | AccessState::kRead)) == 0 && (u.flags & AccessState::kAtomic) != 0;
    };
    return !(only_atomic(a) && only_atomic(b));
}

}  // namespace

bool find_conflict(const std::vector<const std::vector<GmRecord>*>& blocks, Failure& failure) {
    std::vector<Use> uses;
    for (size_t block = 0; block < blocks.size(); ++block) {
        for (const GmRecord& r : *blocks[block]) {
            uses.push_back({r.begin, r.end, r.phase, r.flags, static_cast<int64_t>(block), r.write_site, r.read_site});
        }
    }
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
        if (a.phase != b.phase) return a.phase < b.phase;
        if (a.begin != b.begin) return a.begin < b.begin;
        return a.block < b.block;
    });
    // Among the ranges that begin before this one, those that still cover it. Readers of one array can be many: of the
    // pure reads only the two that reach furthest matter, since any reader conflicts with any writer of another block.
    std::vector<Use> open;
    for (const Use& u : uses) {
        size_t kept = 0;
        for (size_t i = 0; i < open.size(); ++i) {
            if (open[i].phase == u.phase && open[i].end > u.begin) open[kept++] = open[i];
        }
        open.resize(kept);
        for (const Use& o : open) {
            if (!conflict(o, u)) continue;
            const Use& writer = writes(u) ? u : o;
            const Use& other = writes(u) ? o : u;
            const uint64_t lo = std::max(u.begin, o.begin), hi = std::min(u.end, o.end);
            const GmRegion* region = gm_region(lo);
            failure = Failure{};
            failure.rule = "block_conflict";
            failure.block = writer.block;
            failure.operand = region == nullptr ? "" : region->name;
            failure.bytes = static_cast<int64_t>(hi - lo);
            failure.message = "blocks " + std::to_string(writer.block) + " and " + std::to_string(other.block) +
                              (writes(other) ? " both write " : " write and read ") + std::to_string(hi - lo) +
                              " bytes at byte " + std::to_string(region == nullptr ? 0 : lo - region->begin) + " of " +
                              failure.operand + " without a SyncAll between them" +
                              (writes(other) ? " or atomics" : "");
            failure.site = writer.write_site;
            failure.other = writes(other) ? other.write_site : other.read_site;
            return true;
        }
        if (!writes(u)) {
            size_t readers = 0, replaced = open.size();
            for (size_t i = 0; i < open.size(); ++i) {
                if (writes(open[i])) continue;
                ++readers;
                const bool is_shortest = replaced == open.size() || open[i].end < open[replaced].end;
                if (open[i].block == u.block) {
                    replaced = i;
                    readers = 2;  // one range per block is enough
                    break;
                }
                if (is_shortest) replaced = i;
            }
            if (readers >= 2) {
                if (open[replaced].end < u.end) open[replaced] = u;
                continue;
            }
        }
        open.push_back(u);
    }
    return false;
}

}  // namespace af_sim
