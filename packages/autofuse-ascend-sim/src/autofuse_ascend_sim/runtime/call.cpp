// API names, the call in progress, errors and kernel output.
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "access.h"
#include "core.h"
#include "errors.h"
#include "scheduler.h"

namespace af_sim {

thread_local Core* core = nullptr;
Launch launch;

namespace {
std::mutex names_mutex;
std::vector<const char*>& names() {
    static std::vector<const char*> all;
    return all;
}
std::mutex output_mutex;
int64_t output_left = 1 << 20;  // bytes; a kernel that prints in a loop must not fill the host's memory

Failure failure_here(Rule rule, const char* operand, int64_t bytes, int64_t limit, const char* format, va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    Failure failure;
    failure.rule = name_of(rule);
    failure.operand = operand != nullptr ? operand : "";
    failure.bytes = bytes;
    failure.limit = limit;
    failure.message = text;
    failure.block = core->block;
    failure.site = core->site;
    return failure;
}
}  // namespace

const char* name_of(Rule rule) {
    constexpr const char* all[] = {"ub_capacity", "queue_depth", "queue_order", "queue_leak", "alignment", "limit",
                                   "dtype", "overlap", "ub_bounds", "gm_bounds", "uninitialised_read", "missing_sync",
                                   "unpaired_flag", "block_conflict", "block_dim", "sync_all", "buffer", "assertion",
                                   "usage"};
    static_assert(sizeof all / sizeof *all == static_cast<size_t>(Rule::Count), "every rule has a name");
    return all[static_cast<int>(rule)];
}

uint16_t intern_api(const char* name) {
    const std::lock_guard<std::mutex> lock(names_mutex);
    for (size_t i = 0; i < names().size(); ++i) {
        if (std::string(names()[i]) == name) return static_cast<uint16_t>(i);
    }
    names().push_back(name);
    return static_cast<uint16_t>(names().size() - 1);
}

const char* api_name(uint16_t api) {
    const std::lock_guard<std::mutex> lock(names_mutex);
    return api < names().size() ? names()[api] : "";
}

Call::Call(uint16_t api, void* return_address) {
    if (core->call_depth++ == 0) core->site = {api, return_address};
}

Call::~Call() { --core->call_depth; }

void fail(Rule rule, const char* operand, int64_t bytes, int64_t limit, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const Failure failure = failure_here(rule, operand, bytes, limit, format, arguments);
    va_end(arguments);
    stop_block(failure);
}

void fail_with(const Site& other, Rule rule, const char* operand, int64_t bytes, int64_t limit, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Failure failure = failure_here(rule, operand, bytes, limit, format, arguments);
    va_end(arguments);
    failure.other = other;
    stop_block(failure);
}

namespace {
void print_line(const char* format, va_list arguments) {
    const std::lock_guard<std::mutex> lock(output_mutex);
    if (output_left <= 0) return;
    output_left -= fprintf(stdout, "[block %lld] ", static_cast<long long>(core->block));
    output_left -= vfprintf(stdout, format, arguments);
    const size_t length = __builtin_strlen(format);
    if (length == 0 || format[length - 1] != '\n') fputc('\n', stdout);
    if (output_left <= 0) fputs("the rest of the output is left out\n", stdout);
    fflush(stdout);
}
}  // namespace

void print(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

void print_unchecked(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

void assertion_failed(const char* expression, const char* file, int line, const char* format, ...) {
    char text[512] = "";
    if (format != nullptr) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
    }
    core->site = {intern_api("assert"), __builtin_return_address(0)};
    fail(Rule::Assertion, nullptr, -1, -1, "%s:%d: assertion failed: %s%s%s", file, line, expression,
         text[0] != 0 ? ": " : "", text);
}

namespace {
void print_elements(const void* data, DType type, uint64_t elements, uint32_t description) {
    std::string line = "dump " + std::to_string(description) + ":";
    const uint8_t* bytes = static_cast<const uint8_t*>(data);
    for (uint64_t i = 0; i < elements; ++i) {
        line += " " + text_of(bytes + i * size_of(type), type);
    }
    print("%s", line.c_str());
}
}  // namespace

void dump_local(const View& view, DType type, uint64_t elements, uint32_t description) {
    check_operand(PIPE_S, "tensor", view, Access::Read, elements * size_of(type), 1);
    print_elements(ub_address(view.offset), type, elements, description);
}

void dump_global(const void* address, uint64_t bytes_left, DType type, uint64_t elements, uint32_t description) {
    check_gm("tensor", reinterpret_cast<uint64_t>(address), elements * size_of(type), bytes_left);
    print_elements(address, type, elements, description);
}

std::string text_of(const void* element, DType type) {
    char text[40];
    const auto as = [&](auto sample) {
        __builtin_memcpy(&sample, element, sizeof sample);
        return sample;
    };
    switch (type) {
        case DType::Bool:
        case DType::U8: snprintf(text, sizeof text, "%u", as(uint8_t())); break;
        case DType::I8: snprintf(text, sizeof text, "%d", as(int8_t())); break;
        case DType::I16: snprintf(text, sizeof text, "%d", as(int16_t())); break;
        case DType::U16: snprintf(text, sizeof text, "%u", as(uint16_t())); break;
        case DType::I32: snprintf(text, sizeof text, "%d", as(int32_t())); break;
        case DType::U32: snprintf(text, sizeof text, "%u", as(uint32_t())); break;
        case DType::I64: snprintf(text, sizeof text, "%lld", static_cast<long long>(as(int64_t()))); break;
        case DType::U64: snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(as(uint64_t()))); break;
        case DType::F16: snprintf(text, sizeof text, "%g", double(half_value_of(as(uint16_t())))); break;
        case DType::BF16: snprintf(text, sizeof text, "%g", double(bfloat16_value_of(as(uint16_t())))); break;
        case DType::F32: snprintf(text, sizeof text, "%g", double(as(float()))); break;
        case DType::F64: snprintf(text, sizeof text, "%g", as(double())); break;
    }
    return text;
}

int64_t block_index() { return core->block; }
int64_t block_count() { return launch.blocks; }
void declare_kernel_type(KernelMetaType type) {
    core->has_kernel_type = true;
    core->kernel_type = type;
}
uint64_t tiling_key() { return launch.tiling_key; }
bool computes_values() { return launch.values; }

}  // namespace af_sim
