// Who touched which bytes last: the shadow of UB (for missing synchronisation and uninitialised reads) and of GM.
//
// Both are maps from disjoint byte ranges to a state; neighbours with equal states are one range. Kernels touch whole
// buffers, so the maps stay small and exact to the byte.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "clocks.h"

namespace af_sim {

// One API call in the kernel: API and return address.
struct Site {
    uint16_t api = 0;
    void* address = nullptr;
};

struct AccessState {
    uint32_t write = 0;      // clock of the last writer, 0 = never written
    uint32_t reads[4] = {};  // clock of the last reader per pipe
    uint8_t writer = 0;      // its pipe
    uint8_t flags = 0;
    uint16_t write_api = 0;
    uint16_t read_api = 0;   // of the latest reader, whatever its pipe
    void* write_address = nullptr;
    void* read_address = nullptr;

    static constexpr uint8_t kInitialised = 1, kRead = 2, kWritten = 4, kAtomic = 8;
    static constexpr uint8_t kLastIsAtomic = 16;  // the last write; kAtomic is about all of them

    bool operator==(const AccessState& o) const {
        return write == o.write && reads[0] == o.reads[0] && reads[1] == o.reads[1] && reads[2] == o.reads[2] &&
               reads[3] == o.reads[3] && writer == o.writer && flags == o.flags && write_address == o.write_address &&
               read_address == o.read_address;
    }
};

// Disjoint ranges of bytes, each with a state. `Fn(begin, end, state&)` sees every byte of [begin, end) once.
class RangeMap {
public:
    struct Range {
        uint64_t end;
        AccessState state;
    };

    template <typename Fn> void update(uint64_t begin, uint64_t end, Fn&& fn) {
        if (begin >= end) return;
        auto it = split(begin);
        uint64_t at = begin;
        while (at < end) {
            if (it == ranges_.end() || it->first > at) {  // a gap: never touched
                const uint64_t stop = it == ranges_.end() || it->first > end ? end : it->first;
                it = ranges_.emplace_hint(it, at, Range{stop, AccessState{}});
            } else if (it->second.end > end) {
                split_at(it, end);
            }
            fn(at, it->second.end, it->second.state);
            at = it->second.end;
            ++it;
        }
        merge(begin, end);
    }
    const std::map<uint64_t, Range>& ranges() const { return ranges_; }
    void clear() { ranges_.clear(); }
    size_t size() const { return ranges_.size(); }
    template <typename Fn> void rewrite(Fn&& fn) {
        for (auto& entry : ranges_) fn(entry.second.state);
        if (!ranges_.empty()) merge(ranges_.begin()->first, ranges_.rbegin()->second.end);
    }

private:
    using Iterator = std::map<uint64_t, Range>::iterator;
    Iterator split(uint64_t at) {
        auto it = ranges_.upper_bound(at);
        if (it == ranges_.begin()) return it;
        auto before = std::prev(it);
        if (before->second.end <= at) return it;
        if (before->first == at) return before;
        split_at(before, at);
        return std::next(before);
    }
    void split_at(Iterator it, uint64_t at) {
        ranges_.emplace_hint(std::next(it), at, it->second);
        it->second.end = at;
    }
    void merge(uint64_t begin, uint64_t end) {
        auto it = ranges_.lower_bound(begin);
        if (it != ranges_.begin()) --it;
        while (it != ranges_.end() && it->first <= end) {
            auto next = std::next(it);
            if (next != ranges_.end() && next->first == it->second.end && next->second.state == it->second.state) {
                it->second.end = next->second.end;
                ranges_.erase(next);
            } else {
                it = next;
            }
        }
    }
    std::map<uint64_t, Range> ranges_;
};

using UbShadow = RangeMap;
using GmShadow = RangeMap;

// A range of GM as one block used it between two SyncAll.
struct GmRecord {
    uint64_t begin, end;
    uint32_t phase;
    uint8_t flags;
    Site write_site, read_site;
};

}  // namespace af_sim
