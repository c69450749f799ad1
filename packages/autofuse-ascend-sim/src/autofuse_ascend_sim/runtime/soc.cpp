#include "soc.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace af_sim {

void Soc::set(const std::string& key, const std::string& value) {
    if (key == "name") {
        name = value;
        return;
    }
    const double number = strtod(value.c_str(), nullptr);
    numbers[key] = number;
    const std::pair<const char*, uint32_t*> whole_numbers[] = {
        {"memory.ub_bytes", &ub_bytes},
        {"memory.ub_reserved_bytes", &ub_reserved_bytes},
        {"cores.vector", &cores},
        {"limits.repeats", &limits.repeats},
        {"limits.copy_blocks", &limits.copy_blocks},
        {"limits.copy_block_bytes", &limits.copy_block_bytes},
        {"limits.copy_short_blocks", &limits.copy_short_blocks},
        {"limits.padding_bytes", &limits.padding_bytes},
        {"limits.buffers", &limits.buffers},
        {"limits.queue_buffers", &limits.queue_buffers},
    };
    for (const auto& [name_of_number, field] : whole_numbers) {
        if (key == name_of_number) *field = static_cast<uint32_t>(number);
    }
}

double Soc::number(const std::string& key) const {
    const auto it = numbers.find(key);
    if (it == numbers.end()) {
        fprintf(stderr, "the SoC file of %s has no number %s\n", name.c_str(), key.c_str());
        exit(2);
    }
    return it->second;
}

VectorCost Soc::vector_cost(const char* api, const char* dtype) const {
    for (const std::string& key : {"vector." + std::string(api) + "." + dtype, "vector." + std::string(api) + ".any",
                                   "vector.default." + std::string(dtype), std::string("vector.default.any")}) {
        const auto it = numbers.find(key + ".per_element");
        if (it == numbers.end()) continue;
        return {static_cast<float>(it->second), static_cast<float>(number(key + ".fixed"))};
    }
    number("vector.default.any.per_element");
    return {};
}

}  // namespace af_sim
