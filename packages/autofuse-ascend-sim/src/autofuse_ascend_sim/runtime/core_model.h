// One core in the timing model: the scalar unit issues a block's timeline, pipes execute their queues in order.
//
// Everything but the end of a copy and of a SyncAll follows from earlier events of the same core, so a core runs ahead
// until it needs one of those two.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "timeline.h"

namespace af_sim {

struct TraceSpan {
    int64_t block;
    uint8_t pipe;
    uint16_t api;
    void* address;
    double start, end;
    uint32_t bytes;
    const char* stall;  // null for work, else the cause of waiting
};

struct ModelNumbers {
    double issue_cycles, in_flight;
    double vector_head, store_head, load_head_small, load_head_large, small_below;
    double load_fixed, store_fixed;
    double sync_cycles;
};

// A copy that is ready to move bytes.
struct CopyStart {
    double at = 0;
    uint32_t bytes = 0;
    bool is_load = true;
};

class CoreModel {
public:
    CoreModel(int64_t block, double weight, const Timeline& timeline, const ModelNumbers& numbers, bool keeps_trace);

    void start_at(double time);
    // Runs until nothing more can happen; appends copies that became ready.
    void run(std::vector<CopyStart>& copies);
    void copy_ended(bool is_load, double at, double alone_cycles);
    bool waits_for_all() const { return waits_for_all_; }
    double arrived_at() const { return scalar_; }
    void all_arrived(double at);
    bool is_done() const;
    double end() const;

    int64_t block() const { return block_; }
    double weight() const { return weight_; }
    const std::map<std::pair<int, std::string>, double>& stalls() const { return stalls_; }
    double busy(int pipe) const { return pipes_[pipe].busy; }
    const std::vector<TraceSpan>& trace() const { return trace_; }

private:
    struct Issued {
        const Event* event;
        double at;
    };
    struct Pipe {
        std::deque<Issued> queue;
        double free = 0;  // when the next instruction can start
        double done = 0;  // when everything started has finished
        double busy = 0;
        double copy_start = 0;
        bool copies = false;
        bool has_started = false;
    };
    bool issue_next();
    bool execute(int p, std::vector<CopyStart>& copies);
    void stall(int p, const Event& e, double from, double to, const char* cause);
    void span(int p, const Event& e, double from, double to, uint32_t bytes);

    int64_t block_;
    double weight_;
    const std::vector<Event>& events_;
    const ModelNumbers& numbers_;
    bool keeps_trace_;
    size_t next_ = 0;
    double scalar_ = 0;
    bool waits_for_all_ = false;
    Pipe pipes_[4];
    std::vector<double> tokens_;  // time of each token, -1 while unknown
    std::map<std::pair<int, std::string>, double> stalls_;
    std::vector<TraceSpan> trace_;
};

}  // namespace af_sim
