#include "scheduler.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core.h"
#include "faults.h"

namespace af_sim {
namespace {

enum class Status : uint8_t { Ready, Running, Waiting, Done, Failed };

struct Board {
    std::mutex mutex;
    std::condition_variable changed;  // any status, slot or phase
    std::vector<Status> status;
    std::vector<uint32_t> phase;
    std::vector<Failure> failures;
    std::vector<pthread_t> threads;
    std::vector<Site> waits;  // where each block waits
    std::function<void(int64_t)> body;  // outlives run_blocks: after a failure other blocks are still starting
    int64_t participants = 0;
    int64_t arrived = 0;
    int64_t next = 0;   // blocks start in order
    int slots = 1;
    size_t settled = 0;  // blocks before this one are done
};
Board* board = nullptr;

void take_slot(std::unique_lock<std::mutex>& lock) {
    board->changed.wait(lock, [] { return board->slots > 0; });
    --board->slots;
}

void give_slot() { ++board->slots; }

void* thread_main(void* raw) {
    const int64_t block = reinterpret_cast<intptr_t>(raw);
    stack_t alternate = {};
    alternate.ss_size = 64 * 1024;
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, nullptr);
    board->body(block);
    {
        std::unique_lock<std::mutex> lock(board->mutex);
        board->status[block] = Status::Done;
        give_slot();
        board->changed.notify_all();
    }
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, nullptr);
    free(alternate.ss_sp);
    return nullptr;
}

// The failing block with the lowest index, once no lower block can still fail. -1 while undecided, -2 when all is done.
int64_t verdict() {
    bool all_done = true;
    while (board->settled < board->status.size() && board->status[board->settled] == Status::Done) ++board->settled;
    for (size_t b = board->settled; b < board->status.size(); ++b) {
        switch (board->status[b]) {
            case Status::Failed: return static_cast<int64_t>(b);
            case Status::Done: break;
            case Status::Waiting: all_done = false; break;
            default: return -1;
        }
    }
    return all_done ? -2 : -3;  // -3: everybody waits or is done
}

}  // namespace

[[noreturn]] void stop_block(const Failure& failure) {
    {
        std::unique_lock<std::mutex> lock(board->mutex);
        board->failures[core->block] = failure;
        board->status[core->block] = Status::Failed;
        give_slot();
        board->changed.notify_all();
    }
    for (;;) pause();
}

void rendezvous(int64_t participants) {
    std::unique_lock<std::mutex> lock(board->mutex);
    const uint32_t phase = ++board->phase[core->block];
    board->status[core->block] = Status::Waiting;
    board->waits[core->block] = core->site;
    board->participants = participants;
    give_slot();
    if (++board->arrived == participants) {
        board->arrived = 0;
        for (size_t b = 0; b < board->status.size(); ++b) {
            if (board->status[b] == Status::Waiting && board->phase[b] == phase) board->status[b] = Status::Ready;
        }
    }
    board->changed.notify_all();
    board->changed.wait(lock, [&] { return board->status[core->block] == Status::Ready; });
    // Blocks continue in index order where slots are short, as they started.
    board->changed.wait(lock, [&] {
        if (board->slots <= 0) return false;
        for (int64_t b = 0; b < core->block; ++b) {
            if (board->status[b] == Status::Ready) return false;
        }
        return true;
    });
    --board->slots;
    board->status[core->block] = Status::Running;
    board->changed.notify_all();
}

void wait_for_lower_blocks() {
    std::unique_lock<std::mutex> lock(board->mutex);
    const auto settled = [&] {
        for (int64_t b = 0; b < core->block; ++b) {
            const Status s = board->status[b];
            const bool is_behind = board->phase[b] <= board->phase[core->block];
            if (is_behind && (s == Status::Ready || s == Status::Running)) return false;
        }
        return true;
    };
    if (settled()) return;
    give_slot();
    board->changed.notify_all();
    board->changed.wait(lock, settled);
    take_slot(lock);
}

bool run_blocks(const Schedule& schedule, const std::function<void(int64_t)>& body, Failure& failure) {
    board = new Board;  // lives until the process ends: failed blocks keep their threads
    board->body = body;
    board->status.assign(schedule.blocks, Status::Ready);
    board->phase.assign(schedule.blocks, 0);
    board->waits.resize(schedule.blocks);
    board->failures.resize(schedule.blocks);
    board->threads.resize(schedule.blocks);
    board->slots = schedule.threads;

    watch_faults();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 * 1024 * 1024);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(schedule.timeout_seconds);
    std::unique_lock<std::mutex> lock(board->mutex);
    int64_t decided = -1;
    bool in_time = true;
    while (in_time && decided == -1) {  // threads are made as slots come free: a launch can have many more blocks
        const auto can_start = [] { return board->slots > 0 && board->next < int64_t(board->status.size()); };
        in_time = board->changed.wait_until(lock, deadline, [&] { return (decided = verdict()) != -1 || can_start(); });
        if (decided != -1 || !can_start()) continue;
        const int64_t block = board->next++;
        --board->slots;
        board->status[block] = Status::Running;
        if (pthread_create(&board->threads[block], &attributes, thread_main, reinterpret_cast<void*>(block)) != 0) {
            failure.kind = "crash";
            failure.block = block;
            failure.message = "the host could not start a thread for the block";
            return false;
        }
    }
    if (in_time && decided == -2) return true;
    if (in_time && decided >= 0) {
        failure = board->failures[decided];
        return false;
    }
    if (in_time) {  // some blocks wait at SyncAll for blocks that have ended
        int64_t waiting = 0, first = -1;
        for (size_t b = 0; b < board->status.size(); ++b) {
            if (board->status[b] != Status::Waiting) continue;
            ++waiting;
            if (first < 0) first = static_cast<int64_t>(b);
        }
        failure.kind = "rule";
        failure.rule = "sync_all";
        failure.block = first;
        failure.site = board->waits[first];
        failure.bytes = waiting;
        failure.limit = board->participants;
        failure.message = "SyncAll hangs: " + std::to_string(waiting) + " of " + std::to_string(board->participants) +
                          " blocks reached it and the others have ended";
        return false;
    }
    int64_t running = -1;
    for (size_t b = 0; b < board->status.size() && running < 0; ++b) {
        if (board->status[b] == Status::Running) running = static_cast<int64_t>(b);
    }
    lock.unlock();
    if (running >= 0) {
        pthread_kill(board->threads[running], SIGUSR1);
        for (;;) pause();  // the handler ends the process
    }
    failure.kind = "timeout";
    failure.message = "no block was running";
    return false;
}

}  // namespace af_sim
