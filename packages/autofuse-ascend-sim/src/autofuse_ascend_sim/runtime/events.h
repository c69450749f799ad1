// Hard events: which pipe sets and which one waits.
#pragma once
#include <cstdint>

#include "seam.h"

namespace af_sim {

struct EventPipes {
    const char* name;
    pipe_t source, target;
};

inline const EventPipes& event_pipes(uint8_t event) {
    static constexpr EventPipes all[] = {
        {"MTE2_V", PIPE_MTE2, PIPE_V},    {"V_MTE2", PIPE_V, PIPE_MTE2},    {"MTE3_V", PIPE_MTE3, PIPE_V},
        {"V_MTE3", PIPE_V, PIPE_MTE3},    {"V_V", PIPE_V, PIPE_V},          {"MTE3_MTE2", PIPE_MTE3, PIPE_MTE2},
        {"MTE2_MTE3", PIPE_MTE2, PIPE_MTE3}, {"S_V", PIPE_S, PIPE_V},       {"V_S", PIPE_V, PIPE_S},
        {"S_MTE2", PIPE_S, PIPE_MTE2},    {"MTE2_S", PIPE_MTE2, PIPE_S},    {"S_MTE3", PIPE_S, PIPE_MTE3},
        {"MTE3_S", PIPE_MTE3, PIPE_S}};
    return all[event];
}

inline const char* event_name(uint8_t event) { return event_pipes(event).name; }

inline uint8_t event_between(pipe_t source, pipe_t target) {
    for (uint8_t e = 0; e < static_cast<uint8_t>(AscendC::HardEvent::MAX); ++e) {
        if (event_pipes(e).source == source && event_pipes(e).target == target) return e;
    }
    return static_cast<uint8_t>(AscendC::HardEvent::V_V);
}

}  // namespace af_sim
