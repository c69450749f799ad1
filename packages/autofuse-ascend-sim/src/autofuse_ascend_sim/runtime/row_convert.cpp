// 16-bit floating-point rows to float and back.
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "rows.h"

namespace af_sim {

void widen_row(DType type, float* to, const void* from, uint32_t n) {
    const uint16_t* in = static_cast<const uint16_t*>(from);
    uint32_t i = 0;
    if (type == DType::BF16) {
        for (; i < n; ++i) to[i] = bfloat16_value_of(in[i]);
        return;
    }
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
    }
#endif
    for (; i < n; ++i) to[i] = half_value_of(in[i]);
}

void narrow_row(DType type, void* to, const float* from, uint32_t n) {
    uint16_t* out = static_cast<uint16_t*>(to);
    uint32_t i = 0;
    if (type == DType::BF16) {
        for (; i < n; ++i) out[i] = bfloat16_bits_of(from[i]);
        return;
    }
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    }
#endif
    for (; i < n; ++i) out[i] = half_bits_of(from[i]);
}

}  // namespace af_sim
