// Element-wise arithmetic: unary, binary, scalar and ternary.
//
// Every operation has a count form (dst, sources, count) and, where documented, a continuous-mask form
// (..., uint64_t mask, repeatTime, params) and a mask-bits form (..., uint64_t mask[], repeatTime, params).
// Each macro below takes the supported types per SoC: A2 and A3, 350 in count form, 350 in mask forms.
#pragma once
#include <cstdint>

#include "af_cast_table.h"
#include "af_pipe.h"
#include "af_vector.h"

#define AF_F (half, float)
#define AF_ARITHMETIC (half, float, int16_t, int32_t)
#define AF_LIST_INTEGERS (int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t)
#define AF_LIST_INTEGERS_16_32 (int16_t, uint16_t, int32_t, uint32_t)
#define AF_350_16_32 (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float)
#define AF_350_16_64 (int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)
#define AF_350_8_64 \
    (int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float, int64_t, uint64_t)

namespace AscendC {

// ---- binary --------------------------------------------------------------------------------------------------------

#define AF_BINARY_COUNT(name, a2, a350)                                                                                \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }

#define AF_BINARY_MASKED(name, mask_parameter, a2, a350)                                                               \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {               \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }

#define AF_BINARY(name, a2, a350_count, a350_masked)              \
    AF_BINARY_COUNT(name, a2, a350_count)                         \
    AF_BINARY_MASKED(name, uint64_t mask, a2, a350_masked)        \
    AF_BINARY_MASKED(name, uint64_t mask[], a2, a350_masked)

AF_BINARY(Add, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Sub, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Mul, AF_ARITHMETIC, AF_350_16_64, AF_350_16_32)
AF_BINARY(Max, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(Min, AF_ARITHMETIC, AF_350_8_64, AF_350_16_32)
AF_BINARY(And, (int16_t, uint16_t), AF_LIST_INTEGERS, AF_LIST_INTEGERS_16_32)
AF_BINARY(Or, (int16_t, uint16_t), AF_LIST_INTEGERS, AF_LIST_INTEGERS_16_32)
AF_BINARY(AddRelu, (half, float, int16_t), (half, float, int16_t, int64_t, uint64_t), (half, float, int16_t))
AF_BINARY(SubRelu, (half, float, int16_t), (half, float, int16_t, int64_t, uint64_t), (half, float, int16_t))
AF_BINARY(FusedMulAdd, AF_F, (half, bfloat16_t, float, int64_t, uint64_t), (half, bfloat16_t, float))
AF_BINARY(MulAddRelu, AF_F, (half, float, int64_t, uint64_t), AF_F)

#if AF_ARCH_A2
AF_BINARY(Div, AF_F, AF_F, AF_F)
#else
enum class DivAlgo : uint8_t {
    INTRINSIC, DIFF_COMPENSATION, PRECISION_1ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_TRUE, PRECISION_0ULP_FTZ_FALSE,
    PRECISION_1ULP_FTZ_FALSE
};
struct DivConfig { DivAlgo algo = DivAlgo::INTRINSIC; };
constexpr DivConfig DEFAULT_DIV_CONFIG = {DivAlgo::INTRINSIC};

template <typename T, const DivConfig& config = DEFAULT_DIV_CONFIG>
AF_API void Div(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count) {
    AF_CALL("Div");
    AF_DTYPES("Div", T, int16_t, uint16_t, half, int32_t, uint32_t, float, int64_t, uint64_t);
    af_sim::vector_binary(af_sim::Op::Div, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
#define AF_DIV_MASKED(mask_parameter)                                                                                  \
    template <typename T, bool isSetMask = true, const DivConfig& config = DEFAULT_DIV_CONFIG>                         \
    AF_API void Div(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, mask_parameter, \
                    const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                                \
        AF_CALL("Div");                                                                                                \
        AF_DTYPES("Div", T, int16_t, uint16_t, half, int32_t, uint32_t, float);                                        \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::Div, af_sim::masked<isSetMask>(mask, repeatTime),                            \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
AF_DIV_MASKED(uint64_t mask)
AF_DIV_MASKED(uint64_t mask[])
#undef AF_DIV_MASKED
#endif

template <typename T>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            const int32_t& count) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T>(dst, src0, src1, count);
}
template <typename T, bool isSetMask = true>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}
template <typename T, bool isSetMask = true>
AF_API void FusedMulAddRelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                            uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
    AF_CALL("FusedMulAddRelu");
    MulAddRelu<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}

// ---- binary with another source type -------------------------------------------------------------------------------

#define AF_TYPE_PAIRS(name, T, U, ...)                                                  \
    static_assert(af_sim::is_one_of<af_sim::TypePair<T, U>, __VA_ARGS__>(),             \
                  "AscendC::" name ": these element types do not go together on " AF_SOC_NAME)

// The count is int32_t or uint32_t, as documented for each.
#define AF_MIXED_COUNT(name, count_type, a2, a350)                                                                     \
    template <typename T, typename U>                                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     count_type count) {                                                                               \
        AF_CALL(#name);                                                                                                \
        AF_PAIRS_OF_LIST(#name, T, U, AF_PER_SOC(a2, a350));                                                           \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
#define AF_MIXED_MASKED(name, mask_parameter, a2, a350)                                                                \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {               \
        AF_CALL(#name);                                                                                                \
        AF_PAIRS_OF_LIST(#name, T, U, AF_PER_SOC(a2, a350));                                                           \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
#define AF_PAIRS_OF_LIST(name, T, U, list) AF_TYPE_PAIRS(name, T, U, AF_STRIP_PARENTHESES list)
#define AF_MIXED(name, count_type, a2, a350_count, a350_masked)  \
    AF_MIXED_COUNT(name, count_type, a2, a350_count)             \
    AF_MIXED_MASKED(name, uint64_t mask, a2, a350_masked)        \
    AF_MIXED_MASKED(name, uint64_t mask[], a2, a350_masked)

template <typename T, typename U> using AfPair = af_sim::TypePair<T, U>;  // destination, source
#define AF_MULADD_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>)
#define AF_CAST_PAIRS (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>)
#define AF_MULCAST_PAIRS (AfPair<int8_t, half>, AfPair<uint8_t, half>)

AF_MIXED(MulAddDst, const int32_t&, AF_MULADD_PAIRS,
         (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<int64_t, int64_t>,
          AfPair<uint64_t, uint64_t>),
         AF_MULADD_PAIRS)
AF_MIXED(AddReluCast, const uint32_t, AF_CAST_PAIRS,
         (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>, AfPair<float, int64_t>,
          AfPair<int32_t, int64_t>),
         AF_CAST_PAIRS)
AF_MIXED(SubReluCast, const uint32_t, AF_CAST_PAIRS,
         (AfPair<half, float>, AfPair<int8_t, half>, AfPair<int8_t, int16_t>, AfPair<float, int64_t>,
          AfPair<int32_t, int64_t>),
         AF_CAST_PAIRS)
AF_MIXED(MulCast, const uint32_t, AF_MULCAST_PAIRS,
         (AfPair<int8_t, half>, AfPair<uint8_t, half>, AfPair<int32_t, int64_t>, AfPair<float, int64_t>),
         AF_MULCAST_PAIRS)

// half(relu((src0 + src1) * SetDeqScale)); uses the reserved end of UB.
template <typename T, typename U>
AF_API void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                       const int32_t& count) {
    AF_CALL("AddDeqRelu");
    AF_TYPE_PAIRS("AddDeqRelu", T, U, AfPair<half, int32_t>);
    af_sim::require_reserved_ub();
    af_sim::vector_binary(af_sim::Op::AddDeqRelu, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
AF_API inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                              const LocalTensor<int32_t>& src1, const int32_t& count) {
    AF_CALL("AddDeqRelu");
    AddDeqRelu<half, int32_t>(dst, src0, src1, count);
}
#define AF_ADD_DEQ_RELU_MASKED(mask_parameter)                                                                         \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,          \
                           mask_parameter, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {         \
        AF_CALL("AddDeqRelu");                                                                                         \
        AF_TYPE_PAIRS("AddDeqRelu", T, U, AfPair<half, int32_t>);                                                      \
        const auto& p = repeatParams;                                                                                  \
        af_sim::require_reserved_ub();                                                                                 \
        af_sim::vector_binary(af_sim::Op::AddDeqRelu, af_sim::masked<isSetMask>(mask, repeatTime),                     \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src0", src0, p.src0BlkStride, p.src0RepStride),                         \
                              af_sim::operand("src1", src1, p.src1BlkStride, p.src1RepStride));                        \
    }
AF_ADD_DEQ_RELU_MASKED(uint64_t mask)
AF_ADD_DEQ_RELU_MASKED(uint64_t mask[])
#undef AF_ADD_DEQ_RELU_MASKED

// ---- unary ---------------------------------------------------------------------------------------------------------

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

// ---- scalar --------------------------------------------------------------------------------------------------------

// The scalar takes part in deduction: it must have exactly type T.
#define AF_SCALAR_COUNT(name, op, parameter, option_parameter, option, a2, a350)                                       \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& parameter,                         \
                     const int32_t& count AF_STRIP_PARENTHESES option_parameter) {                                     \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        af_sim::vector_scalar(af_sim::Op::op, af_sim::counted(count), af_sim::operand("dst", dst),                     \
                              af_sim::operand("src", src), af_sim::scalar(parameter), option);                         \
    }
#define AF_SCALAR_MASKED(name, op, parameter, option_parameter, option, mask_parameter, a2, a350)                      \
    template <typename T, bool isSetMask = true>                                                                       \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& parameter, mask_parameter,         \
                     const uint8_t repeatTime,                                                                         \
                     const UnaryRepeatParams& repeatParams AF_STRIP_PARENTHESES option_parameter) {                    \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_PER_SOC(#name, T, a2, a350);                                                                         \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_scalar(af_sim::Op::op, af_sim::masked<isSetMask>(mask, repeatTime),                             \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src", src, p.srcBlkStride, p.srcRepStride), af_sim::scalar(parameter),  \
                              option);                                                                                 \
    }
#define AF_SCALAR(name, op, a2, a350_count, a350_masked)                                           \
    AF_SCALAR_COUNT(name, op, scalarValue, (), 0, a2, a350_count)                                  \
    AF_SCALAR_MASKED(name, op, scalarValue, (), 0, uint64_t mask, a2, a350_masked)                 \
    AF_SCALAR_MASKED(name, op, scalarValue, (), 0, uint64_t mask[], a2, a350_masked)

#define AF_350_ADDS (int8_t, uint8_t, int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t)
#define AF_350_MULS (int16_t, half, bfloat16_t, int32_t, float, int64_t, uint64_t)
#define AF_350_SCALAR_MASKED (int16_t, half, bfloat16_t, int32_t, float)
AF_SCALAR(Adds, Adds, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(Muls, Muls, AF_ARITHMETIC, AF_350_MULS, AF_350_SCALAR_MASKED)
AF_SCALAR(Maxs, Maxs, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(Mins, Mins, AF_ARITHMETIC, AF_350_ADDS, AF_350_SCALAR_MASKED)
AF_SCALAR(LeakyRelu, LeakyRelu, AF_F, AF_F, AF_F)
#define AF_SHIFTED (int16_t, uint16_t, int32_t, uint32_t)
AF_SCALAR(ShiftLeft, ShiftLefts, AF_SHIFTED, AF_LIST_INTEGERS, AF_SHIFTED)
AF_SCALAR_COUNT(ShiftRight, ShiftRights, scalarValue, (), 0, AF_SHIFTED, AF_LIST_INTEGERS)
AF_SCALAR_MASKED(ShiftRight, ShiftRights, scalarValue, (, bool roundEn = false),
                 (roundEn && T(-1) < T(0) ? 1 : 0), uint64_t mask, AF_SHIFTED, AF_SHIFTED)
AF_SCALAR_MASKED(ShiftRight, ShiftRights, scalarValue, (, bool roundEn = false),
                 (roundEn && T(-1) < T(0) ? 1 : 0), uint64_t mask[], AF_SHIFTED, AF_SHIFTED)

// dst = src * scalar + dst.
#if AF_ARCH_A2
#define AF_AXPY_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>)
#define AF_AXPY_MASKED_PAIRS AF_AXPY_PAIRS
#else
#define AF_AXPY_PAIRS                                                                                          \
    (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<bfloat16_t, bfloat16_t>,            \
     AfPair<int64_t, int64_t>, AfPair<uint64_t, uint64_t>)
#define AF_AXPY_MASKED_PAIRS (AfPair<half, half>, AfPair<float, float>, AfPair<float, half>, AfPair<bfloat16_t, bfloat16_t>)
#endif
template <typename T, typename U>
AF_API void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count) {
    AF_CALL("Axpy");
    AF_PAIRS_OF_LIST("Axpy", T, U, AF_AXPY_PAIRS);
    af_sim::vector_scalar(af_sim::Op::Axpy, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src", src), af_sim::scalar(scalarValue));
}
#define AF_AXPY_MASKED(mask_parameter)                                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, mask_parameter,       \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                \
        AF_CALL("Axpy");                                                                                               \
        AF_PAIRS_OF_LIST("Axpy", T, U, AF_AXPY_MASKED_PAIRS);                                                          \
        const auto& p = repeatParams;                                                                                  \
        af_sim::vector_scalar(af_sim::Op::Axpy, af_sim::masked<isSetMask>(mask, repeatTime),                           \
                              af_sim::operand("dst", dst, p.dstBlkStride, p.dstRepStride),                             \
                              af_sim::operand("src", src, p.srcBlkStride, p.srcRepStride),                             \
                              af_sim::scalar(scalarValue));                                                            \
    }
AF_AXPY_MASKED(uint64_t mask)
AF_AXPY_MASKED(uint64_t mask[])
#undef AF_AXPY_MASKED

// ---- cast ----------------------------------------------------------------------------------------------------------

#define AF_CAST_BODY(lanes, dst_block, dst_repeat, src_block, src_repeat)                                              \
    af_sim::check_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, uint8_t(roundMode), AF_ARCH_350);                     \
    af_sim::vector_cast(uint8_t(roundMode), lanes, af_sim::operand("dst", dst, dst_block, dst_repeat),                 \
                        af_sim::operand("src", src, src_block, src_repeat))

template <typename T, typename U>
AF_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count) {
    AF_CALL("Cast");
    static_assert(af_sim::has_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, AF_ARCH_350),
                  "AscendC::Cast: no conversion between these element types on " AF_SOC_NAME ": go through another type");
    AF_CAST_BODY(af_sim::counted(count), 1, 8, 1, 8);
}
#define AF_CAST_MASKED(mask_parameter)                                                                                 \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AF_API void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, mask_parameter, \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                                \
        AF_CALL("Cast");                                                                                               \
        static_assert(af_sim::has_cast(af_sim::dtype_of<T>, af_sim::dtype_of<U>, AF_ARCH_350),                         \
                      "AscendC::Cast: no conversion between these element types on " AF_SOC_NAME                       \
                      ": go through another type");                                                                    \
        const auto& p = repeatParams;                                                                                  \
        AF_CAST_BODY(af_sim::masked<isSetMask>(mask, repeatTime), p.dstBlkStride, p.dstRepStride, p.srcBlkStride,      \
                     p.srcRepStride);                                                                                  \
    }
AF_CAST_MASKED(uint64_t mask)
AF_CAST_MASKED(const uint64_t mask[])
#undef AF_CAST_MASKED

// ---- 350 only ------------------------------------------------------------------------------------------------------

#if AF_ARCH_350
#define AF_TENSOR_SHIFT(name)                                                                                          \
    template <typename T, typename U>                                                                                  \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1,                \
                     const int32_t& count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_OF_LIST(#name, T, AF_LIST_INTEGERS);                                                                      \
        static_assert(sizeof(T) == sizeof(U) && U(-1) < U(0),                                                          \
                      "AscendC::" #name ": shift amounts are signed integers as wide as the values");                  \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
AF_TENSOR_SHIFT(ShiftLeft)
AF_TENSOR_SHIFT(ShiftRight)
#undef AF_TENSOR_SHIFT

#define AF_BINARY_350(name, list)                                                                                      \
    template <typename T>                                                                                              \
    AF_API void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const uint32_t count) {                                                                           \
        AF_CALL(#name);                                                                                                \
        AF_DTYPES_OF_LIST(#name, T, list);                                                                             \
        af_sim::vector_binary(af_sim::Op::name, af_sim::counted(count), af_sim::operand("dst", dst),                   \
                              af_sim::operand("src0", src0), af_sim::operand("src1", src1));                           \
    }
AF_BINARY_350(Prelu, AF_F)
AF_BINARY_350(AbsSub, AF_F)
#undef AF_BINARY_350
template <typename T>
AF_API void FusedAbsSub(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                        const uint32_t count) {
    AF_CALL("FusedAbsSub");
    AbsSub<T>(dst, src0, src1, count);
}

template <typename T, typename U>
AF_API void ExpSub(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const uint32_t count) {
    AF_CALL("ExpSub");
    AF_TYPE_PAIRS("ExpSub", T, U, AfPair<float, half>, AfPair<float, float>);
    af_sim::vector_binary(af_sim::Op::ExpSub, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src0", src0), af_sim::operand("src1", src1));
}
template <typename T, typename U>
AF_API void FusedExpSub(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
                        const uint32_t count) {
    AF_CALL("FusedExpSub");
    ExpSub<T, U>(dst, src0, src1, count);
}

template <typename T> AF_API void Neg(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Neg");
    AF_DTYPES("Neg", T, int8_t, int16_t, half, int32_t, float, int64_t);
    af_sim::vector_unary(af_sim::Op::Neg, af_sim::counted(count), af_sim::operand("dst", dst), af_sim::operand("src", src));
}

// Rounds to an integral value in the same type.
template <typename T, RoundMode roundMode>
AF_API void Truncate(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
    AF_CALL("Truncate");
    AF_DTYPES("Truncate", T, half, float, bfloat16_t);
    af_sim::vector_cast(uint8_t(roundMode), af_sim::counted(count), af_sim::operand("dst", dst),
                        af_sim::operand("src", src));
}

// Low and high 32 bits of the products.
template <typename T>
AF_API void Mull(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                 const LocalTensor<T>& src1, const uint32_t count) {
    AF_CALL("Mull");
    AF_DTYPES("Mull", T, int32_t, uint32_t);
    if (!af_sim::issue(PIPE_V, {af_sim::written("dst0", dst0, count), af_sim::written("dst1", dst1, count),
                                af_sim::read("src0", src0, count), af_sim::read("src1", src1, count)},
                       af_sim::work<T>(count))) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const int64_t product = int64_t(src0.Data()[i]) * int64_t(src1.Data()[i]);
        dst0.Data()[i] = static_cast<T>(product);
        dst1.Data()[i] = static_cast<T>(product >> 32);
    }
}

template <typename T0, typename T1, const BinaryConfig& config>
AF_API void FusedMulsCast(const LocalTensor<T0>& dst, const LocalTensor<T1>& src, const T1& scalarValue, const uint32_t count) {
    AF_CALL("FusedMulsCast");
    AF_TYPE_PAIRS("FusedMulsCast", T0, T1, AfPair<half, float>);
    af_sim::vector_scalar(af_sim::Op::MulsCast, af_sim::counted(count), af_sim::operand("dst", dst),
                          af_sim::operand("src", src), af_sim::scalar(scalarValue));
}
#endif

}  // namespace AscendC
