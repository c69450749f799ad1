// The host program: runs one kernel launch described by a job file and writes a report.
//
//   usage: ascend-sim-host <job> <report>
//
// Both are lines of `key value`. GM is one shared mapping given by a file descriptor; every argument starts on a page
// and ends before an unmapped one.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "access.h"
#include "conflicts.h"
#include "errors.h"
#include "lifetime.h"
#include "scheduler.h"
#include "timing.h"

namespace af_sim {

// Where a return address lies: object file and offset in it, which addr2line turns into a line.
std::string place(void* address) {
    Dl_info info = {};
    if (address == nullptr || dladdr(address, &info) == 0) return "- 0";
    const auto offset = static_cast<char*>(address) - static_cast<char*>(info.dli_fbase);
    return std::string(info.dli_fname) + " " + std::to_string(offset);
}

namespace {

struct JobArgument {
    std::string name;
    bool is_value = false;
    uint64_t value = 0;           // of a scalar
    uint64_t offset = 0, bytes = 0;  // of memory
};

struct Job {
    std::string library, entry, trace;
    int memory_fd = -1;
    uint64_t memory_bytes = 0;
    std::vector<JobArgument> arguments;
    Schedule schedule;
};

Job job;
std::string report_path;

struct BlockResult {
    Timeline timeline;
    std::vector<GmRecord> records;
    uint64_t loaded = 0, stored = 0;
    uint32_t ub_high_water = 0;
};

Job read_job(const char* path) {
    Job result;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        std::string rest;
        std::getline(words >> std::ws, rest);
        std::istringstream value(rest);
        if (key == "library") result.library = rest;
        else if (key == "entry") result.entry = rest;
        else if (key == "trace") result.trace = rest;
        else if (key == "memory") value >> result.memory_fd >> result.memory_bytes;
        else if (key == "argument") {
            JobArgument a;
            value >> a.offset >> a.bytes >> std::ws;
            std::getline(value, a.name);
            result.arguments.push_back(a);
        } else if (key == "scalar") {
            JobArgument a;
            a.is_value = true;
            value >> a.value;
            result.arguments.push_back(a);
        } else if (key == "blocks") value >> result.schedule.blocks;
        else if (key == "threads") value >> result.schedule.threads;
        else if (key == "timeout") value >> result.schedule.timeout_seconds;
        else if (key == "sample") { int64_t b; while (value >> b) launch.sample.push_back(b); }
        else if (key == "checks") launch.checks = rest == "static" ? Checks::Static : Checks::Full;
        else if (key == "values") launch.values = rest == "1";
        else if (key == "timeline") launch.timeline = rest == "1";
        else if (key == "tiling_key") value >> launch.tiling_key;
        else if (key == "event_limit") value >> launch.event_limit;
        else if (key == "soc") {
            std::string name, text;
            value >> name >> std::ws;
            std::getline(value, text);
            launch.soc.set(name, text);
        }
    }
    launch.blocks = result.schedule.blocks;
    return result;
}

void write_site(FILE* out, const char* key, const Site& site) {
    if (site.address == nullptr) return;
    fprintf(out, "%s %s %s\n", key, place(site.address).c_str(), api_name(site.api));
}

std::string on_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

void write_failure(FILE* out, const Failure& f) {
    fprintf(out, "status failed\nkind %s\nrule %s\nblock %lld\noperand %s\nbytes %lld\nlimit %lld\nmessage %s\n",
            f.kind.c_str(), f.rule.c_str(), static_cast<long long>(f.block), f.operand.c_str(),
            static_cast<long long>(f.bytes), static_cast<long long>(f.limit), on_one_line(f.message).c_str());
    write_site(out, "site", f.site);
    write_site(out, "other", f.other);
}

[[noreturn]] void finish_with(const Failure& failure) {
    FILE* out = fopen(report_path.c_str(), "w");
    if (out != nullptr) {
        write_failure(out, failure);
        fclose(out);
    }
    fflush(stdout);
    _exit(1);
}

constexpr size_t kMaxArguments = 66;  // as many tensors as are passed one by one, workspace, tiling

template <size_t>
using Word = uint64_t;

// Integer arguments of a C function may be passed in excess: the callee does not look at them.
template <size_t... at>
void call_kernel(void* entry, const uint64_t* values, std::index_sequence<at...>) {
    reinterpret_cast<void (*)(Word<at>...)>(entry)(values[at]...);
}

void run_block(int64_t block, void* entry, const uint64_t* arguments, BlockResult& result) {
    Core state;
    state.block = block;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t ub_pages = (launch.soc.ub_bytes + page - 1) / page * page;
    void* memory = mmap(nullptr, ub_pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(static_cast<uint8_t*>(memory) + ub_pages, page, PROT_NONE);
    state.ub = static_cast<uint8_t*>(memory);
    if (launch.values) memset(state.ub, 0xFF, launch.soc.ub_bytes);
    state.scalar_access_cycles = static_cast<float>(launch.soc.number("scalar.ub_access_cycles"));
    state.scalar_gm_cycles = static_cast<float>(launch.soc.number("scalar.gm_access_cycles"));
    core = &state;
    call_kernel(entry, arguments, std::make_index_sequence<kMaxArguments>());
    state.call_depth = 0;
    check_no_leaks("the end of the kernel");
    check_no_open_flags();
    publish_gm();
    result.timeline = std::move(state.timeline);
    result.records = std::move(state.published);
    result.loaded = state.bytes_loaded;
    result.stored = state.bytes_stored;
    result.ub_high_water = state.ub_high_water;
    core = nullptr;
    munmap(memory, ub_pages + page);
}

}  // namespace

void report_signal(const Failure& failure) { finish_with(failure); }

void copy_tiling(void* target, const void* source, uint64_t bytes) {
    const GmRegion* region = gm_region(reinterpret_cast<uint64_t>(source));
    const auto at = reinterpret_cast<uint64_t>(source);
    if (region == nullptr || at < region->begin || at + bytes > region->end) {
        core->site = {intern_api("GET_TILING_DATA"), __builtin_return_address(0)};
        const uint64_t left = region == nullptr || at > region->end ? 0 : region->end - at;
        fail(Rule::GmBounds, "tiling", static_cast<int64_t>(bytes), static_cast<int64_t>(left),
             "the tiling struct has %llu bytes and the launch passed %llu", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(left));
    }
    memcpy(target, source, bytes);
}

uint8_t* user_workspace(uint8_t* workspace) { return workspace; }

int run_job(const char* job_path) {
    job = read_job(job_path);
    Failure failure;
    failure.kind = "usage";
    void* library = dlopen(job.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        failure.kind = "load";
        failure.message = dlerror();
        finish_with(failure);
    }
    void* entry = dlsym(library, job.entry.c_str());
    Dl_info found = {};  // dlsym also looks into the libraries that the kernel's library needs
    if (entry == nullptr || dladdr(entry, &found) == 0 || job.library != found.dli_fname) {
        failure.kind = "entry";
        finish_with(failure);
    }
    uint8_t* memory = nullptr;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (job.memory_bytes != 0) {
        // All pages at once: faulting them in one by one would cost more than moving the data.
        const int flags = MAP_SHARED | (launch.values ? MAP_POPULATE : MAP_NORESERVE);
        void* mapped = mmap(nullptr, job.memory_bytes, PROT_READ | PROT_WRITE, flags, job.memory_fd, 0);
        if (mapped == MAP_FAILED) {
            failure.message = "the host has no memory for the arguments";
            finish_with(failure);
        }
        memory = static_cast<uint8_t*>(mapped);
    }
    uint64_t values[kMaxArguments] = {};
    for (size_t i = 0; i < job.arguments.size() && i < kMaxArguments; ++i) {
        const JobArgument& a = job.arguments[i];
        if (a.is_value) {
            values[i] = a.value;
            continue;
        }
        const auto begin = reinterpret_cast<uint64_t>(memory) + a.offset;
        values[i] = begin;
        if (a.name == "workspace") launch.workspace_bytes = a.bytes;
        add_gm_region(a.name.c_str(), begin, a.bytes);
        mprotect(memory + (a.offset + a.bytes + page - 1) / page * page, page, PROT_NONE);
    }
    std::vector<BlockResult> results(static_cast<size_t>(job.schedule.blocks));
    const std::vector<int64_t>& sample = launch.sample;
    launch.library = job.library;
    const auto processor_seconds = [] {
        timespec now = {};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const double processor_start = processor_seconds();
    const auto started = std::chrono::steady_clock::now();
    const bool finished = run_blocks(job.schedule, [&](int64_t block) {
        if (!sample.empty() && std::find(sample.begin(), sample.end(), block) == sample.end()) return;
        run_block(block, entry, values, results[static_cast<size_t>(block)]);
    }, failure);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const double processor = processor_seconds() - processor_start;
    if (!finished) finish_with(failure);
    std::vector<const std::vector<GmRecord>*> records;
    for (const BlockResult& r : results) records.push_back(&r.records);
    if (find_conflict(records, failure)) finish_with(failure);

    FILE* out = fopen(report_path.c_str(), "w");
    if (out == nullptr) return 2;
    fprintf(out, "status ok\nhost_seconds %.9f\nhost_processor_seconds %.9f\n", seconds, processor);
    uint64_t loaded = 0, stored = 0;
    uint32_t high_water = 0;
    std::vector<const Timeline*> timelines;
    for (size_t b = 0; b < results.size(); ++b) {
        const BlockResult& r = results[b];
        // Of a sample, the first block stands for all but the last.
        const uint64_t weight = sample.size() > 1 && b == 0 ? results.size() - 1 : 1;
        loaded += r.loaded * weight;
        stored += r.stored * weight;
        high_water = std::max(high_water, r.ub_high_water);
        timelines.push_back(&r.timeline);
    }
    fprintf(out, "loaded_bytes %llu\nstored_bytes %llu\nub_high_water %u\n", static_cast<unsigned long long>(loaded),
            static_cast<unsigned long long>(stored), high_water);
    if (launch.timeline) write_timing(out, timelines, sample, job.trace);
    fclose(out);
    return 0;
}

}  // namespace af_sim

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s job report\n", argv[0]);
        return 2;
    }
    af_sim::report_path = argv[2];
    return af_sim::run_job(argv[1]);
}
