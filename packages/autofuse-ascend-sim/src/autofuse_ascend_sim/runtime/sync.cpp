// Barriers, flags, SyncAll and the atomic mode.
#include "access.h"
#include "errors.h"
#include "events.h"
#include "lifetime.h"
#include "scheduler.h"

namespace af_sim {
namespace {

Flag& flag_at(uint8_t event, int32_t id, const char* verb) {
    if (id < 0 || id >= kEventIds) {
        fail(Rule::Limit, "eventID", id, kEventIds - 1, "%s: event ids go from 0 to %d", verb, kEventIds - 1);
    }
    Flag& flag = core->flags[event][id];
    if (flag.holder == Flag::Holder::Queue) {
        fail_with(flag.set_at, Rule::UnpairedFlag, "eventID", id, -1,
                  "%s: a queue holds id %d of event %s at this time; take an id from FetchEventID", verb, id,
                  event_name(event));
    }
    return flag;
}

}  // namespace

void pipe_barrier(pipe_t pipe) {
    if (pipe == PIPE_ALL) {
        core->clocks.barrier_all();
    } else {
        core->clocks.barrier(pipe);
    }
    record(Step::Barrier, pipe, 0, 0, 0);
}

void set_flag(uint8_t event, int32_t id) {
    Flag& flag = flag_at(event, id, "SetFlag");
    if (flag.is_set) {
        fail_with(flag.set_at, Rule::UnpairedFlag, "eventID", id, -1,
                  "SetFlag<%s>(%d) a second time without a WaitFlag in between", event_name(event), id);
    }
    flag.is_set = true;
    flag.stamp = core->clocks.stamp(event_pipes(event).source);
    flag.token = core->next_token++;
    flag.set_at = core->site;
    record(Step::Set, event_pipes(event).source, flag.token, 0, 0);
}

void wait_flag(uint8_t event, int32_t id) {
    Flag& flag = flag_at(event, id, "WaitFlag");
    if (!flag.is_set) {
        fail(Rule::UnpairedFlag, "eventID", id, -1,
             "WaitFlag<%s>(%d) without a SetFlag before it: the chip would hang", event_name(event), id);
    }
    flag.is_set = false;
    core->clocks.join(event_pipes(event).target, flag.stamp);
    record(Step::Wait, event_pipes(event).target, flag.token, static_cast<float>(WaitCause::Flag), 0);
}

void check_no_open_flags() {
    for (uint8_t event = 0; event < kEvents; ++event) {
        for (int id = 0; id < kEventIds; ++id) {
            const Flag& flag = core->flags[event][id];
            if (!flag.is_set) continue;
            core->site = flag.set_at;
            fail(Rule::UnpairedFlag, "eventID", id, -1, "SetFlag<%s>(%d) has no WaitFlag before the kernel ends",
                 event_name(event), id);
        }
    }
}

void sync_all() {
    if (launch.blocks > launch.soc.cores) {
        fail(Rule::SyncAll, nullptr, launch.blocks, launch.soc.cores,
             "SyncAll with %lld blocks on %u cores never returns: all blocks must run at the same time",
             static_cast<long long>(launch.blocks), launch.soc.cores);
    }
    // What a kernel does not declare the chip's compiler finds out by itself.
    if (core->has_kernel_type && core->kernel_type != KERNEL_TYPE_MIX_AIV_1_0) {
        fail(Rule::SyncAll, nullptr, -1, -1,
             "the kernel declares KERNEL_TYPE_AIV_ONLY; SyncAll needs KERNEL_TYPE_MIX_AIV_1_0, or pass it a workspace");
    }
    if (core->has_kernel_type && launch.workspace_bytes == 0) {
        fail(Rule::SyncAll, "workspace", 0, 1,
             "KERNEL_TYPE_MIX_AIV_1_0 kernels need a workspace of more than 0 bytes for SyncAll");
    }
    core->clocks.barrier_all();
    publish_gm();
    record(Step::SyncAll, PIPE_ALL, core->sync_phase, 0, 0);
    rendezvous(launch.running(launch.blocks));
}

void soft_sync_all(const void* workspace, uint64_t workspace_left, const View& local, int32_t used_cores) {
    const int64_t participants = used_cores == 0 ? launch.blocks : used_cores;
    if (participants > launch.blocks) {
        fail(Rule::SyncAll, "usedCores", participants, launch.blocks, "more cores than blocks were launched");
    }
    if (core->block >= participants) {
        fail(Rule::SyncAll, "usedCores", core->block, participants, "block %lld is not among the cores that take part",
             static_cast<long long>(core->block));
    }
    const uint64_t bytes = static_cast<uint64_t>(participants) * 32;
    check_gm("gmWorkspace", reinterpret_cast<uint64_t>(workspace), bytes, workspace_left);
    check_operand(PIPE_V, "ubWorkspace", local, Access::Scratch, bytes, 32);
    if (launch.values) {
        for (uint64_t i = 0; i < bytes; ++i) {
            if (static_cast<const uint8_t*>(workspace)[i] != 0) {
                fail(Rule::SyncAll, "gmWorkspace", static_cast<int64_t>(i), static_cast<int64_t>(bytes),
                     "the workspace must be zero before the first SyncAll; byte %llu is not",
                     static_cast<unsigned long long>(i));
            }
        }
    }
    core->clocks.issue(PIPE_V);
    ub_write(PIPE_V, "ubWorkspace", local.offset, local.offset + bytes, false);
    if (participants > launch.soc.cores) {
        fail(Rule::SyncAll, "usedCores", participants, launch.soc.cores, "SyncAll with more blocks than cores never returns");
    }
    core->clocks.barrier_all();
    publish_gm();
    record(Step::SyncAll, PIPE_ALL, core->sync_phase, 0, 0);
    rendezvous(launch.running(participants));
}

void set_atomic(Atomic kind, DType type) {
    core->atomic = kind;
    core->atomic_type = type;
}

}  // namespace af_sim
