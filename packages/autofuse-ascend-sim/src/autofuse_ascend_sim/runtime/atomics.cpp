#include "atomics.h"

#include <cstring>
#include <mutex>

namespace af_sim {
namespace {

std::mutex gm_mutex;

template <typename T> T combine(Atomic kind, T a, T b) {
    switch (kind) {
        case Atomic::Add:
            if constexpr (is_one_of<T, int8_t, int16_t, int32_t>()) {
                return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
            } else {
                return T(float(a) + float(b));
            }
        case Atomic::Max: return a < b ? b : a;
        case Atomic::Min: return b < a ? b : a;
        case Atomic::None: break;
    }
    return b;
}

template <typename T> void update(Atomic kind, uint8_t* target, const uint8_t* source, uint64_t elements) {
    for (uint64_t i = 0; i < elements; ++i) {
        T a, b;
        memcpy(&a, target + i * sizeof(T), sizeof(T));
        memcpy(&b, source + i * sizeof(T), sizeof(T));
        const T result = combine(kind, a, b);
        memcpy(target + i * sizeof(T), &result, sizeof(T));
    }
}

}  // namespace

void atomic_update(Atomic kind, DType type, uint8_t* target, const uint8_t* source, uint64_t elements) {
    const std::lock_guard<std::mutex> lock(gm_mutex);
    switch (type) {
        case DType::F32: return update<float>(kind, target, source, elements);
        case DType::F16: return update<half>(kind, target, source, elements);
        case DType::BF16: return update<bfloat16_t>(kind, target, source, elements);
        case DType::I8: return update<int8_t>(kind, target, source, elements);
        case DType::I16: return update<int16_t>(kind, target, source, elements);
        case DType::I32: return update<int32_t>(kind, target, source, elements);
        default: return;  // SetAtomic* rejects every other type at compile time
    }
}

}  // namespace af_sim
