// Errors raised inside the run time, and the text forms they share.
#pragma once
#include <cstdint>
#include <string>

#include "seam.h"
#include "shadow.h"

namespace af_sim {

const char* name_of(Rule rule);
const char* api_name(uint16_t api);
std::string text_of(const void* element, DType type);
inline const char* name_of(DType type) {
    constexpr const char* names[] = {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                     "half", "bfloat16", "float", "double"};
    return names[static_cast<int>(type)];
}
inline const char* pipe_name(int pipe) {
    constexpr const char* names[] = {"S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX", "ALL"};
    return names[pipe];
}

// As fail, and names a second call: the one that this one conflicts with.
[[noreturn]] void fail_with(const Site& other, Rule rule, const char* operand, int64_t bytes, int64_t limit,
                            const char* format, ...) __attribute__((format(printf, 6, 7)));

}  // namespace af_sim
