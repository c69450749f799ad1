#include "core_model.h"

#include <algorithm>

#include "seam.h"

namespace af_sim {

CoreModel::CoreModel(int64_t block, double weight, const Timeline& timeline, const ModelNumbers& numbers, bool keeps_trace)
    : block_(block), weight_(weight), events_(timeline.events), numbers_(numbers), keeps_trace_(keeps_trace) {}

void CoreModel::start_at(double time) {
    scalar_ = time;
    for (Pipe& p : pipes_) p.free = p.done = time;
}

void CoreModel::run(std::vector<CopyStart>& copies) {
    for (bool moved = true; moved;) {
        moved = false;
        for (int p = PIPE_V; p <= PIPE_MTE3; ++p) {
            while (execute(p, copies)) moved = true;
        }
        while (issue_next()) {
            moved = true;
            if (pipes_[events_[next_ - 1].pipe & 3].queue.size() >= static_cast<size_t>(numbers_.in_flight)) break;
        }
    }
}

void CoreModel::stall(int p, const Event& e, double from, double to, const char* cause) {
    if (to <= from) return;
    stalls_[{p, cause}] += to - from;
    if (keeps_trace_) trace_.push_back({block_, static_cast<uint8_t>(p), e.api, e.address, from, to, 0, cause});
}

void CoreModel::span(int p, const Event& e, double from, double to, uint32_t bytes) {
    pipes_[p].busy += to - from;
    if (keeps_trace_) trace_.push_back({block_, static_cast<uint8_t>(p), e.api, e.address, from, to, bytes, nullptr});
}

// The scalar unit passes the next event on. False when it has to wait for something unknown yet.
bool CoreModel::issue_next() {
    if (next_ >= events_.size() || waits_for_all_) return false;
    const Event& e = events_[next_];
    const auto drained = [&] {
        return std::all_of(pipes_ + PIPE_V, pipes_ + 4, [](const Pipe& p) { return p.queue.empty() && !p.copies; });
    };
    const auto all_done = [&] {
        double latest = scalar_;
        for (int p = PIPE_V; p <= PIPE_MTE3; ++p) latest = std::max(latest, pipes_[p].done);
        return latest;
    };
    switch (e.step) {
        case Step::Scalar:
            span(PIPE_S, e, scalar_, scalar_ + e.busy, 0);
            scalar_ += e.busy;
            break;
        case Step::SyncAll:
            if (!drained()) return false;
            scalar_ = all_done();
            waits_for_all_ = true;
            break;
        case Step::Barrier:
            if (e.pipe == PIPE_ALL) {
                if (!drained()) return false;
                const double at = all_done();
                stall(PIPE_S, e, scalar_, at, "barrier");
                scalar_ = at;
                for (int p = PIPE_V; p <= PIPE_MTE3; ++p) pipes_[p].free = std::max(pipes_[p].free, at);
                break;
            }
            [[fallthrough]];
        case Step::Vector:
        case Step::Load:
        case Step::Store:
        case Step::Set:
        case Step::Wait: {
            if (e.pipe == PIPE_S) {
                if (e.token >= tokens_.size()) tokens_.resize(e.token + 1, -1);
                if (e.step == Step::Set) {
                    tokens_[e.token] = scalar_;
                } else {
                    if (tokens_[e.token] < 0) return false;
                    stall(PIPE_S, e, scalar_, tokens_[e.token], "flag");
                    scalar_ = std::max(scalar_, tokens_[e.token]);
                }
                break;
            }
            Pipe& pipe = pipes_[e.pipe];
            if (pipe.queue.size() >= static_cast<size_t>(numbers_.in_flight)) return false;
            scalar_ += numbers_.issue_cycles;
            pipe.queue.push_back({&e, scalar_});
            break;
        }
    }
    ++next_;
    return true;
}

// The head of a pipe's queue. False when there is none or it has to wait for something unknown yet.
bool CoreModel::execute(int p, std::vector<CopyStart>& copies) {
    Pipe& pipe = pipes_[p];
    if (pipe.queue.empty() || pipe.copies) return false;
    const Event& e = *pipe.queue.front().event;
    const double issued = pipe.queue.front().at;
    const bool is_sync = e.step == Step::Set || e.step == Step::Wait;
    if (is_sync && e.token >= tokens_.size()) tokens_.resize(e.token + 1, -1);
    if (e.step == Step::Wait && tokens_[e.token] < 0) return false;
    pipe.queue.pop_front();
    // The scalar unit may have waited for room in this queue: it goes on when an instruction leaves it.
    if (pipe.queue.size() + 1 >= static_cast<size_t>(numbers_.in_flight)) scalar_ = std::max(scalar_, pipe.free);
    const double ready = std::max(pipe.free, issued);
    switch (e.step) {
        case Step::Set: tokens_[e.token] = std::max(ready, pipe.done); return true;
        case Step::Wait: {
            const bool is_queue = e.busy == static_cast<float>(WaitCause::Queue);
            stall(p, e, pipe.free, issued, "issue");
            stall(p, e, ready, tokens_[e.token], is_queue ? "queue" : "flag");
            pipe.free = std::max(ready, tokens_[e.token]);
            return true;
        }
        case Step::Barrier:
            stall(p, e, ready, pipe.done, "barrier");
            pipe.free = std::max(ready, pipe.done);
            return true;
        case Step::Vector: {
            double start = ready;
            stall(p, e, pipe.free, issued, "issue");
            if (!pipe.has_started) start += numbers_.vector_head;
            pipe.has_started = true;
            span(p, e, start, start + e.busy, 0);
            pipe.free = start + e.busy;
            pipe.done = std::max(pipe.done, pipe.free + e.latency);
            return true;
        }
        case Step::Load:
        case Step::Store: {
            const bool is_load = e.step == Step::Load;
            stall(p, e, pipe.free, issued, "issue");
            double begin = ready + e.busy + (is_load ? numbers_.load_fixed : numbers_.store_fixed);
            if (!pipe.has_started) {
                begin += !is_load ? numbers_.store_head
                                  : e.token < numbers_.small_below ? numbers_.load_head_small : numbers_.load_head_large;
            }
            pipe.has_started = true;
            pipe.copies = true;
            pipe.copy_start = ready;
            pipe.queue.push_front({&e, issued});  // stays at the head until the copy ends
            copies.push_back({begin, e.token, is_load});
            return true;
        }
        case Step::Scalar:
        case Step::SyncAll: return true;
    }
    return true;
}

void CoreModel::copy_ended(bool is_load, double at, double alone_cycles) {
    const int p = is_load ? PIPE_MTE2 : PIPE_MTE3;
    Pipe& pipe = pipes_[p];
    const Event& e = *pipe.queue.front().event;
    pipe.queue.pop_front();
    pipe.copies = false;
    span(p, e, pipe.copy_start, at, e.token);
    const double shared = at - pipe.copy_start - alone_cycles - e.busy - (is_load ? numbers_.load_fixed : numbers_.store_fixed);
    if (shared > 0) stalls_[{p, "bandwidth"}] += shared;
    pipe.free = pipe.done = at;
}

void CoreModel::all_arrived(double at) {
    waits_for_all_ = false;
    const Event& e = events_[next_ - 1];
    stall(PIPE_S, e, scalar_, at, "sync_all");
    scalar_ = at;
    for (int p = PIPE_V; p <= PIPE_MTE3; ++p) pipes_[p].free = pipes_[p].done = std::max(pipes_[p].done, at);
}

bool CoreModel::is_done() const {
    return next_ >= events_.size() && !waits_for_all_ &&
           std::all_of(pipes_ + PIPE_V, pipes_ + 4, [](const Pipe& p) { return p.queue.empty() && !p.copies; });
}

double CoreModel::end() const {
    double latest = scalar_;
    for (const Pipe& p : pipes_) latest = std::max(latest, p.done);
    return latest;
}

}  // namespace af_sim
