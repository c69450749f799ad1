// A SoC as numbers. Python flattens socs/*.toml into `key value` lines; see the TOML files for meaning and sources.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

namespace af_sim {

struct VectorCost {
    float per_element = 0;
    float fixed = 0;
};

// Field widths and counts that instructions and kernels must keep to; see [limits] in the SoC files.
struct Limits {
    uint32_t repeats = 0, copy_blocks = 0, copy_block_bytes = 0, copy_short_blocks = 0, padding_bytes = 0;
    uint32_t buffers = 0, queue_buffers = 0;
};

struct Soc {
    std::string name;
    std::unordered_map<std::string, double> numbers;
    uint32_t ub_bytes = 0;
    uint32_t cores = 0;
    uint32_t ub_reserved_bytes = 0;
    Limits limits;

    void set(const std::string& key, const std::string& value);
    double number(const std::string& key) const;  // ends the run where the SoC file lacks the key
    VectorCost vector_cost(const char* api, const char* dtype) const;
};

}  // namespace af_sim
