// GM bandwidth of one direction, shared by the copies that are under way.
//
// With n copies each moves a + b / n bytes per cycle. Virtual time runs at that rate, so a copy of B bytes ends when
// virtual time has advanced by B, however many others come and go in between.
#pragma once
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace af_sim {

class SharedBandwidth {
public:
    SharedBandwidth(double a, double b) : a_(a), b_(b) {}

    double rate(double active) const { return a_ + b_ / (active < 1 ? 1 : active); }
    double active() const { return active_; }

    // `weight` copies of the same size start at `now`; `id` comes back from finish().
    void start(double now, double bytes, double weight, uint64_t id) {
        advance(now);
        ends_.push({virtual_ + bytes, {id, weight}});
        active_ += weight;
    }
    bool is_idle() const { return ends_.empty(); }
    double next_end() const { return now_ + (ends_.top().first - virtual_) / rate(active_); }
    uint64_t finish() {
        advance(next_end());
        const auto [id, weight] = ends_.top().second;
        ends_.pop();
        active_ -= weight;
        return id;
    }

private:
    void advance(double now) {
        if (active_ > 0 && now > now_) virtual_ += (now - now_) * rate(active_);
        if (now > now_) now_ = now;
    }
    using End = std::pair<double, std::pair<uint64_t, double>>;
    double a_, b_;
    double now_ = 0, virtual_ = 0, active_ = 0;
    std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
};

}  // namespace af_sim
