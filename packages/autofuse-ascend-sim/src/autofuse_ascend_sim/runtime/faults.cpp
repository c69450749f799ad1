#include "faults.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core.h"
#include "scheduler.h"

namespace af_sim {
namespace {

bool is_in_kernel(const void* address) {
    Dl_info info = {};
    return dladdr(address, &info) != 0 && launch.library == info.dli_fname;
}

// The innermost frame that lies in the kernel's library, null if there is none. Return addresses name the call before
// them, so an interrupted instruction itself is moved by one.
void* innermost_kernel_line(uintptr_t interrupted) {
    void* frames[64];
    const int count = backtrace(frames, 64);
    for (int i = 0; i < count; ++i) {
        if (!is_in_kernel(frames[i])) continue;
        const auto at = reinterpret_cast<uintptr_t>(frames[i]);
        return reinterpret_cast<void*>(at == interrupted ? at + 1 : at);
    }
    return nullptr;
}

void* interrupted_kernel_line(const void* context) {
    const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
    const auto interrupted = static_cast<uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
    const auto caller = [&] { return *reinterpret_cast<void**>(machine->uc_mcontext.gregs[REG_RSP]); };
#elif defined(__aarch64__)
    const auto interrupted = static_cast<uintptr_t>(machine->uc_mcontext.pc);
    const auto caller = [&] { return reinterpret_cast<void*>(machine->uc_mcontext.regs[30]); };
#else
    (void)machine;
    const uintptr_t interrupted = 0;
    const auto caller = [] { return static_cast<void*>(nullptr); };
#endif
    // After a call of something that is no code there is nothing to unwind from: the call itself is the line.
    Dl_info info = {};
    if (interrupted != 0 && dladdr(reinterpret_cast<void*>(interrupted), &info) == 0) {
        return is_in_kernel(caller()) ? caller() : nullptr;
    }
    return innermost_kernel_line(interrupted);
}

[[noreturn]] void report_fault(const char* kind, const char* message, void* line) {
    static Failure failure;  // only the first one is reported
    static volatile int taken = 0;
    if (__sync_lock_test_and_set(&taken, 1)) {
        for (;;) pause();
    }
    failure.kind = kind;
    failure.message = message;
    failure.block = core != nullptr ? core->block : -1;
    if (core != nullptr && core->call_depth > 0) {
        failure.site = core->site;
    } else {
        failure.site = {0xFFFF, line};  // no API
        // Stubs between the kernel and the run time have no line: the latest call is the next best.
        if (core != nullptr) failure.other = core->site;
    }
    report_signal(failure);
    _exit(3);
}

// A crash or a time-out is told from a signal handler: the thread itself records where it stands.
void record_signal(int signal_number, siginfo_t* info, void* context) {
    void* const line = interrupted_kernel_line(context);
    if (signal_number == SIGUSR1) report_fault("timeout", "", line);
    char text[96];
    snprintf(text, sizeof text, "%s at address %p", strsignal(signal_number), info->si_addr);
    report_fault("crash", text, line);
}

// Kernels that end the process would take the report of the launch with them.
void record_exit() {
    if (core != nullptr) report_fault("crash", "it called exit()", innermost_kernel_line(0));
}

}  // namespace

void watch_faults() {
    void* unused[1];
    backtrace(unused, 1);  // loads the unwinder now: a signal handler must not
    struct sigaction action = {};
    action.sa_sigaction = record_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGUSR1}) sigaction(s, &action, nullptr);
    atexit(record_exit);
}

}  // namespace af_sim
