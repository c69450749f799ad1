// Blocks on host threads: one thread per block, a limited number running at a time, SyncAll as a rendezvous.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "shadow.h"

namespace af_sim {

struct Failure {
    std::string kind = "rule";  // rule, crash, timeout
    std::string rule, operand, message;
    int64_t block = -1, bytes = -1, limit = -1;
    Site site, other;
};

struct Schedule {
    int64_t blocks = 1;
    int threads = 1;
    double timeout_seconds = 60;
};

// Runs body(block) for every block. Returns true when all finished; otherwise `failure` tells of the lowest block that
// failed, so that reports do not depend on how threads were scheduled.
bool run_blocks(const Schedule& schedule, const std::function<void(int64_t)>& body, Failure& failure);

void report_signal(const Failure& failure);  // writes the report from a signal handler and ends the process
[[noreturn]] void stop_block(const Failure& failure);
void rendezvous(int64_t participants);  // of the current block with the others
void wait_for_lower_blocks();           // orders atomics: returns when every lower block has finished or reached SyncAll

}  // namespace af_sim
