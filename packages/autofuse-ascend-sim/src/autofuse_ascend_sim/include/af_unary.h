// Operations of one tensor.
#pragma once
#include <cstdint>

#include "af_type_lists.h"
#include "af_vector.h"

namespace AscendC {

// `config` is the 350's algorithm choice: it changes neither checks nor the values computed here.
#define AF_UNARY_COUNT(name, config, a2, a350)                                                                         \
    template <typename T AF_STRIP_PARENTHESES config>                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {                     \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        af_sim::vector_unary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                    \
                             af_sim::operand("src", src));                                                             \
    }
#define AF_UNARY_MASKED(name, config, mask_parameter, a2, a350)                                                        \
    template <typename T, bool isSetMask = true AF_STRIP_PARENTHESES config>                                           \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, mask_parameter, const uint8_t repeatTime,   \
                     const UnaryRepeatParams& repeatParams) {                                                          \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_unary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                            \
                             af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                              \
                             af_sim::operand("src", src, p.srcBlkStride, p.srcRepStride));                             \
    }
#define AF_UNARY(name, config, a2, a350_count, a350_masked)             \
    AF_UNARY_COUNT(name, config, a2, a350_count)                        \
    AF_UNARY_MASKED(name, config, uint64_t mask, a2, a350_masked)       \
    AF_UNARY_MASKED(name, config, uint64_t mask[], a2, a350_masked)

#if AF_ARCH_350
enum class ExpAlgo : uint8_t { INTRINSIC, PRECISION_1ULP_FTZ_TRUE, PRECISION_1ULP_FTZ_FALSE };
enum class LnAlgo : uint8_t { INTRINSIC, PRECISION_1ULP_FTZ_TRUE, PRECISION_1ULP_FTZ_FALSE };
enum class ReciprocalAlgo : uint8_t { INTRINSIC, PRECISION_1ULP_FTZ_TRUE, PRECISION_1ULP_FTZ_FALSE };
enum class SqrtAlgo : uint8_t {
    INTRINSIC, FAST_INVERSE, PRECISION_1ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_FALSE, PRECISION_1ULP_FTZ_FALSE
};
enum class RsqrtAlgo : uint8_t {
    INTRINSIC, FAST_INVERSE, PRECISION_1ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_FALSE, PRECISION_1ULP_FTZ_FALSE
};
struct ExpConfig { ExpAlgo algo = ExpAlgo::INTRINSIC; };
struct LnConfig { LnAlgo algo = LnAlgo::INTRINSIC; };
struct ReciprocalConfig { ReciprocalAlgo algo = ReciprocalAlgo::INTRINSIC; };
struct SqrtConfig { SqrtAlgo algo = SqrtAlgo::INTRINSIC; };
struct RsqrtConfig { RsqrtAlgo algo = RsqrtAlgo::INTRINSIC; };
constexpr ExpConfig DEFAULT_EXP_CONFIG = {ExpAlgo::INTRINSIC};
constexpr LnConfig DEFAULT_LN_CONFIG = {LnAlgo::INTRINSIC};
constexpr ReciprocalConfig DEFAULT_RECIPROCAL_CONFIG = {ReciprocalAlgo::INTRINSIC};
constexpr SqrtConfig DEFAULT_SQRT_CONFIG = {SqrtAlgo::INTRINSIC};
constexpr RsqrtConfig DEFAULT_RSQRT_CONFIG = {RsqrtAlgo::INTRINSIC};
#define AF_CONFIG(type, value) (, const type& config = value)
#else
#define AF_CONFIG(type, value) ()
#endif

AF_UNARY(Relu, (), (half, float, int32_t), (half, float, int32_t, int64_t), (half, float, int32_t))
AF_UNARY(Abs, (), AF_F, (int8_t, int16_t, half, int32_t, float, int64_t), (int16_t, half, int32_t, float))
AF_UNARY(Exp, AF_CONFIG(ExpConfig, DEFAULT_EXP_CONFIG), AF_F, AF_F, AF_F)
AF_UNARY(Ln, AF_CONFIG(LnConfig, DEFAULT_LN_CONFIG), AF_F, AF_F, AF_F)
AF_UNARY(Sqrt, AF_CONFIG(SqrtConfig, DEFAULT_SQRT_CONFIG), AF_F, AF_F, AF_F)
AF_UNARY(Rsqrt, AF_CONFIG(RsqrtConfig, DEFAULT_RSQRT_CONFIG), AF_F, AF_F, AF_F)
AF_UNARY(Reciprocal, AF_CONFIG(ReciprocalConfig, DEFAULT_RECIPROCAL_CONFIG), AF_F, (half, float, int64_t, uint64_t), AF_F)
AF_UNARY(Not, (), (int16_t, uint16_t),
         (int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float, int64_t, uint64_t),
         (int16_t, uint16_t, half, int32_t, uint32_t, float))

}  // namespace AscendC
