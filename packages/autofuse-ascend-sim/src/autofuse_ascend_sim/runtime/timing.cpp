// Replays all cores together: copies share GM bandwidth, SyncAll waits for the last one.
#include "timing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "bandwidth.h"
#include "core.h"
#include "core_model.h"
#include "errors.h"

namespace af_sim {

std::string place(void* address);

namespace {

struct Pending {
    double at;
    size_t core;
    uint32_t bytes;
    bool is_load;
    bool operator>(const Pending& o) const { return at != o.at ? at > o.at : core > o.core; }
};

ModelNumbers numbers_of(const Soc& soc, double blocks) {
    ModelNumbers n = {};
    n.issue_cycles = soc.number("scalar.issue_cycles");
    n.in_flight = soc.number("queue.instructions_in_flight");
    n.vector_head = soc.number("vector.head.fixed");
    n.store_head = soc.number("dma.store.head");
    n.load_head_small = soc.number("dma.load.head_small") + soc.number("dma.load.head_small_per_core") * blocks;
    n.load_head_large = soc.number("dma.load.head_large") + soc.number("dma.load.head_large_per_core") * blocks;
    n.small_below = soc.number("dma.load.small_below_bytes");
    n.load_fixed = soc.number("dma.load.fixed");
    n.store_fixed = soc.number("dma.store.fixed");
    n.sync_cycles = soc.number("sync.all_cores_cycles");
    return n;
}

class Machine {
public:
    // `cores` are the blocks to run; `at_once` of them have a core, the others start when one ends.
    Machine(std::vector<CoreModel>& cores, size_t at_once, const Soc& soc, const ModelNumbers& numbers)
        : cores_(cores), started_(std::min(at_once, cores.size())), numbers_(numbers), load_(soc.number("dma.load.a"), soc.number("dma.load.b")),
          store_(soc.number("dma.store.a"), soc.number("dma.store.b")),
          small_load_(soc.number("dma.load.small_a"), soc.number("dma.load.small_b")), alone_(2 * cores.size(), 0.0) {}

    void run() {
        for (size_t i = 0, first = started_; i < first; ++i) advance(i);
        for (;;) {
            const double start = pending_.empty() ? kNever : pending_.top().at;
            const double load_end = load_.is_idle() ? kNever : load_.next_end();
            const double store_end = store_.is_idle() ? kNever : store_.next_end();
            const double next = std::min({start, load_end, store_end});
            if (next == kNever) {
                if (!release()) return;
                continue;
            }
            if (next == load_end) ended(load_, true, load_end);
            else if (next == store_end) ended(store_, false, store_end);
            else begin();
        }
    }

private:
    static constexpr double kNever = 1e300;

    void advance(size_t i) {
        std::vector<CopyStart> copies;
        cores_[i].run(copies);
        for (const CopyStart& c : copies) pending_.push({c.at, i, c.bytes, c.is_load});
        if (!cores_[i].is_done() || started_ == cores_.size()) return;
        const size_t next = started_++;
        cores_[next].start_at(cores_[i].end());
        advance(next);
    }

    void begin() {
        const Pending p = pending_.top();
        pending_.pop();
        SharedBandwidth& direction = p.is_load ? load_ : store_;
        double bytes = p.bytes;
        if (p.is_load && p.bytes < numbers_.small_below) {  // short copies are slower: they count for more bytes
            const double n = direction.active() + cores_[p.core].weight();
            bytes *= load_.rate(n) / small_load_.rate(n);
        }
        alone_[2 * p.core + p.is_load] = bytes / direction.rate(1);
        direction.start(p.at, bytes, cores_[p.core].weight(), p.core);
    }

    void ended(SharedBandwidth& direction, bool is_load, double at) {
        const size_t core = direction.finish();
        cores_[core].copy_ended(is_load, at, alone_[2 * core + is_load]);
        advance(core);
    }

    // Nothing moves: either all is done or the cores wait for each other.
    bool release() {
        double latest = 0;
        bool any = false;
        for (const CoreModel& c : cores_) {
            if (!c.waits_for_all()) continue;
            any = true;
            latest = std::max(latest, c.arrived_at());
        }
        if (!any) return false;
        for (size_t i = 0; i < cores_.size(); ++i) {
            if (cores_[i].waits_for_all()) cores_[i].all_arrived(latest + numbers_.sync_cycles);
        }
        for (size_t i = 0, running = started_; i < running; ++i) advance(i);
        return true;
    }

    std::vector<CoreModel>& cores_;
    size_t started_;
    const ModelNumbers& numbers_;
    SharedBandwidth load_, store_, small_load_;
    std::vector<double> alone_;
    std::priority_queue<Pending, std::vector<Pending>, std::greater<Pending>> pending_;
};

void write_trace(const std::string& path, const std::vector<CoreModel>& cores, double megahertz) {
    FILE* out = fopen(path.c_str(), "w");
    if (out == nullptr) return;
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", out);
    const char* separator = "";
    for (const CoreModel& c : cores) {
        for (const TraceSpan& s : c.trace()) {
            fprintf(out, "%s{\"ph\": \"X\", \"pid\": %lld, \"tid\": \"%s\", \"ts\": %.4f, \"dur\": %.4f, \"name\": \"%s%s\", "
                         "\"cat\": \"%s\", \"args\": {\"cycles\": %.1f, \"bytes\": %u, \"at\": \"%s\"}}",
                    separator, static_cast<long long>(s.block), pipe_name(s.pipe), s.start / megahertz,
                    (s.end - s.start) / megahertz, s.stall == nullptr ? "" : "wait: ",
                    s.stall == nullptr ? api_name(s.api) : s.stall, s.stall == nullptr ? "work" : "stall", s.end - s.start,
                    s.bytes, place(s.address).c_str());
            separator = ",\n";
        }
    }
    fputs("\n]}\n", out);
    fclose(out);
}

}  // namespace

void write_timing(FILE* out, const std::vector<const Timeline*>& blocks, const std::vector<int64_t>& sample,
                  const std::string& trace_path) {
    const Soc& soc = launch.soc;
    const ModelNumbers numbers = numbers_of(soc, static_cast<double>(blocks.size()));
    const double megahertz = soc.number("clock.megahertz");
    bool is_complete = true;
    std::vector<CoreModel> cores;
    for (size_t b = 0; b < blocks.size(); ++b) {
        const int64_t block = static_cast<int64_t>(b);
        const bool is_sampled = std::find(sample.begin(), sample.end(), block) != sample.end();
        if (!sample.empty() && !is_sampled) continue;
        // The first block stands for all but the last.
        const double weight =
            sample.empty() || block != sample.front() || sample.size() == 1
                ? 1.0
                : static_cast<double>(std::min<size_t>(blocks.size(), soc.cores) - 1);
        is_complete = is_complete && blocks[b]->is_complete;
        cores.emplace_back(block, weight, *blocks[b], numbers, !trace_path.empty());
    }
    Machine(cores, soc.cores, soc, numbers).run();
    const CoreModel* last = &cores.front();
    for (const CoreModel& c : cores) {
        if (c.end() > last->end()) last = &c;
    }
    const double waves = sample.empty() ? 1.0 : std::ceil(double(blocks.size()) / double(soc.cores));
    if (waves > 1) fprintf(out, "note blocks run in %.0f waves, each taken to last as long as the first\n", waves);
    const double cycles = last->end() * waves + soc.number("launch.core_head_cycles") * static_cast<double>(blocks.size());
    fprintf(out, "cycles %.3f\nmicroseconds %.6f\nlast_block %lld\ntimeline_complete %d\n", cycles,
            cycles / megahertz + soc.number("launch.microseconds"), static_cast<long long>(last->block()), is_complete);
    for (int p = 0; p < kPipes; ++p) fprintf(out, "busy %s %.3f\n", pipe_name(p), last->busy(p));
    for (const auto& [key, stalled] : last->stalls()) {
        fprintf(out, "stall %s %s %.3f\n", pipe_name(key.first), key.second.c_str(), stalled);
    }
    if (!is_complete) fprintf(out, "note a block issued more instructions than the timing model keeps: time is too low\n");
    if (!trace_path.empty()) write_trace(trace_path, cores, megahertz);
}

int64_t system_cycle() {  // 50 MHz counter; the model runs after the block, so it counts instructions
    return core->clocks.now[PIPE_S] + core->clocks.now[PIPE_V] + core->clocks.now[PIPE_MTE2] + core->clocks.now[PIPE_MTE3];
}

}  // namespace af_sim
