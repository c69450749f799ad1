// Vector clocks of the four pipes of a core.
//
// Every instruction ticks its pipe. seen[p][q] is the last instruction of pipe q that has completed, for certain, before
// the next instruction of pipe p starts. What no queue, flag or barrier orders is not seen, whatever order the emulator
// happened to run it in.
#pragma once
#include <cstdint>

namespace af_sim {

struct Stamp {
    uint32_t seen[4] = {0, 0, 0, 0};
};

struct Clocks {
    uint32_t now[4] = {0, 0, 0, 0};
    Stamp pipe[4];

    // The scalar unit issues every instruction, so what it has waited for is ordered before all later instructions;
    // its own stores are not: they need a flag.
    void issue(int p) {
        ++now[p];
        if (p == 0) return;
        for (int q = 1; q < 4; ++q) {
            if (pipe[0].seen[q] > pipe[p].seen[q]) pipe[p].seen[q] = pipe[0].seen[q];
        }
    }
    Stamp stamp(int p) const {
        Stamp result = pipe[p];
        for (int q = 1; q < 4 && p != 0; ++q) {
            if (pipe[0].seen[q] > result.seen[q]) result.seen[q] = pipe[0].seen[q];
        }
        result.seen[p] = now[p];
        return result;
    }
    void join(int p, const Stamp& stamp) {
        for (int q = 0; q < 4; ++q) {
            if (stamp.seen[q] > pipe[p].seen[q]) pipe[p].seen[q] = stamp.seen[q];
        }
    }
    void barrier(int p) { pipe[p].seen[p] = now[p]; }
    void barrier_all() {
        for (int p = 0; p < 4; ++p) {
            for (int q = 0; q < 4; ++q) pipe[p].seen[q] = now[q];
        }
    }
};

}  // namespace af_sim
