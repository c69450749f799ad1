// What the timing model replays: the instructions of one block in issue order, with their durations and dependences.
#pragma once
#include <cstdint>
#include <vector>

namespace af_sim {

enum class Step : uint8_t { Vector, Load, Store, Scalar, Set, Wait, Barrier, SyncAll };
enum class WaitCause : uint8_t { Flag, Queue };

struct Event {
    Step step;
    uint8_t pipe;    // the pipe that executes, sets or waits
    uint16_t api;
    uint32_t token;  // Set and Wait: which flag; Load and Store: bytes
    float busy;      // cycles the pipe is occupied; Load and Store: penalty cycles beside bytes over bandwidth
    float latency;   // further cycles until the result is there
    void* address;   // the kernel's return address
};

struct Timeline {
    std::vector<Event> events;
    bool is_complete = true;
    uint64_t vector_elements = 0;
};

}  // namespace af_sim
