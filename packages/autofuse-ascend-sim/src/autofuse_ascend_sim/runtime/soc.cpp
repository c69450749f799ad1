#include "soc.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace af_sim {

void Soc::set(const std::string& key, const std::string& value) {
    if (key == "name") {
        name = value;
        return;
    }
    const double number = strtod(value.c_str(), nullptr);
    numbers[key] = number;
    if (key == "memory.ub_bytes") ub_bytes = static_cast<uint32_t>(number);
    if (key == "cores.vector") cores = static_cast<uint32_t>(number);
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
